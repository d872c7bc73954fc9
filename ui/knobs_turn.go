package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// turner makes the handler that takes a knob's next value.
func turner(k trace.Knob, back bool) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.turn(k, back) }
}

// turn gives a knob its next value, or says why not.
func (m *Model) turn(k trace.Knob, back bool) tea.Cmd {
	if k == trace.KnobAdvance {
		return m.stepAdvance(back)
	}
	return m.set(k, knobRowOf(k).turn(m.knobValue(k), back))
}

// set turns a knob to a value and says so.
func (m *Model) set(k trace.Knob, v uint64) tea.Cmd {
	if why := m.whyNotKnob(k); why != "" {
		m.refuse(why)
		return nil
	}
	old := m.knobValue(k)
	if old == v {
		m.say("%s is %s already", k, showKnob(k, v))
		return nil
	}
	m.history.undo = append(m.history.undo, trace.KnobMark{Knob: k, Value: v, Old: old})
	return m.turnTo(k, old, v)
}

// undoTurn takes back the last turn that was made here.
func (m *Model) undoTurn() tea.Cmd {
	u := m.history.undo
	if len(u) == 0 {
		m.refuse("no knob has been turned here: there is nothing to take back")
		return nil
	}
	last := u[len(u)-1]
	if why := m.whyNotKnob(last.Knob); why != "" {
		m.refuse(why)
		return nil
	}
	m.history.undo = u[:len(u)-1]
	return m.turnTo(last.Knob, m.knobValue(last.Knob), last.Old)
}

// turnTo asks for a knob's value and says so.
func (m *Model) turnTo(k trace.Knob, old, v uint64) tea.Cmd {
	w := &m.wanted[k]
	w.value, w.set = v, true
	w.pending++
	note := ""
	switch ks := knobOf(m.frame, k); {
	case ks.Tag != vmm.TagLive:
		note = " (" + vmm.TagNames[ks.Tag] + ": " + ks.Why + ")"
	case ks.Why != "":
		note = " (" + ks.Why + ")"
	}
	m.say("%s: %s → %s%s", k, showKnob(k, old), showKnob(k, v), note)
	return m.do(vmm.Command{Verb: vmm.DoKnob, Knob: k, Value: v})
}

// stepAdvance fixes the advance a step from where it is; from adaptive that is
// the value tuned so far.
func (m *Model) stepAdvance(back bool) tea.Cmd {
	cur := m.knobValue(trace.KnobAdvance)
	if cur == trace.AdvanceAdaptive {
		cur = m.tunedAdvance()
	}
	return m.set(trace.KnobAdvance, turnAdvance(cur, back))
}

// tunedAdvance is the advance of the selected vCPU, in ns.
func (m *Model) tunedAdvance() uint64 {
	if vs := m.frame.State.VCPUs; len(vs) > 0 {
		return uint64(max(vs[0].AdvanceNS, 0))
	}
	return 0
}

func (m *Model) toggleAdaptive() tea.Cmd {
	if m.knobValue(trace.KnobAdvance) == trace.AdvanceAdaptive {
		return m.set(trace.KnobAdvance, m.tunedAdvance())
	}
	return m.set(trace.KnobAdvance, trace.AdvanceAdaptive)
}

func (m *Model) toggleFastpath() tea.Cmd {
	cur := m.knobValue(trace.KnobFastpath)
	if cur == uint64(vmm.RulesOff) {
		return m.set(trace.KnobFastpath, m.lastRule)
	}
	m.lastRule = cur
	return m.set(trace.KnobFastpath, uint64(vmm.RulesOff))
}

func (m *Model) nextEra() tea.Cmd {
	order := rule.FastpathOrder[1:] // without "off"
	i := slices.Index(order, vmm.RuleSet(m.knobValue(trace.KnobFastpath)))
	return m.set(trace.KnobFastpath, uint64(order[(i+1)%len(order)]))
}

// toggleTaxCut goes from an algorithm with the cut (KC, KD) to KB, which pays the
// tax, and back to the one that was left; to KC if none was.
func (m *Model) toggleTaxCut() tea.Cmd {
	cur := m.knobValue(trace.KnobKick)
	if cur == uint64(vmm.KickKC) || cur == uint64(vmm.KickKD) {
		m.lastCut = cur
		return m.set(trace.KnobKick, uint64(vmm.KickKB))
	}
	return m.set(trace.KnobKick, m.lastCut)
}
