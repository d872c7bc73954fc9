package interp

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

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
