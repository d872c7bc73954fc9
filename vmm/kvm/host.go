//go:build linux && amd64

package kvm

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// host implements vmm.Host on real time. Every vCPU's thread is a host CPU of
// its own to the loop: where the kernel runs it is the kernel's business.
// Everything is guarded by the engine's lock.
type host struct {
	vm     *VM
	m      *vmm.Machine
	bus    vmm.Bus
	cpus   []hostCPU
	timers []hrtimer
	stopAt clock.TSC
	// breathe gives the engine's lock up for a moment.
	breathe func()
}

// hostCPU is the thread of one vCPU.
type hostCPU struct {
	last   clock.TSC // when Spend or Ran was called last
	now    clock.TSC // when the guest was left last, or later
	asleep bool
	loaded bool
	irqs   []irq     // IPIs that arrived, oldest first
	timer  clock.TSC // when its earliest hrtimer is due
}

type irq struct {
	kind vmm.IRQ
	vcpu int
}

// hrtimer backs the guest timer of one vCPU.
type hrtimer struct {
	armed bool
	due   clock.Nanos
	at    clock.TSC
	cpu   vmm.PCPU
}

func newHost(vm *VM, n int) *host {
	h := &host{vm: vm, cpus: make([]hostCPU, n), timers: make([]hrtimer, n), stopAt: clock.Never}
	for i := range h.cpus {
		h.cpus[i].timer = clock.Never
	}
	return h
}

// Now implements vmm.Host.
func (h *host) Now(vmm.PCPU) clock.TSC { return h.vm.Now() }

// Mono implements vmm.Host: nanoseconds since the common line's zero. Its rate
// is the TSC's, which is what the guest's deadlines count in.
func (h *host) Mono(vmm.PCPU) clock.Nanos {
	ns, _ := h.vm.hz.ToNanos(h.vm.Now())
	return ns
}

// Spend implements vmm.Host: the time since the last call on p.
func (h *host) Spend(p vmm.PCPU, _ trace.Phase) clock.Cycles {
	c, now := &h.cpus[p], h.vm.Now()
	d := now.Sub(c.last)
	c.last = now
	return d
}

// Delay implements vmm.Host.
func (h *host) Delay(p vmm.PCPU, c clock.Cycles) {
	for until := h.vm.Now().Add(c); h.vm.Now() < until; {
	}
}

// Ran implements vmm.Host.
func (h *host) Ran(p vmm.PCPU, at clock.TSC) {
	c := &h.cpus[p]
	c.last, c.now = at, at
}

// Until implements vmm.Host.
func (h *host) Until(p vmm.PCPU) clock.TSC { return min(h.nextTimer(p), h.stopAt) }

// nextTimer is when p's earliest timer fires. Devices run on the first thread.
func (h *host) nextTimer(p vmm.PCPU) clock.TSC {
	t := h.cpus[p].timer
	if p == 0 {
		t = min(t, h.bus.NextTimer())
	}
	return t
}

// sortTimers finds p's earliest hrtimer after a change.
func (h *host) sortTimers(p vmm.PCPU) {
	t := clock.Never
	for i := range h.timers {
		if x := &h.timers[i]; x.armed && x.cpu == p {
			t = min(t, x.at)
		}
	}
	h.cpus[p].timer = t
}

// due returns the vCPU whose hrtimer on p is due, or −1.
func (h *host) due(p vmm.PCPU, now clock.TSC) int {
	best, at := -1, clock.Never
	for i := range h.timers {
		if x := &h.timers[i]; x.armed && x.cpu == p && x.at <= now && x.at < at {
			best, at = i, x.at
		}
	}
	return best
}

// Interrupted implements vmm.Host.
func (h *host) Interrupted(p vmm.PCPU) (vmm.IRQ, int, bool) {
	now := h.vm.Now()
	if h.due(p, now) >= 0 || p == 0 && h.bus.NextTimer() <= now {
		return vmm.IRQTimer, -1, true
	}
	if q := h.cpus[p].irqs; len(q) > 0 {
		return q[0].kind, q[0].vcpu, true
	}
	return vmm.BadIRQ, -1, false
}

// CatchUp implements vmm.Host: real CPUs need no help.
func (h *host) CatchUp(vmm.PCPU) {}

// AckNotification implements vmm.Host.
func (h *host) AckNotification(p vmm.PCPU) { h.pop(p) }

func (h *host) pop(p vmm.PCPU) irq {
	q := h.cpus[p].irqs
	if len(q) == 0 {
		panic("BUG: no interrupt to acknowledge")
	}
	i := q[0]
	h.cpus[p].irqs = q[:copy(q, q[1:])]
	return i
}

// interrupt takes one pending interrupt on p and reports whether there was one.
func (h *host) interrupt(p vmm.PCPU) bool {
	now := h.vm.Now()
	if v := h.due(p, now); v >= 0 {
		t := &h.timers[v]
		t.armed = false
		h.sortTimers(p)
		h.m.HostWork(p, trace.PhaseHrtimerIRQ)
		h.m.TimerFired(p, v, t.due)
		return true
	}
	if p == 0 && h.bus.NextTimer() <= now {
		h.m.HostWork(p, trace.PhaseHrtimerIRQ)
		h.m.OnDevice(p)
		h.bus.RunTimers(now)
		return true
	}
	if len(h.cpus[p].irqs) > 0 {
		h.pop(p)
		h.m.HostWork(p, trace.PhaseHostIRQ)
		return true
	}
	return false
}

// StartTimer implements vmm.Host.
func (h *host) StartTimer(p vmm.PCPU, v int, due clock.Nanos) {
	at, ok := h.vm.hz.ToCycles(max(0, due))
	if !ok {
		at = clock.Never
	}
	t := &h.timers[v]
	old := *t
	*t = hrtimer{armed: true, due: due, at: at, cpu: p}
	if old.armed {
		h.sortTimers(old.cpu)
	}
	h.sortTimers(p)
}

// CancelTimer implements vmm.Host.
func (h *host) CancelTimer(_ vmm.PCPU, v int) {
	if t := &h.timers[v]; t.armed {
		t.armed = false
		h.sortTimers(t.cpu)
	}
}

// MoveTimer implements vmm.Host.
func (h *host) MoveTimer(p vmm.PCPU, v int) {
	t := &h.timers[v]
	from := t.cpu
	t.cpu = p
	h.sortTimers(from)
	h.sortTimers(p)
}

// SendIPI implements vmm.Host.
func (h *host) SendIPI(_, to vmm.PCPU, k vmm.IRQ, v int) {
	c := &h.cpus[to]
	c.irqs = append(c.irqs, irq{k, v})
	h.vm.CPU(int(to)).Kick()
}

// Asleep implements vmm.Host.
func (h *host) Asleep(v int) bool { return h.cpus[v].asleep }

// Wake implements vmm.Host.
func (h *host) Wake(from vmm.PCPU, v int) bool {
	c := &h.cpus[v]
	if !c.asleep {
		return false
	}
	c.asleep = false
	if int(from) != v {
		h.vm.CPU(v).Kick()
	}
	return true
}

// Sleep implements vmm.Host.
func (h *host) Sleep(p vmm.PCPU, v int) {
	h.cpus[v].asleep, h.cpus[v].loaded = true, false
	h.m.Put(p, v, false)
}

// NeedResched implements vmm.Host: the kernel preempts the thread by itself.
func (h *host) NeedResched(vmm.PCPU, int) bool { return false }

// SignalPending implements vmm.Host: signals end KVM_RUN.
func (h *host) SignalPending(vmm.PCPU, int) bool { return false }

// Yield implements vmm.Host.
func (h *host) Yield(vmm.PCPU, int) {}

// Idle implements vmm.Host: a poller lets the others go on.
func (h *host) Idle(vmm.PCPU, clock.TSC) bool {
	h.breathe()
	return false
}

// OtherRunnable implements vmm.Host: whether another task wants the CPU is not
// visible from here.
func (h *host) OtherRunnable(vmm.PCPU) bool { return false }

// HasPreemptionTimer implements vmm.Host: user space cannot program it.
func (h *host) HasPreemptionTimer() bool { return false }
