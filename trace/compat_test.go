package trace

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
)

// TestRecordingsOfFormat1AreRead: the file was written when the format was made.
// It must open as long as format 1 is supported; it is not to be rewritten.
func TestRecordingsOfFormat1AreRead(t *testing.T) {
	const file = "testdata/recordings/format-1.tt"
	if golden.Updating() {
		if _, err := os.Stat(file); err != nil {
			p, _ := smallRecording(t)
			golden.Equal(t, file, p)
		}
	}
	rec, closer, err := OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if rec.Warning() != "" {
		t.Errorf("warning %q", rec.Warning())
	}
	events, err := readAll(rec)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("# " + rec.Header().Guest + " " + rec.Header().GuestHash + "\n")
	for i := range events {
		b.Write(append(AppendText(nil, &events[i]), '\n'))
	}
	golden.Equal(t, "testdata/recordings/format-1.txt", b.Bytes())
	var s State
	if err := rec.Cursor().StateAt(rec.Events(), &s); err != nil {
		t.Fatal(err)
	}
	if d := diffStates(foldAll(rec.Header(), events), &s); d != "" {
		t.Error(d)
	}
}

func TestHeadersOfOtherVersions(t *testing.T) {
	tests := []struct {
		name, js string
		knobs    [3]uint64 // 1, 2 and the last
	}{
		{"fewer knobs", `{"provenance":"modelled","knobs":[0,1]}`, [3]uint64{1, 0, 0}},
		{"more knobs", `{"provenance":"measured","knobs":[0,1,2` + strings.Repeat(",7", 40) + `]}`, [3]uint64{1, 2, 7}},
		{"more fields", `{"provenance":"inferred","colour":"red","knobs":null}`, [3]uint64{}},
	}
	for _, tt := range tests {
		h, err := decodeHeader([]byte(tt.js))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := [3]uint64{h.Knobs[1], h.Knobs[2], h.Knobs[NumKnobs-1]}; got != tt.knobs {
			t.Errorf("%s: knobs %v, want %v", tt.name, got, tt.knobs)
		}
	}
}

func TestCursorsAreIndependent(t *testing.T) {
	events := guestEvents(3*chunkEvents, 9)
	rec := openBytes(t, record(t, testHeader(), events))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			c := rec.Cursor()
			for i := g; i < len(events); i += 7777 {
				if err := c.SeekSeq(Seq(i)); err != nil {
					t.Error(err)
				}
				if e, err := c.Next(); err != nil || e != events[i] {
					t.Errorf("event %d is %v, %v", i, e, err)
				}
			}
		})
	}
	wg.Wait()
}

// shrinking is a file that is cut after it was opened.
type shrinking struct {
	*bytes.Reader
	gone bool
}

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	if s.gone {
		clear(p)
		return len(p), nil
	}
	return s.Reader.ReadAt(p, off)
}

func TestAFileThatChangesAfterOpenIsTold(t *testing.T) {
	p, _ := smallRecording(t)
	f := &shrinking{Reader: bytes.NewReader(p)}
	rec, err := Open(f, int64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	f.gone = true
	c := rec.Cursor()
	if _, err := c.Next(); err == nil || !strings.Contains(err.Error(), "changed after it was opened") {
		t.Errorf("Next: %v", err)
	}
	if err := c.StateAt(30, new(State)); err == nil {
		t.Error("StateAt gives a state")
	}
	if err := c.SeekTSC(1 << 20); err == nil && c.Seq() != rec.Events() {
		t.Error("SeekTSC found an event")
	}
}
