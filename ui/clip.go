package ui

import (
	"encoding/base64"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// copyLine hands the selected line to the terminal's clipboard as trace text, by
// OSC 52. The sequence goes out with the next frame, so that nothing else
// writes to the terminal.
func (m *Model) copyLine() tea.Cmd {
	text := m.lineText()
	if text == "" {
		m.refuse("there is nothing to copy here: select an exit, a deadline or a kick")
		return nil
	}
	m.copied = text
	m.clip = "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	m.say("copied, where the terminal allows it (OSC 52): %s", text)
	return nil
}

// lineText is the selected line as trace text, empty if there is none.
func (m *Model) lineText() string {
	s := m.scene()
	st := s.state()
	switch p := m.panes[m.focus].(type) {
	case *exitsPane:
		n := p.chosen(s)
		if m.open != nil {
			n = m.open.num
		}
		if x := exitByNum(st, n); x != nil {
			return exitText(s, x)
		}
	case *deadlinesPane:
		if c := p.chosen(s); c != nil {
			return chainText(c)
		}
	case *kicksPane:
		if k := p.chosen(s); k != nil {
			return kickText(k)
		}
	}
	return ""
}

// exitText is an exit as the kernel's kvm_exit prints it, with what the fastpath
// made of it behind.
func exitText(s *scene, x *trace.ExitRecord) string {
	ns, _ := s.hz().ToNanos(x.At)
	t := fmt.Sprintf("[%03d] %d.%09d: kvm_exit: vcpu %d reason %v rip 0x%x info1 0x%016x info2 0x%016x", x.PCPU, ns/1e9, ns%1e9,
		x.VCPU, x.Reason, x.RIP, x.Info1, x.Info2)
	if x.HasFast {
		t += fmt.Sprintf(" fastpath %v", x.Result)
		if x.Clause != trace.ClauseNone {
			t += fmt.Sprintf(" (%v)", x.Clause)
		}
	}
	if c := x.Cycles(); c > 0 {
		t += fmt.Sprintf(" cycles %d", c)
	}
	return t
}

func chainText(c *trace.Chain) string {
	t := fmt.Sprintf("deadline %d vcpu %d target %d late %d outcome %v backing %v%s", c.Num, c.VCPU, c.Target, c.Late, c.Outcome,
		c.Backing, clauseText(c.Clause))
	if c.ExpireAt != 0 {
		t += fmt.Sprintf(" route %v%s", c.Route, clauseText(c.RouteClause))
	}
	if c.Place != trace.BadPlacement {
		t += fmt.Sprintf(" wait %v delta %d waited %d", c.Place, c.Delta, c.Waited)
	}
	return t
}

func clauseText(c trace.Clause) string {
	if c == trace.ClauseNone {
		return ""
	}
	return " (" + c.String() + ")"
}

func kickText(k *trace.KickRecord) string {
	from := "none"
	if k.From != trace.NoCPU {
		from = cpuWord(k.From)
	}
	return fmt.Sprintf("kick: target %d from %s mode %s decision %v steps %s", k.Target, from, kickMode(k.Mode),
		k.Decision, maskWords(uint64(k.Steps), trace.KickStepNames))
}
