package model

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// host implements vmm.Host on virtual time. Its whole state is in st.
type host struct {
	hz   clock.Hz
	dice [trace.NumPhases]dice
	m    *vmm.Machine
	bus  vmm.Bus
	// lookahead is the shortest time in which one CPU can reach another: the
	// least flight of an IPI.
	lookahead clock.TSC
	slice     clock.TSC // scheduler time slice
	msi       MSI
	st        hostState

	// lead is the CPU that acted last, and rest the time at which the first of the
	// others acts, CPU 0 left out; not so if stale. CPU 0 is not part of rest, since what a
	// device on it is set to do next may change in a turn of any CPU.
	lead  vmm.PCPU
	rest  clock.TSC
	stale bool
}

// hostState is copied by a snapshot.
type hostState struct {
	cpus    []pcpu
	timers  []hrtimer
	threads []thread
	seq     uint64
	msis    uint64 // device interrupts queued so far
}

// pcpu is one host CPU.
type pcpu struct {
	now   clock.TSC
	cur   int // vCPU whose thread runs here, or −1
	runq  []int
	irqs  []irq     // by time, then sequence
	due   clock.TSC // of the first hrtimer that is armed here
	slice clock.TSC
	// resched is TIF_NEED_RESCHED of the running thread.
	resched bool
	idle    bool // in its idle state: leaving it costs time
	noise   noise
	// entered is true from the way into an interrupt to its handler.
	entered bool
	busy    bool // in the middle of a turn, waiting in CatchUp
}

// irq is an interrupt on its way to a CPU.
type irq struct {
	at   clock.TSC
	seq  uint64
	kind vmm.IRQ
	vcpu int
	wake bool // a remote wake-up: the thread becomes runnable
}

// hrtimer backs the guest timer of one vCPU.
type hrtimer struct {
	armed bool
	due   clock.Nanos
	at    clock.TSC
	cpu   vmm.PCPU
}

// thread is the thread of one vCPU.
type thread struct {
	cpu    vmm.PCPU
	asleep bool
}

func (h *host) cpu(p vmm.PCPU) *pcpu { return &h.st.cpus[p] }

// Now implements vmm.Host.
func (h *host) Now(p vmm.PCPU) clock.TSC { return h.st.cpus[p].now }

// Mono implements vmm.Host: CLOCK_MONOTONIC began with the TSC.
func (h *host) Mono(p vmm.PCPU) clock.Nanos {
	ns, ok := h.hz.ToNanos(h.st.cpus[p].now)
	if !ok {
		panic("BUG: the model's clock left the range of nanoseconds")
	}
	return ns
}

// Spend implements vmm.Host: the phase's cost passes on p.
func (h *host) Spend(p vmm.PCPU, ph trace.Phase) clock.Cycles {
	c := h.cpu(p)
	d := c.noise.draw(&h.dice[ph])
	c.now = c.now.Add(d)
	return d
}

// Delay implements vmm.Host.
func (h *host) Delay(p vmm.PCPU, c clock.Cycles) { h.cpu(p).now = h.cpu(p).now.Add(c) }

// CatchUp implements vmm.Host: what p is about to do is not seen before its time.
func (h *host) CatchUp(p vmm.PCPU) {
	c := h.cpu(p)
	was := c.busy
	c.busy = true
	for {
		q, at := vmm.NoPCPU, c.now
		for i := range h.st.cpus {
			if t := h.nextTime(vmm.PCPU(i)); !h.st.cpus[i].busy && t < at {
				q, at = vmm.PCPU(i), t
			}
		}
		if _, _, ended := h.m.Ended(); q == vmm.NoPCPU || ended {
			break
		}
		h.turn(q)
	}
	c.busy = was
}

// Ran implements vmm.Host.
func (h *host) Ran(p vmm.PCPU, at clock.TSC) { h.cpu(p).now = max(h.cpu(p).now, at) }

// grid is the longest stretch of guest code in one turn, in cycles: turns end on
// multiples of it. How a run is divided into turns must not depend on when
// somebody wants to look at it, so that a turn's number names a state.
const grid = 1 << 20

// Until implements vmm.Host.
func (h *host) Until(p vmm.PCPU) clock.TSC {
	until := min(h.nextIRQ(p), h.gridEnd(p))
	if !h.stale && p == h.lead {
		if t := h.rival(); t < until {
			until = min(until, t+h.lookahead)
		}
		return until
	}
	for q := range h.st.cpus {
		if vmm.PCPU(q) == p {
			continue
		}
		if t := h.nextTime(vmm.PCPU(q)); t < until {
			until = min(until, t+h.lookahead)
		}
	}
	return until
}

// gridEnd is the next end of a turn on p.
func (h *host) gridEnd(p vmm.PCPU) clock.TSC { return h.cpu(p).now&^(grid-1) + grid }

// nextTime is when p does something next: now if a thread runs on it.
func (h *host) nextTime(p vmm.PCPU) clock.TSC {
	c := h.cpu(p)
	if c.cur >= 0 || c.entered || c.busy {
		return c.now
	}
	return max(c.now, h.nextIRQ(p))
}

// nextIRQ is the time of the earliest interrupt for p.
func (h *host) nextIRQ(p vmm.PCPU) clock.TSC {
	c := h.cpu(p)
	t := clock.Never
	if len(c.irqs) > 0 {
		t = c.irqs[0].at
	}
	if c.cur >= 0 && len(c.runq) > 0 {
		t = min(t, c.slice)
	}
	t = min(t, c.due)
	if p == 0 {
		t = min(t, h.bus.NextTimer())
	}
	return t
}

// rival is when the first of the CPUs other than the lead acts.
func (h *host) rival() clock.TSC {
	if h.lead == 0 {
		return h.rest
	}
	return min(h.rest, h.nextTime(0))
}

// retime finds the first hrtimer on p anew, after one of them changed.
func (h *host) retime(p vmm.PCPU) {
	due := clock.Never
	for i := range h.st.timers {
		if x := &h.st.timers[i]; x.armed && x.cpu == p {
			due = min(due, x.at)
		}
	}
	h.st.cpus[p].due = due
}

// dueTimer returns the vCPU whose hrtimer on p is due first, or −1.
func (h *host) dueTimer(p vmm.PCPU, now clock.TSC) int {
	best, at := -1, clock.Never
	if h.st.cpus[p].due > now {
		return best
	}
	for i := range h.st.timers {
		if x := &h.st.timers[i]; x.armed && x.cpu == p && x.at <= now && x.at < at {
			best, at = i, x.at
		}
	}
	return best
}

// Interrupted implements vmm.Host.
func (h *host) Interrupted(p vmm.PCPU) (vmm.IRQ, int, bool) {
	c := h.cpu(p)
	if h.dueTimer(p, c.now) >= 0 || c.cur >= 0 && len(c.runq) > 0 && c.slice <= c.now {
		return vmm.IRQTimer, -1, true
	}
	if p == 0 && h.bus.NextTimer() <= c.now {
		return vmm.IRQTimer, -1, true
	}
	if len(c.irqs) > 0 && c.irqs[0].at <= c.now {
		return c.irqs[0].kind, c.irqs[0].vcpu, true
	}
	return vmm.BadIRQ, -1, false
}

// AckNotification implements vmm.Host.
func (h *host) AckNotification(p vmm.PCPU) {
	c := h.cpu(p)
	if len(c.irqs) == 0 || c.irqs[0].kind != vmm.IRQNotify {
		panic("BUG: no notification to acknowledge")
	}
	c.irqs = c.irqs[:copy(c.irqs, c.irqs[1:])]
}

// StartTimer implements vmm.Host.
func (h *host) StartTimer(p vmm.PCPU, v int, due clock.Nanos) {
	at, ok := h.hz.ToCycles(max(0, due))
	if !ok {
		at = clock.Never
	}
	h.CancelTimer(p, v)
	to := h.timerCPU(p, v)
	h.st.timers[v] = hrtimer{armed: true, due: due, at: at, cpu: to}
	h.st.cpus[to].due = min(h.st.cpus[to].due, at)
	h.stale = h.stale || to != h.lead
}

// timerCPU is where an hrtimer armed on p expires: there, or with posted timers
// on the housekeeping CPU.
func (h *host) timerCPU(p vmm.PCPU, v int) vmm.PCPU {
	if h.m.CanPostTimer(v) {
		return vmm.PCPU(len(h.st.cpus) - 1)
	}
	return p
}

// CancelTimer implements vmm.Host.
func (h *host) CancelTimer(_ vmm.PCPU, v int) {
	t := &h.st.timers[v]
	if !t.armed {
		return
	}
	t.armed = false
	if t.at == h.st.cpus[t.cpu].due {
		h.retime(t.cpu)
	}
	h.stale = h.stale || t.cpu != h.lead
}

// MoveTimer implements vmm.Host.
func (h *host) MoveTimer(p vmm.PCPU, v int) {
	if t := &h.st.timers[v]; t.armed {
		from := t.cpu
		t.cpu = h.timerCPU(p, v)
		h.retime(from)
		h.retime(t.cpu)
		h.stale = true
	}
}

// SendIPI implements vmm.Host.
func (h *host) SendIPI(from, to vmm.PCPU, k vmm.IRQ, v int) {
	h.post(to, irq{at: h.arrival(from), kind: k, vcpu: v})
}

func (h *host) arrival(from vmm.PCPU) clock.TSC {
	c := h.cpu(from)
	return c.now.Add(c.noise.draw(&h.dice[trace.PhaseIPIFlight]))
}

// post puts an interrupt into a CPU's queue.
func (h *host) post(p vmm.PCPU, i irq) {
	h.stale = true
	h.st.seq++
	i.seq = h.st.seq
	c := h.cpu(p)
	c.irqs = append(c.irqs, i)
	for n := len(c.irqs) - 1; n > 0 && c.irqs[n-1].at > i.at; n-- {
		c.irqs[n-1], c.irqs[n] = c.irqs[n], c.irqs[n-1]
	}
}

// Asleep implements vmm.Host.
func (h *host) Asleep(v int) bool { return h.st.threads[v].asleep }

// Wake implements vmm.Host.
func (h *host) Wake(from vmm.PCPU, v int) bool {
	t := &h.st.threads[v]
	if !t.asleep {
		return false
	}
	t.asleep = false
	if t.cpu == from {
		h.enqueue(from, v)
	} else {
		h.post(t.cpu, irq{at: h.arrival(from), kind: vmm.IRQResched, vcpu: v, wake: true})
	}
	return true
}

// enqueue makes v's thread runnable on p. It preempts the running thread: a
// thread that slept has the smaller virtual runtime.
func (h *host) enqueue(p vmm.PCPU, v int) {
	c := h.cpu(p)
	c.runq = append(c.runq, v)
	if c.cur >= 0 {
		c.resched = true
	}
}

// Sleep implements vmm.Host.
func (h *host) Sleep(p vmm.PCPU, v int) {
	h.st.threads[v].asleep = true
	h.m.Put(p, v, false)
	c := h.cpu(p)
	c.cur, c.resched = -1, false
	h.m.HostWork(p, trace.PhaseSwitchOut)
}

// NeedResched implements vmm.Host.
func (h *host) NeedResched(p vmm.PCPU, _ int) bool { return h.cpu(p).resched }

// SignalPending implements vmm.Host: no signals are modelled.
func (h *host) SignalPending(vmm.PCPU, int) bool { return false }

// Yield implements vmm.Host.
func (h *host) Yield(p vmm.PCPU, v int) {
	c := h.cpu(p)
	c.resched = false
	if len(c.runq) == 0 {
		return
	}
	h.m.Put(p, v, true)
	c.runq = append(c.runq, v)
	c.cur = -1
	h.m.HostWork(p, trace.PhaseSwitchOut)
}

// OtherRunnable implements vmm.Host.
func (h *host) OtherRunnable(p vmm.PCPU) bool { return len(h.cpu(p).runq) > 0 || h.cpu(p).resched }

// HasPreemptionTimer implements vmm.Host: the model is an Intel host.
func (h *host) HasPreemptionTimer() bool { return true }

// Idle implements vmm.Host: a poller's turns are skipped to the next thing that
// can change what it sees.
func (h *host) Idle(p vmm.PCPU, until clock.TSC) bool {
	c := h.cpu(p)
	t := min(until, h.nextIRQ(p), h.gridEnd(p))
	for q := range h.st.cpus {
		if vmm.PCPU(q) != p {
			t = min(t, h.nextTime(vmm.PCPU(q)))
		}
	}
	if t <= c.now {
		return false
	}
	c.now = t
	return true
}
