package query

import (
	"errors"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// moment is a context as break conditions have it.
type moment struct {
	late    float64 // cycles
	ran     bool
	vcpu    float64
	exit    string
	changed bool
	rate    float64
}

var vocabulary = &Vocabulary[moment]{Vars: []Var[moment]{
	{Word: "late", Unit: Cycles, Number: func(m moment, _ int) (float64, bool) { return m.late, m.ran }},
	{Word: "vcpu", Unit: Plain, Number: func(m moment, _ int) (float64, bool) { return m.vcpu, true }},
	{Word: "rate", Unit: Percent, Number: func(m moment, _ int) (float64, bool) { return m.rate, true }},
	{Word: "exit", Values: []string{"HLT", "MSR_WRITE"}, Name: func(m moment, _ int) (string, bool) { return m.exit, m.exit != "" }},
	{Word: "reg", Keys: []string{"tpr", "ppr"}, Unit: Plain, Number: func(_ moment, k int) (float64, bool) { return float64(10 * k), true }},
	{Word: "any", Keys: []string{"x"}, NoKey: true, Unit: Plain, Number: func(_ moment, k int) (float64, bool) { return float64(k), true }},
	{Word: "knob", States: []string{"changed"}, State: func(m moment, _ int, _ string) bool { return m.changed }},
}}

const hz clock.Hz = 2_000_000_000

func TestExpressions(t *testing.T) {
	m := moment{late: 4000, ran: true, vcpu: 1, exit: "MSR_WRITE", rate: 90} // late by 2 us
	tests := []struct {
		src  string
		want bool
	}{
		{"late > 1us", true},
		{"late > 2us", false},
		{"late >= 2us", true},
		{"late == 2000ns", true},
		{"late == 4000", true},
		{"late == 4000 cycles", true},
		{"late == 4000cycles", true},
		{"late < 0.002ms", false},
		{"late <= 0.002 ms", true},
		{"late != 4000", false},
		{"late > -5us", true},
		{"vcpu == 1", true},
		{"vcpu == 1 && late > 3us", false},
		{"vcpu == 0 || late > 1us", true},
		{"vcpu == 1 || late > 3us && vcpu == 0", true},
		{"(vcpu == 1 || late > 3us) && vcpu == 0", false},
		{"!(vcpu == 0)", true},
		{"!vcpu == 0", true},
		{"!!(vcpu == 0)", false},
		{"exit == MSR_WRITE", true},
		{"exit == msr_write", true},
		{"exit != HLT", true},
		{`exit == "HLT"`, false},
		{"rate >= 90%", true},
		{"rate > 90 %", false},
		{"reg(ppr) == 10", true},
		{"reg.ppr == 10", true},
		{"reg.tpr == 0", true},
		{"reg.ppr > vcpu", true},
		{"vcpu < reg(ppr)", true},
		{"any == -1 && any.x == 0", true},
		{"knob changed", false},
		{"!knob changed", true},
		{"  late>1us&&vcpu==1  ", true},
	}
	for _, tt := range tests {
		p, err := Compile(tt.src, vocabulary)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if got := p.Eval(m, hz); got != tt.want {
			t.Errorf("%s = %v, want %v", tt.src, got, tt.want)
		}
		if (p.Explain(m, hz) == "") != tt.want {
			t.Errorf("%s: explanation %q", tt.src, p.Explain(m, hz))
		}
		if p.String() != tt.src {
			t.Errorf("String is %q, want %q", p, tt.src)
		}
	}
}

func TestWhatHasNoValueIsNeitherTrueNorFalse(t *testing.T) {
	tests := []struct {
		src  string
		want bool
		why  string
	}{
		{"late < 5us", false, "late has no value"},
		{"!(late < 5us)", false, "late has no value"},
		{"late < 5us || vcpu == 0", true, ""},
		{"vcpu == 0 || late < 5us", true, ""},
		{"late < 5us && vcpu == 0", false, "late has no value"},
		{"late < 5us && vcpu == 1", false, "vcpu is 0, not == 1"},
		{"exit == HLT", false, "exit has no value"},
		{"exit != HLT", false, "exit has no value"},
		{"late < vcpu", false, ""},
	}
	for _, tt := range tests {
		p, err := Compile(tt.src, vocabulary)
		if tt.src == "late < vcpu" {
			if err == nil {
				t.Error("a time is compared with a count")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, why := p.Eval(moment{}, hz), p.Explain(moment{}, hz); got != tt.want || why != tt.why {
			t.Errorf("%s = %v, %q, want %v, %q", tt.src, got, why, tt.want, tt.why)
		}
	}
}

func TestExplanationsGiveTheFigures(t *testing.T) {
	m := moment{late: 12345, ran: true, exit: "HLT", rate: 33.33333}
	tests := []struct{ src, want string }{
		{"late < 5us", "late is 6.1725us, not < 5us"},
		{"late < 5", "late is 12345 cycles, not < 5"},
		{"late < 100ns", "late is 6.1725us, not < 100ns"},
		{"late < 0.001s && rate > 50%", "rate is 33.3333%, not > 50%"},
		{"late < 1us && rate > 50%", "late is 6.1725us, not < 1us; rate is 33.3333%, not > 50%"},
		{"late < 1us || rate > 50%", "late is 6.1725us, not < 1us; rate is 33.3333%, not > 50%"},
		{"exit == MSR_WRITE", "exit is HLT, not MSR_WRITE"},
		{"exit != HLT", "exit is HLT"},
		{"!(exit == HLT)", "exit is HLT"},
		{"!(late > 5us)", "late is 6.1725us, > 5us"},
		{"knob changed", "knob is not changed"},
		{"reg(tpr) > reg(ppr)", "reg(tpr) is 0, not > reg(ppr) = 10"},
	}
	for _, tt := range tests {
		p, err := Compile(tt.src, vocabulary)
		if err != nil {
			t.Fatalf("%s: %v", tt.src, err)
		}
		if got := p.Explain(m, hz); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.src, got, tt.want)
		}
	}
	p, _ := Compile("!knob changed", vocabulary)
	if got := p.Explain(moment{changed: true}, hz); got != "knob is changed" {
		t.Errorf("!knob changed: %q", got)
	}
}

func TestErrorsPointAtTheColumn(t *testing.T) {
	tests := []struct {
		src  string
		col  int
		want string
	}{
		{"", 1, "want a name"},
		{"   ", 4, "want a name"},
		{"late", 1, "has to be compared"},
		{"late >", 7, "want a value"},
		{"late > > 5", 8, "want a value"},
		{"late = 5", 6, `"=" is no operator: write "=="`},
		{"late > 5us & vcpu == 1", 12, `write "&&"`},
		{"late > 5us vcpu == 1", 12, `"vcpu" does not belong here`},
		{"late > 5us )", 12, "does not belong"},
		{"(late > 5us", 12, "want )"},
		{"latr > 5us", 1, "do you mean late?"},
		{"zz > 5us", 1, "the names are late, vcpu"},
		{"late > 5kg", 8, "is not a number"},
		{"late > 0x10", 8, "is not a number"},
		{"late > 5%", 8, "late is a time"},
		{"vcpu == 5us", 9, "vcpu is a count"},
		{"vcpu == 5%", 9, "vcpu is a count"},
		{"rate > 0.9", 8, "a percentage such as 90%"},
		{"rate > 90us", 8, "is a rate"},
		{"exit == FOO", 9, `"FOO" is no exit: HLT, MSR_WRITE`},
		{"exit > HLT", 6, "can be == or !="},
		{"exit", 1, "has to be compared"},
		{"reg == 1", 1, "reg needs one of tpr, ppr, as in reg(tpr)"},
		{"reg(x) == 1", 5, `reg has no "x"; it has tpr, ppr`},
		{"reg.x == 1", 5, `reg has no "x"`},
		{"reg( == 1", 6, "want a word in the parentheses"},
		{"reg(tpr == 1", 9, "want ) after tpr"},
		{"late(x) > 1", 6, "late stands alone"},
		{"late.x > 1", 6, "late stands alone"},
		{"knob == 1", 6, "cannot be compared, or changed"},
		{"knob moved", 6, `"moved" cannot follow knob`},
		{"knob", 1, "compared with something, or changed"},
		{"late changed", 6, "cannot follow late"},
		{"vcpu == knob", 9, "is not a number"},
		{"vcpu == foo", 9, "nothing is called"},
		{`vcpu == "1"`, 9, "is not a number"},
		{`exit == "HLT`, 9, "has no end"},
		{"late > 5us && €", 15, "has no meaning here"},
		{strings.Repeat("(", 200) + "late > 1", 102, "nested too deeply"},
	}
	for _, tt := range tests {
		_, err := Compile(tt.src, vocabulary)
		var qe *Error
		if !errors.As(err, &qe) {
			t.Errorf("%q: error %v", tt.src, err)
			continue
		}
		if qe.Col != tt.col || !strings.Contains(qe.Msg, tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want column %d with %q", tt.src, err, tt.col, tt.want)
		}
	}
}

func TestPointDrawsACaret(t *testing.T) {
	src := "late = 5"
	_, err := Compile(src, vocabulary)
	var qe *Error
	if !errors.As(err, &qe) {
		t.Fatal(err)
	}
	if got, want := qe.Point(src), "late = 5\n     ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"late > 20us && vcpu == 1", "exit == MSR_WRITE || knob changed", "!(reg.tpr < 5)", "((", "\"", "5%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Compile(src, vocabulary)
		var qe *Error
		if err != nil {
			if !errors.As(err, &qe) || qe.Col < 1 || qe.Col > len([]rune(src))+1 {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		for _, m := range []moment{{}, {late: 1, ran: true, exit: "HLT", changed: true}} {
			if p.Eval(m, hz) != (p.Explain(m, hz) == "") {
				t.Fatalf("%q is %v but explained %q", src, p.Eval(m, hz), p.Explain(m, hz))
			}
		}
	})
}
