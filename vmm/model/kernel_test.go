package model

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// Up to 5.7 an expiry on the vCPU's own thread is left pending, even with APICv.
func TestKernelChoosesTheTimerCode(t *testing.T) {
	const n = 200
	prof, err := LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams("deadline", "mode=spin", prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		kernel string
		direct uint64
	}{
		{"the default", "6.12", n},
		{"before direct injection", "5.7", 0}, {"with it", "5.8", n},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name, err := kernel.Parse(tt.kernel)
			if err != nil {
				t.Fatal(err)
			}
			host := kernel.At(name.Release, kernel.Intel)
			var st trace.State
			e, err := New(Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: vmm.KnobsOf(&host), Kernel: host},
				trace.SinkFunc(func(ev trace.Event) { st.Apply(&ev) }))
			if err != nil {
				t.Fatal(err)
			}
			h := e.Header()
			st.Reset(&h)
			e.Run(clock.Never, func() bool { return st.Deadlines.Count() >= n })
			if h.Kernel != tt.kernel {
				t.Errorf("the header says %q, want %q", h.Kernel, tt.kernel)
			}
			equal(t, "direct expiries", st.Expiries[trace.RouteDirect], tt.direct)
		})
	}
}
