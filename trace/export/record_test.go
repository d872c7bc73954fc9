package export

import (
	"bytes"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// run is a short run of the model that the tests export.
type run struct {
	name, guest, args string
	vcpus, pcpus      int
	knobs             func(*vmm.Knobs)
	turn              func(*model.Engine) // half way through
	time              clock.TSC           // runTime if 0
}

// runs cover both deliveries, both waits, IPIs, and vCPUs that share a CPU.
var runs = []run{
	{name: "one vCPU halts and spins", guest: "deadline"},
	{name: "APICv turned off half way", guest: "deadline", turn: func(e *model.Engine) {
		_ = e.SetKnob(trace.KnobAPICv, 0)
		_ = e.SetKnob(trace.KnobAdvance, 2000)
	}},
	{name: "posted timers between two vCPUs", guest: "deadline", args: "mode=hlt", vcpus: 2, pcpus: 1,
		knobs: func(k *vmm.Knobs) { k.Set(trace.KnobPostedTimer, 1); k.Set(trace.KnobExitsDisabled, 2) }},
	{name: "interrupts between vCPUs", guest: "ping-pong", vcpus: 2, pcpus: 2, time: 1_000_000},
}

const runTime clock.TSC = 12_000_000

// record makes a recording and the state at its end.
func (r *run) record(t testing.TB) (*trace.Recording, *trace.State) {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams(r.guest, r.args, prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin(r.guest, p)
	if err != nil {
		t.Fatal(err)
	}
	knobs := vmm.DefaultKnobs()
	if r.knobs != nil {
		r.knobs(&knobs)
	}
	var w *trace.Writer
	var early []trace.Event
	sink := trace.SinkFunc(func(e trace.Event) {
		if w == nil {
			early = append(early, e)
			return
		}
		w.Emit(e)
	})
	eng, err := model.New(model.Config{Guest: img, VCPUs: max(r.vcpus, img.MinVCPUs()), PCPUs: r.pcpus, RAM: 16 << 20,
		Seed: 1, Profile: prof, Knobs: knobs, TestDevice: true}, sink)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	h := eng.Header()
	var file bytes.Buffer
	if w, err = trace.NewWriter(&file, &h); err != nil {
		t.Fatal(err)
	}
	for _, e := range early {
		w.Emit(e)
	}
	total := r.time
	if total == 0 {
		total = runTime
	}
	never := func() bool { return false }
	eng.Run(total/2, never)
	if r.turn != nil {
		r.turn(eng)
	}
	eng.Run(total, never)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, file.Bytes())
}

func open(t testing.TB, file []byte) (*trace.Recording, *trace.State) {
	t.Helper()
	rec, err := trace.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var st trace.State
	if err := rec.Cursor().StateAt(rec.Events(), &st); err != nil {
		t.Fatal(err)
	}
	if st.Deadlines.Count() < 10 && st.Kinds[trace.KindIPI] < 10 {
		t.Fatalf("the run has %d handled deadlines and %d interrupt commands: too few to tell", st.Deadlines.Count(),
			st.Kinds[trace.KindIPI])
	}
	return rec, &st
}

// synthetic makes a recording of given events.
func synthetic(t testing.TB, h trace.Header, es []trace.Event) *trace.Recording {
	t.Helper()
	h.Provenance = trace.Modelled
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, &h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func write(t testing.TB, format string, rec *trace.Recording, o Options) []byte {
	t.Helper()
	f, ok := Find(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var out bytes.Buffer
	if _, err := f.Write(&out, rec, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return out.Bytes()
}

// eachRun calls f with every run.
func eachRun(t *testing.T, f func(t *testing.T, rec *trace.Recording, st *trace.State)) {
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			rec, st := r.record(t)
			f(t, rec, st)
		})
	}
}

// allEvents reads a recording.
func allEvents(t testing.TB, rec *trace.Recording) []trace.Event {
	t.Helper()
	var es []trace.Event
	for c := rec.Cursor(); ; {
		e, err := c.Next()
		if err != nil {
			return es
		}
		es = append(es, e)
	}
}
