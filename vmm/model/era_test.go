package model

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// Up to 5.7 an expiry on the vCPU's own thread is left pending, even with APICv.
func TestEraChoosesTheTimerCode(t *testing.T) {
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
		era    lapic.Era
		header string
		direct uint64
	}{
		{"default", lapic.BadEra, "", n}, {"the default by name", DefaultEra, "", n},
		{"before direct injection", lapic.Era5_6, "5.6", 0}, {"with it", lapic.Era5_8, "5.8", n},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var st trace.State
			e, err := New(Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: vmm.DefaultKnobs(), Era: tt.era},
				trace.SinkFunc(func(ev trace.Event) { st.Apply(&ev) }))
			if err != nil {
				t.Fatal(err)
			}
			h := e.Header()
			st.Reset(&h)
			e.Run(clock.Never, func() bool { return st.Deadlines.Count() >= n })
			if h.LAPICEra != tt.header {
				t.Errorf("the header says era %q, want %q", h.LAPICEra, tt.header)
			}
			equal(t, "direct expiries", st.Expiries[trace.RouteDirect], tt.direct)
		})
	}
}
