// Package diff compares two runs: how late their deadlines were, which exits and
// kicks they took, and what the lateness was made of.
//
// The verdict rests on one statistic that is chosen beforehand, so that looking
// at many rows finds no difference that is not there: the typical lateness, which
// is the mean without the lowest and the highest 5 %. It is used and not the
// median because a guest that both spins and halts has two modes, and its median
// falls anywhere between them; and not the mean because one preemption of a
// millisecond outweighs a thousand deadlines.
//
// The difference gets an interval by a moving-block bootstrap: consecutive
// deadlines are alike (adaptive tuning, host noise), so blocks are drawn instead
// of single deadlines. Where both runs handled the same deadlines of the same
// guest, both sides draw the same blocks. The other rows have intervals too but
// no part in the verdict: of many of them some will exclude 0 by chance.
//
// The bootstrap draws from a fixed seed: the same two runs give the same answer.
// It covers what varies within a run. What varies from run to run (another boot,
// another placement of memory) takes several runs to see.
package diff
