package explain_test

import (
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// TestMistakesOfGuestsAreNamed runs small kernels that each make one mistake.
func TestMistakesOfGuestsAreNamed(t *testing.T) {
	for _, tt := range []struct{ guest, id, words, verdict string }{
		{"deadline-in-one-shot-mode", "deadline-ignored", "WRMSR 6e0 at RIP 0x100198 was ignored: LVTT (0x20) is in one-shot mode", ""},
		{"no-eoi", "no-eoi", "vector 32 is still in ISR since the handler of deadline 1", "PPR 0x20): no EOI was written"},
		{"lvtt-masked", "lvtt-masked", "LVTT is 0x30020: bit 16 (mask) is set", "LVTT is 0x30020: bit 16 (mask) is set"},
		{"apic-software-disabled", "apic-software-disabled", "SVR was never written", "SVR was never written"},
	} {
		t.Run(tt.guest, func(t *testing.T) {
			img, err := guest.Open(filepath.Join("testdata/guests", tt.guest+".elf"), guest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			prof, err := model.LoadProfile("generic")
			if err != nil {
				t.Fatal(err)
			}
			r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) {
				return model.New(model.Config{Guest: img, VCPUs: 1, Profile: prof, Knobs: vmm.DefaultKnobs()}, s)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Engine().Close()
			w, f := &explain.Watcher{}, explain.NewFinder(explain.Pick{})
			r.Tee(trace.SinkFunc(func(e trace.Event) {
				f.Look(r.State())
				w.Look(&e, r.State())
			}))
			r.SetLimits(session.Limits{Deadlines: 40, Exits: 2000})
			if _, err := r.RunTo(clock.TSC(40_000_000), nil); err != nil {
				t.Fatal(err)
			}
			var got []explain.Finding
			got = append(got, w.Findings(r.State())...)
			if len(got) != 1 || got[0].ID != tt.id || !strings.Contains(got[0].Words, tt.words) || got[0].Rule == "" {
				t.Errorf("found %+v, want %s: %s", got, tt.id, tt.words)
			}
			f.Finish(r.State())
			c, st, ok := f.Found()
			if ok != (tt.verdict != "") {
				t.Fatalf("a deadline was found: %v", ok)
			}
			if !ok {
				return
			}
			x := explain.Explain(r.Header(), st, c)
			if !strings.Contains(x.Verdict, tt.verdict) || x.Causes[0].ID != tt.id {
				t.Errorf("explain: %s (%s), want %s", x.Verdict, x.Causes[0].ID, tt.verdict)
			}
		})
	}
}
