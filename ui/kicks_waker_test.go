package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// kickState folds an expiry on the route "pending and kick" and the events after
// it, all for vCPU 0.
func kickState(callback uint64, after ...trace.Event) *trace.State {
	var st trace.State
	st.Reset(&trace.Header{VCPUs: 2, Hz: 2_500_000_000})
	es := []trace.Event{
		{Kind: trace.KindArm, TSC: 100, A: 1000},
		{Kind: trace.KindExpire, TSC: 900, A: 1000, B: uint64(trace.RoutePendKick), C: uint64(trace.ClausePIOff), D: callback},
	}
	for _, e := range append(es, after...) {
		st.Apply(&e)
	}
	return &st
}

func kickEvent(at clock.TSC, from uint64) trace.Event {
	return trace.Event{Kind: trace.KindKick, TSC: at, A: uint64(trace.KickNothing), B: uint64(trace.OutsideGuestMode), D: from}
}

func TestKickIsPutDownToWhoMadeIt(t *testing.T) {
	deliver := trace.Event{Kind: trace.KindDeliver, TSC: 1100, A: 0xb0, B: uint64(trace.DeliverWake), D: uint64(trace.SourceTimer)}
	tests := []struct {
		name     string
		st       *trace.State
		n        uint64
		want     waker
		word, in string
	}{
		{"the timer's callback over the target", kickState(1, kickEvent(950, 0)), 0, wakerTimer, "timer@0", "apic_timer_fn in irq context on pCPU 0, the target's own CPU"},
		{"the timer's callback on an idle CPU", kickState(1, kickEvent(950, uint64(trace.NoCPU))), 0, wakerTimer, "timer@0", "no vCPU loaded there"},
		{"an expiry in the vCPU's thread", kickState(0, kickEvent(950, 0)), 0, wakerSelf, "self@0", "the target's own thread"},
		{"only the first kick is the callback's", kickState(1, kickEvent(950, 0), kickEvent(980, 1)), 1, wakerVCPU, "v1@0", "v1's thread"},
		{"a kick after the delivery", kickState(1, deliver, kickEvent(1200, 0)), 0, wakerSelf, "self@0", "own thread"},
		{"no vCPU and no expiry", kickState(1, deliver, kickEvent(1200, uint64(trace.NoCPU))), 0, wakerHost, "host@0", "no vCPU loaded"},
	}
	for _, tt := range tests {
		k := tt.st.KickLedger.Get(tt.n)
		got := wakerOf(tt.st, tt.n)
		if got != tt.want || wakerWord(got, k) != tt.word || !strings.Contains(wakerWords(got, k), tt.in) {
			t.Errorf("%s: %d, %q, %q, want %d, %q, …%q…", tt.name, got, wakerWord(got, k), wakerWords(got, k), tt.want, tt.word, tt.in)
		}
	}
}

func TestHLTTimeIsSplitIntoWorkAndHalt(t *testing.T) {
	r := newRig(t, 200, 60, 11_500)
	c := meansOf(&r.m.frame.State)
	if c.nHost[trace.ExitHLT] == 0 || c.host[trace.ExitHLT] >= c.whole[trace.ExitHLT] {
		t.Fatalf("host work of HLT is %d of %d cycles, want a part", c.host[trace.ExitHLT], c.whole[trace.ExitHLT])
	}
	r.press("3,z")
	r.wants("host cyc  exit→entry")
	r.wants(meanWord(c.host[trace.ExitHLT], c.nHost[trace.ExitHLT]))
	r.press("z,6,/")
	r.press(`"exit == HLT",enter,up,enter`)
	r.wants("halted (polling or asleep)")
}

func TestNoticeEndsWithTheNextKey(t *testing.T) {
	r := newRig(t, 120, 40, 0)
	r.press("S")
	r.wants("cannot go back")
	r.press("2")
	if strings.Contains(r.screen(), "cannot go back") {
		t.Error("the notice stays after another key")
	}
}

func TestTableOfVCPUsSaysNothingOfATimerNeverSet(t *testing.T) {
	c := newCanvasFor(t, 120, 3)
	r := newRig(t, 120, 40, 0)
	var v trace.VCPU
	timerTableRow(r.m.scene(), c.all(), 1, &v)
	if s := c.text(); strings.Contains(s, "bad") || strings.Contains(s, "0 cyc") {
		t.Errorf("a vCPU without a timer is shown as %q", s)
	}
}

func newCanvasFor(t *testing.T, w, h int) *canvas {
	t.Helper()
	c := &canvas{}
	c.reset(w, h)
	return c
}

func TestRegistersThatAnExitChangedAreMarked(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	first := r.m.frame.State.VCPUs[0].Exit
	r.s.CPUs[0].Regs.GPR[3] += 1
	for r.m.frame.State.VCPUs[0].Exit == first {
		r.press("s")
	}
	r.press("6")
	for r.m.frame.State.Exits.Last(0).VCPU != 0 {
		r.press("s")
	}
	r.press("enter")
	r.wants("changed since exit ")
	r.wants("rbx*")
}

func TestEmptyFilterLeavesOneMessage(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	r.press(`2,/,"late > 1s",enter`)
	r.wants("no deadline here")
	if strings.Contains(r.screen(), "no chain has") {
		t.Error("two messages lie over each other")
	}
}
