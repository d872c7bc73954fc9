package ui

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var fastpathRoom = room{
	focus: keymap.PaneFastpath, topic: "fastpath", figure: vmm.FigureFastpath,
	claim: func(_ claiming) share {
		return share{want: 8, need: 6, extra: 30}
	},
	make: func() pane { return newFastpathPane() },
}

// fastpathPane shows the hit rate of each exit reason.
type fastpathPane struct {
	sel   int
	order []trace.ExitReason
}

func newFastpathPane() *fastpathPane { return &fastpathPane{} }

func (p *fastpathPane) status(s *scene) string {
	rules := showKnob(trace.KnobFastpath, s.knob(trace.KnobFastpath).Value)
	if s.f.Header.LAPIC == "kernel" { // the results are its own, the clauses inferred by the nearest rules
		return "kernel ~" + rules
	}
	return rules
}

// reasons are the exit reasons seen, most frequent first.
func (p *fastpathPane) reasons(s *scene) []trace.ExitReason {
	st := s.state()
	p.order = p.order[:0]
	for r := range trace.ExitReason(trace.NumExits) {
		if st.ExitStats[r].Count > 0 {
			p.order = append(p.order, r)
		}
	}
	slices.SortStableFunc(p.order, func(a, b trace.ExitReason) int {
		x, y := st.ExitStats[a].Count, st.ExitStats[b].Count
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return p.order
}

func (p *fastpathPane) draw(s *scene, a area) {
	rs := p.reasons(s)
	if len(rs) == 0 {
		empty(a, "no VM-exit yet", "the fastpath's hit rate per exit reason, and why it bailed out, appear with the first exits")
		return
	}
	p.sel = min(p.sel, len(rs)-1)
	presentFastpath(s, a, rs, p.sel)
}

func (p *fastpathPane) strip(s *scene, a area) { stripFastpath(s, a) }

func (p *fastpathPane) act(s *scene, act keymap.Action, rows int) bool {
	n, ok := scrolled(p.sel, act, rows)
	p.sel = min(n, max(len(p.reasons(s))-1, 0))
	return ok
}

func (p *fastpathPane) click(s *scene, _, y int) bool {
	if y >= 2 && y-2 < len(p.reasons(s)) {
		p.sel = y - 2
	}
	return false
}

func (p *fastpathPane) help() []string {
	return []string{
		"How often the fastpath took an exit, by reason, under the rule set in the title. The line on top is the rate over the whole run.",
		"hit — exits that a fastpath handler finished. re-entered — of them those that went straight back into the guest: the others went round the outer loop because the exit test found something to do.",
		"The bar of a reason: re-entered, handled, not taken. Below stands why the selected reason did not re-enter, by the first clause that failed.",
		"host cyc — mean cycles of host work by phase. exit→entry — from the exit to the next entry: with HLT that includes the time in which the vCPU polls or sleeps. Both over the exits that are kept, the last 2,048.",
		"f turns the fastpath off and on, F takes the rules of another kernel era.",
	}
}
