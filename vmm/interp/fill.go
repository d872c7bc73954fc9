package interp

import (
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// A fill is the loop of memset and of every array that is set up: one store of
// the same value, one step of the register that the address or the count is in,
// a comparison, and the branch back. Guests spend much of their time in such
// loops, and each iteration is the last one with other numbers: they are done in
// one go, up to the limit, the end of the loop or a store that faults or leaves the
// guest. The result is the same as instruction by instruction.
type fill struct {
	// step is added to register reg, modulo mask.
	reg  uint8
	step uint64
	from uint8 // register that holds the step, if it is no constant
	mask uint64
	// other is the register compared with reg, regZero if that is the constant
	// imm; swapped says that reg is the right operand.
	other   uint8
	imm     uint64
	swapped bool
}

// fillOps is the number of instructions of a fill.
const fillOps = 4

// asFill recognises a fill in the ops of a block.
func asFill(ops []op) *fill {
	if len(ops) != fillOps {
		return nil
	}
	store, step, cmp, back := &ops[0], &ops[1], &ops[2], &ops[3]
	f := &fill{reg: step.dst & 15}
	switch {
	case !store.fills() || !step.plain("add") || !cmp.plain("cmp") || back.row.name != "j":
		return nil
	case back.imm != -uint64(back.end) || !decides(back.code):
		return nil // not to the block's start, or by a flag that is not kept
	case store.flags&opImm == 0 && store.src&15 == f.reg, step.flags&opImm == 0 && step.src&15 == f.reg:
		return nil // what is stored, or the step, changes
	}
	f.mask, f.from, f.other = ^uint64(0)>>(64-8*step.size), regZero, regZero
	if step.flags&opImm != 0 {
		f.step = step.imm
	} else {
		f.from = step.src & 15
	}
	switch isReg, right := cmp.dst&15 == f.reg, cmp.src&15; {
	case isReg && cmp.flags&opImm != 0:
		f.imm = cmp.imm
	case isReg && right != f.reg:
		f.other = right
	case !isReg && cmp.flags&opImm == 0 && right == f.reg:
		f.other, f.swapped = cmp.dst&15, true
	default:
		return nil // compares nothing, or what does not change
	}
	return f
}

// fills reports whether o is a plain store to memory in 64-bit mode.
func (o *op) fills() bool {
	return o.row.name == "mov" && strings.HasPrefix(o.row.args, "E") && o.flags&opMem != 0 && o.flags&opLegacy == 0 &&
		o.base != regIP
}

// plain reports whether o is the named operation on whole registers, 32 or 64
// bits wide.
func (o *op) plain(name string) bool {
	return o.row.name == name && o.flags&opMem == 0 && (o.size == 4 || o.size == 8)
}

// decides reports whether a condition code follows from comparing two numbers:
// B, E, BE, L and LE, and their opposites.
func decides(code uint8) bool {
	switch code >> 1 & 7 {
	case 1, 2, 3, 6, 7:
		return true
	}
	return false
}

// holds evaluates such a condition after the comparison of a with b.
func holds(code uint8, a, b int64) bool {
	var v bool
	switch code >> 1 & 7 {
	case 1:
		v = uint64(a) < uint64(b)
	case 2:
		v = a == b
	case 3:
		v = uint64(a) <= uint64(b)
	case 6:
		v = a < b
	case 7:
		v = a <= b
	}
	return v != (code&1 != 0)
}

// fill carries out iterations of block b, a fill, that begin before the limit. It
// reports false if it did none: then b is to be executed as it stands.
//
// Preconditions: the first iteration may run to its end before the limit.
func (c *CPU) fill(b *block) bool {
	f, store, cmp, back := b.fill, &b.ops[0], &b.ops[2], &b.ops[3]
	step := f.step + c.r[f.from]
	if step&f.mask == 0 || b.cycles == 0 || c.probe.on || c.cfg.NoSkip {
		return false
	}
	v := store.imm
	if store.flags&opImm == 0 {
		v = c.getN(store.src, store.size)
	}
	limit, size, width := sext(f.imm+c.r[f.other], cmp.size), store.size, uint64(store.size)
	room := (uint64(c.until-c.now) - uint64(b.last) - 1) / uint64(b.cycles) // iterations after the first
	var (
		n    uint64 // iterations not yet accounted for
		p    *page
		tag  uint64 // of the page p
		x, y int64
		ip   = c.r[regIP]
	)
	for again := true; again && n <= room; n++ {
		a := c.linear(store)
		if t := a&^pageMask | c.tlb.keyW; p == nil || t != tag || a&pageMask > pageSize-width {
			e := &c.tlb.w[slot(a)]
			p, tag = e.page, t
			if e.tag != t || a&pageMask > pageSize-width {
				p = nil
			}
		}
		if p != nil {
			pokeN(p, a&pageMask, size, v)
		} else {
			c.filled(b, n, x, y)
			n, room = 0, room-n
			c.r[regIP] = (ip + uint64(store.end)) & c.w.ipMask
			if store.fn(c, store); c.stop != stopNone {
				c.halfway(b, 0, ip, 0)
				return true
			}
			c.r[regIP] = ip
		}
		c.r[f.reg] = (c.r[f.reg] + step) & f.mask
		x, y = sext(c.r[f.reg], cmp.size), limit
		if f.swapped {
			x, y = y, x
		}
		if again = holds(back.code, x, y); !again {
			c.r[regIP] = (ip + uint64(back.end)) & c.w.ipMask
		}
	}
	c.filled(b, n, x, y)
	return true
}

// filled accounts for n iterations of b, the last of which compared x with y.
func (c *CPU) filled(b *block, n uint64, x, y int64) {
	if n == 0 {
		return
	}
	c.cc = lazy{kind: ccSub, a: x, b: y, r: sext(uint64(x-y), b.ops[2].size)}
	c.now += clock.TSC(n) * clock.TSC(b.cycles)
	c.stats.Filled += n * fillOps
}
