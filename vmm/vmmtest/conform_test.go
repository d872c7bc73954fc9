//go:build linux && amd64

package vmmtest

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/kvm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1"
)

const suiteRAM = 16 << 20

// targets are the engines that this machine has. What is missing is a skipped
// subtest with the reason, or a failure inside an emulated machine.
func targets(t *testing.T, each func(t *testing.T, g *Target)) {
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("model", func(t *testing.T) {
		each(t, &Target{Name: "model", Hz: prof.Hz, Limit: seconds(prof.Hz, 20),
			New: func(img *guest.Image, sink trace.Sink, _ bool) (Engine, error) {
				return model.New(model.Config{Guest: img, VCPUs: img.MinVCPUs(), RAM: suiteRAM, Profile: prof,
					Knobs: vmm.DefaultKnobs()}, sink)
			}})
	})
	for p := kvm.InVMM; p <= kvm.InKernel; p++ {
		t.Run("kvm-"+p.String(), func(t *testing.T) {
			hz, err := kvm.Frequency()
			if errors.Is(err, kvm.ErrUnavailable) && os.Getenv(insideEnv) == "" {
				t.Skipf("needs KVM: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			each(t, &Target{Name: "kvm-" + p.String(), Hz: hz, Limit: seconds(hz, 30),
				New: func(img *guest.Image, sink trace.Sink, observed bool) (Engine, error) {
					e, err := kvm.New(kvm.Config{Guest: img, Placement: p, VCPUs: img.MinVCPUs(), RAM: suiteRAM,
						Knobs: vmm.DefaultKnobs(), Unobserved: !observed}, sink)
					if err != nil {
						return nil, err
					}
					return e.(Engine), nil
				}})
		})
	}
}

func seconds(hz clock.Hz, n clock.TSC) clock.TSC { return clock.TSC(hz) * n }

func TestProbesAnswerAlikeOnEveryEngine(t *testing.T) {
	targets(t, func(t *testing.T, g *Target) {
		for i := range Probes {
			p := &Probes[i]
			t.Run(p.Name, func(t *testing.T) {
				o, err := RunProbe(g, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range p.Check(&o) {
					t.Error(w)
				}
			})
		}
	})
}

// Built-in guests count what must be the same wherever they run: samples,
// deadlines that were armed and handled, and ends of interrupts.
func TestBuiltInGuestsDoAlikeOnEveryEngine(t *testing.T) {
	type counts struct{ samples, arms, handled, eois uint64 }
	tests := []struct {
		name, args string
		want       counts
	}{
		{"deadline", "count=25 distance=2000000 spread=0 mode=hlt", counts{25, 25, 25, 25}},
		{"deadline", "count=25 distance=2000000 spread=0 mode=spin apic=xapic", counts{25, 25, 25, 25}},
		{"immediate", "count=25", counts{25, 25, 25, 25}},
		{"oneshot", "count=25 distance=2000000", counts{25, 25, 25, 25}},
		{"self-ipi", "count=25 variant=sti_nop", counts{25, 0, 0, 25}},
		{"noisy", "count=25 distance=3000000 spread=0", counts{25, 25, 25, 25}},
		{"ping-pong", "count=10 mode=hlt", counts{10, 0, 0, 10}},
	}
	targets(t, func(t *testing.T, g *Target) {
		for _, tt := range tests {
			t.Run(tt.name+" "+tt.args, func(t *testing.T) {
				st := &trace.State{}
				params, err := guest.ParseParams(tt.name, tt.args, g.Hz)
				if err != nil {
					t.Fatal(err)
				}
				img, err := guest.Builtin(tt.name, params)
				if err != nil {
					t.Fatal(err)
				}
				st.Reset(&trace.Header{Hz: g.Hz, VCPUs: img.MinVCPUs()})
				twice := uint64(0)
				e, err := g.New(img, trace.SinkFunc(func(ev trace.Event) {
					st.Apply(&ev)
					if ev.Kind == trace.KindEOI && int64(ev.A) < 0 {
						twice++
					}
				}), true)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				e.Run(g.Limit, func() bool { return false })
				how, code, ended := e.Ended()
				r, err := guest.ReadResults(e.Memory())
				if err != nil {
					t.Fatal(err)
				}
				if !ended || how != trace.EndExit || code != 0 || r.Fault >= 0 {
					t.Fatalf("ended %v by %v, status %d, fault %d, %d samples; want a clean exit", ended, how, code, r.Fault, r.Taken)
				}
				if st.Kinds[trace.KindEntry] == 0 {
					t.Skip("this host does not let the kernel be traced: only the guest's end is checked")
				}
				// QEMU's TCG now and then delivers an injected interrupt twice: the
				// second EOI finds nothing in service, and the guest counts a sample
				// that no timer made.
				if twice > 0 && os.Getenv(emulatorEnv) != l1.SVM.String() {
					t.Errorf("%d EOIs with nothing in service", twice)
				}
				want := tt.want
				if h := e.Header(); h.LAPIC == kvm.InKernel.String() && h.Knobs[trace.KnobAPICv] != 0 {
					want.eois = 0 // with APICv the CPU completes them, and KVM does not see it
				}
				timers := min(twice, tt.want.arms)
				got := counts{r.Taken, st.Deadlines.Arms + timers, st.Deadlines.Count() + timers, st.Injections.EOIs}
				if got != want {
					t.Errorf("samples, arms, handled deadlines, EOIs: %v, want %v; lost %+v, kinds %v", got, want, st.Lost, st.Kinds)
					if x, ok := e.(interface{ Trace() string }); ok {
						t.Log(x.Trace())
					}
				}
				last := clock.TSC(0)
				for i, s := range r.Samples {
					if s.Seen < last {
						t.Errorf("sample %d was taken at %d, before the last at %d", i, s.Seen, last)
					}
					last = s.Seen
				}
			})
		}
	})
}

// Random programs on the interpreter and on a real CPU: the referee of the
// interpreter. TICKTRAP_SEED repeats a failure.
func TestInterpreterAgreesWithTheCPU(t *testing.T) {
	seed := uint64(20261130)
	if s := os.Getenv("TICKTRAP_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 0, 64); err != nil {
			t.Fatal(err)
		}
	}
	const programs, length = 12, 700
	want := make([][]uint64, programs)
	targets(t, func(t *testing.T, g *Target) {
		if g.Name == "kvm-kernel" {
			return // where the LAPIC is makes no difference to plain code
		}
		for i := range programs {
			p := NewRandomProgram(seed+uint64(i), length)
			got, err := RunRandom(g, p)
			if err != nil {
				t.Fatalf("seed %d: %v", p.Seed, err)
			}
			if g.Name == "model" {
				want[i] = got
				continue
			}
			for _, w := range p.Compare(want[i], got) {
				t.Errorf("seed %d: interpreter and CPU differ: %s", p.Seed, w)
			}
		}
	})
}

func TestRandomProgramsDependOnTheirSeedAlone(t *testing.T) {
	a, b := NewRandomProgram(7, 300), NewRandomProgram(7, 300)
	if !bytes.Equal(a.Image(), b.Image()) {
		t.Error("the same seed gives two programs")
	}
	if bytes.Equal(a.Image(), NewRandomProgram(8, 300).Image()) {
		t.Error("two seeds give the same program")
	}
	seen := map[string]bool{}
	for s := range uint64(20) {
		for _, op := range NewRandomProgram(s, 1000).Ops {
			seen[op] = true
		}
	}
	for _, op := range randomOps() {
		if !seen[op.name] {
			t.Errorf("%s is never chosen", op.name)
		}
	}
}
