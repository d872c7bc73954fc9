package guest_test

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// runModel runs a built-in guest on the model for at most ms of guest time.
func runModel(t *testing.T, name, params string, ms int) *guest.Results {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams(name, params, prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin(name, p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.New(model.Config{Guest: img, Profile: prof, VCPUs: img.MinVCPUs(), Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(trace.Event) {}))
	if err != nil {
		t.Fatal(err)
	}
	var r *guest.Results
	for i := range ms {
		e.Run(clock.TSC(uint64(i+1)*uint64(prof.Hz)/1000), func() bool { return false })
		if r, err = guest.ReadResults(e.Memory()); err != nil {
			t.Fatal(err)
		}
		if r.Done || r.Fault >= 0 {
			break
		}
	}
	return r
}

func TestEachGuestTakesItsSamplesAndEnds(t *testing.T) {
	tests := []struct{ name, params string }{
		{"deadline", "mode=spin"}, {"deadline", "mode=hlt apic=xapic"}, {"deadline", "mode=poll"}, {"deadline", "end=hlt vector=33"},
		{"immediate", ""}, {"immediate", "distance=1000 apic=xapic"},
		{"oneshot", "mode=hlt"}, {"oneshot", "mode=spin divide=16 apic=xapic"},
		{"periodic", "mode=hlt distance=500000"}, {"periodic", "mode=spin divide=128"},
		{"cyclic", "mode=poll"}, {"cyclic", "mode=hlt distance=20000 rearms=1"},
		{"self-ipi", ""}, {"self-ipi", "via=self"}, {"self-ipi", "apic=xapic"},
		{"self-ipi", "variant=tpr"}, {"self-ipi", "variant=tpr_sti_hlt via=self"},
		{"ping-pong", "mode=hlt"}, {"ping-pong", "mode=spin apic=xapic"}, {"ping-pong", "mode=mixed"},
		{"storm", ""}, {"noisy", ""}, {"latency", ""},
	}
	for _, tt := range tests {
		t.Run(strings.TrimSpace(tt.name+" "+tt.params), func(t *testing.T) {
			r := runModel(t, tt.name, tt.params+" count=40", 100)
			if r.Fault >= 0 {
				t.Fatalf("unexpected exception %d, stack %x", r.Fault, r.FaultStack)
			}
			if !r.Done || r.Taken < 40 || len(r.Samples) != int(r.Taken) {
				t.Fatalf("done %v with %d samples, want the end and 40", r.Done, r.Taken)
			}
			for i, s := range r.Samples {
				if i > 0 && s.Seen <= r.Samples[i-1].Seen {
					t.Errorf("sample %d was seen at %d, not after its predecessor's %d", i, s.Seen, r.Samples[i-1].Seen)
				}
				if l := s.Lateness(); l < -20_000 || l > 200_000 {
					t.Errorf("sample %d: lateness %d cycles, want a delivery within microseconds", i, l)
				}
			}
			if tt.name == "storm" && r.Extra != 7*r.Taken || tt.name == "noisy" && r.Extra == 0 {
				t.Errorf("extra = %d for %d samples, want what the guest counts", r.Extra, r.Taken)
			}
		})
	}
}

func TestEachSubtestOfVMExitHasAScore(t *testing.T) {
	for _, name := range guest.VMExitTests {
		t.Run(name, func(t *testing.T) {
			r := runModel(t, "vmexit", "distance=1000000 test="+name, 10)
			total, ipi, eoi, ok := r.Score()
			if !ok || !r.Done || total < 10 || total > 20_000 {
				t.Errorf("score %d, %v after %d rounds, want one of the order of an exit", total, ok, r.Taken)
			}
			if sends := strings.Contains(name, "ipi"); sends != (ipi > 0) {
				t.Errorf("sends take %d cycles", ipi)
			}
			if interrupts := strings.Contains(name, "ipi") || strings.HasPrefix(name, "tscdeadline"); interrupts != (eoi > 0) {
				t.Errorf("EOIs take %d cycles", eoi)
			}
		})
	}
}
