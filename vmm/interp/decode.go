package interp

import (
	"encoding/binary"

	"ticktrap/vmm"
)

// maxInsn is the greatest length of an instruction.
const maxInsn = 15

// decodeStatus is the result of decode.
type decodeStatus uint8

// The results. An op is always produced: one that faults or exits if the bytes
// are no instruction.
const (
	decodeOK      decodeStatus = iota
	decodeShort                // the bytes end before the instruction does
	decodeUnknown              // no row in the table
)

// decoder walks over the bytes of one instruction.
type decoder struct {
	code []byte
	pos  int
	mode codeMode

	rep, data, addr, lock byte
	seg                   uint8 // override, or segNone
	rex                   uint8
	modrm                 byte
	short                 bool
}

// next returns the next byte.
func (d *decoder) next() byte {
	if d.pos >= len(d.code) {
		d.short = true
		return 0
	}
	b := d.code[d.pos]
	d.pos++
	return b
}

// value returns the next n bytes, sign-extended.
func (d *decoder) value(n int) uint64 {
	if d.pos+n > len(d.code) {
		d.short = true
		return 0
	}
	b := d.code[d.pos:]
	d.pos += n
	switch n {
	case 1:
		return uint64(int8(b[0]))
	case 2:
		return uint64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return uint64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// decode decodes the instruction at the start of code.
func decode(o *op, code []byte, mode codeMode) decodeStatus {
	if len(code) > maxInsn {
		code = code[:maxInsn]
	}
	d := decoder{code: code, mode: mode, seg: segNone}
	*o = op{base: regZero, index: regZero, seg: segNone}
	f := d.opcode(o)
	if d.short {
		// 15 bytes of prefixes are too long for an instruction.
		*o = op{fn: execTooLong, row: &rowTooLong, flags: opEnd, len: uint8(len(code)), seg: segNone}
		return decodeShort
	}
	if f == nil {
		*o = op{fn: execUnknown, row: &rowUnknown, flags: opEnd, len: uint8(d.pos), seg: segNone}
		return decodeUnknown
	}
	o.row = f.row
	d.operands(o, f)
	o.len = uint8(d.pos)
	if d.short {
		*o = op{fn: execTooLong, row: f.row, flags: opEnd, len: uint8(len(code)), seg: segNone}
		return decodeShort
	}
	d.finish(o, f)
	return decodeOK
}

// opcode reads prefixes and opcode and finds the form.
func (d *decoder) opcode(o *op) *form {
	var b byte
prefixes:
	for {
		b = d.next()
		switch {
		case d.short:
			return nil
		case b == 0x66:
			d.data = b
		case b == 0x67:
			d.addr = b
		case b == 0xf2 || b == 0xf3:
			d.rep = b
		case b == 0xf0:
			d.lock = b
		case b == 0x64 || b == 0x65:
			d.seg = segFS + b&1
		case b&^0x18 == 0x26:
			d.seg = b >> 3 & 3
		case d.mode == mode64 && b&0xf0 == 0x40:
			d.rex = b
			b = d.next()
			if !isPrefix(b) {
				break prefixes
			}
			d.rex = 0
			d.pos--
		default:
			break prefixes
		}
	}
	forms := &maps.one
	if b == 0x0f {
		forms = &maps.two
		switch b = d.next(); b {
		case 0x38:
			forms, b = &maps.three8, d.next()
		case 0x3a:
			forms, b = &maps.threeA, d.next()
		}
	}
	o.code = b
	if d.short {
		return nil
	}
	return d.match(forms[b])
}

// isPrefix reports whether b is a prefix in 64-bit mode. A REX prefix before
// another prefix is ignored.
func isPrefix(b byte) bool {
	switch b {
	case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3:
		return true
	}
	return b&0xf0 == 0x40
}

// match returns the first form that fits prefixes, mode and ModRM.
func (d *decoder) match(forms []form) *form {
	if len(forms) == 0 {
		return nil
	}
	if forms[0].modrm {
		d.modrm = d.next()
		if d.short {
			return nil
		}
	}
	for i := range forms {
		f := &forms[i]
		switch {
		case f.prefix == 0x66 && (d.data == 0 || d.rep != 0), f.prefix > 0x66 && d.rep != f.prefix,
			f.prefix == prefixNone && (d.data != 0 || d.rep != 0),
			f.row.attr&only64 != 0 && d.mode != mode64, f.row.attr&no64 != 0 && d.mode == mode64,
			d.modrm&f.mask != f.want, f.memory && d.modrm >= 0xc0:
			continue
		}
		return f
	}
	return &formUndefined
}

// formUndefined stands for an encoding of a known opcode that does not exist
// with these prefixes, in this mode or with this ModRM.
var formUndefined = form{row: &rowUndefined}

// operands reads what follows the opcode.
func (d *decoder) operands(o *op, f *form) {
	o.rex = d.rex
	switch {
	case d.mode == mode64 && (d.rex&8 != 0 || f.row.attr&f64 != 0):
		o.size = 8
	case d.data != 0 != (d.mode == mode16):
		o.size = 2
	case d.mode == mode64 && f.row.attr&d64 != 0:
		o.size = 8
	default:
		o.size = 4
	}
	switch {
	case d.mode == mode64 && d.addr == 0:
		o.asize, o.amask = 8, ^uint64(0)
	case d.mode != mode64 && d.mode == mode16 == (d.addr == 0):
		o.asize, o.amask = 2, 0xffff
	default:
		o.asize, o.amask = 4, 0xffffffff
	}
	if d.mode != mode64 {
		o.flags |= opLegacy
	}
	if d.rep == 0xf3 {
		o.flags |= opRep
	} else if d.rep == 0xf2 {
		o.flags |= opRepne
	}
	if d.data != 0 {
		o.flags |= opData
	}
	if f.modrm {
		o.reg = d.modrm>>3&7 | d.rex<<1&8
		o.rm = d.modrm&7 | d.rex<<3&8
		if d.modrm < 0xc0 && !f.fixed && !f.noMem {
			o.flags |= opMem
			d.memory(o)
		}
	}
	if o.flags&opMem == 0 {
		o.seg = d.segment(segDS) // of string instructions
	}
	d.args(o, f)
}

// segment returns the segment of a memory operand whose default is def.
func (d *decoder) segment(def uint8) uint8 {
	if d.mode == mode64 {
		if d.seg == segFS || d.seg == segGS {
			return d.seg
		}
		return segNone
	}
	if d.seg != segNone {
		return d.seg
	}
	return def
}

// memory reads the addressing form of ModRM. Intel SDM vol. 2A, 2.1.5
// "Addressing-Mode Encoding of ModR/M and SIB Bytes".
func (d *decoder) memory(o *op) {
	mod, rm := d.modrm>>6, d.modrm&7
	def := uint8(segDS)
	if o.asize == 2 {
		o.base = [8]uint8{vmm.RBX, vmm.RBX, vmm.RBP, vmm.RBP, vmm.RSI, vmm.RDI, vmm.RBP, vmm.RBX}[rm]
		o.index = [8]uint8{vmm.RSI, vmm.RDI, vmm.RSI, vmm.RDI, regZero, regZero, regZero, regZero}[rm]
		if rm == 6 && mod == 0 {
			o.base = regZero
			mod = 2
		}
	} else {
		o.base = rm | d.rex<<3&8
		if rm == 4 {
			sib := d.next()
			o.scale = sib >> 6
			if o.index = sib>>3&7 | d.rex<<2&8; o.index == vmm.RSP {
				o.index = regZero
			}
			o.base = sib&7 | d.rex<<3&8
			if sib&7 == 5 && mod == 0 {
				o.base = regZero
				o.disp = d.value(4)
			}
		} else if rm == 5 && mod == 0 {
			o.base = regZero
			if d.mode == mode64 {
				o.base = regIP
			}
			o.disp = d.value(4)
		}
	}
	switch mod {
	case 1:
		o.disp = d.value(1)
	case 2:
		o.disp = d.value(int(min(o.asize, 4)))
	}
	if o.base == vmm.RBP || o.base == vmm.RSP {
		def = segSS
	}
	o.seg = d.segment(def)
}

// reg8 encodes a byte register: without REX, 4–7 are the high bytes of 0–3.
func (d *decoder) reg8(n, size uint8) uint8 {
	if size == 1 && d.rex == 0 && n >= 4 {
		return n&3 | 0x10
	}
	return n
}

// args reads the operands that the form lists.
func (d *decoder) args(o *op, f *form) {
	opsize := o.size
	for i, a := range f.args {
		size := opsize
		switch a.size {
		case 'b':
			size = 1
		case 'w':
			size = 2
		case 'd':
			size = 4
		case 'q':
			size = 8
		case 'y':
			size = max(4, opsize)
			if d.mode != mode64 {
				size = 4
			}
		}
		if i == 0 && a.size != 0 && a.kind != 'I' && a.kind != 'J' {
			o.size = size
		}
		reg := noReg
		switch a.kind {
		case 'E', 'R', 'M':
			reg = d.reg8(o.rm, size)
		case 'G':
			reg = d.reg8(o.reg, size)
		case 'Z':
			reg = d.reg8(o.code&7|d.rex<<3&8, size)
		case 'A':
			reg = 0
		case 'I':
			o.flags |= opImm
			n := int(size)
			if a.size == 'z' {
				n = min(n, 4)
			}
			o.imm = d.value(n)
		case 'i': // a second immediate: ENTER's level
			o.disp = d.value(1) & 0xff
		case 'J':
			n := 1
			if a.size == 'z' {
				n = int(min(o.size, 4))
			}
			o.imm = d.value(n)
		case 'O':
			o.flags |= opMem
			o.disp = d.value(int(o.asize)) & o.amask
			o.seg = d.segment(segDS)
		case 'P':
			o.imm = d.value(int(opsize)) & (1<<(8*opsize) - 1)
			o.disp = d.value(2) & 0xffff
		}
		if reg == noReg {
			continue
		}
		if i == 0 {
			o.dst = reg
		} else {
			o.src = reg
		}
	}
}

// noReg is no register number.
const noReg uint8 = 0xff

// finish picks the handler.
func (d *decoder) finish(o *op, f *form) {
	i := [9]uint8{1: 0, 2: 1, 4: 2, 8: 3}[o.size]
	o.fn = f.row.exec.reg[i]
	if o.flags&opMem != 0 {
		o.fn = f.row.exec.mem[i]
	}
	if d.lock != 0 {
		o.flags |= opLock
		if f.row.attr&lockable == 0 || o.flags&opMem == 0 {
			o.fn = nil
		}
	}
	if o.fn == nil {
		o.fn = execUndefined
		o.flags |= opEnd
	}
	if f.row.attr&end != 0 {
		o.flags |= opEnd
	}
}
