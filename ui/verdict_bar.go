package ui

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// The heights of the verdict bar: a sentence and the changes in a line, or a table
// where the screen is high.
const (
	verdictLow  = 2
	verdictHigh = 5
)

// verdictRows is the height of the verdict bar, 0 while no knob was turned.
func (m *Model) verdictRows() int {
	switch {
	case m.frame == nil || m.history.chosen() == nil:
		return 0
	case m.h >= gridHeight:
		return verdictHigh
	}
	return verdictLow
}

// verdictFigure is a column of the bar.
type verdictFigure struct {
	name, short string
	stat        func(d *diff.Diff) *diff.Stat
}

// verdictFigures are the columns in order of weight: those on the right go first
// where there is no room.
var verdictFigures = []verdictFigure{
	{"typical", "typical", lateStat("typical")},
	{"p50", "p50", lateStat("p50")},
	{"p99", "p99", lateStat("p99")},
	{"host cycles", "host cyc", costStat(diff.HostCycles)},
	{"exits", "exits", costStat(diff.Exits)},
	{"burnt cycles", "burnt", costStat(diff.Burnt)},
	{"IPIs", "IPIs", costStat(diff.IPIs)},
	{"lost", "lost", costStat(diff.LostTimers)},
}

func lateStat(name string) func(*diff.Diff) *diff.Stat {
	return func(d *diff.Diff) *diff.Stat { return statNamed(d.Stats, name) }
}

func costStat(f diff.Figure) func(*diff.Diff) *diff.Stat {
	return func(d *diff.Diff) *diff.Stat { return statNamed(d.Costs, f.String()) }
}

func statNamed(stats []diff.Stat, name string) *diff.Stat {
	for i := range stats {
		if stats[i].Name == name {
			return &stats[i]
		}
	}
	return nil
}

// presentVerdict draws what the chosen turn of a knob has changed.
func (m *Model) presentVerdict(s *scene, a area) {
	t := m.history.chosen()
	a.fill(' ', text)
	a.pieces(0, 0, a.w, append(append(m.turnPieces(t), verdictPieces(s, t)...),
		piece{"  " + m.keys.Key(keymap.Undo), keyHint, 7}, piece{" undo", dim, 7}, piece{"  " + m.keys.Key(keymap.Compare), keyHint, 8}, piece{" compare", dim, 8}))
	switch {
	case t.d == nil:
		a.cut(1, 1, a.w-2, dim, waitWords(t))
	case a.h >= verdictHigh:
		verdictTable(s, a.sub(0, 1, a.w, a.h-1), t)
	default:
		x := 1
		for _, f := range verdictFigures {
			st := f.stat(t.d)
			if st == nil {
				continue
			}
			word, look := verdictChange(st)
			if x+textWidth(f.short)+textWidth(word)+3 > a.w {
				break
			}
			x = a.text(x, 1, label, f.short+" ")
			x = a.text(x, 1, look, word) + 2
		}
	}
}

// turnPieces names the turn and its place in the history.
func (m *Model) turnPieces(t *turned) []piece {
	h := &m.history
	ps := []piece{{" turn " + strconv.Itoa(len(h.turns)-h.shown), knobMark | strong, 0}}
	if n := len(h.turns); n > 1 {
		ps = append(ps, piece{" of " + strconv.Itoa(n), dim, 5})
	}
	changes := t.changes()
	if len(changes) == 0 {
		ps = append(ps, piece{"  back to what was before", dim, 0})
	}
	for i, c := range changes {
		ps = append(ps, piece{"  " + c.Knob.String() + " ", label, i}, piece{showKnob(c.Knob, c.Old) + " → " + showKnob(c.Knob, c.Value), value, i})
	}
	return append(ps, piece{"  at TSC " + group3(uint64(t.at())), dim, 6})
}

// verdictPieces is the verdict on both, lateness and cost.
func verdictPieces(s *scene, t *turned) []piece {
	if t.d == nil {
		return nil
	}
	lateness := &t.d.Stats[0]
	ps := append([]piece{{"  lateness ", label, 0}}, judgement(lateness, s)...)
	if len(t.d.Costs) == 0 {
		return append(ps, piece{"  cost ", label, 0}, piece{"not known", dim, 0})
	}
	return append(append(ps, piece{"  cost ", label, 0}), judgement(costOf(t.d), s)...)
}

// costOf is the figure that the verdict on the cost rests on: the first that
// changed, else the first.
func costOf(d *diff.Diff) *diff.Stat {
	for i := range d.Costs {
		if d.Costs[i].Significant {
			return &d.Costs[i]
		}
	}
	return &d.Costs[0]
}

// judgement is better, worse or no difference, with the evidence that is missing.
func judgement(st *diff.Stat, s *scene) []piece {
	switch {
	case st.Significant && st.Delta < 0:
		return []piece{{"better", good | strong, 0}, {" " + changeIn(st) + statUnit(st), good, 2}}
	case st.Significant:
		return []piece{{"worse", bad, 0}, {" " + changeIn(st) + statUnit(st), bad, 2}}
	case st.More == 0:
		return []piece{{"no difference", text, 0}}
	}
	more := "needs ~" + group3(uint64(roundUp(st.More))) + " more"
	if st.More >= mostMore {
		more = "needs very many more"
	}
	return []piece{{"no difference yet", text, 0}, {" (" + more + ")", dim, 3}}
}

// mostMore is as many more deadlines as nobody waits for.
const mostMore = 100_000

// roundUp keeps one digit and a half: 437 is 450.
func roundUp(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit*5 - 1) / (unit * 5) * unit * 5
}

// changeIn is the change in percent where it can be, else as a figure.
func changeIn(st *diff.Stat) string {
	if w := changeWord(st); w != "" {
		return w
	}
	return pickString(st.Delta > 0, "+", "") + figureOf(st, st.Delta)
}

// statUnit names the figure that a verdict rests on, where it is not the first.
func statUnit(st *diff.Stat) string {
	switch st.Name {
	case "typical":
		return ""
	}
	return " " + st.Name
}

// waitWords says why there is no verdict.
func waitWords(t *turned) string {
	switch n := len(t.before.Late); {
	case n < diff.MinSamples:
		return "no verdict: only " + group3(uint64(n)) + " deadlines came before this turn, and it takes " + strconv.Itoa(diff.MinSamples)
	case t.count < diff.FirstLook:
		return "before: the last " + group3(uint64(n)) + " deadlines up to the turn · after: " + group3(uint64(t.count)) + " of the " +
			strconv.Itoa(diff.FirstLook) + " that a first verdict takes"
	}
	return "the verdict is being computed"
}

// verdictChange is a figure's change as a word with a sign that says the same as
// its colour: ▲ more, ▼ less, = none, ? not clear yet.
func verdictChange(st *diff.Stat) (string, style) {
	switch {
	case st.Significant && st.Delta > 0:
		return "▲" + changeIn(st), bad
	case st.Significant:
		return "▼" + changeIn(st), good
	case st.More == 0:
		return "=", dim
	}
	return "?" + changeIn(st), dim
}

// figureOf writes a value of a statistic.
func figureOf(st *diff.Stat, v float64) string {
	switch {
	case st.Unit == "ns":
		return duration(clock.Nanos(v))
	case st.Unit != "":
		return plain3(int64(roundHalf(v)))
	}
	return decimals(v)
}

func roundHalf(v float64) float64 {
	if v < 0 {
		return v - 0.5
	}
	return v + 0.5
}

const verdictLead = 22 // columns of the names of the rows

// verdictTable draws before, after and change of each figure.
func verdictTable(s *scene, a area, t *turned) {
	width := min(max((a.w-verdictLead)/len(verdictFigures), 9), 16)
	rows := [...]string{"", "before  last " + group3(uint64(len(t.before.Late))), afterWords(t), "change"}
	for y, w := range rows {
		a.cut(1, y, verdictLead-1, label, w)
	}
	x := verdictLead
	for _, f := range verdictFigures {
		st := f.stat(t.d)
		if x += width; x > a.w-1 {
			return
		}
		a.right(x, 0, label, pickString(textWidth(f.name) < width, f.name, f.short))
		if st == nil {
			a.right(x, 1, dim, "–")
			a.right(x, 2, dim, "–")
			continue
		}
		a.right(x, 1, value, s.stat(st, st.A))
		a.right(x, 2, value, s.stat(st, st.B))
		word, look := verdictChange(st)
		a.right(x, 3, look, word)
	}
}

// afterWords says what window the figures after the turn are of.
func afterWords(t *turned) string {
	n := 0
	if t.after != nil {
		n = len(t.after.Late)
	}
	return "after   " + pickString(n > scatterRing-settling, "last ", "settled ") + group3(uint64(n))
}

// scatterRing is how many deadlines a state keeps one by one.
const scatterRing = 4096

// stat writes a value in the unit that comes first.
func (s *scene) stat(st *diff.Stat, v float64) string {
	if st.Unit == "cycles" && s.nanos {
		return duration(cyclesToNanos(s.hz(), clock.Cycles(roundHalf(v))))
	}
	return figureOf(st, v)
}

var verdictHelp = []string{
	"The verdict bar stands below the panes once a knob has been turned. Before is the last 1,024 deadlines up to the turn, kept as they were; after is all since, the last 4,096 at most. The first 128 after a start or a turn are left out of both, while adaptive tuning and halt polling settle. Both are compared as \"ticktrap diff\" does it, again and again while evidence comes.",
	"▲ more, ▼ less: the 99.8 % interval of the change is beyond 0.5 %. = no such change. ? not clear yet; \"needs ~N more\" says how many more deadlines it takes, about. More is worse in every figure.",
	"typical — the mean lateness without the lowest and highest 5 %. host cycles, exits, IPIs, burnt cycles (busy waits and halt polling) and lost deadlines are per deadline.",
}

// walkTurns shows another turn on the bar.
func (m *Model) walkTurns(step int) {
	h := &m.history
	if len(h.turns) == 0 {
		m.refuse("no knob has been turned yet")
		return
	}
	if h.hidden {
		h.hidden = false
		return
	}
	if to := h.shown + step; to < 0 || to >= len(h.turns) {
		m.say("this is the %s turn of a knob", pickString(to < 0, "latest", "first kept"))
		return
	}
	h.shown += step
	t := h.chosen()
	var words []string
	for _, c := range t.changes() {
		words = append(words, c.Knob.String()+"="+trace.FormatKnob(c.Knob, c.Value))
	}
	m.say("turn %d of %d: %s", len(h.turns)-h.shown, len(h.turns), strings.Join(words, " "))
}
