package ui

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// inspector is an opened exit.
type inspector struct {
	num trace.Num
	off int
	// follow is set by a step: the exit that it leads to is opened.
	follow bool
}

// steps are the actions after which the inspector opens the exit that the run has
// come to.
var steps = []keymap.Action{keymap.StepExit, keymap.BackExit, keymap.StepDeadline, keymap.BackDeadline, keymap.NextLate, keymap.PrevLate}

// stepped lets an opened inspector go along with the run, which has come to rest.
func (in *inspector) stepped(f *vmm.Frame) {
	if x := f.State.Exits.Last(0); in.follow && x != nil && f.Status.Run != vmm.Running && x.Num != in.num {
		in.num, in.off = x.Num, 0
	}
}

var inspectorHelp = []string{
	"One VM-exit opened: what the guest did, every decision that the loop took about it, and where the time went.",
	"✓ a clause held, ✗ it was the first that failed, · it was not looked at any more.",
	"Registers and code are those of the vCPU as it stands now: they are the exit's own while it is the vCPU's last exit and the guest is paused. s, S, d and D step with the inspector open: it goes along.",
	"← → open the exit before and the next one, esc closes.",
}

func (in *inspector) act(s *scene, a keymap.Action, rows int) bool {
	r := &s.state().Exits
	move := map[keymap.Action]int{keymap.Left: -1, keymap.Right: 1}[a]
	if move != 0 {
		if n := uint64(in.num) - 1 + uint64(move); r.Get(n) != nil {
			in.num, in.off, in.follow = trace.Num(n+1), 0, false
		}
		return true
	}
	n, ok := scrolled(in.off, a, rows)
	if ok {
		in.off = min(n, 64)
	}
	return ok
}

// drawInspector draws the opened exit over the whole body.
func drawInspector(m *Model, s *scene, body area) {
	s.focused = true
	x := exitByNum(s.state(), m.open.num)
	title := "exit " + group3(uint64(m.open.num))
	status := "← → other exits · esc closes"
	in := drawFrame(s, body, paneExits, true, status)
	body.text(14, 0, heading, " "+title+" ")
	if x == nil {
		empty(in, title+" is no longer kept", "the last "+strconv.Itoa(len(s.state().Exits.Buf))+" exits are kept; esc goes back to the list")
		return
	}
	presentExit(s, in, x, m.open.off)
}

// presentExit lays the parts out: facts and decisions left, registers and code
// right, cost at the bottom.
func presentExit(s *scene, a area, x *trace.ExitRecord, off int) {
	costRows := 3
	if a.h < 18 {
		costRows = 2
	}
	left := a.w * 52 / 100
	if a.w >= 150 {
		left = a.w * 46 / 100
	}
	top := a.h - costRows - 1
	lines := wrapPieces(exitFacts(s, x), left-1)
	off = min(off, max(len(lines)-top, 0))
	for i := 0; i < top && off+i < len(lines); i++ {
		a.pieces(0, i, left-1, lines[off+i])
	}
	if rest := top - len(lines) - 1; rest >= 3 {
		exitChain(s, a.sub(0, len(lines)+1, left-1, 3), x)
	}
	if off+top < len(lines) {
		a.right(left-1, top-1, dim, " ↓ "+strconv.Itoa(len(lines)-off-top)+" more ")
	}
	for y := 0; y < top; y++ {
		a.put(left, y, '│', faint)
	}
	presentCPU(s, a.sub(left+2, 0, a.w-left-2, top), x)
	a.hline(0, top, a.w, '─', faint)
	presentCost(s, a.sub(0, top+1, a.w, costRows), x)
}

// exitChain draws the deadline that the exit belongs to as a line of the
// waterfall.
func exitChain(s *scene, a area, x *trace.ExitRecord) {
	r := &s.state().Chains
	for i := range r.Len() {
		if r.Last(i).Num == x.Deadline && r.Last(i).Ran() {
			presentChains(s, a, []uint64{r.N - 1 - uint64(i)}, 0, false)
			return
		}
	}
}

// exitFacts are the lines about the exit: what it was, the decisions, the
// deadline.
func exitFacts(s *scene, x *trace.ExitRecord) [][]piece {
	lines := [][]piece{
		{{x.Reason.String(), value | strong, 0}, {"  v" + cpuWord(x.VCPU), vcpuStyle(x.VCPU), 0}, {" on pCPU ", dim, 1},
			s.known(vmm.FigurePCPU, cpuWord(x.PCPU), dim, 1)},
		{{"at      ", label, 0}, {"TSC " + group3(uint64(x.At)), value, 0}, {"  rip ", label, 1}, {hex(x.RIP), value, 1}},
	}
	for _, w := range exitDecoded(x) {
		lines = append(lines, []piece{{w[0], label, 0}, {w[1], value, 0}})
	}
	if c := x.Cycles(); c > 0 {
		lines = append(lines, []piece{{"cost    ", label, 0}, {s.both(c), value, 0}, {" exit to next entry", dim, 1}})
		if away := c - x.Costs.Total(); away > 0 && x.Costs.Total() > 0 && x.Reason == trace.ExitHLT {
			lines = append(lines, []piece{{"        ", label, 0}, {s.span(x.Costs.Total()), value, 0}, {" host work, ", dim, 0}, {s.span(away), value, 0},
				{" halted (polling or asleep)", dim, 0}})
		}
	} else {
		lines = append(lines, []piece{{"cost    ", label, 0}, {"still in the host", warn, 0}})
	}
	if x.EntryAt != 0 {
		lines = append(lines, entryPieces(x))
	}
	lines = append(lines, nil)
	lines = append(lines, fastFacts(s, x)...)
	if ns := kicksDuring(s.state(), x, 4); len(ns) > 0 {
		lines = append(lines, []piece{{"kicks ", heading, 0}, {"before the next entry", dim, 0}})
		for i := len(ns) - 1; i >= 0; i-- {
			lines = append(lines, kickPieces(s, ns[i])...)
		}
		lines = append(lines, nil)
	}
	return append(lines, deadlineFacts(s, x)...)
}

// entryPieces is the entry that ended the exit.
func entryPieces(x *trace.ExitRecord) []piece {
	ps := []piece{{"entry   ", label, 0}, {"TSC " + group3(uint64(x.EntryAt)), value, 0}}
	if x.Vector != 0 {
		ps = append(ps, piece{"  vector " + hex(uint64(x.Vector)) + " in the entry field", text, 1})
	}
	if x.Reentry {
		ps = append(ps, piece{"  from the fastpath loop", good, 2})
	}
	return ps
}

// kickPieces is a kick: what it decided, and who made it.
func kickPieces(s *scene, n uint64) [][]piece {
	k := s.state().KickLedger.Get(n)
	ps := []piece{{"  → v" + cpuWord(k.Target), text, 0}, {", mode " + trace.ModeNames[min(int(k.Mode), 3)], text, 1},
		{": ", text, 0}, {k.Decision.String(), kickStyle(k.Decision), 0}, {"  " + stepWords(k.Steps), dim, 2}}
	if c, ok := kickCost(s.state(), k.Steps); ok {
		ps = append(ps, piece{"  ≈ " + group3(uint64(c)) + " cyc", dim, 3})
	}
	return [][]piece{ps, {{"    by ", label, 0}, {wakerWords(wakerOf(s.state(), n), k), dim, 0}}}
}

// exitDecoded is the exit information in words.
func exitDecoded(x *trace.ExitRecord) [][2]string {
	switch x.Reason {
	case trace.ExitMSRWrite, trace.ExitMSRRead:
		out := [][2]string{{"MSR     ", hex(x.Info1) + "  " + msrName(x.Info1)}}
		if x.Reason == trace.ExitMSRRead {
			return out
		}
		switch x.Info1 {
		case 0x6e0:
			out = append(out, [2]string{"value   ", group3(x.Info2) + disarms(x.Info2)})
		case 0x830:
			out = append(out, [2]string{"ICR     ", hex(x.Info2)}, [2]string{"        ", icrWords(x.Info2)})
		case 0x832:
			out = append(out, [2]string{"LVTT    ", hex(x.Info2)}, [2]string{"        ", lvttWords(uint32(x.Info2))})
		default:
			out = append(out, [2]string{"value   ", hex(x.Info2)})
		}
		return out
	case trace.ExitAPICAccess, trace.ExitAPICWrite, trace.ExitMMIO, trace.ExitEPTViolation:
		out := [][2]string{{"address ", hex(x.Info1) + apicName(x.Info1)}, {"value   ", hex(x.Info2)}}
		if x.Info1&0xfff == 0x320 {
			out = append(out, [2]string{"        ", lvttWords(uint32(x.Info2))})
		}
		return out
	case trace.ExitIO:
		return [][2]string{{"port    ", hex(x.Info1)}, {"value   ", hex(x.Info2)}}
	case trace.ExitCPUID:
		return [][2]string{{"leaf    ", hex(x.Info1)}}
	case trace.ExitExternalInterrupt:
		return [][2]string{{"vector  ", hex(x.Info2) + hostVector(x.Info2)}}
	case trace.ExitPreemptionTimer, trace.ExitHLT, trace.ExitInterruptWindow, trace.ExitPause:
		return [][2]string{{"info    ", reasonWords[x.Reason]}}
	}
	return [][2]string{{"info    ", hex(x.Info1) + "  " + hex(x.Info2)}}
}

var reasonWords = map[trace.ExitReason]string{
	trace.ExitPreemptionTimer: "the VMX preemption timer reached 0", trace.ExitHLT: "the guest executed HLT",
	trace.ExitInterruptWindow: "the guest became ready for an interrupt", trace.ExitPause: "the guest spun on PAUSE",
}

func disarms(v uint64) string {
	if v == 0 {
		return " (disarms)"
	}
	return ""
}

func apicName(gpa uint64) string {
	if n, ok := apicRegNames[gpa&0xff0]; ok && gpa&^0xfff == 0xfee00000 {
		return "  APIC " + n
	}
	return ""
}

// hostVector names the host vectors of arch/x86/include/asm/irq_vectors.h.
func hostVector(v uint64) string {
	switch v {
	case 0xec:
		return "  local timer"
	case 0xf0, 0xf1, 0xf2:
		return "  posted-interrupt notification"
	case 0xfd:
		return "  reschedule (a kick)"
	}
	return ""
}

// fastFacts is the fastpath's decision with its clauses.
func fastFacts(s *scene, x *trace.ExitRecord) [][]piece {
	rules := vmm.RuleSet(ruleAt(s.state(), x))
	head := []piece{{"fastpath ", heading, 0}, {trace.RuleSetNames[min(int(rules), len(trace.RuleSetNames)-1)], value, 0}, {"  ", text, 0}}
	if !x.HasFast {
		return [][]piece{append(head, piece{"no verdict was reported for this exit", dim, 0})}
	}
	head = append(head, piece{fastWord(x), fastStyle(x) | strong, 0})
	if x.Reentry {
		head = append(head, piece{", re-entered", good, 0})
	} else if x.Clause != trace.ClauseNone {
		head = append(head, piece{" because " + clauseShort(x.Clause), text, 0})
	}
	lines := [][]piece{head}
	f := s.fastpathOf(rules)
	for _, t := range judge(fastTerms(&f, x), x.Clause) {
		lines = append(lines, termPieces(t))
	}
	return append(lines, nil)
}

func termPieces(t term) []piece {
	switch t.state {
	case termHeld:
		return []piece{{"  ✓ ", good, 0}, {t.words, text, 0}}
	case termFailed:
		return []piece{{"  ✗ ", bad, 0}, {t.words, value, 0}}
	}
	return []piece{{"  · ", dim, 0}, {t.words, dim, 0}}
}

// ruleAt is the fastpath rule set that held at an exit.
func ruleAt(st *trace.State, x *trace.ExitRecord) uint64 {
	v := st.Knobs[trace.KnobFastpath]
	for i := range st.KnobTurns.Len() { // from the latest back
		k := st.KnobTurns.Last(i)
		if k.Seq < x.Seq {
			break
		}
		if k.Knob == trace.KnobFastpath {
			v = k.Old
		}
	}
	return v
}

// deadlineFacts is the deadline that the exit belongs to, step by step.
func deadlineFacts(s *scene, x *trace.ExitRecord) [][]piece {
	c := chainOf(s.state(), x)
	if c == nil {
		return [][]piece{{{"deadline ", heading, 0}, {"none belongs to this exit", dim, 0}}}
	}
	lines := [][]piece{{{"deadline ", heading, 0}, {group3(uint64(c.Num)), value, 0}, {"  " + c.Outcome.String(), text, 0},
		{lateWords(s, c), s.lateStyle(c.Late), 0}}}
	add := func(name, words string, st style) {
		if words != "" {
			lines = append(lines, []piece{{"  " + name, label, 0}, {words, st, 0}})
		}
	}
	backing := c.Backing.String()
	if c.Clause != trace.ClauseNone {
		backing += ", not hv: " + clauseShort(c.Clause)
	}
	add("hv/sw   ", backing, value)
	if c.ExpireAt != 0 && int(c.Route) < len(routeWords) {
		add("expire  ", routeWords[c.Route]+because(c.RouteClause), value)
	}
	if c.Place != trace.BadPlacement {
		add("wait    ", c.Place.String()+", delta "+s.cyc(c.Delta)+", waited "+s.span(c.Waited)+", tuning "+verdictWord(c.Verdict), value)
	}
	if c.Deliver != trace.BadDeliver {
		add("deliver ", c.Deliver.String()+because(c.DeliverClause), value)
	}
	add("exits   ", chainExits(c), dim)
	return lines
}

func lateWords(s *scene, c *trace.Chain) string {
	if !c.Ran() {
		return ""
	}
	return ", lateness " + s.both(c.Late)
}

func chainExits(c *trace.Chain) string {
	var out []string
	for _, p := range []struct {
		name string
		n    trace.Num
	}{{"armed in ", c.ArmExit}, {"expired in ", c.FireExit}, {"entered after ", c.EntryExit}} {
		if p.n != trace.NoNum {
			out = append(out, p.name+group3(uint64(p.n)))
		}
	}
	return strings.Join(out, ", ")
}

// chainOf finds the deadline of an exit among those that are kept.
func chainOf(st *trace.State, x *trace.ExitRecord) *trace.Chain {
	if x.Deadline == trace.NoNum {
		return nil
	}
	for i := range st.Chains.Len() {
		if c := st.Chains.Last(i); c.Num == x.Deadline {
			return c
		}
	}
	var found *trace.Chain
	for i := range st.VCPUs {
		st.VCPUs[i].Open(func(c *trace.Chain) {
			if c.Num == x.Deadline {
				found = c
			}
		})
	}
	return found
}

// presentCost draws the cost by phase as a bar with a legend.
func presentCost(s *scene, a area, x *trace.ExitRecord) {
	total := x.Costs.Total()
	if total == 0 {
		a.cut(0, 0, a.w, dim, "cost by phase: "+pickString(x.EntryAt == 0, "told at the next entry", "this source does not split it"))
		return
	}
	lead := a.text(0, 0, label, "host ")
	lead = a.text(lead, 0, value, s.both(total)) + 1
	costBar(s, a.sub(lead, 0, a.w-lead, 1), x, 0)
	col, y := 0, 1
	for i := range x.Costs.N {
		st, fill := phaseStyle(x.Costs.Phases[i])
		if !s.mono {
			fill = '█'
		}
		name, n := x.Costs.Phases[i].String(), group3(uint64(x.Costs.Cycles[i]))
		w := 2 + len(name) + 1 + len(n) + 2
		if col+w > a.w {
			col, y = 0, y+1
		}
		if y >= a.h {
			return
		}
		a.put(col, y, fill, st)
		e := a.text(col+2, y, dim, name+" ")
		col = a.text(e, y, value, n) + 2
	}
	if x.Costs.Rest > 0 && y < a.h {
		a.cut(col, y, a.w-col, dim, "· others "+group3(uint64(x.Costs.Rest)))
	}
}
