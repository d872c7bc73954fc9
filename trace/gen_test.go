package trace

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// drawEvent draws an event that Validate accepts.
func drawEvent(t *rapid.T) Event {
	e := Event{TSC: clock.TSC(rapid.Uint64().Draw(t, "tsc")), Kind: Kind(rapid.IntRange(1, NumKinds-1).Draw(t, "kind")),
		VCPU:  uint8(rapid.SampledFrom([]int{0, 1, 63, 254, NoCPU}).Draw(t, "vcpu")),
		PCPU:  uint8(rapid.SampledFrom([]int{0, 7, 254, NoCPU}).Draw(t, "pcpu")),
		Flags: Flags(rapid.IntRange(0, 1).Draw(t, "flags"))}
	f := &Specs[e.Kind].Fields
	e.A, e.B, e.C, e.D = drawArg(t, &f[0]), drawArg(t, &f[1]), drawArg(t, &f[2]), drawArg(t, &f[3])
	return e
}

func drawArg(t *rapid.T, f *Field) uint64 {
	switch f.Form {
	case NoField:
		return 0
	case Bool:
		return uint64(rapid.IntRange(0, 1).Draw(t, f.Name))
	case Enum:
		return uint64(rapid.IntRange(0, len(f.Names)-1).Draw(t, f.Name))
	case Mask:
		return uint64(rapid.IntRange(0, 1<<len(f.Names)-1).Draw(t, f.Name))
	case Costs:
		pair := func(n string) PhaseCost {
			return PhaseCost{Phase(rapid.IntRange(0, int(NumPhases)-1).Draw(t, n)),
				clock.Cycles(rapid.Int64Range(0, int64(MaxPhaseCost)).Draw(t, n))}
		}
		return PackCosts(pair("first"), pair("second"))
	}
	return rapid.Uint64().Draw(t, f.Name)
}

// testHeader is a header with every field set.
func testHeader() *Header {
	h := &Header{Engine: "model", LAPIC: "vmm", Provenance: Modelled, Guest: "deadline", Args: "a b", GuestHash: "00ff",
		Seed: 7, Profile: "plain", Hz: 2_500_000_000, VCPUs: 2, PCPUs: 2, Host: "a host"}
	for k := range h.Knobs {
		h.Knobs[k] = uint64(k)
	}
	h.Knobs[KnobAdvance] = AdvanceAdaptive
	return h
}

// guestEvents is a plausible run of n events: two vCPUs that arm TSC deadlines,
// expire, take the interrupt and write EOI, with noise from a seed.
func guestEvents(n int, seed uint64) []Event {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := &generator{events: make([]Event, 0, n+32), tsc: 1000}
	for len(g.events) < n {
		g.deadline(rng, uint8(rng.IntN(2)))
	}
	return g.events[:n]
}

type generator struct {
	events []Event
	tsc    clock.TSC
}

func (g *generator) emit(step int, v uint8, k Kind, a, b, c, d uint64) {
	g.tsc += clock.TSC(step)
	g.events = append(g.events, Event{TSC: g.tsc, Kind: k, VCPU: v, PCPU: v, A: a, B: b, C: c, D: d})
}

func (g *generator) deadline(rng *rand.Rand, v uint8) {
	target := uint64(g.tsc) + 5000 + uint64(rng.IntN(100))
	rip := uint64(0x100000 + rng.IntN(64))
	cost := func() uint64 {
		return PackCosts(PhaseCost{PhaseExit, clock.Cycles(900 + rng.IntN(40))}, PhaseCost{PhaseMSR, clock.Cycles(200 + rng.IntN(9))})
	}
	g.emit(10, v, KindExit, uint64(ExitMSRWrite), rip, 0x6e0, target)
	g.emit(300, v, KindMSR, 0x6e0, target, 1, 0)
	g.emit(10, v, KindArm, target, uint64(TSCDeadline), target, 0)
	g.emit(20, v, KindBacking, uint64(BackHV), 0, target-2500, 2500)
	g.emit(20, v, KindFastpath, uint64(ExitMSRWrite), uint64(FastReenter), 0, 0x6e0)
	g.emit(20, v, KindCost, cost(), cost(), 0, 0)
	g.emit(900, v, KindEntry, rip+2, 0, 2500, 1)
	g.emit(2000+rng.IntN(300), v, KindExit, uint64(ExitPreemptionTimer), rip+9, 0, 0)
	g.emit(200, v, KindHostFire, uint64(BackHV), target-2500, 0, 0)
	g.emit(50, v, KindExpire, target, uint64(RouteDirect), 0, 0)
	g.emit(50, v, KindDeliver, 236, uint64(DeliverSelf), uint64(ClauseRunning), uint64(SourceTimer))
	g.emit(10, v, KindFastpath, uint64(ExitPreemptionTimer), uint64(FastReenter), 0, 0)
	g.emit(40, v, KindPIRSync, 1, 236, 0, 0)
	g.emit(40, v, KindWait, ^uint64(0)-uint64(rng.IntN(900)), uint64(rng.IntN(900)), 2500, uint64(WaitLate))
	g.emit(1, v, KindTune, 1000, 1000-uint64(rng.IntN(9)), ^uint64(0)-99, uint64(TuneEarlier))
	g.emit(10, v, KindCost, cost(), cost(), cost(), 0)
	g.emit(800, v, KindEntry, rip+9, 0, 1<<64-1, 1)
	g.emit(200+rng.IntN(60), v, KindGuestIRQ, 236, 1, 0x2000, 0)
	g.emit(100, v, KindEOI, 236, 1, 0, 0)
	if rng.IntN(50) == 0 {
		g.emit(5, NoCPU, KindKnob, uint64(KnobAPICv), uint64(rng.IntN(2)), 1, 0)
	}
	if rng.IntN(20) == 0 {
		g.emit(5, 1-v, KindKick, uint64(KickIPI), uint64(InGuestMode), 0b10101, uint64(v))
	}
}

// record writes events as a recording and fails the test if that fails.
func record(t testing.TB, h *Header, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Size() != int64(b.Len()) {
		t.Errorf("Size is %d, %d bytes were written", w.Size(), b.Len())
	}
	return b.Bytes()
}

func openBytes(t testing.TB, p []byte) *Recording {
	t.Helper()
	rec, err := Open(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// foldAll is the state after events.
func foldAll(h *Header, events []Event) *State {
	s := new(State)
	s.Reset(h)
	for i := range events {
		s.Apply(&events[i])
	}
	return s
}
