package trace

import (
	"bytes"
	"io"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func BenchmarkApply(b *testing.B) {
	events := guestEvents(100_000, 1)
	var s State
	s.Reset(testHeader())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Apply(&events[i%len(events)])
	}
}

func BenchmarkEmit(b *testing.B) {
	events := guestEvents(100_000, 1)
	w, err := NewWriter(io.Discard, testHeader())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Emit(events[i%len(events)])
	}
	b.ReportMetric(float64(w.Size())/float64(w.Events()), "B/event")
}

func BenchmarkCopyTo(b *testing.B) {
	s, dst := foldAll(testHeader(), guestEvents(200_000, 1)), new(State)
	s.CopyTo(dst)
	b.ReportAllocs()
	for b.Loop() {
		s.CopyTo(dst)
	}
}

func BenchmarkNext(b *testing.B) {
	c := openBytes(b, record(b, testHeader(), guestEvents(200_000, 1))).Cursor()
	for b.Loop() {
		if _, err := c.Next(); err == io.EOF {
			_ = c.SeekSeq(0)
		}
	}
}

// benchEvents is the length of the recording that is opened and sought in: ten
// million events, as the screen must cope with.
const benchEvents = 10_000_000

func longRecording(b *testing.B) []byte {
	b.Helper()
	events := guestEvents(1_000_000, 1)
	span := events[len(events)-1].TSC
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader())
	if err != nil {
		b.Fatal(err)
	}
	for i := range benchEvents {
		e := events[i%len(events)]
		e.TSC += span * clock.TSC(i/len(events))
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func BenchmarkOpenAndSeekInTenMillion(b *testing.B) {
	p := longRecording(b)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			openBytes(b, p)
		}
		b.ReportMetric(float64(len(p))/1e6, "MB")
	})
	b.Run("seek", func(b *testing.B) {
		c := openBytes(b, p).Cursor()
		var s State
		for i := Seq(1); b.Loop(); i++ {
			if err := c.StateAt(i*7_777_777%benchEvents, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seek to just before a snapshot", func(b *testing.B) {
		c := openBytes(b, p).Cursor()
		var s State
		for b.Loop() {
			if err := c.StateAt(50*snapshotEvents-1, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendState(b *testing.B) {
	s := foldAll(testHeader(), guestEvents(200_000, 1))
	var p []byte
	for b.Loop() {
		p = appendState(p[:0], s)
	}
	b.ReportMetric(float64(len(p)), "bytes")
}

func BenchmarkDecodeState(b *testing.B) {
	p := appendState(nil, foldAll(testHeader(), guestEvents(200_000, 1)))
	var s State
	for b.Loop() {
		if err := decodeState(p, &s); err != nil {
			b.Fatal(err)
		}
	}
}
