package ui

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// What a run on KVM is known of differs from figure to figure: the frame says on
// what each rests. A figure that is inferred has a tilde in front, one that is
// not available is a question mark.
const (
	signInferred = "~"
	signNothing  = "?"
)

// knowing is the legend of the signs for a pane's title line; empty where the
// frame does not tell.
func (s *scene) knowing() string {
	for i := range s.f.Known {
		if s.f.Known[i].Basis != vmm.BadBasis {
			return " · " + signInferred + " inferred, " + signNothing + " not known"
		}
	}
	return ""
}

// basisOf says for a pane's title line what its figures rest on, if that is not a
// measurement.
func (s *scene) basisOf(id paneID) string {
	f := rooms[id].figure
	if f == vmm.BadFigure {
		return ""
	}
	switch k := &s.f.Known[f]; k.Basis {
	case vmm.OnInference:
		return " · " + signInferred + " " + f.String() + " inferred"
	case vmm.OnNothing:
		return " · not known: " + k.By
	}
	return ""
}

// known is a piece with a figure's value under the sign of what it rests on.
func (s *scene) known(f vmm.Figure, words string, st style, drop int) piece {
	switch s.f.Known[f].Basis {
	case vmm.OnNothing:
		return piece{signNothing, dim, drop}
	case vmm.OnInference:
		return piece{signInferred + words, st, drop}
	}
	return piece{words, st, drop}
}

// apicOf is the local APIC of a vCPU as it was read, nil where it was not.
func (s *scene) apicOf(i int) *vmm.APICFrame {
	if i < len(s.f.CPUs) && s.f.CPUs[i].APIC.Known {
		return &s.f.CPUs[i].APIC
	}
	return nil
}

// read tags what was read of the machine itself: as of when, if that is not what
// the rest of the screen shows.
func (s *scene) read(f vmm.Figure) string {
	if s.f.Known[f].Basis != vmm.OnMeasure {
		return ""
	}
	if n := s.f.Status.Ahead.Exits; n > 0 {
		return "measured " + exitsOn(&s.f.Status.Ahead)
	}
	return "measured"
}

// readOf tags a vCPU's local APIC that was read; empty for what events tell.
func (s *scene) readOf(i int) string {
	if s.apicOf(i) == nil {
		return ""
	}
	return "  " + s.read(vmm.FigureAPIC)
}

// exitsOn says how far the guest is ahead: "3 exits on".
func exitsOn(a *vmm.Ahead) string {
	n := group3(a.Exits) + " exits on"
	if a.Exits == 1 {
		n = "1 exit on"
	}
	if a.AtLeast {
		return "at least " + n
	}
	return n
}

// aheadPieces says that the guest of a run in real time has run further than is
// shown of it.
func aheadPieces(st *vmm.Status) []piece {
	if st.Ahead.Exits == 0 {
		return nil
	}
	n := strconv.FormatUint(st.Ahead.Exits, 10)
	if st.Ahead.AtLeast {
		n += " or more"
	}
	return []piece{{"  the guest is ", warn, 0}, {n, warn | strong, 0}, {pickString(st.Ahead.Exits == 1 && !st.Ahead.AtLeast, " exit", " exits") + " ahead", warn, 0},
		{" of what is shown", warn, 1}}
}

// pastPieces says that the past of a run in real time is shown, and what leads
// back.
func pastPieces(s *scene) []piece {
	return []piece{{"  in the past", early | strong, 0}, {" of a live run", early, 2}, {"  " + s.keys.Key(keymap.End), keyHint, 0},
		{" back to now", text, 0}, {", TSC " + group3(uint64(s.f.Status.Head)), dim, 3}}
}

// knownHelp says what the figures on a topic rest on.
func knownHelp(f *vmm.Frame, topic string) (out []string) {
	for i := range f.Known {
		k, spec := &f.Known[i], &vmm.FigureSpecs[i]
		if k.Basis != vmm.BadBasis && spec.Topic == topic {
			out = append(out, spec.Name+" — "+k.Basis.String()+": "+k.By)
		}
	}
	return out
}

// apicRows is the height in which presentAPIC shows n vCPUs.
func apicRows(n int) int { return 1 + 2*n }

// presentAPIC draws the registers read of each local APIC, two lines each.
func presentAPIC(s *scene, a area, n int) {
	a.pieces(0, 0, a.w, []piece{{"local APIC registers", heading, 0}, {"  " + s.read(vmm.FigureAPIC), good, 0},
		{"  " + s.f.Known[vmm.FigureAPIC].By, dim, 1}})
	for i := range n {
		p := s.apicOf(i)
		if p == nil || 2+2*i >= a.h {
			return
		}
		r := &p.Regs
		reg := func(name string, v uint64, drop int) []piece {
			return []piece{{"  " + name + " ", label, drop}, {hex(v), value, drop}}
		}
		first := []piece{{"v" + strconv.Itoa(i), vcpuStyle(uint8(i)), 0}}
		for _, ps := range [][]piece{reg("ID", uint64(r.ID), 2),
			reg("SVR", uint64(r.SPIV), 1), reg("LDR", uint64(r.LDR), 2), reg("DFR", uint64(r.DFR), 3), reg("ESR", uint64(r.ESR), 3),
			reg("ICR", r.ICR, 2), reg("LVT0", uint64(r.LVT0), 1), reg("LVT1", uint64(r.LVT1), 1), reg("LVTERR", uint64(r.LVTErr), 4),
			reg("LVTPC", uint64(r.LVTPerf), 4), reg("LVTTHMR", uint64(r.LVTThermal), 5)} {
			first = append(first, ps...)
		}
		a.pieces(0, 1+2*i, a.w, first)
		a.pieces(0, 2+2*i, a.w, append(append([]piece{{"    ", text, 0}}, timerRegs(p)...), setRegs(p)...))
	}
}

// timerRegs are the registers of the timer.
func timerRegs(p *vmm.APICFrame) []piece {
	return []piece{{"LVTT ", label, 0}, {hex(uint64(p.Regs.LVTT)), value, 0}, {"  TMICT ", label, 1},
		{group3(uint64(p.Regs.TMICT)), value, 1}, {"  TMCCT ", label, 1}, {group3(uint64(p.TMCCT)), value, 1},
		{"  TDCR ", label, 2}, {hex(uint64(p.Regs.TDCR)), value, 2}, {"  MSR 0x6e0 ", label, 0}, {group3(p.Regs.Deadline), value, 0}}
}

// setRegs are the sets of vectors and the priority.
func setRegs(p *vmm.APICFrame) []piece {
	return []piece{{"  IRR ", label, 0}, {vectorList(&p.IRR), value, 0}, {"  ISR ", label, 0}, {vectorList(&p.ISR), value, 0},
		{"  PPR ", label, 1}, {hex(uint64(p.PPR)), value, 1}, {"  TPR ", label, 1}, {hex(uint64(p.Regs.TPR)), value, 1},
		{"  TMR ", label, 3}, {vectorList(&p.TMR), value, 3}}
}

// vcpu is what is known of a vCPU: what was read of its local APIC goes before
// what events tell. It is valid until the next call.
func (s *scene) vcpu(i int) *trace.VCPU {
	v, p := &s.state().VCPUs[i], s.apicOf(i)
	if p == nil {
		return v
	}
	s.scratch = *v
	v = &s.scratch
	v.APIC = p.Regs
	v.APIC.Seen = 1 << (0x320 >> 4)
	v.IRR, v.ISR, v.PIR, v.ON = p.IRR, p.ISR, trace.Vectors{}, false // reading moved PIR into IRR
	v.Mode = trace.TimerMode(p.Regs.LVTT>>17&3) + 1
	if v.Mode == trace.TSCDeadline {
		if v.Target != p.Deadline { // not armed by anything that events tell
			v.Target, v.ArmedAt = p.Deadline, p.Deadline
		}
		v.Armed = p.Deadline != 0
		vec := v.TimerVector()
		v.Pending = v.Armed && v.Target <= p.At && !v.IRR.Has(vec) && !v.TimerMasked()
	} else if p.TMCCT == 0 {
		v.Armed = false
	}
	return v
}
