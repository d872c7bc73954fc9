package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// comparing is an open comparison. Its figures were taken when it was opened.
type comparing struct {
	sides []*stretch // all that can be compared
	at    [2]int     // the two that are: before and after
	move  int        // which of them ← and → change
	off   int
	// verdict is nil while it is computed; asked tells its answer from an older
	// one.
	verdict *diff.Diff
	asked   int
}

// compareMsg brings the verdict of a comparison.
type compareMsg struct {
	d     *diff.Diff
	asked int
}

// newComparing collects what can be compared with what. It begins with the two
// branches since they parted, with two files, or with the stretches before and
// after the last turned knob.
func newComparing(f *vmm.Frame) *comparing {
	c := &comparing{move: 1}
	this := "this run"
	if f.Status.File != "" {
		this = "up to here"
	}
	for _, o := range f.Others {
		if o.Fork != 0 {
			a := part(o.Name+" since the fork", &o.Header, &o.State, trace.NewReport(&o.Header, &o.State), o.Fork, clock.Never-1)
			b := part(this+" since the fork", &f.Header, &f.State, trace.NewReport(&f.Header, &f.State), o.Fork, clock.Never-1)
			a.fork, b.fork = true, true
			c.sides = append(c.sides, a, b)
		}
		c.sides = append(c.sides, wholeRun(o.Name, &o.Header, &o.State))
	}
	c.at = [2]int{0, 1}
	whole := wholeRun(this, &f.Header, &f.State)
	if len(f.Others) == 0 {
		c.sides = stretches(f)
		c.at = [2]int{max(len(c.sides)-2, 0), max(len(c.sides)-1, 0)}
		c.sides = append(c.sides, whole)
		return c
	}
	c.sides = append(append(c.sides, whole), stretches(f)...)
	return c
}

// startCompare opens the comparison, or closes it.
func (m *Model) startCompare() tea.Cmd {
	if m.comparing != nil {
		m.comparing = nil
		return nil
	}
	m.comparing = newComparing(m.frame)
	return m.comparing.judgeCmd()
}

// act takes a moving action; cmd is not nil if there is another verdict to
// compute.
func (c *comparing) act(a keymap.Action, page int) (cmd tea.Cmd, ok bool) {
	n := len(c.sides)
	switch a {
	case keymap.NextPane, keymap.PrevPane:
		c.move = 1 - c.move
		return nil, true
	case keymap.Left:
		c.at[c.move] = (c.at[c.move] + n - 1) % n
	case keymap.Right:
		c.at[c.move] = (c.at[c.move] + 1) % n
	default:
		off, ok := scrolled(c.off, a, page)
		c.off = off
		return nil, ok
	}
	return c.judgeCmd(), true
}

func (c *comparing) pair() (a, b *stretch) { return c.sides[c.at[0]], c.sides[c.at[1]] }

// judgeCmd computes the verdict: a bootstrap over thousands of draws, from the
// deadlines of both sides that are kept.
func (c *comparing) judgeCmd() tea.Cmd {
	c.asked++
	c.verdict = nil
	x, y := c.pair()
	asked := c.asked
	if x == y {
		c.verdict = &diff.Diff{Headline: "Both sides are the same: ← and → choose another, tab the side."}
		return nil
	}
	for _, s := range []*stretch{x, y} {
		if n := len(s.points); n < diff.MinSamples {
			c.verdict = &diff.Diff{Headline: "No verdict: it takes " + group3(diff.MinSamples) + " deadlines on each side, and of " + s.name +
				" there are " + group3(uint64(n)) + "."}
			return nil
		}
	}
	a, b := x.side(), y.side()
	if x.fork && y.fork {
		pairUp(a, b)
	}
	parts := !x.whole || !y.whole
	return guarded(func() tea.Msg {
		d := diff.Compare(a, b, diff.DefaultOptions)
		if parts {
			d.Warnings = nil // they are about whole runs
		}
		return compareMsg{d, asked}
	})
}

// pairUp cuts both sides to the deadlines that both have come to, so that they
// can be compared one by one.
func pairUp(a, b *diff.Side) {
	n := min(len(a.Late), len(b.Late))
	if n >= diff.MinSamples && slices.Equal(a.Nums[:n], b.Nums[:n]) {
		a.Late, b.Late, a.Nums, b.Nums = a.Late[:n], b.Late[:n], a.Nums[:n], b.Nums[:n]
		a.Costs, b.Costs = a.Costs[:min(n, len(a.Costs))], b.Costs[:min(n, len(b.Costs))]
	}
}

// judged takes a verdict, unless it has come too late.
func (m *Model) judged(msg compareMsg) {
	if c := m.comparing; c != nil && c.asked == msg.asked {
		c.verdict, m.dirty = msg.d, true
	}
}

var compareHelp = []string{
	"Two sides: the branch that was left and this one since they parted, two files, or two stretches of a run between turned knobs and bookmarks; at first those before and after the last knob. ← → choose another stretch or run, tab which side.",
	"The sentence on top says whether the difference means anything: typical lateness (the mean without the lowest and highest 5 %) with an interval by a moving-block bootstrap over the deadlines that are kept, as \"ticktrap diff\" does it. n.s. — the interval of a figure does not leave out no change.",
	"≈ — from time buckets, not exact at the ends of a stretch. part — of the exits and kicks that are still kept.",
}
