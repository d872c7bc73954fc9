package interp

import (
	"strings"

	"ticktrap/internal/clock"
	"ticktrap/vmm"
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

// before checks that o is understood, and keeps the operands of comparisons.
func (l *loopTSC) before(c *CPU, o *op) bool {
	switch o.row.name {
	case "rdtsc", "nop", "pause", "jmp":
		return o.flags&opMem == 0
	case "j":
		return l.flagsKnown
	}
	dst, src, ok := l.operands(c, o)
	if !ok {
		return false
	}
	l.left, l.right = dst, src
	switch o.row.name {
	case "mov", "movzx", "lea":
		return o.flags&opMem == 0 || !strings.HasPrefix(o.row.args, "E")
	case "cmp", "test", "add", "sub", "and", "or", "xor", "shl", "shr":
	default:
		return false
	}
	if o.flags&opMem != 0 && strings.HasPrefix(o.row.args, "E") {
		return o.row.name == "cmp" || o.row.name == "test"
	}
	if o.row.name[:2] == "sh" && o.flags&opImm == 0 && l.read(vmm.RCX).kind != absSame {
		return false
	}
	l.left = l.read(o.dst)
	l.lv = c.getN(o.dst, o.size)
	return true
}

// after notes what o did.
func (l *loopTSC) after(c *CPU, o *op, off uint64) bool {
	switch o.row.name {
	case "nop", "pause", "jmp", "j":
		return true
	case "rdtsc":
		l.write(vmm.RAX, absValue{absTSC, 32, off})
		l.write(vmm.RDX, absValue{absHigh, 32, off})
		return true
	}
	same := l.left.kind == absSame && l.right.kind == absSame
	name := o.row.name
	switch name {
	case "cmp", "test":
		l.flagsKnown, l.varying = true, !same
		return same || name == "cmp" && l.compared(c, o)
	case "mov", "movzx", "lea":
		if o.size < 4 {
			if l.read(o.dst).kind != absSame {
				return false
			}
		}
		v := l.right
		if v.kind != absSame && (name != "mov" || o.size < 8 && !(v.bits == 32 && o.size == 4)) {
			return false
		}
		l.write(o.dst, v)
		return true
	}
	// Arithmetic: its flags are not used if they vary.
	l.flagsKnown, l.varying = same && name != "shl" && name != "shr", false
	if same {
		l.write(o.dst, absValue{})
		return true
	}
	v, ok := l.combine(c, o)
	if ok {
		l.write(o.dst, v)
	}
	return ok
}

// combine is arithmetic on a value that varies.
func (l *loopTSC) combine(c *CPU, o *op) (v absValue, ok bool) {
	a, b := l.left, l.right
	switch o.row.name {
	case "shl":
		ok = a.kind == absHigh && o.size == 8 && c.shiftCount(o) == 32
		return absValue{absHighUp, 64, a.add}, ok
	case "or", "add":
		if a.kind == absTSC && b.kind == absHighUp {
			a, b = b, a
		}
		if a.kind == absHighUp && b.kind == absTSC && b.bits == 32 {
			return absValue{absTSC, 64, a.add}, o.size == 8 && a.add == b.add
		}
		if o.row.name == "or" {
			return v, false
		}
		if a.kind == absSame {
			a, b = b, a
			l.rv = l.lv
		} else {
			l.rv = c.getN(o.dst, o.size) - l.lv
		}
		return absValue{absTSC, a.bits, a.add + l.rv}, a.kind == absTSC && b.kind == absSame && o.size*8 == a.bits
	case "sub":
		d := l.lv - c.getN(o.dst, o.size)
		return absValue{absTSC, a.bits, a.add - d}, a.kind == absTSC && b.kind == absSame && o.size*8 == a.bits
	}
	return v, false
}

// compared completes the operands of a comparison from the flags it left.
func (l *loopTSC) compared(c *CPU, o *op) bool {
	if c.cc.kind != ccSub || o.size < 4 {
		return false
	}
	l.cmp = branchTSC{left: l.left, right: l.right, size: o.size,
		lv: zext(uint64(c.cc.a), o.size), rv: zext(uint64(c.cc.b), o.size)}
	one, other := l.left, l.right
	if one.kind == absSame {
		one, other = other, one
	}
	return one.kind == absTSC && other.kind == absSame && o.size*8 >= one.bits
}

// branchTSC is a conditional branch on the comparison of a value that varies
// with one that does not. lv and rv are the operands in the observed iteration.
type branchTSC struct {
	left, right absValue
	lv, rv      uint64
	size        uint8
	code        uint8
	taken       bool
}

// holds returns how many of the n iterations after the observed one go the same
// way, for sure. period is the length of an iteration. ok is false if that
// cannot be said.
func (b *branchTSC) holds(period, n uint64) (k uint64, ok bool) {
	v, bits := b.lv, b.left.bits
	if b.left.kind == absSame {
		v, bits = b.rv, b.right.bits
	}
	span := n * period
	if n != 0 && span/n != period {
		return 0, false
	}
	top := uint64(1)<<(bits-1)<<1 - 1
	switch b.code >> 1 & 7 {
	case 1, 3: // unsigned: no wrap of the value
		if span > top-v {
			return 0, false
		}
	case 6, 7: // signed: no wrap of the sign
		m := uint64(1) << (8*b.size - 1)
		if span > top-v || (v^(v+span))&m != 0 {
			return 0, false
		}
	default:
		return 0, false
	}
	lo, hi := uint64(0), n // the way is the same for lo; the first other one is above hi
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if b.outcome(mid*period) == b.taken {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo, true
}

// outcome is the condition when the counter has moved on by d.
func (b *branchTSC) outcome(d uint64) bool {
	x, y := b.lv, b.rv
	if b.left.kind != absSame {
		x += d
	} else {
		y += d
	}
	var v bool
	switch b.code >> 1 & 7 {
	case 1:
		v = zext(x, b.size) < zext(y, b.size)
	case 3:
		v = zext(x, b.size) <= zext(y, b.size)
	case 6:
		v = sext(x, b.size) < sext(y, b.size)
	case 7:
		v = sext(x, b.size) <= sext(y, b.size)
	}
	return v != (b.code&1 != 0)
}
