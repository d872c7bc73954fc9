package export

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// perfetto writes a trace for Perfetto. The virtual machine is a process with a
// thread track for each vCPU (guest stretches, exits with what they decided and
// cost, halts, waits), tracks of its deadlines and counters of the timer advance
// and of lateness; the host is a process with a thread track for each CPU. The
// steps of a deadline are joined by a flow whose number is the deadline's.
//
// Packets of a deadline are written when its chain is complete, so the file is
// not in the order of time; its readers sort.
type perfetto struct {
	pfWriter
	follow chains
	exits  openExits
	vcpus  []pfVCPU
	loaded [trace.MaxVCPUs + 1]int16 // by pCPU: vCPU + 1 that it runs, 0 if none
}

// pfVCPU is which slices are open on a vCPU's track, from the outermost.
type pfVCPU struct {
	exit, guest, halt bool
	waiting           bool
	waitEnd           clock.TSC
	last              clock.TSC // of the track: slices must not end before that
	on                int16     // pCPU + 1 on whose track it is shown, 0 if none
	lanes             []clock.TSC
}

// maxLanes is how many deadlines of a vCPU are shown side by side; more do not
// overlap, see trace.MaxFlight.
const maxLanes = 16

func newPerfetto(j *job) Exporter {
	p := &perfetto{pfWriter: pfWriter{out: out{w: j.w}, hz: j.h.Hz}, follow: follow(j.start)}
	p.begin()
	p.processes(j.h)
	return p
}

// Event implements Exporter.
func (p *perfetto) Event(e *trace.Event, s *trace.State) error {
	for len(p.vcpus) < len(s.VCPUs) {
		p.vcpus = append(p.vcpus, pfVCPU{})
	}
	done, _ := p.exits.step(e, s)
	if e.VCPU != trace.NoCPU && int(e.VCPU) < len(p.vcpus) {
		p.vcpuEvent(e, s, &p.vcpus[e.VCPU], done)
	} else {
		p.machineEvent(e, s)
	}
	p.follow.step(e, s, keepAll, p.chain)
	return p.flushed()
}

func keepAll(*trace.Event, *trace.State) bool { return true }

// Close implements Exporter: what is still open ends with the recording.
func (p *perfetto) Close(s *trace.State) error {
	p.follow.finish(s, true, p.chain)
	for i := range p.vcpus {
		v := &p.vcpus[i]
		p.endInner(v, uint8(i), s.Now)
		if v.exit || v.guest {
			p.end(v, uint8(i), s.Now, nil)
		}
		if v.on != 0 {
			p.unload(v, s.Now)
		}
	}
	return p.flush()
}

// vcpuEvent follows a vCPU's track.
func (p *perfetto) vcpuEvent(e *trace.Event, s *trace.State, v *pfVCPU, done *trace.ExitRecord) {
	t := e.TSC
	if v.waiting && t >= v.waitEnd {
		p.endWait(v, e.VCPU, v.waitEnd)
	}
	switch e.Kind {
	case trace.KindExit:
		p.endInner(v, e.VCPU, t)
		if v.guest || v.exit {
			p.end(v, e.VCPU, t, done)
		}
		p.beginExit(e, v, s)
	case trace.KindEntry:
		p.endInner(v, e.VCPU, t)
		if v.guest || v.exit {
			p.end(v, e.VCPU, t, done)
		}
		p.load(e, v, e.PCPU)
		p.beginGuest(e, v)
	case trace.KindHalt:
		p.halt(e, v)
	case trace.KindWake:
		p.wake(e, v)
	case trace.KindWait:
		p.wait(e, v)
	case trace.KindSched:
		if e.A != 0 {
			p.load(e, v, uint8(e.B))
		} else if v.on != 0 {
			p.unload(v, t)
		}
	case trace.KindTune:
		p.count(t, p.advanceTrack(e.VCPU), int64(e.B))
	case trace.KindHostFire:
		p.hostFire(e, s)
	case trace.KindKick:
		p.kick(e, s)
	case trace.KindGuestIRQ:
		if c := s.Chains.Last(0); c == nil || c.ISRAt != t || c.VCPU != e.VCPU {
			p.instant("interrupt", p.vcpu(e.VCPU))
			p.argHex("vector", e.A)
			p.emit(t)
		}
	case trace.KindIPI:
		p.instant("interrupt command", p.vcpu(e.VCPU))
		p.argHex("icr", e.A)
		p.argHex("targets", e.B)
		p.emit(t)
	case trace.KindMPState:
		p.instant(trace.MPState(e.A).String(), p.vcpu(e.VCPU))
		p.emit(t)
	default:
		p.machineEvent(e, s)
	}
	v.last = max(v.last, t)
}

// machineEvent writes the events that concern the whole machine.
func (p *perfetto) machineEvent(e *trace.Event, s *trace.State) {
	marks := func() uint64 { return p.child(uuidMarks, uuidVM, "marks", 0) }
	switch e.Kind {
	case trace.KindKnob:
		k := trace.Knob(e.A)
		p.instant(k.String(), p.child(uuidKnobs, uuidVM, "knobs", 0))
		p.argText("value", trace.FormatKnob(k, e.B))
		p.argText("old", trace.FormatKnob(k, e.C))
		p.emit(e.TSC)
		if k == trace.KnobAdvance {
			for i := range s.VCPUs {
				p.count(e.TSC, p.advanceTrack(uint8(i)), int64(s.VCPUs[i].AdvanceNS))
			}
		}
	case trace.KindMark:
		p.start(typeInstant, marks())
		p.category("ticktrap")
		p.ev.string(eventName, textOf(e.A))
		p.emit(e.TSC)
	case trace.KindLost:
		p.instant("events lost", marks())
		p.argUint("count", e.A)
		p.emit(e.TSC)
	case trace.KindEnd:
		p.instant("end: "+trace.EndKind(e.A).String(), marks())
		p.argUint("code", e.B)
		p.emit(e.TSC)
	}
}

func (p *perfetto) instant(name string, track uint64) {
	p.start(typeInstant, track)
	p.category("ticktrap")
	p.name(name)
}

func (p *perfetto) beginExit(e *trace.Event, v *pfVCPU, s *trace.State) {
	p.start(typeSliceBegin, p.vcpu(e.VCPU))
	p.category("exit")
	p.name(trace.ExitReason(e.A).String())
	p.argUint("exit", uint64(s.VCPUs[e.VCPU].Exit))
	p.argUint("tsc", uint64(e.TSC))
	p.argHex("rip", e.B)
	p.argHex("info1", e.C)
	p.argHex("info2", e.D)
	p.emit(max(e.TSC, v.last))
	v.exit = true
}

func (p *perfetto) beginGuest(e *trace.Event, v *pfVCPU) {
	p.start(typeSliceBegin, p.vcpu(e.VCPU))
	p.category("guest")
	p.name("guest")
	p.argUint("tsc", uint64(e.TSC))
	if e.B != 0 {
		p.argHex("injected vector", e.B)
	}
	p.emit(max(e.TSC, v.last))
	v.guest = true
}

// end closes the outermost slice; an exit's tells what became of it.
func (p *perfetto) end(v *pfVCPU, n uint8, t clock.TSC, x *trace.ExitRecord) {
	p.start(typeSliceEnd, p.vcpu(n))
	if x != nil && v.exit {
		if x.HasFast {
			p.argText("fastpath", x.Result.String())
			p.argText("clause", x.Clause.String())
		}
		if x.Deadline != trace.NoNum {
			p.argUint("deadline", uint64(x.Deadline))
		}
		for i := range x.Costs.N {
			p.argUint("cycles "+x.Costs.Phases[i].String(), uint64(x.Costs.Cycles[i]))
		}
	}
	p.emit(max(t, v.last))
	v.exit, v.guest = false, false
}

// endInner closes the slices inside an exit.
func (p *perfetto) endInner(v *pfVCPU, n uint8, t clock.TSC) {
	if v.waiting {
		p.endWait(v, n, min(t, v.waitEnd))
	}
	if v.halt {
		v.halt = false
		p.start(typeSliceEnd, p.vcpu(n))
		p.emit(max(t, v.last))
	}
}

func (p *perfetto) endWait(v *pfVCPU, n uint8, t clock.TSC) {
	v.waiting = false
	v.last = max(v.last, t)
	p.start(typeSliceEnd, p.vcpu(n))
	p.emit(v.last)
}

func (p *perfetto) halt(e *trace.Event, v *pfVCPU) {
	if v.guest {
		return
	}
	p.endInner(v, e.VCPU, e.TSC)
	p.start(typeSliceBegin, p.vcpu(e.VCPU))
	p.category("halt")
	p.name(trace.HaltStep(e.A).String())
	p.argInt("halt_poll_ns", int64(e.B))
	p.emit(max(e.TSC, v.last))
	v.halt = true
}

func (p *perfetto) wake(e *trace.Event, v *pfVCPU) {
	if trace.WakeReason(e.A) != trace.WakeSpurious {
		p.endInner(v, e.VCPU, e.TSC)
	}
	p.instant("wake: "+trace.WakeReason(e.A).String(), p.vcpu(e.VCPU))
	p.argInt("halted_ns", int64(e.B))
	p.emit(max(e.TSC, v.last))
}

// wait shows the wait for an expired deadline: in the vCPU's exit, or on the host
// CPU whose timer callback waits.
func (p *perfetto) wait(e *trace.Event, v *pfVCPU) {
	callback := trace.Placement(e.D) == trace.WaitCallback
	track := p.vcpu(e.VCPU)
	if callback {
		if e.PCPU == trace.NoCPU {
			return
		}
		track = p.pcpu(e.PCPU)
	}
	t := max(e.TSC, v.last)
	p.start(typeSliceBegin, track)
	p.category("wait")
	p.name("wait for deadline")
	p.argInt("delta", int64(e.A))
	p.argInt("waited", int64(e.B))
	p.argInt("cap", int64(e.C))
	p.emit(t)
	switch {
	case callback, v.guest:
		p.start(typeSliceEnd, track)
		p.emit(t.Add(max(clock.Cycles(e.B), 0)))
	default:
		v.waiting, v.waitEnd = true, t.Add(max(clock.Cycles(e.B), 0))
	}
}

// load shows that a vCPU's thread runs on a host CPU.
func (p *perfetto) load(e *trace.Event, v *pfVCPU, pcpu uint8) {
	if pcpu == trace.NoCPU || v.on == int16(pcpu)+1 {
		return
	}
	if v.on != 0 {
		p.unload(v, e.TSC)
	}
	if other := p.loaded[pcpu]; other != 0 {
		p.unload(&p.vcpus[other-1], e.TSC)
	}
	v.on, p.loaded[pcpu] = int16(pcpu)+1, int16(e.VCPU)+1
	p.start(typeSliceBegin, p.pcpu(pcpu))
	p.category("sched")
	p.name("vCPU " + strconv.Itoa(int(e.VCPU)))
	p.emit(e.TSC)
}

func (p *perfetto) unload(v *pfVCPU, t clock.TSC) {
	pcpu := uint8(v.on - 1)
	v.on, p.loaded[pcpu] = 0, 0
	p.start(typeSliceEnd, p.pcpu(pcpu))
	p.emit(t)
}

// hostFire is a step of the armed deadline, on the CPU where the timer fired.
func (p *perfetto) hostFire(e *trace.Event, s *trace.State) {
	track := p.vcpu(e.VCPU)
	if trace.Backing(e.A) == trace.BackSW && e.PCPU != trace.NoCPU {
		track = p.pcpu(e.PCPU)
	}
	p.instant("host timer: "+trace.Backing(e.A).String(), track)
	p.argUint("programmed", e.B)
	if n := s.VCPUs[e.VCPU].Chain.Num; n != trace.NoNum {
		p.argUint("deadline", uint64(n))
		p.flow(uint64(n))
	}
	p.emit(e.TSC)
}

// kickFlow is set in the flow numbers of kicks.
const kickFlow = 1 << 62

// kick is shown on the kicking CPU, with a flow to the target.
func (p *perfetto) kick(e *trace.Event, s *trace.State) {
	d := trace.KickDecision(e.A)
	from := p.vcpu(e.VCPU)
	if e.PCPU != trace.NoCPU {
		from = p.pcpu(e.PCPU)
	}
	flow := kickFlow | uint64(s.Events)
	reaches := (d == trace.KickIPI || d == trace.KickWake) && e.PCPU != trace.NoCPU
	p.instant("kick: "+d.String(), from)
	p.argUint("target", uint64(e.VCPU))
	p.argText("mode", trace.Mode(e.B).String())
	p.argText("steps", string(trace.AppendValue(nil, &trace.Specs[trace.KindKick].Fields[2], e.C)))
	if reaches {
		p.flow(flow)
	}
	p.emit(e.TSC)
	if reaches {
		p.instant("kicked", p.vcpu(e.VCPU))
		p.flowEnd(flow)
		p.emit(e.TSC)
	}
}

func (p *perfetto) advanceTrack(n uint8) uint64 {
	return p.child(uuidAdvance+uint64(n), uuidVM, "vCPU "+strconv.Itoa(int(n))+" timer advance", unitTimeNS)
}

// textOf is the text in a field of form Text, one character per byte.
func textOf(v uint64) string {
	var r []rune
	for ; v != 0; v >>= 8 {
		r = append(r, rune(v&0xff))
	}
	return string(r)
}
