package ui

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestBookmarksOfEventsAndOfTheFileAreFound(t *testing.T) {
	var f vmm.Frame
	f.State.Reset(&trace.Header{Hz: 1e9, VCPUs: 1})
	f.State.Apply(&trace.Event{TSC: 5, Kind: trace.KindMark, A: 0x6867666564636261}) // "abcdefgh"
	f.State.Apply(&trace.Event{TSC: 6, Kind: trace.KindMark, A: 'x'})
	f.Marks = []vmm.Mark{{At: 10, Name: "two words"}, {At: 20, Name: "x"}}
	tests := []struct {
		name string
		want clock.TSC
		ok   bool
	}{
		{"two words", 10, true},
		{"two", 0, false},
		{"x", 20, true}, // the latest
		{"abcdefgh", 5, true},
		{"abcdefgh and more", 5, true},
		{"abc", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		if at, ok := findMark(&f, tt.name); at != tt.want && ok || ok != tt.ok {
			t.Errorf("findMark(%q) = %d, %v, want %d, %v", tt.name, at, ok, tt.want, tt.ok)
		}
	}
	if n := numMarks(&f); n != 4 {
		t.Errorf("%d bookmarks, want 4", n)
	}
}

func TestSeekBarShowsBookmarksOfTheFile(t *testing.T) {
	r := newRig(t, 120, 40, 400)
	bar := func() int { return strings.Count(r.m.View(), "◆") }
	r.m.frame.Status.Replaying, r.m.frame.Status.Head, r.m.dirty = true, r.m.frame.Status.Now+1, true
	before := bar()
	from, to := barSpan(r.m.frame)
	r.m.frame.Marks = []vmm.Mark{{At: from + (to-from)/3, Name: "a"}}
	r.m.dirty = true
	if got := bar(); got != before+1 {
		t.Errorf("%d bookmarks on the screen, want one more than %d", got, before)
	}
}
