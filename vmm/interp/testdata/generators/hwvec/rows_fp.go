package main

import (
	"encoding/binary"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// Condition code bits of the x87 status word.
const (
	c0 = 1 << 8
	c1 = 1 << 9
	c2 = 1 << 10
	c3 = 1 << 14
)

// fpu returns a row for an x87 instruction.
func fpu(name, enc string, us uint16) row {
	return row{name: name, enc: enc, kind: interptest.KindX87, us: us, n: 30}
}

func memSingle(i *inst) { i.setMem(i.off, binary.LittleEndian.AppendUint32(nil, i.r.Single())) }
func memInt16(i *inst)  { i.setMem(i.off, binary.LittleEndian.AppendUint16(nil, uint16(i.r.Int()))) }
func memInt32(i *inst)  { i.setMem(i.off, binary.LittleEndian.AppendUint32(nil, uint32(i.r.Int()))) }
func memInt64(i *inst)  { i.setMem(i.off, binary.LittleEndian.AppendUint64(nil, i.r.Int())) }
func memExtended(i *inst) {
	x := i.r.Extended()
	i.setMem(i.off, binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint64(nil, x.Mant), x.Exp))
}

func memBCD(i *inst) {
	b := make([]byte, 10)
	for k := range 9 {
		b[k] = byte(i.r.N(10) | i.r.N(10)<<4)
	}
	b[9] = byte(i.r.Next()) & 0x80
	i.setMem(i.off, b)
}

// intSized makes ST(0) of about the size of an n-bit integer.
func intSized(n int) func(*inst) {
	return func(i *inst) {
		if i.r.Chance(60) {
			x := i.r.Extended()
			i.Set("s0", fmt.Sprintf("%x:%x", x.Exp&0x8000|uint16(0x3fff-2+i.r.N(n+4)), x.Mant|1<<63))
		}
	}
}

const undefCC = c0 | c2 | c3

func x87Rows() []row {
	var rows []row
	arith := []string{"FADD", "FMUL", "FCOM", "FCOMP", "FSUB", "FSUBR", "FDIV", "FDIVR"}
	for k, name := range arith {
		us := uint16(undefCC)
		if k == 2 || k == 3 {
			us = 0
		}
		for _, f := range []struct {
			op, name string
			post     func(*inst)
		}{{"d8", name, memSingle}, {"dc", name, nil}, {"da", "FI" + name[1:], memInt32}, {"de", "FI" + name[1:], memInt16}} {
			w := fpu(f.name, fmt.Sprintf("%s /%d:m", f.op, k), us)
			w.post = f.post
			rows = append(rows, w)
		}
		w := fpu(name, fmt.Sprintf("d8 /%d:r", k), us)
		w.n = 60
		rows = append(rows, w)
		if k != 2 && k != 3 {
			rows = append(rows, fpu(name, fmt.Sprintf("dc /%d:r", k), us), fpu(name+"P", fmt.Sprintf("de /%d:r", k), us))
		}
	}
	load := func(name, enc string, post func(*inst)) {
		w := fpu(name, enc, undefCC)
		w.post = post
		rows = append(rows, w)
	}
	load("FLD", "d9 /0:m", memSingle)
	load("FLD", "dd /0:m", nil)
	load("FLD", "db /5:m", memExtended)
	load("FILD", "df /0:m", memInt16)
	load("FILD", "db /0:m", memInt32)
	load("FILD", "df /5:m", memInt64)
	load("FBLD", "df /4:m", memBCD)
	store := func(name, enc string, bits int) {
		w := fpu(name, enc, undefCC)
		if bits > 0 {
			w.pre = intSized(bits)
		}
		rows = append(rows, w)
	}
	store("FST", "d9 /2:m", 0)
	store("FSTP", "d9 /3:m", 0)
	store("FST", "dd /2:m", 0)
	store("FSTP", "dd /3:m", 0)
	store("FSTP", "db /7:m", 0)
	store("FIST", "df /2:m", 16)
	store("FISTP", "df /3:m", 16)
	store("FIST", "db /2:m", 32)
	store("FISTP", "db /3:m", 32)
	store("FISTP", "df /7:m", 64)
	store("FISTTP", "df /1:m", 16)
	store("FISTTP", "db /1:m", 32)
	store("FISTTP", "dd /1:m", 64)
	store("FBSTP", "df /6:m", 60)
	for _, m := range []struct {
		name, enc string
		us        uint16
		n         int
	}{
		{"FLD", "d9 /0:r", undefCC, 16}, {"FXCH", "d9 /1:r", undefCC, 16}, {"FNOP", "d9d0", 0x4500, 2}, {"FST", "dd /2:r", undefCC, 16},
		{"FSTP", "dd /3:r", undefCC, 16}, {"FFREE", "dd /0:r", undefCC, 12}, {"FUCOM", "dd /4:r", 0, 30}, {"FUCOMP", "dd /5:r", 0, 30},
		{"FCOMPP", "ded9", 0, 24}, {"FUCOMPP", "dae9", 0, 24}, {"FCOMI", "db /6:r", 0, 30}, {"FUCOMI", "db /5:r", 0, 30},
		{"FCOMIP", "df /6:r", 0, 30}, {"FUCOMIP", "df /5:r", 0, 30}, {"FCHS", "d9e0", undefCC, 12}, {"FABS", "d9e1", undefCC, 12},
		{"FTST", "d9e4", 0, 30}, {"FXAM", "d9e5", 0, 60}, {"FLD1", "d9e8", undefCC, 8}, {"FLDL2T", "d9e9", undefCC, 12},
		{"FLDL2E", "d9ea", undefCC, 12}, {"FLDPI", "d9eb", undefCC, 12}, {"FLDLG2", "d9ec", undefCC, 12}, {"FLDLN2", "d9ed", undefCC, 12},
		{"FLDZ", "d9ee", undefCC, 8}, {"FXTRACT", "d9f4", undefCC, 60}, {"FPREM", "d9f8", 0, 120}, {"FPREM1", "d9f5", 0, 120},
		{"FDECSTP", "d9f6", undefCC, 8}, {"FINCSTP", "d9f7", undefCC, 8}, {"FSQRT", "d9fa", undefCC, 80}, {"FRNDINT", "d9fc", undefCC, 80},
		{"FSCALE", "d9fd", undefCC, 100}, {"FNCLEX", "dbe2", undefCC | c1, 8}, {"FNINIT", "dbe3", 0, 8}, {"FNSTSW", "dfe0", undefCC, 8},
		{"FNSTSW", "dd /7:m", undefCC, 8}, {"FNSTCW", "d9 /7:m", undefCC, 8}, {"FWAIT", "9b", undefCC, 4},
		{"FCMOVB", "da /0:r", undefCC, 12}, {"FCMOVE", "da /1:r", undefCC, 12}, {"FCMOVBE", "da /2:r", undefCC, 12},
		{"FCMOVU", "da /3:r", undefCC, 12}, {"FCMOVNB", "db /0:r", undefCC, 12}, {"FCMOVNE", "db /1:r", undefCC, 12},
		{"FCMOVNBE", "db /2:r", undefCC, 12}, {"FCMOVNU", "db /3:r", undefCC, 12},
	} {
		w := fpu(m.name, m.enc, m.us)
		w.n = m.n
		switch m.name {
		case "FSCALE":
			w.pre = func(i *inst) {
				if i.r.Chance(70) {
					x := i.r.Extended()
					i.Set("s1", fmt.Sprintf("%x:%x", x.Exp&0x8000|uint16(0x3fff-2+i.r.N(18)), x.Mant|1<<63))
				}
			}
		case "FRNDINT":
			w.pre = intSized(66)
		case "FPREM", "FPREM1":
			w.pre = func(i *inst) {
				if i.r.Chance(60) {
					e := 0x3000 + i.r.N(0x1000)
					x, y := i.r.Extended(), i.r.Extended()
					i.Set("s1", fmt.Sprintf("%x:%x", x.Exp&0x8000|uint16(e), x.Mant|1<<63))
					i.Set("s0", fmt.Sprintf("%x:%x", y.Exp&0x8000|uint16(e-4+i.r.N(100)), y.Mant|1<<63))
				}
			}
		}
		rows = append(rows, w)
	}
	cw := fpu("FLDCW", "d9 /5:m", undefCC)
	cw.post = func(i *inst) { i.setMem(i.off, []byte{byte(i.r.Next()) | 0x3f, byte(i.r.Next())}) }
	for _, m := range []struct {
		name, enc string
		span      int
	}{{"FNSTENV", "d9 /6:m", 28}, {"FLDENV", "d9 /4:m", 28}, {"FNSAVE", "dd /6:m", 108}, {"FRSTOR", "dd /4:m", 108}} {
		w := fpu(m.name, m.enc, 0)
		w.sizes, w.n = "wd", 16
		w.pre = func(i *inst) { i.span = m.span }
		rows = append(rows, w)
	}
	return append(append(rows, cw), pendingRows()...)
}

// pendingRows run with an unmasked exception pending: waiting instructions raise
// #MF.
func pendingRows() []row {
	var rows []row
	for _, m := range []struct{ name, enc string }{{"FADD", "d8 /0:r"}, {"FLD", "dd /0:m"}, {"FSTP", "dd /3:m"}, {"FWAIT", "9b"},
		{"FNSTSW", "dfe0"}, {"FNCLEX", "dbe2"}, {"FNINIT", "dbe3"}, {"FNOP", "d9d0"}, {"FXCH", "d9 /1:r"}, {"FNSTCW", "d9 /7:m"},
		{"FLDCW", "d9 /5:m"}, {"FCOMI", "db /6:r"}, {"MOVQ", "0f6f /r"}, {"EMMS", "0f77"}, {"FILD", "db /0:m"}} {
		w := fpu(m.name, m.enc, undefCC)
		w.n = 4
		w.pre = func(i *inst) {
			e := 1 << i.r.N(6)
			i.Set("cw", fmt.Sprintf("%x", 0x37f&^e))
			i.Set("sw", fmt.Sprintf("%x", 0x8080|i.r.N(8)<<11|e))
		}
		rows = append(rows, w)
	}
	return rows
}

// transcendentalRows are compared with a tolerance.
func transcendentalRows() []row {
	var rows []row
	// near makes a register a number of magnitude 2^lo to 2^hi.
	near := func(i *inst, reg, lo, hi int, neg bool) {
		s := 0
		if neg && i.r.Chance(50) {
			s = 0x8000
		}
		i.Set(reg2(reg), fmt.Sprintf("%x:%x", s|(0x3fff+lo+i.r.N(hi-lo)), i.r.Next()|1<<63))
	}
	for _, m := range []struct {
		name, enc string
		lo, hi    int
		neg       bool
		lo1, hi1  int
	}{
		{"FSIN", "d9fe", -20, 6, true, 0, 1}, {"FCOS", "d9ff", -20, 6, true, 0, 1}, {"FSINCOS", "d9fb", -20, 6, true, 0, 1},
		{"FPTAN", "d9f2", -20, 1, true, 0, 1}, {"FPATAN", "d9f3", -10, 10, true, -10, 10}, {"F2XM1", "d9f0", -20, 0, true, 0, 1},
		{"FYL2X", "d9f1", -30, 30, false, -10, 10}, {"FYL2XP1", "d9f9", -20, -2, true, -10, 10},
	} {
		w := fpu(m.name, m.enc, undefCC|c1)
		w.pre = func(i *inst) {
			near(i, 0, m.lo, m.hi, m.neg)
			near(i, 1, m.lo1, m.hi1, true)
			i.Set("cw", "37f")
			i.Set("tw", "ff")
			if m.name != "FYL2X" && m.name != "FYL2XP1" && m.name != "F2XM1" && m.name != "FPATAN" {
				top := i.In.FSW >> 11 & 7
				i.Set("tw", fmt.Sprintf("%x", 0xff&^(1<<((top+7)&7))))
			}
		}
		rows = append(rows, w)
	}
	return rows
}

func reg2(n int) string { return fmt.Sprintf("s%d", n) }

// sse returns a row for an SSE instruction: kinds i, f, d.
func sse(name, enc string, kind interptest.Kind, n int) row {
	return row{name: name, enc: enc, kind: kind, n: n}
}

func sseFloatRows() []row {
	const (
		fs = interptest.KindSingle
		fd = interptest.KindDouble
	)
	var rows []row
	add := func(name, enc string, kind interptest.Kind, n int) { rows = append(rows, sse(name, enc, kind, n)) }
	for _, m := range []struct{ name, op string }{{"ADD", "58"}, {"MUL", "59"}, {"SUB", "5c"}, {"MIN", "5d"}, {"DIV", "5e"}, {"MAX", "5f"},
		{"SQRT", "51"}} {
		add(m.name+"PS", "0f"+m.op+" /r:a", fs, 40)
		add(m.name+"SS", "pF3 0f"+m.op+" /r", fs, 60)
		add(m.name+"PD", "p66 0f"+m.op+" /r:a", fd, 40)
		add(m.name+"SD", "pF2 0f"+m.op+" /r", fd, 60)
	}
	add("RCPPS", "0f53 /r:a", fs, 8)
	add("RCPSS", "pF3 0f53 /r", fs, 16)
	add("RSQRTPS", "0f52 /r:a", fs, 8)
	add("RSQRTSS", "pF3 0f52 /r", fs, 16)
	for k := range 8 {
		imm := func(i *inst) { i.imm, i.immSet = uint64(k), true }
		for _, w := range []row{sse("CMPPS", "0fc2 /r:a ib", fs, 8), sse("CMPSS", "pF3 0fc2 /r ib", fs, 12),
			sse("CMPPD", "p66 0fc2 /r:a ib", fd, 8), sse("CMPSD", "pF2 0fc2 /r ib", fd, 12)} {
			w.pre = imm
			rows = append(rows, w)
		}
	}
	for _, m := range []struct {
		name, enc string
		kind      interptest.Kind
		n         int
	}{
		{"UCOMISS", "0f2e /r", fs, 40}, {"COMISS", "0f2f /r", fs, 40}, {"UCOMISD", "p66 0f2e /r", fd, 40}, {"COMISD", "p66 0f2f /r", fd, 40},
		{"CVTSS2SD", "pF3 0f5a /r", fs, 40}, {"CVTSD2SS", "pF2 0f5a /r", fd, 80}, {"CVTPS2PD", "0f5a /r", fs, 30}, {"CVTPD2PS", "p66 0f5a /r:a", fd, 60},
		{"CVTDQ2PS", "0f5b /r:a", interptest.KindInt, 40}, {"CVTPS2DQ", "p66 0f5b /r:a", fs, 60}, {"CVTTPS2DQ", "pF3 0f5b /r:a", fs, 40},
		{"CVTDQ2PD", "pF3 0fe6 /r", interptest.KindInt, 20}, {"CVTPD2DQ", "pF2 0fe6 /r:a", fd, 60}, {"CVTTPD2DQ", "p66 0fe6 /r:a", fd, 40},
		{"HADDPS", "pF2 0f7c /r:a", fs, 20}, {"HADDPD", "p66 0f7c /r:a", fd, 20}, {"HSUBPS", "pF2 0f7d /r:a", fs, 20}, {"HSUBPD", "p66 0f7d /r:a", fd, 20},
		{"ADDSUBPS", "pF2 0fd0 /r:a", fs, 20}, {"ADDSUBPD", "p66 0fd0 /r:a", fd, 20},
		{"ROUNDPS", "p66 0f3a08 /r:a ib", fs, 40}, {"ROUNDPD", "p66 0f3a09 /r:a ib", fd, 40}, {"ROUNDSS", "p66 0f3a0a /r ib", fs, 60},
		{"ROUNDSD", "p66 0f3a0b /r ib", fd, 60}, {"DPPS", "p66 0f3a40 /r:a ib", fs, 40}, {"DPPD", "p66 0f3a41 /r:a ib", fd, 40},
	} {
		add(m.name, m.enc, m.kind, m.n)
	}
	for _, m := range []struct {
		name, enc string
		kind      interptest.Kind
	}{{"CVTSI2SS", "pF3 0f2a /r", fs}, {"CVTSI2SD", "pF2 0f2a /r", fd}, {"CVTTSS2SI", "pF3 0f2c /r", fs}, {"CVTTSD2SI", "pF2 0f2c /r", fd},
		{"CVTSS2SI", "pF3 0f2d /r", fs}, {"CVTSD2SI", "pF2 0f2d /r", fd}} {
		w := sse(m.name, m.enc, m.kind, 40)
		w.sizes = "dq"
		rows = append(rows, w)
	}
	for _, m := range []struct {
		name, enc string
	}{{"LDMXCSR", "0fae /2:m"}, {"STMXCSR", "0fae /3:m"}} {
		w := sse(m.name, m.enc, fs, 8)
		w.post = func(i *inst) {
			i.setMem(i.off, binary.LittleEndian.AppendUint32(nil, uint32(i.r.Next())&0xffff|uint32(i.r.N(8)/7)<<(16+i.r.N(16))))
		}
		rows = append(rows, w)
	}
	return rows
}

// sseIntRows are moves, logic, shuffles and integer arithmetic; none of them
// reads MXCSR.
func sseIntRows() []row {
	var rows []row
	add := func(name, enc string, n int) { rows = append(rows, sse(name, enc, interptest.KindInt, n)) }
	for _, m := range []struct{ name, enc string }{
		{"MOVUPS", "0f10 /r"}, {"MOVUPS", "0f11 /r"}, {"MOVUPD", "p66 0f10 /r"}, {"MOVUPD", "p66 0f11 /r"}, {"MOVSS", "pF3 0f10 /r"},
		{"MOVSS", "pF3 0f11 /r"}, {"MOVSD", "pF2 0f10 /r"}, {"MOVSD", "pF2 0f11 /r"}, {"MOVAPS", "0f28 /r:a"}, {"MOVAPS", "0f29 /r:a"},
		{"MOVAPD", "p66 0f28 /r:a"}, {"MOVAPD", "p66 0f29 /r:a"}, {"MOVLPS", "0f12 /r"}, {"MOVLPS", "0f13 /r:m"}, {"MOVHPS", "0f16 /r"},
		{"MOVHPS", "0f17 /r:m"}, {"MOVLPD", "p66 0f12 /r:m"}, {"MOVLPD", "p66 0f13 /r:m"}, {"MOVHPD", "p66 0f16 /r:m"},
		{"MOVHPD", "p66 0f17 /r:m"}, {"MOVSLDUP", "pF3 0f12 /r:a"}, {"MOVSHDUP", "pF3 0f16 /r:a"}, {"MOVDDUP", "pF2 0f12 /r"},
		{"UNPCKLPS", "0f14 /r:a"}, {"UNPCKHPS", "0f15 /r:a"}, {"UNPCKLPD", "p66 0f14 /r:a"}, {"UNPCKHPD", "p66 0f15 /r:a"},
		{"MOVNTPS", "0f2b /r:ma"}, {"MOVNTPD", "p66 0f2b /r:ma"}, {"MOVNTDQ", "p66 0fe7 /r:ma"}, {"MOVNTDQA", "p66 0f382a /r:ma"},
		{"MOVMSKPS", "0f50 /r:r"}, {"MOVMSKPD", "p66 0f50 /r:r"}, {"PMOVMSKB", "p66 0fd7 /r:r"}, {"ANDPS", "0f54 /r:a"}, {"ANDNPS", "0f55 /r:a"},
		{"ORPS", "0f56 /r:a"}, {"XORPS", "0f57 /r:a"}, {"ANDPD", "p66 0f54 /r:a"}, {"ANDNPD", "p66 0f55 /r:a"}, {"ORPD", "p66 0f56 /r:a"},
		{"XORPD", "p66 0f57 /r:a"}, {"SHUFPS", "0fc6 /r:a ib"}, {"SHUFPD", "p66 0fc6 /r:a ib"}, {"MOVDQA", "p66 0f6f /r:a"},
		{"MOVDQA", "p66 0f7f /r:a"}, {"MOVDQU", "pF3 0f6f /r"}, {"MOVDQU", "pF3 0f7f /r"}, {"MOVQ", "pF3 0f7e /r"}, {"MOVQ", "p66 0fd6 /r"},
		{"LDDQU", "pF2 0ff0 /r:m"}, {"PSHUFD", "p66 0f70 /r:a ib"}, {"PSHUFHW", "pF3 0f70 /r:a ib"}, {"PSHUFLW", "pF2 0f70 /r:a ib"},
		{"PINSRW", "p66 0fc4 /r ib"}, {"PEXTRW", "p66 0fc5 /r:r ib"}, {"MASKMOVDQU", "p66 0ff7 /r:r"},
	} {
		add(m.name, m.enc, 8)
	}
	mask := &rows[len(rows)-1]
	mask.pre = func(i *inst) { i.SetGPR(rdi, interptest.Scratch+uint64(i.r.N(230))) }
	for _, m := range []struct {
		op   int
		name string
	}{
		{0x60, "PUNPCKLBW"}, {0x61, "PUNPCKLWD"}, {0x62, "PUNPCKLDQ"}, {0x63, "PACKSSWB"}, {0x64, "PCMPGTB"}, {0x65, "PCMPGTW"}, {0x66, "PCMPGTD"},
		{0x67, "PACKUSWB"}, {0x68, "PUNPCKHBW"}, {0x69, "PUNPCKHWD"}, {0x6a, "PUNPCKHDQ"}, {0x6b, "PACKSSDW"}, {0x6c, "PUNPCKLQDQ"},
		{0x6d, "PUNPCKHQDQ"}, {0x74, "PCMPEQB"}, {0x75, "PCMPEQW"}, {0x76, "PCMPEQD"}, {0xd1, "PSRLW"}, {0xd2, "PSRLD"}, {0xd3, "PSRLQ"},
		{0xd4, "PADDQ"}, {0xd5, "PMULLW"}, {0xd8, "PSUBUSB"}, {0xd9, "PSUBUSW"}, {0xda, "PMINUB"}, {0xdb, "PAND"}, {0xdc, "PADDUSB"},
		{0xdd, "PADDUSW"}, {0xde, "PMAXUB"}, {0xdf, "PANDN"}, {0xe0, "PAVGB"}, {0xe1, "PSRAW"}, {0xe2, "PSRAD"}, {0xe3, "PAVGW"},
		{0xe4, "PMULHUW"}, {0xe5, "PMULHW"}, {0xe8, "PSUBSB"}, {0xe9, "PSUBSW"}, {0xea, "PMINSW"}, {0xeb, "POR"}, {0xec, "PADDSB"},
		{0xed, "PADDSW"}, {0xee, "PMAXSW"}, {0xef, "PXOR"}, {0xf1, "PSLLW"}, {0xf2, "PSLLD"}, {0xf3, "PSLLQ"}, {0xf4, "PMULUDQ"},
		{0xf5, "PMADDWD"}, {0xf6, "PSADBW"}, {0xf8, "PSUBB"}, {0xf9, "PSUBW"}, {0xfa, "PSUBD"}, {0xfb, "PSUBQ"}, {0xfc, "PADDB"},
		{0xfd, "PADDW"}, {0xfe, "PADDD"},
	} {
		add(m.name, fmt.Sprintf("p66 0f%02x /r:a", m.op), 8)
		if m.name[:2] == "PS" && (m.name[2] == 'R' || m.name[2] == 'L') {
			small := rows[len(rows)-1]
			small.post = (*inst).smallCount
			rows = append(rows, small)
		}
	}
	for _, m := range []struct {
		op, ext int
		name    string
	}{{0x71, 2, "PSRLW"}, {0x71, 4, "PSRAW"}, {0x71, 6, "PSLLW"}, {0x72, 2, "PSRLD"}, {0x72, 4, "PSRAD"}, {0x72, 6, "PSLLD"},
		{0x73, 2, "PSRLQ"}, {0x73, 3, "PSRLDQ"}, {0x73, 6, "PSLLQ"}, {0x73, 7, "PSLLDQ"}} {
		w := sse(m.name, fmt.Sprintf("p66 0f%02x /%d:r ib", m.op, m.ext), interptest.KindInt, 12)
		w.pre = func(i *inst) {
			if i.r.Chance(70) {
				i.imm, i.immSet = uint64(i.r.N(66)), true
			}
		}
		rows = append(rows, w)
	}
	for _, m := range []struct{ name, enc string }{{"MOVD", "p66 0f6e /r"}, {"MOVD", "p66 0f7e /r"}} {
		w := sse(m.name, m.enc, interptest.KindInt, 10)
		w.sizes = "dq"
		rows = append(rows, w)
	}
	rows = append(rows, sse3Rows()...)
	return append(rows, mmxRows()...)
}

// smallCount makes the r/m operand a count of a vector shift.
func (i *inst) smallCount() {
	n := uint64(i.r.N(66))
	if i.isMem {
		i.setMem(i.off, binary.LittleEndian.AppendUint64(nil, n))
		return
	}
	i.Set(fmt.Sprintf("x%d", i.rm), fmt.Sprintf("%x:%x", i.r.Next(), n))
}

func sse3Rows() []row {
	var rows []row
	for _, m := range []struct {
		op   int
		name string
	}{
		{0x00, "PSHUFB"}, {0x01, "PHADDW"}, {0x02, "PHADDD"}, {0x03, "PHADDSW"}, {0x04, "PMADDUBSW"}, {0x05, "PHSUBW"}, {0x06, "PHSUBD"},
		{0x07, "PHSUBSW"}, {0x08, "PSIGNB"}, {0x09, "PSIGNW"}, {0x0a, "PSIGND"}, {0x0b, "PMULHRSW"}, {0x10, "PBLENDVB"}, {0x14, "BLENDVPS"},
		{0x15, "BLENDVPD"}, {0x17, "PTEST"}, {0x1c, "PABSB"}, {0x1d, "PABSW"}, {0x1e, "PABSD"}, {0x28, "PMULDQ"}, {0x29, "PCMPEQQ"},
		{0x2b, "PACKUSDW"}, {0x37, "PCMPGTQ"}, {0x38, "PMINSB"}, {0x39, "PMINSD"}, {0x3a, "PMINUW"}, {0x3b, "PMINUD"}, {0x3c, "PMAXSB"},
		{0x3d, "PMAXSD"}, {0x3e, "PMAXUW"}, {0x3f, "PMAXUD"}, {0x40, "PMULLD"}, {0x41, "PHMINPOSUW"},
	} {
		rows = append(rows, sse(m.name, fmt.Sprintf("p66 0f38%02x /r:a", m.op), interptest.KindInt, 10))
	}
	for k, name := range []string{"PMOVSXBW", "PMOVSXBD", "PMOVSXBQ", "PMOVSXWD", "PMOVSXWQ", "PMOVSXDQ"} {
		rows = append(rows, sse(name, fmt.Sprintf("p66 0f38%02x /r", 0x20+k), interptest.KindInt, 8),
			sse(name[:4]+"Z"+name[5:], fmt.Sprintf("p66 0f38%02x /r", 0x30+k), interptest.KindInt, 8))
	}
	for _, m := range []struct{ name, enc, sizes string }{
		{"PALIGNR", "p66 0f3a0f /r:a ib", ""}, {"BLENDPS", "p66 0f3a0c /r:a ib", ""}, {"BLENDPD", "p66 0f3a0d /r:a ib", ""},
		{"PBLENDW", "p66 0f3a0e /r:a ib", ""}, {"PEXTRB", "p66 0f3a14 /r ib", ""}, {"PEXTRW", "p66 0f3a15 /r ib", ""},
		{"PEXTRD", "p66 0f3a16 /r ib", "dq"}, {"EXTRACTPS", "p66 0f3a17 /r ib", ""}, {"PINSRB", "p66 0f3a20 /r ib", ""},
		{"INSERTPS", "p66 0f3a21 /r ib", ""}, {"PINSRD", "p66 0f3a22 /r ib", "dq"}, {"MPSADBW", "p66 0f3a42 /r:a ib", ""},
		{"PCMPESTRM", "p66 0f3a60 /r ib", ""}, {"PCMPESTRI", "p66 0f3a61 /r ib", ""}, {"PCMPISTRM", "p66 0f3a62 /r ib", ""},
		{"PCMPISTRI", "p66 0f3a63 /r ib", ""},
	} {
		w := sse(m.name, m.enc, interptest.KindInt, 14)
		w.sizes = m.sizes
		if m.name[:4] == "PCMP" {
			w.n = 40
			w.pre = func(i *inst) {
				i.SetGPR(rax, uint64(i.r.N(40)-20))
				i.SetGPR(rdx, uint64(i.r.N(40)-20))
				i.reserve(rax, rdx)
				for _, x := range []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"} {
					i.Set(x, fmt.Sprintf("%x:%x", i.letters(), i.letters()))
				}
			}
		}
		rows = append(rows, w)
	}
	return rows
}

// letters are eight bytes from a small alphabet, so that strings match.
func (i *inst) letters() (v uint64) {
	for range 8 {
		v = v<<8 | uint64([]byte{'a', 'b', 'c', 0xf0, 'a', 'b', 1, 0}[i.r.N(8-i.r.N(2))])
	}
	return v
}

// mmxRows are the instructions on the x87 registers that compilers still use and
// guests save and restore.
func mmxRows() []row {
	var rows []row
	for _, m := range []struct{ name, enc, sizes string }{
		{"MOVD", "0f6e /r", "dq"}, {"MOVD", "0f7e /r", "dq"}, {"MOVQ", "0f6f /r", ""}, {"MOVQ", "0f7f /r", ""}, {"EMMS", "0f77", ""},
		{"PAND", "0fdb /r", ""}, {"PANDN", "0fdf /r", ""}, {"POR", "0feb /r", ""}, {"PXOR", "0fef /r", ""}, {"PADDB", "0ffc /r", ""},
		{"PADDW", "0ffd /r", ""}, {"PADDD", "0ffe /r", ""}, {"PADDQ", "0fd4 /r", ""}, {"PSUBB", "0ff8 /r", ""}, {"PSUBD", "0ffa /r", ""},
		{"PCMPEQB", "0f74 /r", ""}, {"PCMPEQD", "0f76 /r", ""}, {"PCMPGTW", "0f65 /r", ""}, {"PUNPCKLBW", "0f60 /r", ""},
		{"PUNPCKHDQ", "0f6a /r", ""}, {"PACKSSWB", "0f63 /r", ""}, {"PSLLQ", "0ff3 /r", ""}, {"PSRLW", "0fd1 /r", ""},
		{"PSRLQ", "0f73 /2:r ib", ""}, {"PMULLW", "0fd5 /r", ""}, {"PMADDWD", "0ff5 /r", ""}, {"PSHUFW", "0f70 /r ib", ""},
		{"MOVQ2DQ", "pF3 0fd6 /r:r", ""}, {"MOVDQ2Q", "pF2 0fd6 /r:r", ""}, {"PMOVMSKB", "0fd7 /r:r", ""}, {"MOVNTQ", "0fe7 /r:m", ""},
		{"CVTPI2PS", "0f2a /r", ""}, {"CVTPI2PD", "p66 0f2a /r", ""}, {"CVTTPS2PI", "0f2c /r", ""}, {"CVTPS2PI", "0f2d /r", ""},
	} {
		w := row{name: m.name, enc: m.enc, sizes: m.sizes, kind: interptest.KindX87, n: 8, us: 0}
		rows = append(rows, w)
	}
	return rows
}
