package interval_test

import (
	"fmt"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/interval"
)

// fold applies events in text form.
func fold(t *testing.T, text string) *trace.State {
	t.Helper()
	var s trace.State
	s.Reset(&trace.Header{VCPUs: 2, Hz: 1_000_000_000, Knobs: trace.UnknownKnobs()})
	r := trace.NewTextReader(strings.NewReader(text))
	for {
		e, err := r.Next()
		if err != nil {
			if err.Error() == "EOF" {
				return &s
			}
			t.Fatal(err)
		}
		s.Apply(&e)
	}
}

// words is a line in words: state from-to, with what qualifies it.
func words(line []interval.Interval) string {
	var out []string
	for _, i := range line {
		w := fmt.Sprintf("%v %d-%d", i.State, i.From, i.To)
		switch {
		case i.State == interval.Exit:
			w += " " + trace.ExitReason(i.Reason).String()
		case i.State == interval.User:
			w += fmt.Sprintf(" %v %#x", trace.UserExit(i.Reason), i.Address)
		case i.HasTask:
			w += fmt.Sprintf(" %d", i.Task)
		}
		out = append(out, w)
	}
	return strings.Join(out, "\n")
}

const asleepThenHeld = `
50 vcpu=0 pcpu=5 entry rip=0x0 vector=0 hv=0 reentry=0
100 vcpu=0 pcpu=5 exit reason=HLT rip=0x0 info1=0x0 info2=0x0
105 vcpu=0 pcpu=5 halt step=polling poll=10
108 vcpu=0 pcpu=5 halt step=blocked poll=10
110 vcpu=0 pcpu=5 sched in=0 pcpu=5 task=0 state=sleeping
302 vcpu=0 pcpu=5 waking by=0 target=5
310 vcpu=- pcpu=5 sched in=1 pcpu=5 task=71
900 vcpu=0 pcpu=5 sched in=1 pcpu=5 task=71
910 vcpu=0 pcpu=5 user_exit reason=IO address=0x71 write=1 errno=0
920 vcpu=0 pcpu=5 sched in=0 pcpu=5 task=88 state=runnable
960 vcpu=0 pcpu=5 sched in=1 pcpu=5 task=88
990 vcpu=0 pcpu=5 user_entry immediate=0
995 vcpu=0 pcpu=5 entry rip=0x1001 vector=0 hv=0 reentry=0
1000 vcpu=1 pcpu=2 exit reason=CPUID rip=0x0 info1=0x0 info2=0x0
`

func TestTheLineHasNoGaps(t *testing.T) {
	got := words(interval.Line(fold(t, asleepThenHeld), 0, 20, 1000))
	want := `unknown 20-100
in exit 100-105 HLT
halt polling 105-108
in exit 108-110 HLT
asleep 110-302
runnable 302-310 0
runnable 310-900 71
in exit 900-910 HLT
user space 910-920 IO 0x71
runnable 920-960 88
user space 960-990 IO 0x71
in exit 990-995 HLT
in guest 995-1000`
	if got != want {
		t.Errorf("line\n%s\nwant\n%s", got, want)
	}
}

func TestWhatHasNotEndedIsOnTheLine(t *testing.T) {
	upTo := func(line string) string { return asleepThenHeld[:strings.Index(asleepThenHeld, line)] }
	for _, tt := range []struct{ name, events, want string }{
		{"asleep", upTo("302 "), "asleep"},
		{"runnable", upTo("900 "), "runnable"},
		{"user space", upTo("920 "), "user space"},
		{"preempted in user space", upTo("960 "), "runnable"},
		{"in the exit", upTo("105 "), "in exit"},
		{"the debugger's pause", upTo("995 ") + "993 vcpu=- pcpu=- debugger act=pause hidden=0\n994 vcpu=- pcpu=- mark name=\"x\"\n",
			"held by the debugger"},
		{"stopped", "10 vcpu=0 pcpu=1 sched in=0 pcpu=1 task=0 state=stopped\n90 vcpu=- pcpu=- mark name=\"x\"\n", "stopped"},
	} {
		s := fold(t, tt.events)
		line := interval.Line(s, 0, s.First, s.Now+5)
		if got := line[len(line)-1].State.String(); got != tt.want {
			t.Errorf("%s: ends %s, want %s", tt.name, got, tt.want)
		}
		at := s.First
		for _, i := range line {
			if i.From != at || i.To <= i.From {
				t.Errorf("%s: a gap at %d: %v", tt.name, at, words(line))
			}
			at = i.To
		}
		if at != s.Now+5 {
			t.Errorf("%s: the line ends at %d", tt.name, at)
		}
	}
}

func TestNoLineOfNothing(t *testing.T) {
	s := fold(t, asleepThenHeld)
	if l := interval.Line(s, 9, 0, 10); l != nil {
		t.Errorf("a line of a vCPU that there is none of: %v", l)
	}
	if l := interval.Line(s, 0, 10, clock.TSC(10)); l != nil {
		t.Errorf("a line without length: %v", l)
	}
}
