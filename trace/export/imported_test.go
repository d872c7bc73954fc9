package export

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// imported makes a recording of a kernel trace, whose order and completeness are
// those of a real kernel.
func imported(t *testing.T, name string) (*trace.Recording, *trace.State) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "ftrace", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	h := trace.Header{Engine: "ftrace", Provenance: trace.Inferred, Hz: 1e9, VCPUs: 1}
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, &h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ftrace.Read(bytes.NewReader(text), ftrace.Options{File: name, Time: ftrace.TimeBase{Hz: h.Hz}}, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var st trace.State
	if err := rec.Cursor().StateAt(rec.Events(), &st); err != nil {
		t.Fatal(err)
	}
	return rec, &st
}

func TestImportedTracesAreExportedWhole(t *testing.T) {
	for _, name := range []string{"ktrace-vmx-6.12-hlt.txt", "ktrace-svm-6.12-spin.txt", "trace-vmx-6.1.txt"} {
		t.Run(name, func(t *testing.T) {
			rec, st := imported(t, name)
			n := map[string]uint64{}
			for _, s := range pfDecode(t, write(t, "perfetto", rec, Options{})).slices(t) {
				n[s.category]++
			}
			if n["exit"] != st.Kinds[trace.KindExit] || n["guest"] != st.Kinds[trace.KindEntry] || n["wait"] != st.Waits.Count {
				t.Errorf("Perfetto: %v slices, want %d exits, %d entries, %d waits", n, st.Kinds[trace.KindExit],
					st.Kinds[trace.KindEntry], st.Waits.Count)
			}
			if got, want := uint64(len(rows(t, write(t, "csv-deadlines", rec, Options{})))), st.Deadlines.Opened; got != want || want == 0 {
				t.Errorf("%d rows of deadlines, want %d", got, want)
			}
			if got, want := uint64(len(rows(t, write(t, "csv-exits", rec, Options{})))), st.Kinds[trace.KindExit]; got != want {
				t.Errorf("%d rows of exits, want %d", got, want)
			}
			_, back, _ := readBack(t, write(t, "ftrace", rec, Options{}), rec)
			for r := range st.ExitStats {
				if got, want := back.ExitStats[r].Count, st.ExitStats[r].Count; got != want {
					t.Errorf("ftrace: %d exits %v read back, want %d", got, trace.ExitReason(r), want)
				}
			}
			if back.Kinds[trace.KindEntry] != st.Kinds[trace.KindEntry] || back.Waits.Count != st.Waits.Count ||
				back.Deadlines.Arms != st.Deadlines.Arms {
				t.Errorf("ftrace: %d entries, %d waits, %d arms read back, want %d, %d, %d", back.Kinds[trace.KindEntry],
					back.Waits.Count, back.Deadlines.Arms, st.Kinds[trace.KindEntry], st.Waits.Count, st.Deadlines.Arms)
			}
		})
	}
}
