package ui

import (
	"ticktrap/keymap"
	"ticktrap/trace"
)

// exitsPane lists the VM-exits, newest last.
type exitsPane struct {
	list  list
	match matcher
	shown []uint64 // entries drawn last, by row
}

func newExitsPane() *exitsPane { return &exitsPane{list: list{follow: true}} }

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

// rows fills p.shown with the entries to draw, oldest first, so that the
// selection is among them.
func (p *exitsPane) rows(s *scene, n int) []uint64 {
	r := &s.state().Exits
	p.shown = p.shown[:0]
	if r.N == 0 || n <= 0 {
		return p.shown
	}
	if p.match.want == "" {
		from, to := p.list.window(r.First(), r.N, n)
		for i := from; i < to; i++ {
			p.shown = append(p.shown, i)
		}
		return p.shown
	}
	sel := p.list.at(r.First(), r.N)
	for i := sel + 1; i > r.First() && len(p.shown) < n; i-- { // back from the selection
		if p.keep(r.Get(i - 1)) {
			p.shown = append(p.shown, i-1)
		}
	}
	reverse(p.shown)
	for i := sel + 1; i < r.N && len(p.shown) < n; i++ {
		if p.keep(r.Get(i)) {
			p.shown = append(p.shown, i)
		}
	}
	return p.shown
}

func reverse(s []uint64) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

func (p *exitsPane) keep(x *trace.ExitRecord) bool {
	return p.match.ok(x.Reason.String() + " " + exitInfo(x) + " " + fastWord(x) + " " + x.Clause.String() + " v" + cpuWord(x.VCPU))
}

// chosen is the selected exit, NoNum if there is none.
func (p *exitsPane) chosen(s *scene) trace.Num {
	r := &s.state().Exits
	if r.N == 0 {
		return trace.NoNum
	}
	if x := r.Get(p.selected(s)); x != nil {
		return x.Num
	}
	return trace.NoNum
}

// selected is the entry under the cursor: the nearest one that the filter keeps.
func (p *exitsPane) selected(s *scene) uint64 {
	r := &s.state().Exits
	sel := p.list.at(r.First(), r.N)
	if p.match.want == "" || r.N == 0 {
		return sel
	}
	for i := sel + 1; i > r.First(); i-- {
		if p.keep(r.Get(i - 1)) {
			return i - 1
		}
	}
	return sel
}

func (p *exitsPane) draw(s *scene, a area) {
	if s.state().Exits.N == 0 {
		empty(a, "no VM-exit yet", "each exit appears with its reason, what the fastpath made of it, and its cost; press space or s")
		return
	}
	exitHead(a.sub(0, 0, a.w, 1))
	rows := p.rows(s, a.h-1)
	if len(rows) == 0 {
		empty(a, "no exit matches", "esc clears the filter "+p.match.text)
		return
	}
	sel := p.selected(s)
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
	if p.match.want != "" && (act == keymap.Up || act == keymap.Down) {
		return p.actFiltered(s, act)
	}
	return p.list.act(act, r.First(), r.N, rows-1)
}

// actFiltered goes to the next line that the filter keeps.
func (p *exitsPane) actFiltered(s *scene, act keymap.Action) bool {
	r := &s.state().Exits
	step := uint64(1)
	if act == keymap.Up {
		step = ^uint64(0)
	}
	for i := p.selected(s) + step; r.Get(i) != nil; i += step {
		if p.keep(r.Get(i)) {
			p.list = list{sel: i, follow: i == r.N-1, top: p.list.top}
			break
		}
	}
	return true
}

func (p *exitsPane) click(s *scene, _, y int) bool {
	if y < 1 || y-1 >= len(p.shown) {
		return false
	}
	n := p.shown[y-1]
	again := n == p.selected(s) && !p.list.follow
	p.list = list{sel: n, top: p.list.top}
	return again
}

func (p *exitsPane) filter(text string) { p.match = newMatcher(text) }

func (p *exitsPane) help() []string {
	return []string{
		"Every VM-exit in order: number, time since the exit before on any vCPU, vCPU, reason in KVM's spelling, what it was about, what the fastpath made of it, cycles from exit to the next entry.",
		"fastpath — reenter: straight back into the guest. exit-handled: done, but round the outer loop. none: the normal handler ran; the clause is the first that failed.",
		"The bar splits the cycles by phase. Enter opens the exit: registers, disassembly, every decision with its clauses, cost by phase.",
		"/ filters: a reason, an MSR, v1, a clause; ! in front shows the others.",
	}
}
