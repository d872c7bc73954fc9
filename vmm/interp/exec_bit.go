package interp

import "math/bits"

// bitOp returns a handler of BT, BTS, BTR or BTC: f gives the new value of the
// word from the old one and the bit.
func bitOp(f func(v, bit uint64) uint64, writes bool) handler {
	return func(c *CPU, o *op) {
		n := o.imm
		if o.flags&opImm == 0 {
			n = uint64(sext(c.getN(o.src, o.size), o.size))
		}
		w := uint64(o.size) * 8
		at := *o
		var v uint64
		if o.flags&opMem != 0 {
			if o.flags&opImm == 0 { // a bit string: the number reaches beyond the operand
				at.disp += uint64(int64(n) >> (bits.Len8(o.size) + 2) * int64(o.size))
			}
			acc := accRead
			if writes {
				acc = accModify
			}
			var ok bool
			if v, ok = c.loadOp(&at, o.size, acc); !ok {
				return
			}
		} else {
			v = c.getN(o.dst, o.size)
		}
		m := uint64(1) << (n & (w - 1))
		if writes && !c.result(&at, o.dst, o.size, f(v, m)) {
			return
		}
		c.rflags = c.flags()&^flagCF | bit(v&m != 0, flagCF)
	}
}

func bts(v, m uint64) uint64 { return v | m }
func btr(v, m uint64) uint64 { return v &^ m }
func btc(v, m uint64) uint64 { return v ^ m }

// scan is BSF and BSR (which leave the destination alone for zero), TZCNT and
// LZCNT (which give the operand size in bits).
func scan(f func(v uint64, size uint8) int, count bool) handler {
	return func(c *CPU, o *op) {
		v, ok := c.operand(o, o.src, o.size)
		if !ok {
			return
		}
		w := uint64(o.size) * 8
		switch {
		case count && v == 0:
			c.putN(o.dst, o.size, w)
			setRes(c, sext(w, o.size), true, false)
		case count:
			n := uint64(f(v, o.size))
			c.putN(o.dst, o.size, n)
			setRes(c, sext(n, o.size), false, false)
		case v == 0:
			setRes(c, int64(0), false, false)
		default:
			c.putN(o.dst, o.size, uint64(f(v, o.size)))
			setRes(c, int64(1), false, false)
		}
	}
}

func lowest(v uint64, _ uint8) int     { return bits.TrailingZeros64(v) }
func highest(v uint64, _ uint8) int    { return 63 - bits.LeadingZeros64(v) }
func leading(v uint64, size uint8) int { return int(size)*8 - bits.Len64(v) }

func execPOPCNT(c *CPU, o *op) {
	if v, ok := c.operand(o, o.src, o.size); ok {
		c.putN(o.dst, o.size, uint64(bits.OnesCount64(v)))
		c.setFlags(c.flags()&^flagsArith | bit(v == 0, flagZF))
	}
}
