package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestFilterTextIsAConditionIfItCompares(t *testing.T) {
	tests := []struct {
		text  string
		cond  bool
		col   int // of the error, 0 if none
		line  string
		keeps bool
	}{
		{"", false, 0, "anything", true},
		{"hlt", false, 0, "HLT", true},
		{"!hlt", false, 0, "HLT", false},
		{"! hlt", false, 0, "CPUID", true},
		{"knob changed", true, 0, "", false},
		{"late > 20us && vcpu == 1", true, 0, "", false},
		{"!(late > 20us)", true, 0, "", false},
		{"late > ", false, 7, "kept while it is wrong", true},
		{"latt > 5us", false, 1, "", true},
		{"late", false, 0, "late", true}, // a word alone compares nothing
	}
	for _, tt := range tests {
		f := newFilter(tt.text)
		if (f.cond != nil) != tt.cond || (f.err != nil) != (tt.col != 0) || f.err != nil && f.err.Col != tt.col {
			t.Errorf("newFilter(%q) = condition %v, error %v; want condition %v, error at column %d", tt.text, f.cond, f.err, tt.cond, tt.col)
		}
		if f.cond == nil && f.okText(tt.line) != tt.keeps {
			t.Errorf("filter %q keeps %q: %v, want %v", tt.text, tt.line, !tt.keeps, tt.keeps)
		}
	}
}

func TestConditionsFilterExitsDeadlinesAndKicks(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	s := r.m.scene()
	exits, chains, kicks := r.m.panes[paneExits].(*exitsPane), r.m.panes[paneDeadlines].(*deadlinesPane), r.m.panes[paneKicks].(*kicksPane)

	r.press(`6,/,"exit == HLT && cycles > 30us",enter`)
	r.screen()
	for _, n := range exits.list.shown {
		if x := s.state().Exits.Get(n); x.Reason != trace.ExitHLT || x.Cycles() <= 75_000 {
			t.Errorf("the list shows exit %d: %v, %d cycles", x.Num, x.Reason, x.Cycles())
		}
	}
	if len(exits.list.shown) == 0 {
		t.Error("no exit meets the filter")
	}
	r.press(`/,"late > 3us",enter`) // the exits of late deadlines
	r.screen()
	for _, n := range exits.list.shown {
		if c := chainOf(s.state(), s.state().Exits.Get(n)); c == nil || c.Late <= 7_500 {
			t.Errorf("exit %d of deadline %+v is shown", n+1, c)
		}
	}

	if len(exits.list.shown) == 0 {
		t.Error("no exit of a late deadline is shown")
	}

	r.press(`2,/,"late > 3000 && backing == sw",enter,up`)
	r.screen()
	for _, n := range chains.list.shown {
		if c := s.state().Chains.Get(n); c.Late <= 3000 || c.Backing != trace.BackSW {
			t.Errorf("the waterfall shows deadline %d: %d cycles late, backed by %v", c.Num, c.Late, c.Backing)
		}
	}
	r.wants("/late > 3000 && backing == sw")

	r.press(`4,/,"kick == wake && vcpu == 1",enter`)
	r.screen()
	for _, n := range kicks.list.shown {
		if k := s.state().KickLedger.Get(n); k.Decision != trace.KickWake || k.Target != 1 {
			t.Errorf("the ledger shows %+v", k)
		}
	}
	if len(kicks.list.shown) == 0 || len(chains.list.shown) == 0 {
		t.Errorf("%d kicks and %d deadlines are shown", len(kicks.list.shown), len(chains.list.shown))
	}
}

func TestConditionErrorsPointAtTheColumnWhileTyping(t *testing.T) {
	r := newRig(t, 100, 30, 3000)
	for _, tt := range []struct{ key, text, want string }{
		{"6,/", "exit == HLTT", "column 9"}, {"b", "late > 5 apples", "column"}, {">", "latt > 5us", "do you mean late"},
	} {
		r.press(tt.key)
		r.press(`"` + tt.text + `"`)
		r.wants("▲ ")
		r.wants(tt.want)
		r.press("enter")
		if r.m.prompt == nil {
			t.Errorf("enter takes the wrong condition %q", tt.text)
		}
		lines := strings.Split(r.screen(), "\n")
		typed, below := lines[28], lines[29]
		if caret := strings.Index(below, "▲"); caret < 0 || !strings.Contains(typed, tt.text) {
			t.Errorf("the lines show %q and %q", typed, below)
		} else if want := strings.Index(typed, tt.text) + r.m.prompt.err.Col - 1; caret != want {
			t.Errorf("the caret of %q is in column %d, want %d", tt.text, caret, want)
		}
		r.press("esc")
	}
	if len(r.s.Done) != 0 {
		t.Errorf("the session was asked for %+v", r.s.Done)
	}
}

func TestFilteredListsMoveByKeptLines(t *testing.T) {
	keep := func(n uint64) bool { return n%10 == 3 }
	tests := []struct {
		name   string
		sel    uint64
		follow bool
		keys   []string
		want   uint64
		end    bool
	}{
		{"newest kept", 0, true, nil, 93, true},
		{"up", 0, true, []string{"up", "up"}, 73, false},
		{"down to the newest", 73, false, []string{"down", "down"}, 93, true},
		{"not past the ends", 23, false, []string{"up", "up", "up", "up"}, 3, false},
		{"a page of 4", 93, true, []string{"pgup"}, 63, false},
		{"ends", 53, false, []string{"home"}, 3, false},
		{"newest", 53, false, []string{"end"}, 93, true},
		{"before the first kept line the next one counts", 1, false, nil, 3, false},
	}
	m := newRig(t, 80, 24, 0).m
	for _, tt := range tests {
		l := lines{list: list{sel: tt.sel, follow: tt.follow}}
		for _, k := range tt.keys {
			a, _ := m.keys.Lookup(1, k)
			l.move(a, 0, 100, 4, keep)
		}
		if got, ok := l.selected(0, 100, keep); got != tt.want || !ok || l.follow != tt.end {
			t.Errorf("%s: line %d, follow %v; want %d, %v", tt.name, got, l.follow, tt.want, tt.end)
		}
	}
	var l lines
	if n, ok := l.selected(0, 100, func(uint64) bool { return false }); ok {
		t.Errorf("line %d is selected although none is kept", n)
	}
	if got := l.fill(0, 100, 3, keep); len(got) != 3 || got[0] != 3 || got[2] != 23 {
		t.Errorf("the first page is %v, want 3, 13, 23", got)
	}
}

func TestVerdictsAreForgottenWhenTheRunGoesBack(t *testing.T) {
	var v verdicts
	asked := 0
	ask := func() bool { asked++; return true }
	for _, step := range []struct {
		end    uint64
		branch int
		want   int
	}{{10, 0, 1}, {10, 0, 1}, {12, 0, 1}, {9, 0, 2}, {9, 1, 3}} {
		v.begin(16, step.end, step.branch)
		v.of(5, true, ask)
		if asked != step.want {
			t.Errorf("with %d lines of branch %d the filter was asked %d times, want %d", step.end, step.branch, asked, step.want)
		}
	}
	v.of(6, false, ask)
	v.of(6, false, ask)
	if asked != 5 {
		t.Errorf("an open line is asked about %d times, want each time", asked-3)
	}
}

func TestBrushSelectsTheDeadlinesOfAColumn(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	r.press("2")
	st, p := &r.m.frame.State, r.m.panes[paneDeadlines].(*deadlinesPane)
	var sum, columns int
	r.press(".") // from no brush: the last column
	last := p.brush
	if last.kind != brushLate || st.Deadlines.Late.Max > last.hi || st.Deadlines.Late.Max < last.lo {
		t.Errorf("the first brush is %+v, want the column of the maximum %d", last, st.Deadlines.Late.Max)
	}
	for {
		r.screen()
		columns++
		for i := range st.Chains.Len() {
			if p.brush.keeps(st.Chains.At(i)) {
				sum++
			}
		}
		was := p.brush
		if r.press(","); p.brush == was {
			break
		}
		if p.brush.hi >= was.lo {
			t.Fatalf("the brushes %+v and %+v overlap", p.brush, was)
		}
	}
	if want := int(st.Deadlines.Late.Count()); sum != want || columns < 10 {
		t.Errorf("%d columns hold %d deadlines, want %d", columns, sum, want)
	}
	r.press("B")
	if p.brush.kind != brushTime {
		t.Errorf("B leaves the brush %+v, want one over time", p.brush)
	}
	r.screen()
	for _, n := range p.list.shown {
		if c := st.Chains.Get(n); c.ISRAt < p.brush.from || c.ISRAt > p.brush.to {
			t.Errorf("deadline %d at %d is not in %+v", c.Num, c.ISRAt, p.brush)
		}
	}
	r.wants("brush TSC")
	r.press("enter")
	if r.m.why == nil || r.m.why.x.Deadline != uint64(p.chosen(r.m.scene()).Num) {
		t.Fatal("enter does not explain the brushed deadline")
	}
	r.press("enter")
	if r.m.open == nil || r.m.focus != paneExits {
		t.Error("enter on the explanation does not open the deadline's exit")
	}
	r.press("2,esc")
	if p.brush.kind != brushNone {
		t.Error("esc leaves the brush")
	}
}

func TestMouseBrushesAndDrags(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	r.screen()
	p := r.m.panes[paneDeadlines].(*deadlinesPane)
	at := func(x, y int, a tea.MouseAction) {
		r.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: a})
	}
	at(p.hist.x+1, p.hist.y+3, tea.MouseActionPress)
	one := p.brush
	if one.kind != brushLate || one.lo > one.hi || r.m.focus != paneDeadlines {
		t.Fatalf("a click in the histogram brushes %+v", one)
	}
	at(p.hist.x+20, p.hist.y+3, tea.MouseActionMotion)
	if p.brush.lo != one.lo || p.brush.hi <= one.hi {
		t.Errorf("dragging from %+v leaves %+v", one, p.brush)
	}
	wide := p.brush
	at(0, 0, tea.MouseActionRelease)
	at(p.hist.x+40, p.hist.y+3, tea.MouseActionMotion)
	if p.brush != wide {
		t.Error("moving without the button brushes")
	}
	r.screen()
	at(p.dots.x+p.dots.w/2, p.dots.y+2, tea.MouseActionPress)
	if p.brush.kind != brushTime || p.brush.to < p.brush.from {
		t.Errorf("a click in the scatter brushes %+v", p.brush)
	}
}

func TestPictureIsSavedAndNeverOverwrites(t *testing.T) {
	r := newRig(t, 120, 40, 3000)
	now := group3(uint64(r.m.frame.Status.Now))
	stem := "ticktrap-deadlines-" + strings.ReplaceAll(now, ",", "")
	r.press("2,W")
	r.wants("picture saved to")
	first, err := os.ReadFile(filepath.Join(r.m.opts.Dir, stem+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg ", ">Deadlines<", "histogram"} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	r.press("W")
	if _, err := os.Stat(filepath.Join(r.m.opts.Dir, stem+"-2.svg")); err != nil {
		t.Error(err)
	}
	if again, _ := os.ReadFile(filepath.Join(r.m.opts.Dir, stem+".svg")); string(again) != string(first) {
		t.Error("the first picture has changed")
	}
	r.m.opts.Dir = filepath.Join(r.m.opts.Dir, "nowhere")
	r.press("W")
	r.wants("✗ saving a picture")
}

func TestHistogramColumnsAndValuesAgree(t *testing.T) {
	k := newLateScale(-5000, 80_000, 61)
	for x := range 61 {
		if got := k.col(k.value(float64(x))); got != x {
			t.Errorf("column %d has the value %v, which is in column %d", x, k.value(float64(x)), got)
		}
	}
	for _, v := range []float64{-5000, -100, -3, 0, 50, 100, 101, 7e4} {
		if got := symexp(symlog(v, 100), 100); got < v-1e-6 || got > v+1e-6 {
			t.Errorf("symexp(symlog(%v)) = %v", v, got)
		}
	}
	b, n := k.brushAt(lateness(10, 20, 30), 0)
	if n != 0 || b.lo > -4000 || b.hi > clock.Cycles(-4000) {
		t.Errorf("the brush of an empty column is %+v with %d deadlines", b, n)
	}
}
