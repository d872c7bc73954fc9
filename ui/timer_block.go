package ui

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// timerRows is the height in which n vCPUs show everything, at most 12.
func timerRows(n, w int) int {
	if n <= 0 {
		return 5
	}
	return min(n*6-1, 11)
}

// timerHeight is how many rows each of n vCPUs gets: 6 and 5 show all, 3 the
// essentials, 1 is a table.
func timerHeight(n, w, h int) int {
	switch {
	case n*6-1 <= h || n <= 1 && h >= 5:
		return 6
	case n*3 <= h:
		return 3
	}
	return 1
}

func presentTimer(s *scene, a area, from, per int) {
	vs := s.state().VCPUs
	if len(vs) == 0 {
		empty(a, "no vCPU yet", "each vCPU's LVTT, deadline, host timer and interrupt sets appear with its first event")
		return
	}
	y := 0
	if per == 1 {
		timerTableHead(a)
		y = 1
	}
	for i := from; i < len(vs) && y < a.h; i++ {
		switch b := a.sub(0, y, a.w, per); per {
		case 1:
			timerTableRow(s, b, i, s.vcpu(i))
		case 3:
			timerBrief(s, b, i, s.vcpu(i))
		default:
			timerFull(s, b, i, s.vcpu(i))
		}
		y += per
	}
}

// toGo is the time to the deadline and the part of the way that has passed.
func toGo(s *scene, v *trace.VCPU) (left clock.Cycles, frac float64) {
	left = v.Target.Sub(s.f.Status.Now)
	if whole := v.Target.Sub(v.ArmedAt); whole > 0 {
		frac = min(max(1-float64(left)/float64(whole), 0), 1)
	}
	return left, frac
}

// vcpuName is "vCPU 0" in the style of a heading.
func vcpuName(i int) string { return "vCPU " + strconv.Itoa(i) }

// where says what the vCPU's thread is doing.
func whereWords(v *trace.VCPU) (string, style) {
	switch {
	case v.MP == trace.MPUninitialized || v.MP == trace.MPInitReceived:
		return "waits for SIPI", dim
	case v.Halt == trace.HaltBlocked:
		return "halted, blocked", paused
	case v.Halt == trace.HaltPolling:
		return "halted, polling", warn
	case v.InGuest:
		return "in guest", running
	}
	return "in host", text
}

func timerFull(s *scene, a area, i int, v *trace.VCPU) {
	lab := min(max(a.w/8, 9), 10)
	where, st := whereWords(v)
	a.pieces(0, 0, a.w, []piece{
		{vcpuName(i), heading, 0}, {"  ", text, 0}, s.known(vmm.FigureWhere, where, st, 0),
		{"  mode ", label, 2}, s.known(vmm.FigureMode, modeWord(v), value, 2),
		{"  MP ", label, 3}, s.known(vmm.FigureMP, mpWord(v), value, 3),
		{"  pCPU ", label, 4}, s.known(vmm.FigurePCPU, cpuWord(v.PCPU), value, 4),
		{"  requests ", label, 1},
		s.known(vmm.FigureRequests, maskWords(v.Requests, trace.RequestNames), pick(v.Requests != 0, warn, dim), 1),
		{"  last exit ", label, 5}, {exitWord(v), value, 5},
	})
	a.text(0, 1, label, "LVTT")
	tag := s.readOf(i)
	x := a.cut(lab, 1, a.w-lab-textWidth(tag), value, lvttLine(v))
	a.cut(x, 1, a.w-x, good, tag)
	timerDeadline(s, a.sub(0, 2, a.w, 1), lab, v)
	timerBacking(s, a.sub(0, 3, a.w, 1), lab, v)
	timerSets(s, a.sub(0, 4, a.w, 1), lab, v)
}

func lvttLine(v *trace.VCPU) string {
	if v.APIC.Seen>>(0x320>>4)&1 == 0 && v.APIC.LVTT == 0 {
		return "not written yet"
	}
	line := hex(uint64(v.APIC.LVTT)) + "  " + lvttWords(v.APIC.LVTT)
	if v.Mode == trace.OneShot || v.Mode == trace.Periodic {
		line += " · TMICT " + group3(uint64(v.APIC.TMICT)) + " ÷" + strconv.Itoa(divisor(v.APIC.TDCR)) +
			" · period " + duration(v.Period)
	}
	return line
}

// divisor decodes TDCR bits 3, 1 and 0. Intel SDM vol. 3A, 10.5.4 "APIC Timer".
func divisor(tdcr uint32) int { return 1 << (((tdcr&3 | tdcr&8>>1) + 1) & 7) }

func timerDeadline(s *scene, a area, lab int, v *trace.VCPU) {
	a.text(0, 0, label, "deadline")
	if !v.Armed || v.Target == 0 {
		a.cut(lab, 0, a.w-lab, dim, "not armed")
		return
	}
	left, frac := toGo(s, v)
	x := a.text(lab, 0, value, group3(uint64(v.Target)))
	words := "  in " + s.both(left)
	st := text
	if left < 0 {
		words, st = "  passed by "+s.both(-left), late
	}
	x = a.cut(x, 0, a.w-x-8, st, words)
	if w := min(a.w-x-9, 40); w >= 6 {
		a.bar(x+2, 0, w, frac, pick(left < 0, late, chart))
		a.text(x+3+w, 0, dim, strconv.Itoa(int(frac*100))+"%")
	}
}

func timerBacking(s *scene, a area, lab int, v *trace.VCPU) {
	a.text(0, 0, label, "backing")
	ps := backingPieces(s, v)
	ps = append(ps, advancePieces(s, v)...)
	a.pieces(lab, 0, a.w-lab, ps)
}

func backingPieces(s *scene, v *trace.VCPU) []piece {
	if s.f.Known[vmm.FigureBacking].Basis == vmm.OnNothing {
		return []piece{s.known(vmm.FigureBacking, "", text, 0)}
	}
	switch v.Backing {
	case trace.BackHV:
		return []piece{s.known(vmm.FigureBacking, "hv", good, 0), {" VMX preemption timer", dim, 4}}
	case trace.BackSW:
		return []piece{s.known(vmm.FigureBacking, "sw", warn, 0), {" hrtimer", dim, 4}, {", not hv: ", dim, 2}, {clauseShort(v.Clause), text, 2}}
	}
	if v.Clause != trace.ClauseNone {
		return []piece{s.known(vmm.FigureBacking, "none", dim, 0), {": " + clauseShort(v.Clause), dim, 2}}
	}
	return []piece{s.known(vmm.FigureBacking, "none", dim, 0)}
}

// clauseShort is a clause's words, or its name where there are none.
func clauseShort(c trace.Clause) string {
	if int(c) < len(clauseWords) && clauseWords[c] != "" {
		return clauseWords[c]
	}
	return c.String()
}

func advancePieces(s *scene, v *trace.VCPU) []piece {
	kind := ""
	if s.knob(trace.KnobAdvance).Value == trace.AdvanceAdaptive {
		kind = pickString(v.DeltaAt != 0, " tuned", " adaptive")
	}
	ps := []piece{{"  advance ", label, 0}, s.known(vmm.FigureAdvance, group3(uint64(max(v.AdvanceNS, 0)))+" ns", value, 0), {kind, dim, 1}}
	if v.Backing != trace.BackNone && v.Armed {
		ps = append(ps, piece{"  fires ", dim, 5}, s.known(vmm.FigureFire, s.span(v.Advance)+" before", dim, 5))
	}
	if v.DeltaAt != 0 {
		word, st := "late", late
		if v.Delta < 0 {
			word, st = "early", early
		}
		ps = append(ps, piece{"  delta ", label, 1}, piece{s.cyc(v.Delta) + " " + word, st, 1},
			piece{"  waited ", label, 3}, piece{s.span(v.Waited), value, 3})
	}
	return ps
}

func timerSets(s *scene, a area, lab int, v *trace.VCPU) {
	a.text(0, 0, label, "vectors")
	on := ""
	if v.ON {
		on = " ON"
	}
	pend, st := "no", dim
	if v.Pending {
		pend, st = "yes", warn
	}
	a.pieces(lab, 0, a.w-lab, []piece{
		{"pending ", label, 0}, s.known(vmm.FigurePending, pend, st, 0),
		{"  IRR ", label, 0}, {vectorList(&v.IRR), value, 0}, {"  ISR ", label, 0}, {vectorList(&v.ISR), value, 0},
		{"  PIR ", label, 0}, s.known(vmm.FigurePIR, vectorList(&v.PIR), value, 0), {on, warn, 0},
		{"  PPR ", label, 1}, {hex(uint64(v.Priority())), value, 1},
		{"  in flight ", label, 2}, {strconv.Itoa(int(v.NFlight)), value, 2},
		{"  poll ", label, 3}, s.known(vmm.FigureHalt, duration(v.Poll), value, 3),
		{"  TSC offset ", label, 4}, s.known(vmm.FigureOffset, plain3(int64(v.TSCOffset)), value, 4),
		{"  late p99 ", label, 5}, s.known(vmm.FigureLateness, latePct(s, &v.Late, 99), value, 5),
	})
}

// timerBrief is a vCPU in three rows.
func timerBrief(s *scene, a area, i int, v *trace.VCPU) {
	where, st := whereWords(v)
	a.pieces(0, 0, a.w, []piece{
		{vcpuName(i), heading, 0}, {"  ", text, 0}, {where, st, 0}, {"  ", text, 0}, {lvttLine(v), value, 0},
		{s.readOf(i), good, 1},
		{"  MP ", label, 3}, s.known(vmm.FigureMP, mpWord(v), value, 3),
	})
	timerDeadline(s, a.sub(2, 1, a.w-2, 1), 9, v)
	a.pieces(2, 2, a.w-2, append(append([]piece{{"backing  ", label, 0}}, backingPieces(s, v)...), append(advancePieces(s, v),
		piece{"  IRR ", label, 0}, piece{vectorList(&v.IRR), value, 0},
		piece{"  ISR ", label, 0}, piece{vectorList(&v.ISR), value, 0},
		piece{"  PIR ", label, 0}, s.known(vmm.FigurePIR, vectorList(&v.PIR), value, 0))...))
}

func modeWord(v *trace.VCPU) string {
	if int(v.LoopMode) < len(trace.ModeNames) {
		return trace.ModeNames[v.LoopMode]
	}
	return "?"
}

// mpWord is the multiprocessing state. A vCPU that executes guest code is
// runnable, whatever the last event about it said.
func mpWord(v *trace.VCPU) string {
	if v.MP == trace.MPHalted && v.InGuest && v.Halt == trace.BadHalt {
		return trace.MPRunnable.String()
	}
	return v.MP.String()
}

func cpuWord(n uint8) string {
	if n == trace.NoCPU {
		return "?"
	}
	return strconv.Itoa(int(n))
}

func exitWord(v *trace.VCPU) string {
	if v.Exit == trace.NoNum {
		return "none"
	}
	return v.ExitReason.String()
}

// pick is the first style if cond holds, else the second.
func pick(cond bool, yes, no style) style {
	if cond {
		return yes
	}
	return no
}

// stripTimer is the pane in one line: each vCPU's mode and time to go.
func stripTimer(s *scene, a area) {
	x := 0
	vs := s.state().VCPUs
	for i := range vs {
		v := s.vcpu(i)
		ps := []piece{{"v" + strconv.Itoa(i) + " ", heading, 0}}
		switch {
		case v.Armed && v.Target != 0:
			left, frac := toGo(s, v)
			ps = append(ps, piece{v.Mode.String() + " ", value, 2},
				piece{hex(uint64(v.TimerVector())), dim, 3}, piece{" in ", label, 0}, piece{s.span(left), pick(left < 0, late, value), 0},
				piece{" " + v.Backing.String(), pick(v.Backing == trace.BackHV, good, warn), 0},
				piece{" adv ", label, 2}, piece{group3(uint64(max(v.AdvanceNS, 0))), value, 2},
				piece{" " + strconv.Itoa(int(frac*100)) + "%", dim, 4})
		default:
			where, st := whereWords(v)
			ps = append(ps, piece{"not armed, ", dim, 0}, piece{where, st, 0})
		}
		if v.Pending {
			ps = append(ps, piece{" pending", warn, 0})
		}
		room := a.w - x
		if left := len(vs) - i; left > 1 {
			room = max(room/left, 24)
		}
		if room < 14 || x >= a.w {
			a.put(a.w-1, 0, '…', dim)
			return
		}
		x = a.pieces(x, 0, min(room-2, a.w-x), ps) + 2
	}
}

// empty says what a pane without content waits for.
func empty(a area, what, then string) {
	lines := wrap(then, max(min(a.w-4, 60), 10))
	y := max((a.h-len(lines)-1)/2, 0)
	a.text((a.w-textWidth(what))/2, y, text, what)
	for i, l := range lines {
		a.text((a.w-textWidth(l))/2, y+1+i, dim, l)
	}
}

// latePct is a percentile of a vCPU's lateness, "–" without a deadline.
func latePct(s *scene, l *trace.Lateness, p float64) string {
	if l.Count() == 0 {
		return "–"
	}
	return s.cyc(l.Percentile(p))
}
