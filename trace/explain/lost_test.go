package explain_test

import (
	"io"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

func TestLostDeadlinesAreListed(t *testing.T) {
	const events = `
100 vcpu=0 pcpu=5 apic reg=0x320 value=0x400ec write=1 virtual=0
200 vcpu=0 pcpu=5 arm target=5000 mode=tsc-deadline value=1 period=0
300 vcpu=0 pcpu=5 arm target=6000 mode=tsc-deadline value=1 period=0
6010 vcpu=0 pcpu=5 expire target=6000 route=lost clause=lvtt-masked callback=0
6100 vcpu=0 pcpu=5 arm target=7000 mode=tsc-deadline value=1 period=0
7010 vcpu=0 pcpu=5 expire target=7000 route=pending clause=none callback=0
7100 vcpu=0 pcpu=5 arm target=8000 mode=tsc-deadline value=1 period=0
7200 vcpu=0 pcpu=5 mp_state state=init-received vector=0
7300 vcpu=0 pcpu=5 apic reg=0x320 value=0x400ec write=1 virtual=0
7400 vcpu=0 pcpu=5 arm target=9000 mode=tsc-deadline value=1 period=0
900000 vcpu=- pcpu=- mark name=""
`
	h := &trace.Header{Engine: "import", Provenance: trace.Measured, VCPUs: 1, Hz: 1_000_000_000, Knobs: trace.UnknownKnobs()}
	var s trace.State
	s.Reset(h)
	f := &explain.LostFinder{}
	r := trace.NewTextReader(strings.NewReader(events))
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(&e)
		f.Look(&s)
	}
	l := f.Finish(h, &s)
	if len(l.Rows) != 4 {
		t.Fatalf("rows %+v, want 4", l.Rows)
	}
	for i, w := range []struct {
		n              uint64
		outcome, words string
	}{{5, "open", "the host timer has not fired"}, {2, "lost", "because of lvtt-masked"}, {3, "dropped", "armed its timer again"},
		{4, "reset", "INIT"}} {
		if x := l.Rows[i]; x.Deadline != w.n || x.Outcome != w.outcome || !strings.Contains(x.Words, w.words) {
			t.Errorf("row %d is %+v, want %+v", i, x, w)
		}
	}
	if text := l.Text(); !strings.Contains(text, "without a handler: 1 open, 1 rearmed, 1 lost, 1 dropped, 1 reset") {
		t.Error(text)
	}
}
