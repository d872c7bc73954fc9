package trace

import "testing"

// TestAccessorsReadWhatWasWritten: an event and its arguments are the same thing.
func TestAccessorsReadWhatWasWritten(t *testing.T) {
	x := ExitArgs{Reason: ExitHLT, RIP: 0xfff0, Info1: 3, Info2: 4}
	e := x.Event(77, 2, 5)
	if want := (Event{TSC: 77, Kind: KindExit, VCPU: 2, PCPU: 5, A: uint64(ExitHLT), B: 0xfff0, C: 3, D: 4}); e != want {
		t.Errorf("%v, want %v", e, want)
	}
	if got := e.Exit(); got != x {
		t.Errorf("%v, want %v", got, x)
	}
	e.A = 1<<32 + uint64(ExitHLT)
	if got := e.Exit().Reason; got != 0xff {
		t.Errorf("a reason that there is none of reads as %v", got)
	}
	s := SchedArgs{In: true, PCPU: 3, Task: 99, State: TaskRunnable}
	if e := s.Event(1, 0, 3); e.Sched() != s || Validate(&e) != nil {
		t.Errorf("%v", e)
	}
	if n := testing.AllocsPerRun(100, func() { sinkExit = e.Exit() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sinkExit ExitArgs
