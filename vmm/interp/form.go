package interp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// row is one line of the table.
//
// The encoding is written as in the manual: mandatory prefix (66, F3, F2, or NP
// for none of them), opcode bytes, then any of
//
//	+r   the opcode's low three bits are a register: eight opcodes
//	+c   the opcode's low four bits are a condition: sixteen opcodes
//	/n   ModRM.reg is n
//	m    ModRM must name memory; r: a register
//	=XX  the ModRM byte is XX
//
// Operands are a letter for the place and one for the size, comma-separated, the
// destination first:
//
//	E  ModRM.rm, register or memory     M  the same, memory only in meaning
//	G  ModRM.reg                        R  ModRM.rm as register, whatever mod says
//	Z  register of the opcode           A  the accumulator
//	I  immediate                        i  a further one-byte immediate
//	J  branch offset                    O  memory at an absolute offset
//	P  far pointer                      S, C, D  segment, control, debug register
//	V, W, N, Q  vector and MMX registers: see their handlers
//
//	b w d q  1, 2, 4, 8 bytes           v  the operand size
//	y  4, with REX.W 8                  z  as v, but immediates have at most 4 bytes
type row struct {
	enc   string
	name  string
	args  string
	flags string // flags written, upper case; lower case: left undefined by the manual
	cost  costClass
	attr  rowAttr
	exec  family
}

// rowAttr are properties of a row.
type rowAttr uint16

// The properties.
const (
	end      rowAttr = 1 << iota // may change RIP, the mode or what is to be looked at: ends its block
	d64                          // operand size 8 by default in 64-bit mode
	f64                          // operand size 8 always in 64-bit mode
	only64                       // exists only in 64-bit mode
	no64                         // does not exist in 64-bit mode
	lockable                     // LOCK is allowed if the destination is memory
)

// family are the handlers of a row: for a register and a memory operand, by
// operand size 1, 2, 4, 8. nil is #UD.
type family struct{ reg, mem [4]handler }

// both is one handler for everything.
func both(h handler) family {
	a := [4]handler{h, h, h, h}
	return family{a, a}
}

// onlyReg and onlyMem are families whose other form does not exist.
func onlyReg(h handler) family { return family{reg: [4]handler{h, h, h, h}} }
func onlyMem(h handler) family { return family{mem: [4]handler{h, h, h, h}} }

// form is a row as the decoder wants it.
type form struct {
	row *row
	// prefix is the mandatory prefix, prefixNone for none of them, 0 for any.
	prefix     byte
	modrm      bool // has a ModRM byte
	mask, want byte // what ModRM must be
	memory     bool // ModRM must name memory
	fixed      bool // the ModRM byte is part of the opcode
	noMem      bool // ModRM.rm is a register whatever mod says
	args       []arg
}

// arg is one operand of a form.
type arg struct{ kind, size byte }

// prefixNone stands for "no mandatory prefix may be there".
const prefixNone byte = 1

// maps are the forms by opcode map and last opcode byte.
var maps = buildMaps(slices.Concat(rowsALU(), rows, rowsTwo, rowsSystem, rowsExtra(), rowsFPU(), rowsSSE()))

// opcodeMaps are the four opcode maps: one byte, 0F, 0F 38, 0F 3A.
type opcodeMaps struct{ one, two, three8, threeA [256][]form }

// buildMaps parses the rows. A row that cannot be parsed is a bug.
func buildMaps(rows []row) *opcodeMaps {
	m := new(opcodeMaps)
	for i := range rows {
		f, opcode, count, err := parseRow(&rows[i])
		if err != nil {
			panic(fmt.Sprintf("BUG: interp: row %q %s: %v", rows[i].enc, rows[i].name, err))
		}
		t := &m.one
		switch {
		case len(opcode) == 2 && opcode[0] == 0x0f:
			t = &m.two
		case len(opcode) == 3 && opcode[1] == 0x38:
			t = &m.three8
		case len(opcode) == 3 && opcode[1] == 0x3a:
			t = &m.threeA
		}
		last := int(opcode[len(opcode)-1])
		for b := last; b < last+count; b++ {
			t[b] = append(t[b], f)
		}
	}
	for _, t := range []*[256][]form{&m.one, &m.two, &m.three8, &m.threeA} {
		for b := range t {
			slices.SortStableFunc(t[b], func(x, y form) int { return y.weight() - x.weight() })
		}
	}
	return m
}

// weight orders the forms of one opcode: the more special first.
func (f *form) weight() int {
	w := 0
	if f.fixed {
		w += 8
	}
	if f.mask != 0 {
		w += 4
	}
	if f.memory {
		w++
	}
	if f.prefix > prefixNone {
		w += 2
	}
	return w
}

// parseRow parses the encoding and the operands of r. count is the number of
// opcodes that the row is for.
func parseRow(r *row) (f form, opcode []byte, count int, err error) {
	f.row, count = r, 1
	words := strings.Fields(r.enc)
	for i, w := range words {
		switch {
		case i == 0 && w == "NP":
			f.prefix = prefixNone
		case i == 0 && len(words) > 1 && (w == "66" || w == "F3" || w == "F2"):
			b, _ := strconv.ParseUint(w, 16, 8)
			f.prefix = byte(b)
		case w == "+r":
			count = 8
		case w == "+c":
			count = 16
		case w == "m":
			f.memory = true
		case w == "r":
			f.mask, f.want = f.mask|0xc0, f.want|0xc0
		case w[0] == '/' && len(w) == 2 && w[1] >= '0' && w[1] <= '7':
			f.modrm = true
			f.mask, f.want = f.mask|0x38, f.want|(w[1]-'0')<<3
		case w[0] == '=':
			b, err := strconv.ParseUint(w[1:], 16, 8)
			if err != nil {
				return f, nil, 0, err
			}
			f.modrm, f.fixed, f.mask, f.want = true, true, 0xff, byte(b)
		default:
			b, err := strconv.ParseUint(w, 16, 8)
			if err != nil {
				return f, nil, 0, err
			}
			opcode = append(opcode, byte(b))
		}
	}
	if len(opcode) == 0 || len(opcode) > 1 && opcode[0] != 0x0f {
		return f, nil, 0, fmt.Errorf("no opcode")
	}
	if r.args == "" {
		return f, opcode, count, nil
	}
	for _, s := range strings.Split(r.args, ",") {
		a := arg{kind: s[0]}
		if len(s) > 1 {
			a.size = s[1]
		}
		if strings.IndexByte("EGMRSCDVWNQP", a.kind) >= 0 && !(a.kind == 'P' && r.args == "Pp") {
			f.modrm = true
		}
		f.noMem = f.noMem || a.kind == 'R'
		f.args = append(f.args, a)
	}
	return f, opcode, count, nil
}
