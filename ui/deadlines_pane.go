package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var deadlinesRoom = room{
	focus: keymap.PaneDeadlines, topic: "deadlines", figure: vmm.FigureLateness,
	footer: []keymap.Action{keymap.Explain, keymap.Right, keymap.Open, keymap.Filter, keymap.RunPause, keymap.StepDeadline,
		keymap.NextLate, keymap.Compare, keymap.BackDeadline, keymap.Units, keymap.Zoom, keymap.Help,
		keymap.Palette, keymap.Quit},
	claim: func(c claiming) share {
		if !c.timers {
			return share{want: 7, need: 5} // it has nothing to show
		}
		return share{want: 12, need: 10, extra: 60}
	},
	make: func() pane { return newDeadlinesPane() },
}

// The views of the Deadlines pane.
const (
	viewAll = iota
	viewChains
	viewScatter
	viewHistogram
	viewTable
	viewAdvance
	numViews
)

var viewNames = [numViews]string{"all", "chains", "over time", "histogram", "percentiles", "advance"}

// deadlinesPane shows what became of deadlines.
type deadlinesPane struct {
	view  int
	list  lines // of State.Chains
	match filter
	brush brush
	seen  verdicts
	top   int // row of the first chain
	// Where things were drawn last, on the canvas.
	at, hist, dots area
}

func newDeadlinesPane() *deadlinesPane { return &deadlinesPane{list: lines{list: list{follow: true}}} }

func (p *deadlinesPane) status(s *scene) string {
	st := group3(s.state().Deadlines.Count())
	if p.view != viewAll {
		st += " · " + viewNames[p.view]
	}
	if p.match.text != "" {
		st += " /" + p.match.text
	}
	if p.brush.kind != brushNone {
		st += " · brush " + p.brush.words(s)
	}
	if !p.list.follow {
		st += " · held"
	}
	return st
}

func (p *deadlinesPane) draw(s *scene, a area) {
	p.list.shown = p.list.shown[:0]
	p.at, p.hist, p.dots = a, area{}, area{}
	if s.state().Deadlines.Opened == 0 && s.state().Samples.Count() > 0 {
		presentPercentiles(s, a)
		return
	}
	if s.state().Deadlines.Opened == 0 {
		then := "each deadline appears with its whole chain, from arming to EOI, once the guest has programmed its timer"
		if s.state().Exits.N >= 1000 {
			then = "the guest has not programmed a timer so far: 4 Kicks and 6 Exits show what it does"
		}
		empty(a, "no deadline yet", then)
		return
	}
	switch p.view {
	case viewChains:
		p.chains(s, a)
	case viewScatter:
		p.dots = presentScatter(s, a, &p.brush)
	case viewHistogram:
		p.hist = presentHistogram(s, a, &p.brush)
	case viewTable:
		presentPercentiles(s, a)
	case viewAdvance:
		presentAdvance(s, a)
	default:
		p.drawAll(s, a)
	}
}

// drawAll divides the pane among its views by what there is room for.
func (p *deadlinesPane) drawAll(s *scene, a area) {
	switch {
	case a.h < 8 || a.w < 60:
		p.chains(s, a)
	case a.h >= 16 && a.w >= 100:
		top, right := (a.h-1)*55/100, min(a.w*42/100, 74)
		left := a.w - right - 2
		p.chains(s, a.sub(0, 0, left, top))
		p.dots = presentScatter(s, a.sub(left+2, 0, right, top), &p.brush)
		p.hist = presentHistogram(s, a.sub(0, top+1, left, a.h-top-1), &p.brush)
		presentPercentiles(s, a.sub(left+2, top+1, right, a.h-top-1))
	default:
		top, right := (a.h+1)/2, min(a.w*42/100, 44)
		left := a.w - right - 2
		p.chains(s, a.sub(0, 0, left, top))
		p.dots = presentScatter(s, a.sub(0, top, left, a.h-top), &p.brush)
		if top >= 6 {
			presentPercentiles(s, a.sub(left+2, 0, right, top))
			p.hist = presentHistogram(s, a.sub(left+2, top, right, a.h-top), &p.brush)
		} else {
			presentPercentiles(s, a.sub(left+2, 0, right, a.h))
		}
	}
}

// chains draws the waterfall and, where there is room, the selected chain in
// words.
func (p *deadlinesPane) chains(s *scene, a area) {
	words := 0
	if a.h >= 20 {
		words = 10
	}
	if lost := lostPieces(s); lost != nil && a.h >= 6 {
		a.pieces(0, 0, a.w, lost)
		a = a.sub(0, 1, a.w, a.h-1)
		words = min(words, max(a.h-10, 0))
	}
	r, keep := &s.state().Chains, p.keeper(s)
	rows := p.list.fill(r.First(), r.N, a.h-2-words, keep)
	p.top = a.y - p.at.y + 2
	sel, ok := p.list.selected(r.First(), r.N, keep)
	presentChains(s, a.sub(0, 0, a.w, a.h-words), rows, sel, s.focused || !p.list.follow)
	switch {
	case ok && words > 0:
		chainWords(s, a.sub(0, a.h-words+1, a.w, words-1), r.Get(sel))
	case !ok && r.N > 0 && a.h > 4:
		empty(a.sub(0, 2, a.w, a.h-2), "no deadline here", "of the "+group3(uint64(r.Len()))+" that are kept none is in the brush or meets the filter; esc shows all")
	}
}

// lostPieces is the line on top of the chains if deadlines got no handler of their
// own: they are the ones to look at first.
func lostPieces(s *scene) []piece {
	d := &s.state().Deadlines.Outcomes
	ps := []piece{{"✗ ", bad, 0}}
	for _, o := range []trace.Outcome{trace.OutcomeLost, trace.OutcomeDropped, trace.OutcomeMerged} {
		if d[o] > 0 {
			ps = append(ps, piece{group3(d[o]) + " " + o.String() + "  ", bad, 0})
		}
	}
	if len(ps) == 1 {
		return nil
	}
	return append(ps, piece{s.keys.Key(keymap.PaneSuspects), keyHint, 1}, piece{" why", dim, 1}, piece{"  " + s.keys.Key(keymap.Filter) + "lost", keyHint, 2}, piece{" lists them", dim, 2})
}

// keeper tells which chains the filter and the brush keep.
func (p *deadlinesPane) keeper(s *scene) keeper {
	if p.match.off() && p.brush.kind == brushNone {
		return nil
	}
	r := &s.state().Chains
	p.seen.begin(len(r.Buf), r.N, s.f.Status.Branch)
	return func(n uint64) bool {
		return p.seen.of(n, true, func() bool { return p.keeps(s, r.Get(n)) })
	}
}

func (p *deadlinesPane) keeps(s *scene, c *trace.Chain) bool {
	return p.brush.keeps(c) && p.match.ok(s.hz(), func() query.Moment { return query.OfChain(c) }, func() string {
		return c.Outcome.String() + " " + c.Mode.String() + " " + c.Backing.String() + " " + c.Route.String() +
			" " + c.RouteClause.String() + " v" + cpuWord(c.VCPU) + lateWord(c)
	})
}

func lateWord(c *trace.Chain) string {
	switch {
	case !c.Ran():
		return ""
	case c.Late < -trace.OnTimeBand:
		return " early"
	case c.Late > trace.OnTimeBand:
		return " late"
	}
	return " on time"
}

// chosen is the selected deadline, nil if there is none.
func (p *deadlinesPane) chosen(s *scene) *trace.Chain {
	r := &s.state().Chains
	n, ok := p.list.selected(r.First(), r.N, p.keeper(s))
	if !ok {
		return nil
	}
	return r.Get(n)
}

// exitOfChain is an exit that is still kept and belongs to a deadline.
func exitOfChain(st *trace.State, c *trace.Chain) trace.Num {
	for _, n := range []trace.Num{c.EntryExit, c.FireExit, c.ArmExit} {
		if n != trace.NoNum && exitByNum(st, n) != nil {
			return n
		}
	}
	return trace.NoNum
}

// exitByNum finds an exit that is still kept.
func exitByNum(st *trace.State, n trace.Num) *trace.ExitRecord {
	if n == trace.NoNum {
		return nil
	}
	return st.Exits.Get(uint64(n) - 1)
}

func (p *deadlinesPane) strip(s *scene, a area) { stripDeadlines(s, a) }

func (p *deadlinesPane) act(s *scene, act keymap.Action, rows int) bool {
	switch act {
	case keymap.Right:
		p.view = (p.view + 1) % numViews
		return true
	case keymap.Left:
		p.view = (p.view + numViews - 1) % numViews
		return true
	case keymap.BrushLeft:
		return p.moveBrush(s, -1)
	case keymap.BrushRight:
		return p.moveBrush(s, +1)
	case keymap.BrushChart:
		return p.nextBrush(s)
	}
	r := &s.state().Chains
	return p.list.move(act, r.First(), r.N, rows, p.keeper(s))
}

func (p *deadlinesPane) click(s *scene, x, y int) bool {
	if b := p.brushUnder(s, x, y); b.kind != brushNone {
		p.setBrush(b)
		return false
	}
	r := &s.state().Chains
	return p.list.pick(y-p.top, r.First(), r.N, p.keeper(s))
}

func (p *deadlinesPane) filter(text string) *query.Error {
	p.match = newFilter(text)
	p.seen.forget()
	return p.match.err
}

func (p *deadlinesPane) filtered() string { return p.match.text }

func (p *deadlinesPane) open(m *Model) tea.Cmd { return m.explainSelected() }

func (p *deadlinesPane) help() []string {
	return []string{
		"What became of every deadline: arm → host fire → expire → wait → entry → handler → EOI. Lateness is the TSC at the handler's first instruction minus the deadline: − early, + late. Orange is what is later than the limit that you have set (late in the configuration).",
		"chains — one line per deadline around its target (▼). programmed: host timer armed. fire: host timer to expiry. expire: up to the wait, or to the delivery. wait: busy wait before VM-entry. entry: VM-entry to the handler. handler: up to EOI. A narrow legend has their letters: f x w e h.",
		"over time — lateness of each deadline; the band is ±100 cycles, in which adaptive tuning does nothing; letters on top mark turned knobs by their key.",
		"histogram — both axes logarithmic; solid columns are the deadlines since the last turned knob, the others all before. Marks: p50, p99, max.",
		"guest saw — latencies that the guest measured itself and wrote to its memory.",
		"advance — timer_advance_ns after each tuning step: late steps enlarge it, early ones reduce it.",
		"← → change the view, ↑ ↓ select a chain, enter or e explains it (enter there opens its exit); n runs to the next late one.",
		"brush — a click or a drag in the histogram or over time, or the keys , and . (B changes the chart), leaves only the chains of those columns; esc shows all.",
		"/ filters by a condition such as late > 20us && backing == sw, or by a text: v1, early, lost, posted; ! in front shows the others.",
	}
}
