package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// TestKernelTracesAreExplained explains every deadline of the kernel traces that
// the importer is tested with: causes add up whatever the trace lacks, and sound
// hosts show no bug.
func TestKernelTracesAreExplained(t *testing.T) {
	files, err := filepath.Glob("../ftrace/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernel traces: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			h := &trace.Header{Engine: "ftrace", Provenance: trace.Measured, Hz: 2_000_000_000, Knobs: trace.UnknownKnobs()}
			var st trace.State
			st.Reset(h)
			w := &explain.Watcher{}
			var seen uint64
			n := 0
			_, err = ftrace.Read(f, ftrace.Options{}, trace.SinkFunc(func(e trace.Event) {
				st.Apply(&e)
				w.Look(&e, &st)
				for ; seen < st.Chains.N; seen++ {
					if c := st.Chains.Get(seen); c.Ran() {
						checkSum(t, explain.Explain(h, &st, c), c)
						n++
					}
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				t.Error("no deadline reached its handler")
			}
			for _, f := range w.Findings(&st) {
				t.Errorf("found %+v", f)
			}
		})
	}
}

// checkSum checks that the shares are whole.
func checkSum(t *testing.T, x *explain.Explanation, c *trace.Chain) {
	t.Helper()
	var cycles int64
	for i := range x.Causes {
		cycles += x.Causes[i].Cycles
		if k := &x.Causes[i]; k.Knob != "" {
			t.Errorf("deadline %d: %s=%s is proposed though the trace does not tell the knobs", c.Num, k.Knob, k.Value)
		}
	}
	if late := int64(c.Late); cycles != max(late, -late) {
		t.Errorf("deadline %d: causes add up to %d cycles, lateness is %d", c.Num, cycles, late)
	}
	if len(x.Withheld) == 0 {
		t.Errorf("deadline %d: a trace without costs proves everything", c.Num)
	}
}

// An advance is for the way into the guest, a few microseconds. What a slow host
// loses elsewhere is not cured by one.
func TestNoAdvanceBeyondTheKernelsIsProposed(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "ftrace", "testdata", "ktrace-svm-6.12-spin.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	knobs := vmm.DefaultKnobs()
	h := &trace.Header{Engine: "kvm", Provenance: trace.Measured, Hz: 2_000_000_000, Knobs: knobs.Values()}
	var st trace.State
	st.Reset(h)
	var seen uint64
	n := 0
	_, err = ftrace.Read(f, ftrace.Options{}, trace.SinkFunc(func(e trace.Event) {
		st.Apply(&e)
		for ; seen < st.Chains.N; seen++ {
			c := st.Chains.Get(seen)
			if !c.Ran() || c.Late < 20_000 { // 10 us
				continue
			}
			n++
			for _, k := range explain.Explain(h, &st, c).Causes {
				if k.Knob != trace.KnobAdvance.String() {
					continue
				}
				if _, v, err := trace.ParseKnob(k.Knob, k.Value); err != nil || v != trace.AdvanceAdaptive && v > 5000 {
					t.Errorf("deadline %d, late by %d cycles: timer-advance=%s for %s", c.Num, c.Late, k.Value, k.ID)
				}
			}
		}
	}))
	if err != nil || n == 0 {
		t.Fatalf("%d late deadlines, %v", n, err)
	}
}
