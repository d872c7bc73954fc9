package interp

import (
	"encoding/binary"
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
