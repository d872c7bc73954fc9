package ui

import "codeberg.org/ticktrap/ticktrap/keymap"

// lines is the selection in a sequence of numbered lines of which some are kept.
type lines struct {
	list
	shown []uint64 // drawn last, by row
}

// keeper tells which lines are kept; nil keeps all.
type keeper func(n uint64) bool

// selected is the selected line: the nearest kept one before the cursor, or else
// after it. ok is false if none is kept.
func (l *lines) selected(first, end uint64, keep keeper) (n uint64, ok bool) {
	sel := l.at(first, end)
	if first == end || keep == nil {
		return sel, first != end
	}
	if n, ok = prevKept(first, sel+1, keep); ok {
		return n, true
	}
	return nextKept(sel+1, end, keep)
}

// prevKept is the last kept line of first … end−1.
func prevKept(first, end uint64, keep keeper) (n uint64, ok bool) {
	for i := end; i > first; i-- {
		if keep == nil || keep(i-1) {
			return i - 1, true
		}
	}
	return 0, false
}

// nextKept is the first kept line of first … end−1.
func nextKept(first, end uint64, keep keeper) (n uint64, ok bool) {
	for i := first; i < end; i++ {
		if keep == nil || keep(i) {
			return i, true
		}
	}
	return 0, false
}

// fill notes the n lines to draw, oldest first, so that the selection is among
// them.
func (l *lines) fill(first, end uint64, n int, keep keeper) []uint64 {
	l.shown = l.shown[:0]
	if first == end || n <= 0 {
		return l.shown
	}
	if keep == nil {
		from, to := l.window(first, end, n)
		for i := from; i < to; i++ {
			l.shown = append(l.shown, i)
		}
		return l.shown
	}
	sel, ok := l.selected(first, end, keep)
	if !ok {
		return l.shown
	}
	for i := sel + 1; len(l.shown) < n; { // back from the selection
		if i, ok = prevKept(first, i, keep); !ok {
			break
		}
		l.shown = append(l.shown, i)
	}
	reverse(l.shown)
	for i := sel; len(l.shown) < n; {
		if i, ok = nextKept(i+1, end, keep); !ok {
			break
		}
		l.shown = append(l.shown, i)
	}
	return l.shown
}

func reverse(s []uint64) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// move takes a moving action; rows is a page.
func (l *lines) move(act keymap.Action, first, end uint64, rows int, keep keeper) bool {
	if keep == nil {
		return l.list.act(act, first, end, rows)
	}
	steps := map[keymap.Action]int{keymap.Up: -1, keymap.Down: 1, keymap.PageUp: 1 - max(rows, 2), keymap.PageDown: max(rows, 2) - 1,
		keymap.Top: -1 << 30, keymap.Bottom: 1 << 30}
	step, known := steps[act]
	if !known {
		return false
	}
	n, ok := l.selected(first, end, keep)
	if !ok {
		return true
	}
	l.sel, l.follow = stepKept(n, step, first, end, keep)
	return true
}

// stepKept goes so many kept lines on, or back. last is true if none comes after.
func stepKept(n uint64, step int, first, end uint64, keep keeper) (to uint64, last bool) {
	for ; step < 0; step++ {
		p, ok := prevKept(first, n, keep)
		if !ok {
			break
		}
		n = p
	}
	for ; step > 0; step-- {
		p, ok := nextKept(n+1, end, keep)
		if !ok {
			return n, true
		}
		n = p
	}
	_, more := nextKept(n+1, end, keep)
	return n, !more
}

// pick selects the line of a row; again is true if it was selected by hand
// before.
func (l *lines) pick(row int, first, end uint64, keep keeper) (again bool) {
	if row < 0 || row >= len(l.shown) {
		return false
	}
	sel, _ := l.selected(first, end, keep)
	again = l.shown[row] == sel && !l.follow
	l.sel, l.follow = l.shown[row], false
	return again
}

// verdicts remembers which lines are kept, so that a filter that keeps few lines
// does not look at all of them in every frame. Lines that can still change are
// not remembered.
type verdicts struct {
	tags []uint64 // number plus one in the high bits, kept in bit 0
	end  uint64
	at   int // branch
}

// begin forgets what a frame of another branch, or of an earlier moment, makes
// void.
func (v *verdicts) begin(size int, end uint64, branch int) {
	if len(v.tags) != size {
		v.tags = make([]uint64, size)
	}
	if end < v.end || branch != v.at {
		clear(v.tags)
	}
	v.end, v.at = end, branch
}

func (v *verdicts) forget() { clear(v.tags) }

// knows reports whether line n is remembered.
func (v *verdicts) knows(n uint64) bool { return v.tags[n%uint64(len(v.tags))]>>1 == n+1 }

// of returns what is remembered of line n, or asks and remembers if settled.
func (v *verdicts) of(n uint64, settled bool, ask func() bool) bool {
	t := &v.tags[n%uint64(len(v.tags))]
	if *t>>1 == n+1 {
		return *t&1 == 1
	}
	kept := ask()
	if settled {
		*t = (n + 1) << 1
		if kept {
			*t |= 1
		}
	}
	return kept
}
