package vmm

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// A vCPU that spins exits ever more rarely, until its thread has been scheduled
// out and in again.
func TestSpinWindowDoublesUntilTheThreadWasAway(t *testing.T) {
	r := newRig(t, 1, nil)
	want := r.m.cfg.Kernel.Pause.Window
	for range 5 {
		if got := uint32(r.cpus[0].inter.PLEWindow); got != want {
			t.Fatalf("window %d, want %d", got, want)
		}
		r.cpus[0].exits = append(r.cpus[0].exits, Exit{Reason: ExitPause, Len: 2})
		r.until(0, StageHandle)
		r.m.Step(0)
		want *= 2
		if e, ok := r.last(trace.KindPLEWindow); !ok || uint32(e.A) != want || uint32(e.B) != want/2 {
			t.Errorf("the window's event is %v", e)
		}
	}
	r.m.Put(0, 0, true)
	r.m.Load(0, 0)
	if got := uint32(r.cpus[0].inter.PLEWindow); got != r.m.cfg.Kernel.Pause.Window {
		t.Errorf("window %d after the thread was away, want %d", got, r.m.cfg.Kernel.Pause.Window)
	}
}

func TestSpinWindowFollowsTheParameters(t *testing.T) {
	const most = 1<<32 - 1
	host := kernelOf(t, "6.12")
	intel := host.Pause
	for _, tt := range []struct {
		name        string
		r           kernel.Pause
		w           uint32
		grown, less uint32
	}{
		{"Intel's defaults", intel, 8192, 16384, 4096},
		{"at the top", intel, most/2 + 1, most, 4096},
		{"added", kernel.Pause{Window: 4096, Grow: 5000, Shrink: 5000, Max: most}, 20_000, 25_000, 15_000},
		{"divided", kernel.Pause{Window: 4096, Grow: 2, Shrink: 2, Max: most}, 20_000, 40_000, 10_000},
		{"not below the window", kernel.Pause{Window: 4096, Grow: 2, Shrink: 5000, Max: most}, 6000, 12_000, 4096},
		{"fixed", kernel.Pause{Window: 4096, Max: most}, 4096, 4096, 4096},
		{"capped", kernel.Pause{Window: 3000, Grow: 2, Max: 65535}, 48_000, 65535, 3000},
	} {
		if g, l := grownSpin(&tt.r, tt.w), shrunkSpin(&tt.r, tt.w); g != tt.grown || l != tt.less {
			t.Errorf("%s: %d grows to %d and shrinks to %d, want %d and %d", tt.name, tt.w, g, l, tt.grown, tt.less)
		}
	}
}

func TestPauseExitsDisabledLeaveNoWindow(t *testing.T) {
	r := newRig(t, 1, nil)
	if err := r.m.SetKnob(trace.KnobExitsDisabled, uint64(DisablePause)); err != nil {
		t.Fatal(err)
	}
	if r.cpus[0].inter.PLEWindow != 0 {
		t.Errorf("window %d with PAUSE exits disabled", r.cpus[0].inter.PLEWindow)
	}
}
