package model

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// turn lets CPU p act once: take an interrupt, switch threads, or carry out one
// step of the loop. It is the CPU that first names.
func (h *host) turn(p vmm.PCPU) {
	h.stale = h.stale || p != h.lead
	h.act(p, h.cpu(p))
}

// leads reports whether p, whose turn was the last, acts next, with a thread: what
// first would find.
func (h *host) leads(p vmm.PCPU, c *pcpu) bool {
	_, _, ended := h.m.Ended()
	return !h.stale && !ended && p == h.lead && c.cur >= 0 && c.now < h.rival()
}

func (h *host) act(p vmm.PCPU, c *pcpu) {
	switch {
	case c.cur < 0:
		h.idleTurn(p)
	case c.entered || h.m.IRQsOn(c.cur) && h.nextIRQ(p) <= c.now:
		h.interrupt(p)
	default:
		h.m.Step(c.cur)
		if c.cur < 0 {
			h.schedule(p)
		}
	}
}

// first is the CPU that acts next, and when; the lower number on a tie. No event
// can come any more from before that time. Without anything left to happen it
// returns vmm.NoPCPU and clock.Never.
func (h *host) first() (best vmm.PCPU, at clock.TSC) {
	if !h.stale {
		if t := h.nextTime(h.lead); t < h.rival() {
			return h.lead, t
		}
	}
	best, at = vmm.NoPCPU, clock.Never
	rest := clock.Never // of the CPUs that are neither best nor 0
	for p := range h.st.cpus {
		t := h.nextTime(vmm.PCPU(p))
		if t < at {
			if best > 0 {
				rest = min(rest, at)
			}
			best, at = vmm.PCPU(p), t
		} else if p != 0 {
			rest = min(rest, t)
		}
	}
	h.lead, h.rest, h.stale = best, rest, best == vmm.NoPCPU
	return best, at
}

// latest is the time of the CPU that is furthest ahead.
func (h *host) latest() (t clock.TSC) {
	for i := range h.st.cpus {
		t = max(t, h.st.cpus[i].now)
	}
	return t
}

// idleTurn takes an interrupt on a CPU that runs no vCPU thread. Leaving the idle
// state is a turn of its own: what the interrupt does must not be seen by other
// CPUs before its time.
func (h *host) idleTurn(p vmm.PCPU) {
	c := h.cpu(p)
	c.now = h.nextTime(p)
	if c.idle {
		h.Spend(p, trace.PhaseIdleExit)
		c.idle = false
		return
	}
	h.interrupt(p)
	if c.entered {
		return
	}
	h.schedule(p)
	if c.cur < 0 {
		c.idle = true
	}
}

// interrupt takes the interrupt that is due first on p, in two turns: the way to
// its handler, and the handler.
func (h *host) interrupt(p vmm.PCPU) {
	c := h.cpu(p)
	if !c.entered {
		ph := trace.PhaseHostIRQ
		if h.dueTimer(p, c.now) >= 0 || !h.sliceOver(c) && h.deviceTimer(p) {
			ph = trace.PhaseHrtimerIRQ
		}
		h.m.HostWork(p, ph)
		c.entered = true
		return
	}
	c.entered = false
	v := h.dueTimer(p, c.now)
	switch {
	case v >= 0:
		t := &h.st.timers[v]
		t.armed = false
		h.retime(p)
		h.m.TimerFired(p, v, t.due)
	case h.sliceOver(c):
		c.resched = true
		c.slice = c.now + h.slice
	case h.deviceTimer(p):
		h.m.OnDevice(p)
		h.bus.RunTimers(c.now)
	case len(c.irqs) > 0 && c.irqs[0].at <= c.now:
		i := c.irqs[0]
		c.irqs = c.irqs[:copy(c.irqs, c.irqs[1:])]
		h.handle(p, i)
	}
}

// sliceOver reports whether the running thread's time slice is over and another
// one waits.
func (h *host) sliceOver(c *pcpu) bool { return c.cur >= 0 && len(c.runq) > 0 && c.slice <= c.now }

// deviceTimer reports whether a device's timer is due on p.
func (h *host) deviceTimer(p vmm.PCPU) bool { return p == 0 && h.bus.NextTimer() <= h.cpu(p).now }

// handle is the handler of an interrupt that another CPU or a device sent.
func (h *host) handle(p vmm.PCPU, i irq) {
	switch {
	case i.wake:
		h.enqueue(p, i.vcpu)
	case i.kind == vmm.IRQDevice:
		h.message(p, i.at)
	}
}

// schedule puts a thread on an idle CPU.
func (h *host) schedule(p vmm.PCPU) {
	c := h.cpu(p)
	if c.cur >= 0 {
		return
	}
	if len(c.runq) == 0 {
		c.idle = true
		return
	}
	v := c.runq[0]
	c.runq = c.runq[:copy(c.runq, c.runq[1:])]
	c.cur, c.resched = v, false
	h.st.threads[v].cpu = p
	d := h.Spend(p, trace.PhaseSwitchIn)
	c.slice = c.now + h.slice
	h.m.Load(p, v)
	h.m.Account(p, trace.PhaseSwitchIn, d)
}
