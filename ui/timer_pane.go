package ui

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
)

var timerRoom = room{
	focus: keymap.PaneTimer, topic: "timer",
	claim: func(c claiming) share {
		return share{want: timerRows(c.vcpus, c.w-2) + 2, need: 6}
	},
	make: func() pane { return newTimerPane() },
}

// timerPane shows each vCPU's timer.
type timerPane struct{ off int }

func newTimerPane() *timerPane { return &timerPane{} }

func (p *timerPane) status(s *scene) string {
	return plural(len(s.state().VCPUs), "vCPU") + s.knowing()
}

func (p *timerPane) draw(s *scene, a area) {
	n := len(s.state().VCPUs)
	per := timerHeight(n, a.w, a.h)
	fit := max((a.h+per/6)/per, 1) // the sixth row of a block is a gap
	if per == 1 {
		fit = max(a.h-1, 1) // below the heading
	}
	p.off = min(p.off, max(n-fit, 0))
	presentTimer(s, a, p.off, per)
	if rest := n - p.off - fit; rest > 0 {
		a.right(a.w, a.h-1, dim, " ↓ "+plural(rest, "more vCPU")+sleepersWords(s))
	}
	used := min(n*per, a.h) + 1
	if n > 0 && per == 6 && s.apicOf(0) != nil && a.h-used >= apicRows(n) {
		presentAPIC(s, a.sub(0, used, a.w, apicRows(n)), n)
		used += apicRows(n) + 1
	}
	if n > 0 && per == 6 && a.h-used < 8 { // the row between is worth more
		used--
	}
	if rest := a.h - used; n > 0 && per == 6 && rest >= 4 {
		presentHost(s, a.sub(0, used, a.w, 8))
		if rest >= 16 {
			presentAdvance(s, a.sub(0, used+9, a.w, rest-9))
		}
	}
}

// sleepersWords says how many vCPUs nobody has started.
func sleepersWords(s *scene) string {
	n := 0
	for i := range s.state().VCPUs {
		if mp := s.state().VCPUs[i].MP; mp == trace.MPUninitialized || mp == trace.MPInitReceived {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return ", " + strconv.Itoa(n) + " in all wait for SIPI"
}

func (p *timerPane) strip(s *scene, a area) { stripTimer(s, a) }

func (p *timerPane) act(s *scene, act keymap.Action, rows int) bool {
	n, ok := scrolled(p.off, act, rows)
	p.off = min(n, max(len(s.state().VCPUs)-1, 0))
	return ok
}

func (p *timerPane) click(*scene, int, int) bool { return false }
func (p *timerPane) help() []string {
	return []string{
		"One block per vCPU: what its LAPIC timer is set to, what backs it on the host, and where an expiry stands.",
		"deadline — when the timer fires, on the common TSC line; the bar is the part of the way from arming that has passed.",
		"backing — hv is the VMX preemption timer, sw an hrtimer; the clause says why it is not hv. fires: the host timer is programmed earlier than the deadline by the advance.",
		"advance — timer_advance_ns; tuned says that the adaptive tuning set it. delta — guest TSC minus deadline on arrival at the wait of the last expiry: − early, + late.",
		"pending — the expiry waits for the outer loop (lapic_timer.pending). IRR, ISR, PIR — vectors in hex, highest first; ON is the notification bit.",
		"mode — vcpu->mode as a kick would see it; MP state; halt — polling or blocked.",
	}
}
