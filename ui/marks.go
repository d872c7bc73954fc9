package ui

import (
	"bytes"

	"ticktrap/internal/clock"
	"ticktrap/vmm"
)

// eachMark calls f with every bookmark, the latest last: those that events tell
// of, then those beside a recording.
func eachMark(fr *vmm.Frame, f func(name string, at clock.TSC)) {
	books := &fr.State.Bookmarks
	for i := range books.Len() {
		b := books.At(i)
		f(string(bytes.TrimRight(b.Name[:], "\x00")), b.At)
	}
	for _, m := range fr.Marks {
		f(m.Name, m.At)
	}
}

// numMarks is the number of bookmarks that there are or were.
func numMarks(fr *vmm.Frame) uint64 { return fr.State.Bookmarks.N + uint64(len(fr.Marks)) }

// findMark is the latest bookmark with a name. Those in events keep its first
// bytes only.
func findMark(fr *vmm.Frame, name string) (at clock.TSC, ok bool) {
	const kept = 8
	eachMark(fr, func(n string, t clock.TSC) {
		if n == name || len(n) == kept && n == first(name, kept) {
			at, ok = t, true
		}
	})
	return at, ok && name != ""
}
