package ui

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// timerColumns are the columns of the table of many vCPUs.
var timerColumns = []struct {
	name string
	w    int
}{{"vCPU", 5}, {"where", 16}, {"mode", 13}, {"vec", 5}, {"to go", 14}, {"", 12}, {"host", 5}, {"advance", 10},
	{"delta", 14}, {"pend", 5}, {"IRR", 9}, {"ISR", 9}, {"PIR", 9}}

// wholeColumns is the width of the columns that fit in w: none is cut.
func wholeColumns(w int) (fit int) {
	for _, c := range timerColumns {
		if fit+c.w-1 > w {
			break
		}
		fit += c.w
	}
	return fit
}

func timerTableHead(a area) {
	a = a.sub(0, 0, wholeColumns(a.w), a.h)
	x := 0
	for _, c := range timerColumns {
		a.text(x, 0, label, c.name)
		x += c.w
	}
}

func timerTableRow(s *scene, a area, i int, v *trace.VCPU) {
	a = a.sub(0, 0, wholeColumns(a.w), a.h)
	where, st := whereWords(v)
	x := 0
	next := func(col int, st style, words string) {
		a.cut(x, 0, timerColumns[col].w-1, st, words)
		x += timerColumns[col].w
	}
	next(0, heading, strconv.Itoa(i))
	next(1, st, where)
	if v.Mode == trace.BadTimerMode { // LVTT has not been written
		next(2, dim, "–")
		next(3, dim, "–")
	} else {
		next(2, value, v.Mode.String())
		next(3, value, strconv.FormatUint(uint64(v.TimerVector()), 16))
	}
	if v.Armed && v.Target != 0 {
		left, frac := toGo(s, v)
		next(4, pick(left < 0, late, value), s.span(left))
		if x < a.w {
			a.bar(x, 0, timerColumns[5].w-2, frac, chart)
		}
		x += timerColumns[5].w
	} else {
		next(4, dim, "not armed")
		next(5, dim, "")
	}
	next(6, backingStyle(v.Backing), v.Backing.String())
	next(7, value, group3(uint64(max(v.AdvanceNS, 0)))+" ns")
	if v.DeltaAt == 0 {
		next(8, dim, "–")
	} else {
		next(8, pick(v.Delta < 0, early, late), s.cyc(v.Delta))
	}
	next(9, pick(v.Pending, warn, dim), map[bool]string{true: "yes", false: "no"}[v.Pending])
	next(10, value, vectorList(&v.IRR))
	next(11, value, vectorList(&v.ISR))
	next(12, value, vectorList(&v.PIR))
}

func backingStyle(b trace.Backing) style {
	switch b {
	case trace.BackHV:
		return good
	case trace.BackSW:
		return warn
	}
	return dim
}
