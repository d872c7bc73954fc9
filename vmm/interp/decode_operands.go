package interp

import "codeberg.org/ticktrap/ticktrap/vmm"

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
