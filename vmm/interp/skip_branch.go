package interp

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
