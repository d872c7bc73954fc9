package ui

import "ticktrap/keymap"

// kicksPane shows what kicks decided.
type kicksPane struct {
	list list
	rows uint64 // entry drawn in the first row of the ledger
	top  int    // first row of the ledger
}

func newKicksPane() *kicksPane { return &kicksPane{list: list{follow: true}} }

func (p *kicksPane) status(s *scene) string {
	return group3(s.state().KickLedger.N) + " · " + showKnob(kickKnob, s.knob(kickKnob).Value)
}

func (p *kicksPane) draw(s *scene, a area) {
	r := &s.state().KickLedger
	if r.N == 0 {
		empty(a, "no kick yet", "kvm_vcpu_kick appears here when an interrupt, a request or a timer callback has to reach a vCPU")
		return
	}
	p.top = kickCounts(s, a)
	p.rows = r.N
	if p.top >= a.h-1 {
		return
	}
	kickHead(a.sub(0, p.top, a.w, 1))
	p.top++
	from, to := p.list.window(r.First(), r.N, a.h-p.top)
	p.rows = from
	for n := from; n < to; n++ {
		y := p.top + int(n-from)
		kickLine(s, a.sub(0, y, a.w, 1), r.Get(n), r.Get(n-1))
		if n == p.list.at(r.First(), r.N) && (s.focused || !p.list.follow) {
			a.mark(y, selected)
		}
	}
}

func (p *kicksPane) strip(s *scene, a area) { stripKicks(s, a) }

func (p *kicksPane) act(s *scene, act keymap.Action, rows int) bool {
	r := &s.state().KickLedger
	return p.list.act(act, r.First(), r.N, rows-p.top)
}

func (p *kicksPane) click(s *scene, _, y int) bool {
	if y >= p.top && p.rows+uint64(y-p.top) < s.state().KickLedger.N {
		p.list = list{sel: p.rows + uint64(y-p.top), top: p.list.top}
	}
	return false
}

func (p *kicksPane) filter(string) {}

func (p *kicksPane) help() []string {
	return []string{
		"What each kvm_vcpu_kick decided: wake — a blocked thread was woken. ipi — mode := EXITING_GUEST_MODE and a reschedule IPI. exiting — the mode alone. nothing — nobody had to be told. warn — the running-vCPU WARN of the tax cut as posted.",
		"delivered — how interrupts were handed over, with or without a kick: pir+ipi is a notification, pir is left to the running vCPU, irr+request is APICv off.",
		"source → target — the vCPU loaded on the kicking CPU, and the target; self means the two are the same.",
		"mode — the target's vcpu->mode when it was looked at. steps — what the kick executed: rcu (RCU section, barrier, task read), task (plain read), cmpxchg, store, ipi, wake.",
		"cost — the sum of the steps' mean costs in this run, so an estimate: ≈. The algorithm is the kick knob: KA up to 5.14, KB 5.15, KC tax cut as posted, KD 5.17 on.",
	}
}
