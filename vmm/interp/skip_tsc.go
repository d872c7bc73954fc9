package interp

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// A loop that compares the time-stamp counter with something is not the same in
// each iteration, but if nothing else is handed from one iteration to the next,
// then the only thing that varies is the counter, and the iteration in which a
// comparison first comes out differently can be computed.
//
// One iteration is executed op by op. Beside each register runs what is known of
// it: that it is the same in every iteration, or that it is the counter plus
// something. Only operations whose effect on that is understood are allowed.

// absKind is what is known of a value.
type absKind uint8

// The kinds. A register that no op has written is absSame.
const (
	absSame   absKind = iota // the same in every iteration
	absTSC                   // (counter + add) mod 2^bits
	absHigh                  // bits 63:32 of counter + add
	absHighUp                // those bits in place: (counter + add) &^ 0xffffffff
)

// absValue is what is known of a register.
type absValue struct {
	kind absKind
	bits uint8
	// add is relative to the counter at the start of the iteration.
	add uint64
}

// loopTSC is the analysis of one iteration.
type loopTSC struct {
	reg     [16]absValue
	written uint32 // registers written so far
	used    uint32 // registers read before they were written
	// left and right are what is known of the operands of the present op, lv and
	// rv their values.
	left, right absValue
	lv, rv      uint64
	// flagsKnown is true if the flags are the same in every iteration, or, if
	// varying is, those of the comparison cmp.
	flagsKnown, varying bool
	cmp                 branchTSC
}

// skipTSC executes one iteration and, if it is understood, skips further ones.
// The last one that goes the same way, and the last one before the limit, are
// executed: they leave the registers as they must be.
func (c *CPU) skipTSC() bool {
	p := &c.probe
	start, before := c.now, c.stats.Executed
	var l loopTSC
	c.observe()
	back, known := false, true
	var room [maxLoop]branchTSC
	pending := room[:0]
	for i := 0; i < maxLoop && !back && known; i++ {
		b := c.lookup()
		if b == nil || c.now+clock.TSC(b.last) >= c.until {
			break
		}
		at, ip := c.now, c.r[regIP]
		for j := range b.ops {
			o := &b.ops[j]
			off := uint64(at-start) + uint64(o.cyc)
			known = known && l.before(c, o)
			taken := c.cond(o.code)
			c.stepOp(b, j, at, ip)
			if c.stop != stopNone {
				known = false
				break
			}
			known = known && l.after(c, o, off)
			if o.row.name == "j" && l.varying {
				l.cmp.code, l.cmp.taken = o.code, taken
				pending = append(pending, l.cmp)
			}
		}
		back = c.r[regIP] == p.rip
		known = known && c.stop == stopNone
	}
	c.unobserve()
	if !back || !known || p.changed || !l.constant(c) {
		return false
	}
	period := c.now - start
	n := uint64((c.until - c.now) / period)
	for i := range pending {
		k, ok := pending[i].holds(uint64(period), n)
		if !ok {
			return false
		}
		n = min(n, k)
	}
	if n > 1 {
		c.skip(n-1, period, c.stats.Executed-before)
	}
	return true
}

// constant reports whether every register that the iteration takes over from the
// one before has the value that it had.
func (l *loopTSC) constant(c *CPU) bool {
	for i := range l.reg {
		if l.used>>i&1 != 0 && (l.reg[i].kind != absSame || c.r[i] != c.probe.head.r[i]) {
			return false
		}
	}
	return true
}

// read notes that register i is read and returns what is known of it.
func (l *loopTSC) read(i uint8) absValue {
	if i >= 16 {
		return absValue{}
	}
	if l.written>>i&1 == 0 {
		l.used |= 1 << i
	}
	return l.reg[i]
}

// write notes what register i is now.
func (l *loopTSC) write(i uint8, v absValue) {
	l.reg[i&15] = v
	l.written |= 1 << (i & 15)
}

// operands looks at the operands of o before it is executed.
func (l *loopTSC) operands(c *CPU, o *op) (dst, src absValue, ok bool) {
	if o.flags&opMem != 0 {
		if l.read(o.base).kind != absSame || l.read(o.index).kind != absSame {
			return dst, src, false
		}
	}
	if (o.dst|o.src)&0x10 != 0 {
		return dst, src, false // high bytes: not worth the trouble
	}
	destMem := o.flags&opMem != 0 && strings.HasPrefix(o.row.args, "E")
	if !destMem {
		dst = l.reg[o.dst&15]
	}
	if o.flags&opImm == 0 && (o.flags&opMem == 0 || destMem) && len(o.row.args) > 2 {
		src = l.read(o.src)
	}
	return dst, src, true
}
