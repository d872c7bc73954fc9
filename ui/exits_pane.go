package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

var exitsRoom = room{
	focus: keymap.PaneExits, topic: "exits", figure: vmm.FigureExits,
	footer: []keymap.Action{keymap.Open, keymap.Explain, keymap.Filter, keymap.RunPause, keymap.StepExit, keymap.BackExit,
		keymap.StepDeadline, keymap.End, keymap.Zoom, keymap.Help, keymap.Palette, keymap.Quit},
	claim: func(_ claiming) share {
		return share{want: 7, need: 6, extra: 26}
	},
	make: func() pane { return newExitsPane() },
}

// exitsPane lists the VM-exits, newest last.
type exitsPane struct {
	list  lines
	match filter
	seen  verdicts
}

func newExitsPane() *exitsPane { return &exitsPane{list: lines{list: list{follow: true}}} }

func (p *exitsPane) status(s *scene) string {
	st := group3(exitCount(s.state()))
	if p.match.text != "" {
		st += " /" + p.match.text
	}
	if p.list.follow {
		return st + " ↓"
	}
	return st
}

func exitCount(st *trace.State) uint64 { return st.Exits.N }

// keeper tells which exits the filter keeps.
func (p *exitsPane) keeper(s *scene) keeper {
	if p.match.off() {
		return nil
	}
	r := &s.state().Exits
	p.seen.begin(len(r.Buf), r.N, s.f.Status.Branch)
	return func(n uint64) bool {
		x := r.Get(n)
		var c *trace.Chain
		if p.match.cond != nil && !p.seen.knows(n) {
			c = chainOf(s.state(), x)
		}
		settled := x.EntryAt != 0 && (c == nil && n+64 < r.N || c != nil && c.Outcome != trace.OutcomeOpen)
		return p.seen.of(n, settled, func() bool { return p.keeps(s, x, c) })
	}
}

func (p *exitsPane) keeps(s *scene, x *trace.ExitRecord, c *trace.Chain) bool {
	return p.match.ok(s.hz(), func() query.Moment { return query.OfExit(x, c) }, func() string {
		return x.Reason.String() + " " + exitInfo(x) + " " + fastWord(x) + " " + x.Clause.String() + " v" + cpuWord(x.VCPU)
	})
}

// chosen is the selected exit, NoNum if there is none.
func (p *exitsPane) chosen(s *scene) trace.Num {
	r := &s.state().Exits
	n, ok := p.list.selected(r.First(), r.N, p.keeper(s))
	if x := r.Get(n); ok && x != nil {
		return x.Num
	}
	return trace.NoNum
}

func (p *exitsPane) draw(s *scene, a area) {
	if s.state().Exits.N == 0 {
		empty(a, "no VM-exit yet", "each exit appears with its reason, what the fastpath made of it, and its cost; press space or s")
		return
	}
	exitHead(a.sub(0, 0, a.w, 1))
	r, keep := &s.state().Exits, p.keeper(s)
	rows := p.list.fill(r.First(), r.N, a.h-1, keep)
	if len(rows) == 0 {
		empty(a, "no exit matches", "none of the "+group3(uint64(r.Len()))+" that are kept meets the filter "+p.match.text+"; esc clears it")
		return
	}
	sel, _ := p.list.selected(r.First(), r.N, keep)
	for i, n := range rows {
		exitLine(s, a.sub(0, 1+i, a.w, 1), s.state().Exits.Get(n), s.state().Exits.Get(n-1))
		if n == sel && (s.focused || !p.list.follow) {
			a.mark(1+i, selected)
		}
	}
}

func (p *exitsPane) strip(s *scene, a area) { stripExits(s, a) }

func (p *exitsPane) act(s *scene, act keymap.Action, rows int) bool {
	r := &s.state().Exits
	return p.list.move(act, r.First(), r.N, rows-1, p.keeper(s))
}

func (p *exitsPane) click(s *scene, _, y int) bool {
	r := &s.state().Exits
	return p.list.pick(y-1, r.First(), r.N, p.keeper(s))
}

func (p *exitsPane) filter(text string) *query.Error {
	p.match = newFilter(text)
	p.seen.forget()
	return p.match.err
}

func (p *exitsPane) filtered() string { return p.match.text }

func (p *exitsPane) open(m *Model) tea.Cmd {
	if n := p.chosen(m.scene()); n != trace.NoNum {
		m.open = &inspector{num: n}
		return nil
	}
	m.refuse("there is no exit to open yet")
	return nil
}

func (p *exitsPane) help() []string {
	return []string{
		"Every VM-exit in order: number, time since the exit before on any vCPU, vCPU, reason in KVM's spelling, what it was about, what the fastpath made of it, cycles from exit to the next entry.",
		"fastpath — reenter: straight back into the guest. exit-handled: done, but round the outer loop. none: the normal handler ran; the clause is the first that failed.",
		"deadline — the one that the exit armed, expired, injected or ended. injects — the vector in the VM-entry field of the entry after it, where there is any. Both only in a wide list.",
		"The bar splits the cycles by phase. Enter opens the exit: registers, disassembly, every decision with its clauses, cost by phase.",
		"/ filters by a condition such as exit == HLT && cycles > 20us, or late > 5us for the exits of late deadlines; or by a text: a reason, an MSR, v1, a clause; ! in front shows the others.",
	}
}
