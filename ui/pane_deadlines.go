package ui

import (
	"ticktrap/keymap"
	"ticktrap/trace"
)

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
	list  list // of State.Chains
	match matcher
	shown []uint64 // chains drawn last, by row
	top   int      // row of the first of them
}

func newDeadlinesPane() *deadlinesPane { return &deadlinesPane{list: list{follow: true}} }

func (p *deadlinesPane) status(s *scene) string {
	st := group3(s.state().Deadlines.Count())
	if p.view != viewAll {
		st += " · " + viewNames[p.view]
	}
	if p.match.text != "" {
		st += " /" + p.match.text
	}
	if !p.list.follow {
		st += " · held"
	}
	return st
}

func (p *deadlinesPane) draw(s *scene, a area) {
	p.shown = p.shown[:0]
	if s.state().Deadlines.Opened == 0 && s.state().Samples.Count() > 0 {
		presentPercentiles(s, a)
		return
	}
	if s.state().Deadlines.Opened == 0 {
		empty(a, "no deadline yet", "each deadline appears with its whole chain, from arming to EOI, once the guest has programmed its timer")
		return
	}
	switch p.view {
	case viewChains:
		p.chains(s, a)
	case viewScatter:
		presentScatter(s, a)
	case viewHistogram:
		presentHistogram(s, a)
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
		presentScatter(s, a.sub(left+2, 0, right, top))
		presentHistogram(s, a.sub(0, top+1, left, a.h-top-1))
		presentPercentiles(s, a.sub(left+2, top+1, right, a.h-top-1))
	default:
		top, right := (a.h+1)/2, min(a.w*42/100, 44)
		left := a.w - right - 2
		p.chains(s, a.sub(0, 0, left, top))
		presentScatter(s, a.sub(0, top, left, a.h-top))
		if top >= 6 {
			presentPercentiles(s, a.sub(left+2, 0, right, top))
			presentHistogram(s, a.sub(left+2, top, right, a.h-top))
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
	p.shown = p.rows(s, a.h-2-words)
	p.top = 2
	sel := p.selected(s)
	presentChains(s, a.sub(0, 0, a.w, a.h-words), p.shown, sel, s.focused || !p.list.follow)
	if c := s.state().Chains.Get(sel); c != nil && words > 0 {
		chainWords(s, a.sub(0, a.h-words+1, a.w, words-1), c)
	}
}

func (p *deadlinesPane) keep(c *trace.Chain) bool {
	return p.match.ok(c.Outcome.String() + " " + c.Mode.String() + " " + c.Backing.String() + " " + c.Route.String() +
		" " + c.RouteClause.String() + " v" + cpuWord(c.VCPU) + lateWord(c))
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

// rows are the chains to draw, oldest first: up to the selection, or around it.
func (p *deadlinesPane) rows(s *scene, n int) []uint64 {
	r := &s.state().Chains
	out := p.shown[:0]
	if r.N == 0 || n <= 0 {
		return out
	}
	if p.match.want == "" {
		from, to := p.list.window(r.First(), r.N, n)
		for i := from; i < to; i++ {
			out = append(out, i)
		}
		return out
	}
	sel := p.selected(s)
	for i := sel + 1; i > r.First() && len(out) < n; i-- {
		if p.keep(r.Get(i - 1)) {
			out = append(out, i-1)
		}
	}
	reverse(out)
	for i := sel + 1; i < r.N && len(out) < n; i++ {
		if p.keep(r.Get(i)) {
			out = append(out, i)
		}
	}
	return out
}

// selected is the selected entry of Chains.
func (p *deadlinesPane) selected(s *scene) uint64 {
	r := &s.state().Chains
	sel := p.list.at(r.First(), r.N)
	if p.match.want == "" || r.N == 0 {
		return sel
	}
	for i := sel + 1; i > r.First(); i-- {
		if p.keep(r.Get(i - 1)) {
			return i - 1
		}
	}
	return sel
}

// exitOf is an exit that is still kept and belongs to the selected deadline.
func (p *deadlinesPane) exitOf(s *scene) trace.Num {
	c := s.state().Chains.Get(p.selected(s))
	if c == nil {
		return trace.NoNum
	}
	for _, n := range []trace.Num{c.EntryExit, c.FireExit, c.ArmExit} {
		if n != trace.NoNum && exitByNum(s.state(), n) != nil {
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
	}
	r := &s.state().Chains
	if p.match.want != "" && (act == keymap.Up || act == keymap.Down) {
		step := uint64(1)
		if act == keymap.Up {
			step = ^uint64(0)
		}
		for i := p.selected(s) + step; r.Get(i) != nil; i += step {
			if p.keep(r.Get(i)) {
				p.list = list{sel: i, follow: i == r.N-1, top: p.list.top}
				break
			}
		}
		return true
	}
	return p.list.act(act, r.First(), r.N, rows)
}

func (p *deadlinesPane) click(s *scene, _, y int) bool {
	if y < p.top || y-p.top >= len(p.shown) {
		return false
	}
	n := p.shown[y-p.top]
	again := n == p.selected(s) && !p.list.follow
	p.list = list{sel: n, top: p.list.top}
	return again
}

func (p *deadlinesPane) filter(text string) { p.match = newMatcher(text) }

func (p *deadlinesPane) help() []string {
	return []string{
		"What became of every deadline: arm → host fire → expire → wait → entry → handler → EOI. Lateness is the TSC at the handler's first instruction minus the deadline: − early, + late.",
		"chains — one line per deadline around its target (▼). programmed: host timer armed. fire: host timer to expiry. expire: up to the wait, or to the delivery. wait: busy wait before VM-entry. entry: VM-entry to the handler. handler: up to EOI.",
		"over time — lateness of each deadline; the band is ±100 cycles, in which adaptive tuning does nothing; letters on top mark turned knobs by their key.",
		"histogram — both axes logarithmic; solid columns are the deadlines since the last turned knob, the others all before. Marks: p50, p99, max.",
		"guest saw — latencies that the guest measured itself and wrote to its memory.",
		"advance — timer_advance_ns after each tuning step: late steps enlarge it, early ones reduce it.",
		"← → change the view, ↑ ↓ select a chain, e explains it, enter opens its exit; n runs to the next late one.",
	}
}
