package trace

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// inParts writes events as parts of at most n events each.
func inParts(t *testing.T, events []Event, n int) (parts [][]byte) {
	t.Helper()
	var s State
	s.Reset(testHeader())
	for len(events) > 0 {
		var b bytes.Buffer
		w, err := NewWriterAt(&b, testHeader(), &s)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events[:min(n, len(events))] {
			s.Apply(&e)
			w.Emit(e)
		}
		w.Flush()
		if w.Err() != nil {
			t.Fatal(w.Err())
		}
		parts = append(parts, b.Bytes())
		events = events[min(n, len(events)):]
	}
	return parts
}

// Parts opened together are the run from the first of them on, wherever one
// seeks.
func TestPartsAreOneRecording(t *testing.T) {
	const n, each = 3*chunkEvents + 100, chunkEvents + 7
	events := guestEvents(n, 1)
	parts := inParts(t, events, each)
	for from := range parts {
		rec, err := OpenParts(parts[from:]...)
		if err != nil {
			t.Fatal(err)
		}
		first := Seq(from * each)
		if rec.Warning() != "" || rec.First() != first || rec.Events() != n {
			t.Fatalf("from part %d: warning %q, events %d to %d, want %d to %d", from, rec.Warning(), rec.First(), rec.Events(),
				first, n)
		}
		got, err := readAll(rec)
		if err != nil || !reflect.DeepEqual(got, events[first:]) {
			t.Fatalf("from part %d: %d events read, %v, want those from %d on", from, len(got), err, first)
		}
		for _, at := range []Seq{first, min(first+each/2, n), n - 1, n} {
			var got, want State
			want.Reset(testHeader())
			for i := range events[:at] {
				want.Apply(&events[i])
			}
			if err := rec.Cursor().StateAt(at, &got); err != nil {
				t.Fatal(err)
			}
			if d := diffStates(&got, &want); d != "" {
				t.Fatalf("from part %d: the state at %d differs: %s", from, at, d)
			}
		}
	}
}

func TestPartsThatDoNotFitAreTold(t *testing.T) {
	parts := inParts(t, guestEvents(1000, 1), 300)
	tests := []struct {
		name    string
		parts   [][]byte
		err     string // of OpenParts
		warning string
	}{
		{"none", nil, "without parts", ""},
		{"a part is missing", [][]byte{parts[0], parts[2]}, "", "events 300 to 599 are missing"},
		{"a part is cut", [][]byte{parts[0], parts[1][:len(parts[1])-1]}, "", "cut"},
		{"a part is empty", [][]byte{parts[0], nil}, "part 1", ""},
		{"a part is something else", [][]byte{parts[0], bytes.Repeat([]byte("no"), 100)}, "part 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := OpenParts(tt.parts...)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || !strings.Contains(rec.Warning(), tt.warning) {
				t.Errorf("error %v, want a warning with %q", err, tt.warning)
			}
		})
	}
}
