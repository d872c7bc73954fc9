package model

import (
	"strconv"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// engine makes a run of a built-in guest with default knobs.
func engine(tb testing.TB, name, args string, vcpus int, sink trace.Sink) *Engine {
	tb.Helper()
	return engineKnobs(tb, name, args, vcpus, vmm.DefaultKnobs(), sink)
}

func engineKnobs(tb testing.TB, name, args string, vcpus int, k vmm.Knobs, sink trace.Sink) *Engine {
	tb.Helper()
	prof, err := LoadProfile("generic")
	if err != nil {
		tb.Fatal(err)
	}
	p, err := guest.ParseParams(name, args, prof.Hz)
	if err != nil {
		tb.Fatal(err)
	}
	img, err := guest.Builtin(name, p)
	if err != nil {
		tb.Fatal(err)
	}
	e, err := New(Config{Guest: img, VCPUs: vcpus, Profile: prof, Knobs: k}, sink)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// BenchmarkExit measures the loop with the interpreter under it: one iteration
// is one VM-exit.
func BenchmarkExit(b *testing.B) {
	for _, bb := range []struct{ name, guest, args string }{
		{"deadline-hlt", "deadline", "mode=hlt"},
		{"deadline-spin", "deadline", "mode=spin"},
		{"noisy", "noisy", ""},
	} {
		for _, folded := range []bool{false, true} {
			name := bb.name
			if folded {
				name += "-folded"
			}
			b.Run(name, func(b *testing.B) {
				var st trace.State
				sink := trace.SinkFunc(func(trace.Event) {})
				if folded {
					sink = func(e trace.Event) { st.Apply(&e) }
				}
				e := engine(b, bb.guest, bb.args, 1, sink)
				h := e.Header()
				st.Reset(&h)
				e.Run(10_000_000, func() bool { return false })
				b.ReportAllocs()
				b.ResetTimer()
				start, t0 := e.m.Exits(), e.Now()
				e.Run(clock.Never, func() bool { return e.m.Exits()-start >= uint64(b.N) })
				b.ReportMetric(float64(e.Now()-t0)/float64(h.Hz)/b.Elapsed().Seconds(), "guest-s/s")
			})
		}
	}
}

// BenchmarkExitBesideIdle measures the same with vCPUs that never start, which should
// cost nothing.
func BenchmarkExitBesideIdle(b *testing.B) {
	for _, vcpus := range []int{1, 8, 64} {
		b.Run(strconv.Itoa(vcpus), func(b *testing.B) {
			e := engine(b, "deadline", "mode=hlt", vcpus, trace.SinkFunc(func(trace.Event) {}))
			e.Run(10_000_000, func() bool { return false })
			start := e.m.Exits()
			b.ResetTimer()
			e.Run(clock.Never, func() bool { return e.m.Exits()-start >= uint64(b.N) })
		})
	}
}
