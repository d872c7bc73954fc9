package main

import (
	"fmt"
	"math/bits"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// The flags, as rows name undefined ones.
const (
	cf = 1 << 0
	pf = 1 << 2
	af = 1 << 4
	zf = 1 << 6
	sf = 1 << 7
	of = 1 << 11
)

// The registers that instructions use implicitly.
const (
	rax = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
)

// both returns a row of byte size and one of the other sizes, whose opcode is
// one higher.
func both(name string, op byte, rest string, undef uint64, f func(*row)) []row {
	a := row{name: name, enc: fmt.Sprintf("%02x %s", op, rest), sizes: "b", undef: undef}
	b := row{name: name, enc: fmt.Sprintf("%02x %s", op+1, rest), sizes: "wdq", undef: undef}
	if f != nil {
		f(&a)
		f(&b)
	}
	return []row{a, b}
}

func integerRows() []row {
	var rows []row
	lock := func(w *row) { w.lock = true }
	chain := func(w *row) { w.n = 16; w.lock = true }
	for k, name := range []string{"ADD", "OR", "ADC", "SBB", "AND", "SUB", "XOR", "CMP"} {
		undef := uint64(0)
		if name == "OR" || name == "AND" || name == "XOR" {
			undef = af
		}
		f := lock
		if name == "ADC" || name == "SBB" {
			f = chain
		}
		if name == "CMP" {
			f = nil
		}
		op := byte(k * 8)
		rows = append(rows, both(name, op, "/r", undef, f)...)
		rows = append(rows, both(name, op+2, "/r", undef, nil)...)
		rows = append(rows, row{name: name, enc: fmt.Sprintf("%02x ib", op+4), sizes: "b", undef: undef},
			row{name: name, enc: fmt.Sprintf("%02x iz", op+5), sizes: "wdq", undef: undef},
			row{name: name, enc: fmt.Sprintf("80 /%d ib", k), sizes: "b", undef: undef, lock: f != nil},
			row{name: name, enc: fmt.Sprintf("81 /%d iz", k), sizes: "wdq", undef: undef, lock: f != nil},
			row{name: name, enc: fmt.Sprintf("83 /%d ib", k), sizes: "wdq", undef: undef, lock: f != nil})
	}
	rows = append(rows, both("TEST", 0x84, "/r", af, nil)...)
	rows = append(rows, row{name: "TEST", enc: "a8 ib", sizes: "b", undef: af},
		row{name: "TEST", enc: "a9 iz", sizes: "wdq", undef: af},
		row{name: "TEST", enc: "f6 /0 ib", sizes: "b", undef: af},
		row{name: "TEST", enc: "f7 /0 iz", sizes: "wdq", undef: af})
	for k, name := range []string{"INC", "DEC"} {
		rows = append(rows, both(name, 0xfe, fmt.Sprintf("/%d", k), 0, lock)...)
	}
	rows = append(rows, both("NOT", 0xf6, "/2", 0, lock)...)
	rows = append(rows, both("NEG", 0xf6, "/3", 0, lock)...)
	rows = append(rows, mulRows()...)
	rows = append(rows, moveRows()...)
	rows = append(rows, exchangeRows()...)
	return rows
}

func mulRows() []row {
	undef := uint64(sf | zf | af | pf)
	rows := append(both("MUL", 0xf6, "/4", undef, nil), both("IMUL", 0xf6, "/5", undef, nil)...)
	rows = append(rows, row{name: "IMUL", enc: "0faf /r", sizes: "wdq", undef: undef},
		row{name: "IMUL", enc: "6b /r ib", sizes: "wdq", undef: undef},
		row{name: "IMUL", enc: "69 /r iz", sizes: "wdq", undef: undef})
	div := func(signed bool) func(w *row) {
		return func(w *row) {
			w.n = 20
			w.pre = func(i *inst) { i.reserve(rax, rdx) }
			w.post = func(i *inst) { i.dividend(signed) }
		}
	}
	undef |= cf | of
	rows = append(rows, both("DIV", 0xf6, "/6", undef, div(false))...)
	return append(rows, both("IDIV", 0xf6, "/7", undef, div(true))...)
}

// dividend mostly chooses operands whose quotient fits, sometimes just not.
func (i *inst) dividend(signed bool) {
	if i.r.Chance(20) || i.size == 1 && !i.isMem && i.rm >= 4 {
		return
	}
	n := uint(i.size * 8)
	mask := uint64(1)<<(n-1)<<1 - 1
	d, q := i.r.Int()&mask, i.r.Int()&mask
	if d == 0 {
		d = 3
	}
	if signed && i.r.Chance(90) {
		d, q = max(d>>1, 1), q>>1
	}
	hi, lo := mul128(d, q, i.r.Int()%d)
	neg := signed && i.r.Chance(50)
	if neg {
		var b uint64
		lo, b = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, b)
	}
	if signed && i.r.Chance(50) {
		d = -d & mask
	}
	i.setOperand(d, i.size)
	switch i.size {
	case 1:
		i.SetGPR(rax, i.In.GPR[rax]&^0xffff|lo&0xffff)
	case 8:
		i.SetGPR(rax, lo)
		i.SetGPR(rdx, hi)
	default:
		i.SetGPR(rax, lo&mask)
		i.SetGPR(rdx, lo>>n&mask)
	}
}

func moveRows() []row {
	rows := append(both("MOV", 0x88, "/r", 0, nil), both("MOV", 0x8a, "/r", 0, nil)...)
	rows = append(rows, row{name: "MOV", enc: "b0 +r ib", sizes: "b"}, row{name: "MOV", enc: "b8 +r iv", sizes: "wdq"},
		row{name: "MOV", enc: "c6 /0 ib", sizes: "b"}, row{name: "MOV", enc: "c7 /0 iz", sizes: "wdq"})
	rows = append(rows, both("MOV", 0xa0, "moffs", 0, nil)...)
	rows = append(rows, both("MOV", 0xa2, "moffs", 0, nil)...)
	rows = append(rows, row{name: "LEA", enc: "8d /r:m", sizes: "wdq", n: 40},
		row{name: "MOVZX", enc: "0fb6 /r", sizes: "wdq"}, row{name: "MOVZX", enc: "0fb7 /r", sizes: "wdq"},
		row{name: "MOVSX", enc: "0fbe /r", sizes: "wdq"}, row{name: "MOVSX", enc: "0fbf /r", sizes: "wdq"},
		row{name: "MOVSXD", enc: "63 /r", sizes: "wdq"},
		row{name: "MOVBE", enc: "0f38f0 /r:m", sizes: "wdq"}, row{name: "MOVBE", enc: "0f38f1 /r:m", sizes: "wdq"},
		row{name: "MOVNTI", enc: "0fc3 /r:m", sizes: "dq"},
		row{name: "BSWAP", enc: "0fc8 +r", sizes: "dq"},
		row{name: "CBW", enc: "98", sizes: "wdq"}, row{name: "CWD", enc: "99", sizes: "wdq"},
		row{name: "LAHF", enc: "9f"}, row{name: "SAHF", enc: "9e", n: 12},
		row{name: "CMC", enc: "f5"}, row{name: "CLC", enc: "f8"}, row{name: "STC", enc: "f9"},
		row{name: "CLD", enc: "fc"}, row{name: "STD", enc: "fd"},
		row{name: "NOP", enc: "90", sizes: "wd", n: 2}, row{name: "NOP", enc: "0f1f /0", sizes: "wdq", n: 3},
		row{name: "PAUSE", enc: "pF3 90", n: 2}, row{name: "XLAT", enc: "d7", pre: xlat},
		row{name: "PREFETCH", enc: "0f18 /1:m", n: 2}, row{name: "LFENCE", enc: "0faee8", n: 2},
		row{name: "MFENCE", enc: "0faef0", n: 2}, row{name: "SFENCE", enc: "0faef8", n: 2},
		row{name: "CLFLUSH", enc: "0fae /7:m", n: 3}, row{name: "ENDBR64", enc: "pF3 0f1efa", n: 2})
	for c := range 16 {
		rows = append(rows, row{name: "CMOVcc", enc: fmt.Sprintf("0f%02x /r", 0x40+c), sizes: "wdq", n: 4},
			row{name: "SETcc", enc: fmt.Sprintf("0f%02x /0", 0x90+c), sizes: "b", n: 5},
			row{name: "Jcc", enc: fmt.Sprintf("%02x rel8", 0x70+c), n: 6},
			row{name: "Jcc", enc: fmt.Sprintf("0f%02x relz", 0x80+c), n: 6})
	}
	for k, name := range []string{"LOOPNE", "LOOPE", "LOOP", "JRCXZ"} {
		rows = append(rows, row{name: name, enc: fmt.Sprintf("%02x rel8", 0xe0+k), n: 12, pre: smallRCX})
	}
	return rows
}

func smallRCX(i *inst) {
	v := []uint64{0, 1, 2, 0x1_0000_0000, 0x1_0000_0001}[i.r.N(5)]
	i.SetGPR(rcx, v)
	i.reserve(rcx)
	i.addr32 = i.r.Chance(40)
}

func xlat(i *inst) {
	i.SetGPR(rbx, i.data()+uint64(i.r.N(128)))
	i.SetGPR(rax, i.In.GPR[rax]&^0xff|uint64(i.r.N(128)))
}

func exchangeRows() []row {
	lock := func(w *row) { w.lock = true }
	equal := func(w *row) {
		w.lock = true
		w.n = 16
		w.pre = func(i *inst) { i.reserve(rax) }
		w.post = func(i *inst) {
			if i.r.Chance(50) && !(i.size == 1 && !i.isMem && i.rm >= 4) {
				i.setOperand(i.In.GPR[rax], i.size)
			}
		}
	}
	rows := append(both("XCHG", 0x86, "/r", 0, lock), row{name: "XCHG", enc: "90 +r", sizes: "wdq"})
	rows = append(rows, row{name: "XADD", enc: "0fc0 /r", sizes: "b", lock: true},
		row{name: "XADD", enc: "0fc1 /r", sizes: "wdq", lock: true})
	a := row{name: "CMPXCHG", enc: "0fb0 /r", sizes: "b"}
	b := row{name: "CMPXCHG", enc: "0fb1 /r", sizes: "wdq"}
	equal(&a)
	equal(&b)
	pair := func(i *inst) { i.reserve(rax, rdx, rbx, rcx) }
	same := func(i *inst) {
		if !i.r.Chance(50) {
			return
		}
		lo, hi := i.In.GPR[rax], i.In.GPR[rdx]
		for k := range i.size {
			i.setMem(i.off+k, []byte{byte(lo >> (8 * k))})
			i.setMem(i.off+k+i.size, []byte{byte(hi >> (8 * k))})
		}
	}
	return append(rows, a, b,
		row{name: "CMPXCHG8B", enc: "0fc7 /1:m", sizes: "d", n: 16, lock: true, pre: pair, post: same},
		row{name: "CMPXCHG16B", enc: "0fc7 /1:m16", sizes: "q", n: 16, lock: true, pre: pair, post: same})
}

func bitRows() []row {
	var rows []row
	for k, name := range []string{"ROL", "ROR", "RCL", "RCR", "SHL", "SHR", "SAL", "SAR"} {
		shift := func(w *row) {
			w.n = 12
			w.post = func(i *inst) { i.shiftFlags(name) }
		}
		byCL := func(w *row) {
			shift(w)
			w.n = 16
			w.pre = func(i *inst) { i.reserve(rcx) }
		}
		rows = append(rows, both(name, 0xc0, fmt.Sprintf("/%d ib", k), 0, shift)...)
		rows = append(rows, both(name, 0xd0, fmt.Sprintf("/%d", k), 0, shift)...)
		rows = append(rows, both(name, 0xd2, fmt.Sprintf("/%d", k), 0, byCL)...)
	}
	double := func(byCL bool) (func(*inst), func(*inst)) {
		return func(i *inst) {
				n := uint64(i.r.N(i.size*8 + 1))
				if i.r.Chance(20) {
					n = uint64(i.r.N(2))
				}
				if byCL {
					i.SetGPR(rcx, i.In.GPR[rcx]&^0xff|n)
					i.reserve(rcx)
				}
				i.imm, i.immSet = n|i.r.Next()&0xc0, true
			}, func(i *inst) {
				i.Undef = 0
				if n := i.count(byCL); n > 0 {
					i.Undef = af
					if n > 1 {
						i.Undef |= of
					}
				}
			}
	}
	for k, name := range []string{"SHLD", "SHRD"} {
		pre, post := double(false)
		preC, postC := double(true)
		rows = append(rows, row{name: name, enc: fmt.Sprintf("0f%02x /r ib", 0xa4+8*k), sizes: "wdq", n: 16, pre: pre, post: post},
			row{name: name, enc: fmt.Sprintf("0f%02x /r", 0xa5+8*k), sizes: "wdq", n: 16, pre: preC, post: postC})
	}
	undef := uint64(of | sf | af | pf)
	for k, name := range []string{"BT", "BTS", "BTR", "BTC"} {
		bit := func(i *inst) {
			if i.isMem { // the bit offset is signed and reaches beyond the operand
				i.SetGPR(i.reg, uint64(i.bitOffset()))
			}
		}
		rows = append(rows, row{name: name, enc: fmt.Sprintf("0f%02x /r:r", 0xa3+8*k), sizes: "wdq", undef: undef},
			row{name: name, enc: fmt.Sprintf("0f%02x /r:m", 0xa3+8*k), sizes: "wdq", undef: undef, lock: k > 0, pre: bitReg, post: bit},
			row{name: name, enc: fmt.Sprintf("0fba /%d ib", 4+k), sizes: "wdq", undef: undef, lock: k > 0})
	}
	rows = append(rows,
		row{name: "BSF", enc: "0fbc /r", sizes: "wdq", n: 20, undef: cf | of | sf | af | pf, post: sparse},
		row{name: "BSR", enc: "0fbd /r", sizes: "wdq", n: 20, undef: cf | of | sf | af | pf, post: sparse},
		row{name: "TZCNT", enc: "pF3 0fbc /r", sizes: "wdq", n: 16, undef: of | sf | af | pf, post: sparse},
		row{name: "LZCNT", enc: "pF3 0fbd /r", sizes: "wdq", n: 16, undef: of | sf | af | pf, post: sparse},
		row{name: "POPCNT", enc: "pF3 0fb8 /r", sizes: "wdq"},
		row{name: "ADCX", enc: "p66 0f38f6 /r", sizes: "dq", n: 16},
		row{name: "ADOX", enc: "pF3 0f38f6 /r", sizes: "dq", n: 16},
		row{name: "ANDN", enc: "vex.np.0f38 f2 /r", sizes: "dq", undef: af | pf},
		row{name: "BLSR", enc: "vex.np.0f38 f3 /1", sizes: "dq", undef: af | pf},
		row{name: "BLSMSK", enc: "vex.np.0f38 f3 /2", sizes: "dq", undef: af | pf},
		row{name: "BLSI", enc: "vex.np.0f38 f3 /3", sizes: "dq", undef: af | pf},
		row{name: "BZHI", enc: "vex.np.0f38 f5 /r", sizes: "dq", undef: af | pf},
		row{name: "BEXTR", enc: "vex.np.0f38 f7 /r", sizes: "dq", n: 24, undef: af | sf | pf},
		row{name: "PEXT", enc: "vex.f3.0f38 f5 /r", sizes: "dq"},
		row{name: "PDEP", enc: "vex.f2.0f38 f5 /r", sizes: "dq"},
		row{name: "MULX", enc: "vex.f2.0f38 f6 /r", sizes: "dq"},
		row{name: "SARX", enc: "vex.f3.0f38 f7 /r", sizes: "dq"},
		row{name: "SHLX", enc: "vex.66.0f38 f7 /r", sizes: "dq"},
		row{name: "SHRX", enc: "vex.f2.0f38 f7 /r", sizes: "dq"},
		row{name: "RORX", enc: "vex.f2.0f3a.1111 f0 /r ib", sizes: "dq"},
		row{name: "CRC32", enc: "pF2 0f38f0 /r", sizes: "b", n: 8},
		row{name: "CRC32", enc: "pF2 0f38f1 /r", sizes: "wdq", n: 8})
	return rows
}

// sparse makes the operand of a bit scan zero or nearly so, often.
func sparse(i *inst) {
	switch i.r.N(3) {
	case 0:
		i.setOperand(1<<i.r.N(i.size*8), i.size)
	case 1:
		if i.r.Chance(60) {
			i.setOperand(0, i.size)
		}
	}
}

// bitReg keeps the register with the bit offset out of the address.
func bitReg(i *inst) { i.reserve(rsp); i.distinct = true }

// bitOffset is a bit offset that keeps the accessed unit in the scratch area;
// the base register must not be the one that holds it.
func (i *inst) bitOffset() int64 {
	lo, hi := -i.off, interptest.ScratchSize-8-i.off
	return int64(lo*8 + 64 + i.r.N(max((hi-lo)*8-128, 1)))
}

// count is the masked shift count.
func (i *inst) count(byCL bool) uint64 {
	n := i.imm
	if byCL {
		n = i.In.GPR[rcx]
	}
	if i.size == 8 {
		return n & 63
	}
	return n & 31
}

// shiftFlags works out which flags a shift or rotate by this count leaves
// undefined.
func (i *inst) shiftFlags(name string) {
	op := i.Code
	for op[0] == 0x67 || op[0] == 0x66 || op[0] == 0xf0 || op[0]&^0x18 == 0x26 || op[0]&0xf0 == 0x40 {
		op = op[1:]
	}
	n := uint64(1)
	switch op[0] {
	case 0xc0, 0xc1:
		n = i.count(false)
	case 0xd2, 0xd3:
		n = i.count(true)
	}
	i.Undef = 0
	if n == 0 {
		return
	}
	if n > 1 {
		i.Undef |= of
	}
	if name[0] == 'S' {
		i.Undef |= af
		if n >= uint64(i.size*8) && name != "SAR" {
			i.Undef |= cf
		}
	}
}
