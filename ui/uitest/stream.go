package uitest

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Vector is the vector of the streams' timer.
const Vector = 0xef

// Hz is the streams' TSC frequency.
const Hz clock.Hz = 2_500_000_000

// Header describes the streams: two vCPUs on the model.
func Header() trace.Header {
	h := trace.Header{Engine: "model", LAPIC: "vmm", Provenance: trace.Modelled, Guest: "cyclic", Args: "idle=hlt",
		GuestHash: "0", Seed: 1, Profile: "skylake", Hz: Hz, VCPUs: 2, PCPUs: 2, Host: "synthetic stream"}
	h.Knobs = [trace.NumKnobs]uint64{
		trace.KnobAPICv: 1, trace.KnobPostedTimer: 0, trace.KnobAdvance: trace.AdvanceAdaptive,
		trace.KnobVMEntryAdvance: 0, trace.KnobWaitPlacement: uint64(trace.WaitLate), trace.KnobPreemptionTimer: 1,
		trace.KnobFastpath: uint64(vmm.Rules515), trace.KnobKick: uint64(vmm.KickKB), trace.KnobHaltPoll: 200_000,
		trace.KnobTuning: 4, trace.KnobRunningShort: uint64(vmm.ShortcutInGuest)}
	return h
}

// stream builds events one after another on a time line.
type stream struct {
	out  []trace.Event
	now  clock.TSC
	rng  uint64
	adv  uint64 // timer_advance_ns of vCPU 0
	apic bool   // APICv
}

// Stream makes n deadlines on each of two vCPUs: vCPU 0 spins with the
// preemption timer, vCPU 1 halts and is woken through an hrtimer. APICv is
// turned off after half of them and the advance fixed after three quarters.
func Stream(n int) []trace.Event {
	s := &stream{now: 1_000_000, rng: 1, adv: 1000, apic: true}
	s.boot()
	for i := range n {
		switch i {
		case n / 2:
			s.knob(trace.KnobAPICv, 0, 1)
			s.apic = false
		case n * 3 / 4:
			s.knob(trace.KnobAdvance, 2000, trace.AdvanceAdaptive)
			s.adv = 2000
		}
		s.spin()
		if i%3 == 0 {
			s.halt()
		}
		if i%16 == 0 {
			s.cpuid()
		}
	}
	return s.out
}

// rand returns a number below n from a fixed sequence.
func (s *stream) rand(n int) int {
	s.rng = s.rng*6364136223846793005 + 1442695040888963407
	return int(s.rng >> 33 % uint64(n))
}

func (s *stream) emit(vcpu uint8, k trace.Kind, args ...uint64) {
	e := trace.Event{TSC: s.now, Kind: k, VCPU: vcpu, PCPU: vcpu}
	if vcpu == trace.NoCPU {
		e.PCPU = trace.NoCPU
	}
	for i, p := range []*uint64{&e.A, &e.B, &e.C, &e.D} {
		if i < len(args) {
			*p = args[i]
		}
	}
	s.out = append(s.out, e)
}

// pass lets time pass: at least c cycles.
func (s *stream) pass(c, noise int) { s.now += clock.TSC(c + s.rand(noise+1)) }

func (s *stream) knob(k trace.Knob, v, old uint64) {
	s.emit(trace.NoCPU, trace.KindKnob, uint64(k), v, old)
}

func (s *stream) boot() {
	for v := range uint8(2) {
		s.emit(v, trace.KindSched, 1, uint64(v))
		s.emit(v, trace.KindMPState, uint64(trace.MPRunnable))
		s.emit(v, trace.KindAPIC, 0xf0, 0x1ff, 1, 0)
		s.emit(v, trace.KindAPIC, 0x320, 2<<17|Vector, 1, 0)
		s.pass(900, 50)
	}
	s.text("ticktrap guest: cyclic idle=hlt\r\n")
	s.text("\x1b[2J\x1b[31mcalibrated\x1b[0m TSC 2500.000 MHz\r\n")
	s.text("latency of 0x6e0, vector 0xef\r\n")
}

// text is serial output, in events of up to 24 bytes.
func (s *stream) text(t string) {
	for len(t) > 0 {
		p := t[:min(len(t), 24)]
		t = t[len(p):]
		var w [3]uint64
		for i := range len(p) {
			w[i/8] |= uint64(p[i]) << (8 * (i % 8))
		}
		s.emit(0, trace.KindConsole, w[0], w[1], w[2], uint64(len(p)))
	}
}

func cost(ps ...trace.PhaseCost) [4]uint64 {
	var out [4]uint64
	for i := 0; i < len(ps) && i < 8; i += 2 {
		b := trace.PhaseCost{}
		if i+1 < len(ps) {
			b = ps[i+1]
		}
		out[i/2] = trace.PackCosts(ps[i], b)
	}
	return out
}

func (s *stream) cost(v uint8, ps ...trace.PhaseCost) {
	c := cost(ps...)
	s.emit(v, trace.KindCost, c[:]...)
}

// arm is the guest's write of 0x6e0 and its fastpath.
func (s *stream) arm(v uint8, rip uint64, ahead int, b trace.Backing, c trace.Clause) clock.TSC {
	target := s.now + clock.TSC(ahead)
	s.emit(v, trace.KindExit, uint64(trace.ExitMSRWrite), rip, 0x6e0, uint64(target))
	s.pass(560, 40)
	s.emit(v, trace.KindMSR, 0x6e0, uint64(target), 1, 0)
	s.emit(v, trace.KindArm, uint64(target), uint64(trace.TSCDeadline), uint64(target), 0)
	adv := s.adv * 5 / 2
	s.emit(v, trace.KindBacking, uint64(b), uint64(c), uint64(target)-adv, adv)
	s.pass(300, 30)
	result, clause := trace.FastReenter, trace.ClauseNone
	if b != trace.BackHV {
		result, clause = trace.FastNone, c
	}
	s.emit(v, trace.KindFastpath, uint64(trace.ExitMSRWrite), uint64(result), uint64(clause), 0x6e0)
	s.cost(v, trace.PhaseCost{Phase: trace.PhaseExit, Cycles: 620}, trace.PhaseCost{Phase: trace.PhaseFastDispatch, Cycles: 60},
		trace.PhaseCost{Phase: trace.PhaseMSR, Cycles: 240}, trace.PhaseCost{Phase: trace.PhaseHVStart, Cycles: 95},
		trace.PhaseCost{Phase: trace.PhaseExitTest, Cycles: 30}, trace.PhaseCost{Phase: trace.PhaseEntry, Cycles: 580})
	s.pass(640, 20)
	s.emit(v, trace.KindEntry, rip+2, 0, uint64(ahead), uint64(result>>1))
	return target
}

// spin is a deadline of vCPU 0, backed by the preemption timer.
func (s *stream) spin() {
	target := s.arm(0, 0x401052, 60_000+s.rand(4000), trace.BackHV, trace.ClauseNone)
	s.now = max(s.now, target-clock.TSC(s.adv*5/2))
	s.pass(120, 300)
	s.emit(0, trace.KindExit, uint64(trace.ExitPreemptionTimer), 0x40106b, 0, 0)
	s.pass(350, 60)
	s.emit(0, trace.KindHostFire, uint64(trace.BackHV), uint64(target)-s.adv*5/2)
	s.pass(90, 20)
	if s.apic {
		s.emit(0, trace.KindExpire, uint64(target), uint64(trace.RouteDirect), 0, 0)
		s.emit(0, trace.KindDeliver, Vector, uint64(trace.DeliverSelf), uint64(trace.ClauseRunning), uint64(trace.SourceTimer))
		s.pass(150, 20)
		s.emit(0, trace.KindFastpath, uint64(trace.ExitPreemptionTimer), uint64(trace.FastReenter), 0, 0)
		s.emit(0, trace.KindPIRSync, 1, Vector)
	} else {
		s.emit(0, trace.KindExpire, uint64(target), uint64(trace.RoutePending), uint64(trace.ClauseAPICvOff), 0)
		s.emit(0, trace.KindRequest, 2, 2)
		s.emit(0, trace.KindFastpath, uint64(trace.ExitPreemptionTimer), uint64(trace.FastHandled), uint64(trace.ClauseRequest), 0)
		s.pass(900, 60)
		s.emit(0, trace.KindDeliver, Vector, uint64(trace.DeliverRequest), uint64(trace.ClauseAPICvOff), uint64(trace.SourceTimer))
		s.emit(0, trace.KindRequest, 1, 1)
		s.kick(0, 0, trace.KickNothing, trace.OutsideGuestMode, trace.StepRCU|trace.StepCmpxchg)
		s.pass(500, 40)
		s.emit(0, trace.KindInject, Vector, 0, 0)
	}
	s.pass(120, 20)
	s.enterAfterWait(0, target, 0x40106b)
}

// enterAfterWait is the wait, the tuning, the entry, the handler and its EOI.
func (s *stream) enterAfterWait(v uint8, target clock.TSC, rip uint64) {
	delta := s.now.Sub(target)
	waited := clock.Cycles(0)
	if delta < 0 {
		waited = min(-delta, clock.Cycles(s.adv*5/2))
	}
	s.emit(v, trace.KindWait, uint64(delta), uint64(waited), s.adv*5/2, uint64(trace.WaitLate))
	s.tune(v, delta)
	s.now = s.now.Add(waited)
	entry := Vector
	if s.apic {
		entry = 0
	}
	s.cost(v, trace.PhaseCost{Phase: trace.PhaseExit, Cycles: 610}, trace.PhaseCost{Phase: trace.PhaseExpire, Cycles: 130},
		trace.PhaseCost{Phase: trace.PhasePost, Cycles: 95}, trace.PhaseCost{Phase: trace.PhasePIRSync, Cycles: 70},
		trace.PhaseCost{Phase: trace.PhaseWait, Cycles: waited}, trace.PhaseCost{Phase: trace.PhaseLateGap, Cycles: 90},
		trace.PhaseCost{Phase: trace.PhaseEntry, Cycles: 590})
	s.pass(90, 10)
	s.emit(v, trace.KindEntry, rip, uint64(entry), 1<<64-1, 0)
	s.pass(640, 80)
	if s.rand(40) == 0 {
		s.pass(3000, 9000) // a host interrupt came between
	}
	s.emit(v, trace.KindGuestIRQ, Vector, map[bool]uint64{true: 1}[s.apic], 0x400800)
	s.pass(400, 60)
	s.emit(v, trace.KindEOI, Vector, map[bool]uint64{true: 1}[s.apic])
	s.pass(800, 300)
}

func (s *stream) tune(v uint8, delta clock.Cycles) {
	if s.adv == 2000 || v != 0 {
		return
	}
	old, verdict := s.adv, trace.TuneIgnored
	ns := uint64(max(delta, -delta)) * 2 / 5 / 8
	switch {
	case delta < -100:
		s.adv -= min(ns, s.adv)
		verdict = trace.TuneEarlier
	case delta > 100:
		s.adv += ns
		verdict = trace.TuneLater
	}
	s.emit(v, trace.KindTune, old, s.adv, uint64(delta), uint64(verdict))
}

func (s *stream) kick(from, to uint8, d trace.KickDecision, m trace.Mode, steps trace.KickSteps) {
	s.emit(to, trace.KindKick, uint64(d), uint64(m), uint64(steps), uint64(from))
	var ps []trace.PhaseCost
	for i, c := range []trace.PhaseCost{{Phase: trace.PhaseKickRCU, Cycles: 110}, {Phase: trace.PhaseKickTask, Cycles: 12},
		{Phase: trace.PhaseKickCmpxchg, Cycles: 48}, {Phase: trace.PhaseKickStore, Cycles: 4},
		{Phase: trace.PhaseIPISend, Cycles: 320}, {Phase: trace.PhaseWake, Cycles: 1400}} {
		if steps>>i&1 != 0 {
			ps = append(ps, c)
		}
	}
	s.cost(to, ps...)
}

// halt is a deadline of vCPU 1: it halts, and an hrtimer wakes it.
func (s *stream) halt() {
	target := s.arm(1, 0x401052, 90_000, trace.BackHV, trace.ClauseNone)
	s.pass(60, 10)
	s.emit(1, trace.KindExit, uint64(trace.ExitHLT), 0x40105e, 0, 0)
	s.emit(1, trace.KindFastpath, uint64(trace.ExitHLT), uint64(trace.FastNone), uint64(trace.ClauseNoHandler), 0)
	s.pass(900, 60)
	s.emit(1, trace.KindBacking, uint64(trace.BackSW), uint64(trace.ClauseBlocked), uint64(target)-2500, 2500)
	s.emit(1, trace.KindHalt, uint64(trace.HaltPolling), 10_000)
	s.pass(25_000, 0)
	s.emit(1, trace.KindHalt, uint64(trace.HaltBlocked), 10_000)
	s.emit(1, trace.KindSched, 0, 1)
	s.now = max(s.now, target-2500)
	s.pass(500, 200)
	s.emit(1, trace.KindHostFire, uint64(trace.BackSW), uint64(target)-2500)
	s.pass(200, 30)
	s.emit(1, trace.KindExpire, uint64(target), uint64(trace.RoutePendKick), uint64(trace.ClauseCallback), 1)
	s.kick(trace.NoCPU, 1, trace.KickWake, trace.OutsideGuestMode, trace.StepRCU|trace.StepWake)
	s.pass(1800, 900)
	s.emit(1, trace.KindWake, uint64(trace.WakeTimer), 36_000, 0, 10_000)
	s.emit(1, trace.KindSched, 1, 1)
	s.pass(900, 100)
	route, clause := trace.DeliverSelf, trace.ClauseRunning
	if !s.apic {
		route, clause = trace.DeliverRequest, trace.ClauseAPICvOff
	}
	s.emit(1, trace.KindDeliver, Vector, uint64(route), uint64(clause), uint64(trace.SourceTimer))
	if s.apic {
		s.emit(1, trace.KindPIRSync, 1, Vector)
	} else {
		s.emit(1, trace.KindInject, Vector, 0, 0)
	}
	s.pass(700, 60)
	s.enterAfterWait(1, target, 0x40105f)
	if s.rand(4) == 0 { // vCPU 1 sends an IPI to vCPU 0
		s.emit(1, trace.KindExit, uint64(trace.ExitMSRWrite), 0x401070, 0x830, 0xef)
		s.emit(1, trace.KindIPI, 0xef, 1)
		s.kick(1, 0, trace.KickIPI, trace.InGuestMode, trace.StepRCU|trace.StepCmpxchg|trace.StepIPI)
		s.emit(1, trace.KindFastpath, uint64(trace.ExitMSRWrite), uint64(trace.FastHandled), 0, 0x830)
		s.pass(1500, 100)
		s.emit(1, trace.KindEntry, 0x401072, 0, 1<<64-1, 0)
	}
}

func (s *stream) cpuid() {
	s.emit(0, trace.KindExit, uint64(trace.ExitCPUID), 0x401090, 0x1, 0)
	s.emit(0, trace.KindFastpath, uint64(trace.ExitCPUID), uint64(trace.FastNone), uint64(trace.ClauseNoHandler), 0)
	s.cost(0, trace.PhaseCost{Phase: trace.PhaseExit, Cycles: 610}, trace.PhaseCost{Phase: trace.PhaseDispatch, Cycles: 210},
		trace.PhaseCost{Phase: trace.PhaseCPUID, Cycles: 110}, trace.PhaseCost{Phase: trace.PhaseEntry, Cycles: 570})
	s.pass(1600, 60)
	s.emit(0, trace.KindEntry, 0x401092, 0, 1<<64-1, 0)
	s.pass(200, 20)
}
