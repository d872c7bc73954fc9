package ui

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var kicksRoom = room{
	focus: keymap.PaneKicks, topic: "kicks", figure: vmm.FigureKicks,
	claim: func(_ claiming) share {
		return share{want: 7, need: 6, extra: 36}
	},
	make: func() pane { return newKicksPane() },
}

// kicksPane shows what kicks decided.
type kicksPane struct {
	list  lines
	match filter
	seen  verdicts
	top   int // first row of the ledger
}

func newKicksPane() *kicksPane { return &kicksPane{list: lines{list: list{follow: true}}} }

func (p *kicksPane) status(s *scene) string {
	st := group3(s.state().KickLedger.N) + " · " + showKnob(kickKnob, s.knob(kickKnob).Value)
	if p.match.text != "" {
		st += " /" + p.match.text
	}
	return st
}

// keeper tells which kicks the filter keeps.
func (p *kicksPane) keeper(s *scene) keeper {
	if p.match.off() {
		return nil
	}
	r := &s.state().KickLedger
	p.seen.begin(len(r.Buf), r.N, s.f.Status.Branch)
	return func(n uint64) bool {
		return p.seen.of(n, true, func() bool { return p.keeps(s, n, r.Get(n)) })
	}
}

func (p *kicksPane) keeps(s *scene, n uint64, k *trace.KickRecord) bool {
	return p.match.ok(s.hz(), func() query.Moment { return query.OfKick(k) }, func() string {
		return strings.Join([]string{wakerWord(wakerOf(s.state(), n), k), "v" + cpuWord(k.Target), kickMode(k.Mode), k.Decision.String(), stepWords(k.Steps)}, " ")
	})
}

func (p *kicksPane) draw(s *scene, a area) {
	r := &s.state().KickLedger
	if r.N == 0 {
		empty(a, "no kick yet", "kvm_vcpu_kick appears here when an interrupt, a request or a timer callback has to reach a vCPU")
		return
	}
	p.top = kickCounts(s, a)
	if p.top >= a.h-1 {
		return
	}
	kickHead(a.sub(0, p.top, a.w, 1))
	p.top++
	keep := p.keeper(s)
	sel, ok := p.list.selected(r.First(), r.N, keep)
	if !ok {
		empty(a.sub(0, p.top, a.w, a.h-p.top), "no kick matches", "none of the "+group3(uint64(r.Len()))+" that are kept meets the filter "+p.match.text+"; esc clears it")
	}
	for i, n := range p.list.fill(r.First(), r.N, a.h-p.top, keep) {
		y := p.top + i
		kickLine(s, a.sub(0, y, a.w, 1), n)
		if n == sel && (s.focused || !p.list.follow) {
			a.mark(y, selected)
		}
	}
}

func (p *kicksPane) strip(s *scene, a area) { stripKicks(s, a) }

func (p *kicksPane) act(s *scene, act keymap.Action, rows int) bool {
	r := &s.state().KickLedger
	return p.list.move(act, r.First(), r.N, rows-p.top, p.keeper(s))
}

func (p *kicksPane) click(s *scene, _, y int) bool {
	r := &s.state().KickLedger
	p.list.pick(y-p.top, r.First(), r.N, p.keeper(s))
	return false
}

// chosen is the selected kick, nil if there is none.
func (p *kicksPane) chosen(s *scene) *trace.KickRecord {
	r := &s.state().KickLedger
	n, ok := p.list.selected(r.First(), r.N, p.keeper(s))
	if !ok {
		return nil
	}
	return r.Get(n)
}

func (p *kicksPane) filter(text string) *query.Error {
	p.match = newFilter(text)
	p.seen.forget()
	return p.match.err
}

func (p *kicksPane) filtered() string { return p.match.text }

func (p *kicksPane) help() []string {
	return []string{
		"What each kvm_vcpu_kick decided: wake — a blocked thread was woken. ipi — mode := EXITING_GUEST_MODE and a reschedule IPI. exiting — the mode alone. nothing — nobody had to be told. warn — the running-vCPU WARN of the tax cut as posted.",
		"delivered — how interrupts were handed over, with or without a kick: pir+ipi is a notification, pir is left to the running vCPU, irr+request is APICv off.",
		"waker → target — timer: apic_timer_fn, in irq context of the CPU after @. v1: another vCPU's thread. self: the target's own thread. host: no vCPU is loaded on the kicking CPU.",
		"mode — the target's vcpu->mode when it was looked at. steps — what the kick executed: rcu (RCU section, barrier, task read), task (plain read), cmpxchg, store, ipi, wake.",
		"/ filters by a condition such as kick == ipi && vcpu == 1, or by a text: timer, v1, in-guest, wake, cmpxchg; ! in front shows the others.",
		"cost — the sum of the steps' mean costs in this run, so an estimate: ≈. The algorithm is the kick knob: KA " + kicks(rule.KickKA) + ", KB " + kicks(rule.KickKB) + ", KC tax cut as posted, KD " + kicks(rule.KickKD) + ".",
	}
}
