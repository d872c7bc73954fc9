package interp

// rowsSSE are SSE to SSE4.2 and MMX. Intel SDM vol. 2 by mnemonic; vol. 1,
// chapters 9 to 12. In the rows V and W are XMM registers, or W memory of the
// size that the instruction needs.
func rowsSSE() []row {
	var rows []row
	add := func(enc, name, args string, f family) {
		rows = append(rows, row{enc, name, args, "", costFloat, 0, f})
	}
	for _, m := range []struct {
		op, name string
		l        lane
		f        fast
	}{
		{"58", "add", laneAdd, fastAdd}, {"59", "mul", laneMul, fastMul}, {"5C", "sub", laneSub, fastSub}, {"5D", "min", laneMin, fastNone},
		{"5E", "div", laneDiv, fastDiv}, {"5F", "max", laneMax, fastNone}, {"51", "sqrt", laneSqrt, fastNone},
	} {
		add("NP 0F "+m.op, m.name+"ps", "V,W", packed32(m.l, m.f))
		add("F3 0F "+m.op, m.name+"ss", "V,W", scalar32(m.l, m.f))
		add("66 0F "+m.op, m.name+"pd", "V,W", packed64(m.l, m.f))
		add("F2 0F "+m.op, m.name+"sd", "V,W", scalar64(m.l, m.f))
	}
	for _, m := range intRows {
		add("66 "+m.enc, m.name, "V,W", sseOp(func(a, b vec) vec { return m.f(a, b, 16) }))
		if m.mmx {
			add("NP "+m.enc, m.name, "N,Q", mmxOp(m.f))
		}
	}
	for _, m := range []struct {
		enc, name string
		f         intOp
	}{
		{"0F 71 /2", "psrlw", shiftRight(2)}, {"0F 71 /4", "psraw", shiftArith(2)}, {"0F 71 /6", "psllw", shiftLeft(2)},
		{"0F 72 /2", "psrld", shiftRight(4)}, {"0F 72 /4", "psrad", shiftArith(4)}, {"0F 72 /6", "pslld", shiftLeft(4)},
		{"0F 73 /2", "psrlq", shiftRight(8)}, {"0F 73 /6", "psllq", shiftLeft(8)},
	} {
		add("66 "+m.enc, m.name, "N,Ib", packedShift(m.f))
		add("NP "+m.enc, m.name, "N,Ib", mmxShift(m.f))
	}
	for _, m := range []struct {
		op       string
		name     string
		from, to uint8
	}{{"0", "bw", 1, 2}, {"1", "bd", 1, 4}, {"2", "bq", 1, 8}, {"3", "wd", 2, 4}, {"4", "wq", 2, 8}, {"5", "dq", 4, 8}} {
		add("66 0F 38 2"+m.op, "pmovsx"+m.name, "V,W", widening(m.from, m.to, true))
		add("66 0F 38 3"+m.op, "pmovzx"+m.name, "V,W", widening(m.from, m.to, false))
	}
	return append(append(rows, rowsSSEmove...), rowsSSEfloat...)
}

// intRow is an integer operation of XMM registers and, if mmx, of MMX registers.
type intRow struct {
	enc, name string
	f         intOp
	mmx       bool
}

var intRows = []intRow{
	{"0F 60", "punpcklbw", unpack(1, false), true},
	{"0F 61", "punpcklwd", unpack(2, false), true},
	{"0F 62", "punpckldq", unpack(4, false), true},
	{"0F 63", "packsswb", pack16(sat8), true},
	{"0F 64", "pcmpgtb", lanes8(func(a, b uint8) uint8 { return ones[uint8](s8(a) > s8(b)) }), true},
	{"0F 65", "pcmpgtw", lanes16(func(a, b uint16) uint16 { return ones[uint16](s16(a) > s16(b)) }), true},
	{"0F 66", "pcmpgtd", lanesOf32(func(a, b uint32) uint32 { return ones[uint32](s32(a) > s32(b)) }), true},
	{"0F 67", "packuswb", pack16(satU8), true},
	{"0F 68", "punpckhbw", unpack(1, true), true},
	{"0F 69", "punpckhwd", unpack(2, true), true},
	{"0F 6A", "punpckhdq", unpack(4, true), true},
	{"0F 6B", "packssdw", pack32(sat16), true},
	{"0F 6C", "punpcklqdq", unpack(8, false), false},
	{"0F 6D", "punpckhqdq", unpack(8, true), false},
	{"0F 74", "pcmpeqb", lanes8(func(a, b uint8) uint8 { return ones[uint8](a == b) }), true},
	{"0F 75", "pcmpeqw", lanes16(func(a, b uint16) uint16 { return ones[uint16](a == b) }), true},
	{"0F 76", "pcmpeqd", lanesOf32(func(a, b uint32) uint32 { return ones[uint32](a == b) }), true},
	{"0F D1", "psrlw", shiftRight(2), true},
	{"0F D2", "psrld", shiftRight(4), true},
	{"0F D3", "psrlq", shiftRight(8), true},
	{"0F D4", "paddq", lanes64(func(a, b uint64) uint64 { return a + b }), true},
	{"0F D5", "pmullw", lanes16(func(a, b uint16) uint16 { return a * b }), true},
	{"0F D8", "psubusb", lanes8(func(a, b uint8) uint8 { return satU8(int(a) - int(b)) }), true},
	{"0F D9", "psubusw", lanes16(func(a, b uint16) uint16 { return satU16(int(a) - int(b)) }), true},
	{"0F DA", "pminub", lanes8(func(a, b uint8) uint8 { return min(a, b) }), true},
	{"0F DB", "pand", lanes64(func(a, b uint64) uint64 { return a & b }), true},
	{"0F DC", "paddusb", lanes8(func(a, b uint8) uint8 { return satU8(int(a) + int(b)) }), true},
	{"0F DD", "paddusw", lanes16(func(a, b uint16) uint16 { return satU16(int(a) + int(b)) }), true},
	{"0F DE", "pmaxub", lanes8(func(a, b uint8) uint8 { return max(a, b) }), true},
	{"0F DF", "pandn", lanes64(func(a, b uint64) uint64 { return ^a & b }), true},
	{"0F E0", "pavgb", lanes8(average8), true},
	{"0F E1", "psraw", shiftArith(2), true},
	{"0F E2", "psrad", shiftArith(4), true},
	{"0F E3", "pavgw", lanes16(average16), true},
	{"0F E4", "pmulhuw", lanes16(mulHighU), true},
	{"0F E5", "pmulhw", lanes16(mulHigh), true},
	{"0F E8", "psubsb", lanes8(func(a, b uint8) uint8 { return sat8(s8(a) - s8(b)) }), true},
	{"0F E9", "psubsw", lanes16(func(a, b uint16) uint16 { return sat16(s16(a) - s16(b)) }), true},
	{"0F EA", "pminsw", lanes16(func(a, b uint16) uint16 { return uint16(min(s16(a), s16(b))) }), true},
	{"0F EB", "por", lanes64(func(a, b uint64) uint64 { return a | b }), true},
	{"0F EC", "paddsb", lanes8(func(a, b uint8) uint8 { return sat8(s8(a) + s8(b)) }), true},
	{"0F ED", "paddsw", lanes16(func(a, b uint16) uint16 { return sat16(s16(a) + s16(b)) }), true},
	{"0F EE", "pmaxsw", lanes16(func(a, b uint16) uint16 { return uint16(max(s16(a), s16(b))) }), true},
	{"0F EF", "pxor", lanes64(func(a, b uint64) uint64 { return a ^ b }), true},
	{"0F F1", "psllw", shiftLeft(2), true},
	{"0F F2", "pslld", shiftLeft(4), true},
	{"0F F3", "psllq", shiftLeft(8), true},
	{"0F F4", "pmuludq", pmuludq, true},
	{"0F F5", "pmaddwd", pmaddwd, true},
	{"0F F6", "psadbw", psadbw, true},
	{"0F F8", "psubb", lanes8(func(a, b uint8) uint8 { return a - b }), true},
	{"0F F9", "psubw", lanes16(func(a, b uint16) uint16 { return a - b }), true},
	{"0F FA", "psubd", lanesOf32(func(a, b uint32) uint32 { return a - b }), true},
	{"0F FB", "psubq", lanes64(func(a, b uint64) uint64 { return a - b }), true},
	{"0F FC", "paddb", lanes8(func(a, b uint8) uint8 { return a + b }), true},
	{"0F FD", "paddw", lanes16(func(a, b uint16) uint16 { return a + b }), true},
	{"0F FE", "paddd", lanesOf32(func(a, b uint32) uint32 { return a + b }), true},

	// SSSE3
	{"0F 38 00", "pshufb", pshufb, true},
	{"0F 38 01", "phaddw", horizontal16(func(a, b int) uint16 { return uint16(a + b) }), true},
	{"0F 38 02", "phaddd", horizontal32i(func(a, b uint32) uint32 { return a + b }), true},
	{"0F 38 03", "phaddsw", horizontal16(func(a, b int) uint16 { return sat16(a + b) }), true},
	{"0F 38 04", "pmaddubsw", pmaddubsw, true},
	{"0F 38 05", "phsubw", horizontal16(func(a, b int) uint16 { return uint16(a - b) }), true},
	{"0F 38 06", "phsubd", horizontal32i(func(a, b uint32) uint32 { return a - b }), true},
	{"0F 38 07", "phsubsw", horizontal16(func(a, b int) uint16 { return sat16(a - b) }), true},
	{"0F 38 08", "psignb", lanes8(func(a, b uint8) uint8 { return uint8(sign(s8(a), s8(b))) }), true},
	{"0F 38 09", "psignw", lanes16(func(a, b uint16) uint16 { return uint16(sign(s16(a), s16(b))) }), true},
	{"0F 38 0A", "psignd", lanesOf32(func(a, b uint32) uint32 { return uint32(sign(s32(a), s32(b))) }), true},
	{"0F 38 0B", "pmulhrsw", lanes16(pmulhrsw), true},
	{"0F 38 1C", "pabsb", lanes8(func(_, b uint8) uint8 { return abs8(b) }), true},
	{"0F 38 1D", "pabsw", lanes16(func(_, b uint16) uint16 { return abs16(b) }), true},
	{"0F 38 1E", "pabsd", lanesOf32(func(_, b uint32) uint32 { return abs32(b) }), true},

	// SSE4.1, SSE4.2
	{"0F 38 28", "pmuldq", pmuldq, false},
	{"0F 38 29", "pcmpeqq", lanes64(func(a, b uint64) uint64 { return ones[uint64](a == b) }), false},
	{"0F 38 2B", "packusdw", pack32(satU16), false},
	{"0F 38 37", "pcmpgtq", lanes64(func(a, b uint64) uint64 { return ones[uint64](int64(a) > int64(b)) }), false},
	{"0F 38 38", "pminsb", lanes8(func(a, b uint8) uint8 { return uint8(min(s8(a), s8(b))) }), false},
	{"0F 38 39", "pminsd", lanesOf32(func(a, b uint32) uint32 { return uint32(min(s32(a), s32(b))) }), false},
	{"0F 38 3A", "pminuw", lanes16(func(a, b uint16) uint16 { return min(a, b) }), false},
	{"0F 38 3B", "pminud", lanesOf32(func(a, b uint32) uint32 { return min(a, b) }), false},
	{"0F 38 3C", "pmaxsb", lanes8(func(a, b uint8) uint8 { return uint8(max(s8(a), s8(b))) }), false},
	{"0F 38 3D", "pmaxsd", lanesOf32(func(a, b uint32) uint32 { return uint32(max(s32(a), s32(b))) }), false},
	{"0F 38 3E", "pmaxuw", lanes16(func(a, b uint16) uint16 { return max(a, b) }), false},
	{"0F 38 3F", "pmaxud", lanesOf32(func(a, b uint32) uint32 { return max(a, b) }), false},
	{"0F 38 40", "pmulld", lanesOf32(func(a, b uint32) uint32 { return a * b }), false},
	{"0F 38 41", "phminposuw", phminposuw, false},
}

// Bitwise operations, whatever the elements.
func vecAnd(a, b vec) vec  { return vec{a[0] & b[0], a[1] & b[1]} }
func vecAndN(a, b vec) vec { return vec{^a[0] & b[0], ^a[1] & b[1]} }
func vecOr(a, b vec) vec   { return vec{a[0] | b[0], a[1] | b[1]} }
func vecXor(a, b vec) vec  { return vec{a[0] ^ b[0], a[1] ^ b[1]} }

// unpacked is unpack for whole registers.
func unpacked(size int, high bool) func(a, b vec) vec {
	f := unpack(size, high)
	return func(a, b vec) vec { return f(a, b, 16) }
}

func alignBytes(a, b vec, imm uint8) vec { return align(a, b, 16, imm) }

// rowsSSEmove are moves, logic, shuffles and what MMX has beside them.
var rowsSSEmove = []row{
	{"NP 0F 10", "movups", "V,W", "", costFloat, 0, loadWhole(false)},
	{"NP 0F 11", "movups", "W,V", "", costFloat, 0, storeWhole(false)},
	{"66 0F 10", "movupd", "V,W", "", costFloat, 0, loadWhole(false)},
	{"66 0F 11", "movupd", "W,V", "", costFloat, 0, storeWhole(false)},
	{"F3 0F 10", "movss", "V,W", "", costFloat, 0, sse(execMOVSSload)},
	{"F3 0F 11", "movss", "W,V", "", costFloat, 0, sse(execMOVSSstore)},
	{"F2 0F 10", "movsd", "V,W", "", costFloat, 0, sse(execMOVSDload)},
	{"F2 0F 11", "movsd", "W,V", "", costFloat, 0, sse(execMOVSDstore)},
	{"NP 0F 12", "movlps", "V,W", "", costFloat, 0, loadHalf(0)},
	{"NP 0F 13 m", "movlps", "W,V", "", costFloat, 0, storeHalf(0)},
	{"66 0F 12 m", "movlpd", "V,W", "", costFloat, 0, loadHalf(0)},
	{"66 0F 13 m", "movlpd", "W,V", "", costFloat, 0, storeHalf(0)},
	{"NP 0F 16", "movhps", "V,W", "", costFloat, 0, family{loadHalfReg().reg, loadHalf(1).mem}},
	{"NP 0F 17 m", "movhps", "W,V", "", costFloat, 0, storeHalf(1)},
	{"66 0F 16 m", "movhpd", "V,W", "", costFloat, 0, loadHalf(1)},
	{"66 0F 17 m", "movhpd", "W,V", "", costFloat, 0, storeHalf(1)},
	{"F3 0F 12", "movsldup", "V,W", "", costFloat, 0, sseOp(movsldup)},
	{"F3 0F 16", "movshdup", "V,W", "", costFloat, 0, sseOp(movshdup)},
	{"F2 0F 12", "movddup", "V,W", "", costFloat, 0, sse(execMOVDDUP)},
	{"NP 0F 14", "unpcklps", "V,W", "", costFloat, 0, sseOp(unpacked(4, false))},
	{"NP 0F 15", "unpckhps", "V,W", "", costFloat, 0, sseOp(unpacked(4, true))},
	{"66 0F 14", "unpcklpd", "V,W", "", costFloat, 0, sseOp(unpacked(8, false))},
	{"66 0F 15", "unpckhpd", "V,W", "", costFloat, 0, sseOp(unpacked(8, true))},
	{"NP 0F 28", "movaps", "V,W", "", costFloat, 0, loadWhole(true)},
	{"NP 0F 29", "movaps", "W,V", "", costFloat, 0, storeWhole(true)},
	{"66 0F 28", "movapd", "V,W", "", costFloat, 0, loadWhole(true)},
	{"66 0F 29", "movapd", "W,V", "", costFloat, 0, storeWhole(true)},
	{"NP 0F 2B m", "movntps", "W,V", "", costFloat, 0, storeWhole(true)},
	{"66 0F 2B m", "movntpd", "W,V", "", costFloat, 0, storeWhole(true)},
	{"66 0F E7 m", "movntdq", "W,V", "", costFloat, 0, storeWhole(true)},
	{"NP 0F E7 m", "movntq", "Q,N", "", costFloat, 0, mmx(execMMXstore)},
	{"66 0F 38 2A m", "movntdqa", "V,W", "", costFloat, 0, loadWhole(true)},
	{"NP 0F 50 r", "movmskps", "G,W", "", costFloat, 0, sse(execMOVMSKPS)},
	{"66 0F 50 r", "movmskpd", "G,W", "", costFloat, 0, sse(execMOVMSKPD)},
	{"66 0F D7 r", "pmovmskb", "G,W", "", costFloat, 0, sse(execPMOVMSKB)},
	{"NP 0F D7 r", "pmovmskb", "G,Q", "", costFloat, 0, mmx(execMMXPMOVMSKB)},
	{"NP 0F 54", "andps", "V,W", "", costFloat, 0, sseOp(vecAnd)},
	{"66 0F 54", "andpd", "V,W", "", costFloat, 0, sseOp(vecAnd)},
	{"NP 0F 55", "andnps", "V,W", "", costFloat, 0, sseOp(vecAndN)},
	{"66 0F 55", "andnpd", "V,W", "", costFloat, 0, sseOp(vecAndN)},
	{"NP 0F 56", "orps", "V,W", "", costFloat, 0, sseOp(vecOr)},
	{"66 0F 56", "orpd", "V,W", "", costFloat, 0, sseOp(vecOr)},
	{"NP 0F 57", "xorps", "V,W", "", costFloat, 0, sseOp(vecXor)},
	{"66 0F 57", "xorpd", "V,W", "", costFloat, 0, sseOp(vecXor)},
	{"66 0F 6E", "movd", "V,E", "", costFloat, 0, sse(execMOVDload)},
	{"66 0F 7E", "movd", "E,V", "", costFloat, 0, sse(execMOVDstore)},
	{"66 0F 6F", "movdqa", "V,W", "", costFloat, 0, loadWhole(true)},
	{"66 0F 7F", "movdqa", "W,V", "", costFloat, 0, storeWhole(true)},
	{"F3 0F 6F", "movdqu", "V,W", "", costFloat, 0, loadWhole(false)},
	{"F3 0F 7F", "movdqu", "W,V", "", costFloat, 0, storeWhole(false)},
	{"F3 0F 7E", "movq", "V,W", "", costFloat, 0, sse(execMOVQload)},
	{"66 0F D6", "movq", "W,V", "", costFloat, 0, sse(execMOVQstore)},
	{"F2 0F F0 m", "lddqu", "V,W", "", costFloat, 0, loadWhole(false)},
	{"NP 0F C6", "shufps", "V,W,Ib", "", costFloat, 0, sseImm(shufps)},
	{"66 0F C6", "shufpd", "V,W,Ib", "", costFloat, 0, sseImm(shufpd)},
	{"66 0F 70", "pshufd", "V,W,Ib", "", costFloat, 0, sseImm(pshufd)},
	{"F3 0F 70", "pshufhw", "V,W,Ib", "", costFloat, 0, sseImm(pshufhw)},
	{"F2 0F 70", "pshuflw", "V,W,Ib", "", costFloat, 0, sseImm(pshuflw)},
	{"NP 0F 70", "pshufw", "N,Q,Ib", "", costFloat, 0, mmx(execPSHUFW)},
	{"66 0F 73 /7", "pslldq", "N,Ib", "", costFloat, 0, family{reg: sse(execPSLLDQ).reg}},
	{"66 0F 73 /3", "psrldq", "N,Ib", "", costFloat, 0, family{reg: sse(execPSRLDQ).reg}},
	{"66 0F C4", "pinsrw", "V,E,Ib", "", costFloat, 0, insert(2)},
	{"NP 0F C4", "pinsrw", "N,E,Ib", "", costFloat, 0, mmx(execMMXPINSRW)},
	{"66 0F C5 r", "pextrw", "G,W,Ib", "", costFloat, 0, sse(execPEXTRW)},
	{"NP 0F C5 r", "pextrw", "G,Q,Ib", "", costFloat, 0, mmx(execMMXPEXTRW)},
	{"66 0F F7 r", "maskmovdqu", "V,W", "", costFloat, 0, sse(execMASKMOVDQU)},
	{"NP 0F F7 r", "maskmovq", "N,Q", "", costFloat, 0, mmx(execMASKMOVQ)},
	{"NP 0F 6E", "movd", "N,E", "", costFloat, 0, mmx(execMMXMOVDload)},
	{"NP 0F 7E", "movd", "E,N", "", costFloat, 0, mmx(execMMXMOVDstore)},
	{"NP 0F 6F", "movq", "N,Q", "", costFloat, 0, mmx(execMMXload)},
	{"NP 0F 7F", "movq", "Q,N", "", costFloat, 0, mmx(execMMXstore)},
	{"NP 0F 77", "emms", "", "", costFloat, 0, mmx(execEMMS)},
	{"F3 0F D6 r", "movq2dq", "V,Q", "", costFloat, 0, sse(mmx(execMOVQ2DQ).reg[2])},
	{"F2 0F D6 r", "movdq2q", "N,W", "", costFloat, 0, sse(mmx(execMOVDQ2Q).reg[2])},

	{"NP 0F 3A 0F", "palignr", "N,Q,Ib", "", costFloat, 0, mmx(execMMXPALIGNR)},
	{"66 0F 3A 0F", "palignr", "V,W,Ib", "", costFloat, 0, sseImm(alignBytes)},
	{"66 0F 3A 0C", "blendps", "V,W,Ib", "", costFloat, 0, sseImm(blend(4))},
	{"66 0F 3A 0D", "blendpd", "V,W,Ib", "", costFloat, 0, sseImm(blend(8))},
	{"66 0F 3A 0E", "pblendw", "V,W,Ib", "", costFloat, 0, sseImm(blend(2))},
	{"66 0F 38 10", "pblendvb", "V,W", "", costFloat, 0, blendBy(1)},
	{"66 0F 38 14", "blendvps", "V,W", "", costFloat, 0, blendBy(4)},
	{"66 0F 38 15", "blendvpd", "V,W", "", costFloat, 0, blendBy(8)},
	{"66 0F 38 17", "ptest", "V,W", "OSZAPC", costFloat, 0, sse(execPTEST)},
	{"66 0F 3A 14", "pextrb", "E,V,Ib", "", costFloat, 0, extract(1)},
	{"66 0F 3A 15", "pextrw", "E,V,Ib", "", costFloat, 0, extract(2)},
	{"66 0F 3A 16", "pextrd", "E,V,Ib", "", costFloat, 0, extract(4)},
	{"66 0F 3A 17", "extractps", "E,V,Ib", "", costFloat, 0, sse(execEXTRACTPS)},
	{"66 0F 3A 20", "pinsrb", "V,E,Ib", "", costFloat, 0, insert(1)},
	{"66 0F 3A 21", "insertps", "V,W,Ib", "", costFloat, 0, sse(execINSERTPS)},
	{"66 0F 3A 22", "pinsrd", "V,E,Ib", "", costFloat, 0, insert(4)},
	{"66 0F 3A 42", "mpsadbw", "V,W,Ib", "", costFloat, 0, sseImm(mpsadbw)},
	{"66 0F 3A 60", "pcmpestrm", "V,W,Ib", "OSZAPC", costFloat, 0, compareStrings(true, false)},
	{"66 0F 3A 61", "pcmpestri", "V,W,Ib", "OSZAPC", costFloat, 0, compareStrings(true, true)},
	{"66 0F 3A 62", "pcmpistrm", "V,W,Ib", "OSZAPC", costFloat, 0, compareStrings(false, false)},
	{"66 0F 3A 63", "pcmpistri", "V,W,Ib", "OSZAPC", costFloat, 0, compareStrings(false, true)},
	{"F2 0F 38 F0", "crc32", "Gy,Eb", "", costFloat, 0, both(execCRC32(true))},
	{"F2 0F 38 F1", "crc32", "Gy,Ev", "", costFloat, 0, both(execCRC32(false))},
}

// loadHalfReg is MOVLHPS: the low half of W becomes the high half of V.
func loadHalfReg() family {
	return sse(func(c *CPU, o *op) { c.fpu.XMM[o.reg&15][1] = c.fpu.XMM[o.rm&15][0] })
}

func execPTEST(c *CPU, o *op) {
	if b, ok := c.sourceVec(o); ok {
		c.ptest(c.fpu.XMM[o.reg&15], b)
	}
}

// rowsSSEfloat are comparisons, conversions and control.
var rowsSSEfloat = []row{
	{"NP 0F C2", "cmpps", "V,W,Ib", "", costFloat, 0, cmp32(false)},
	{"F3 0F C2", "cmpss", "V,W,Ib", "", costFloat, 0, cmp32(true)},
	{"66 0F C2", "cmppd", "V,W,Ib", "", costFloat, 0, cmp64(false)},
	{"F2 0F C2", "cmpsd", "V,W,Ib", "", costFloat, 0, cmp64(true)},
	{"NP 0F 2E", "ucomiss", "V,W", "OSZAPC", costFloat, 0, comi32(true)},
	{"NP 0F 2F", "comiss", "V,W", "OSZAPC", costFloat, 0, comi32(false)},
	{"66 0F 2E", "ucomisd", "V,W", "OSZAPC", costFloat, 0, comi64(true)},
	{"66 0F 2F", "comisd", "V,W", "OSZAPC", costFloat, 0, comi64(false)},
	{"NP 0F 53", "rcpps", "V,W", "", costFloat, 0, approx32(false, recip)},
	{"F3 0F 53", "rcpss", "V,W", "", costFloat, 0, approx32(true, recip)},
	{"NP 0F 52", "rsqrtps", "V,W", "", costFloat, 0, approx32(false, recipSqrt)},
	{"F3 0F 52", "rsqrtss", "V,W", "", costFloat, 0, approx32(true, recipSqrt)},
	{"F2 0F 7C", "haddps", "V,W", "", costFloat, 0, horizontal32(laneAdd)},
	{"66 0F 7C", "haddpd", "V,W", "", costFloat, 0, horizontal64(laneAdd)},
	{"F2 0F 7D", "hsubps", "V,W", "", costFloat, 0, horizontal32(laneSub)},
	{"66 0F 7D", "hsubpd", "V,W", "", costFloat, 0, horizontal64(laneSub)},
	{"F2 0F D0", "addsubps", "V,W", "", costFloat, 0, lanes32(addsub32)},
	{"66 0F D0", "addsubpd", "V,W", "", costFloat, 0, lanes32(addsub64)},
	{"F3 0F 5A", "cvtss2sd", "V,W", "", costFloat, 0, convert(4, cvtss2sd)},
	{"F2 0F 5A", "cvtsd2ss", "V,W", "", costFloat, 0, convert(8, cvtsd2ss)},
	{"NP 0F 5A", "cvtps2pd", "V,W", "", costFloat, 0, convert(8, cvtps2pd)},
	{"66 0F 5A", "cvtpd2ps", "V,W", "", costFloat, 0, convert(16, cvtpd2ps)},
	{"NP 0F 5B", "cvtdq2ps", "V,W", "", costFloat, 0, convert(16, cvtdq2ps)},
	{"66 0F 5B", "cvtps2dq", "V,W", "", costFloat, 0, convert(16, cvtps2dq(false))},
	{"F3 0F 5B", "cvttps2dq", "V,W", "", costFloat, 0, convert(16, cvtps2dq(true))},
	{"F3 0F E6", "cvtdq2pd", "V,W", "", costFloat, 0, convert(8, cvtdq2pd)},
	{"F2 0F E6", "cvtpd2dq", "V,W", "", costFloat, 0, convert(16, cvtpd2dq(false))},
	{"66 0F E6", "cvttpd2dq", "V,W", "", costFloat, 0, convert(16, cvtpd2dq(true))},
	{"F3 0F 2A", "cvtsi2ss", "V,E", "", costFloat, 0, cvtFromGPR(false)},
	{"F2 0F 2A", "cvtsi2sd", "V,E", "", costFloat, 0, cvtFromGPR(true)},
	{"F3 0F 2C", "cvttss2si", "G,W", "", costFloat, 0, cvtToGPR(false, true)},
	{"F2 0F 2C", "cvttsd2si", "G,W", "", costFloat, 0, cvtToGPR(true, true)},
	{"F3 0F 2D", "cvtss2si", "G,W", "", costFloat, 0, cvtToGPR(false, false)},
	{"F2 0F 2D", "cvtsd2si", "G,W", "", costFloat, 0, cvtToGPR(true, false)},
	{"NP 0F 2A", "cvtpi2ps", "V,Q", "", costFloat, 0, cvtFromMM(false)},
	{"66 0F 2A", "cvtpi2pd", "V,Q", "", costFloat, 0, cvtFromMM(true)},
	{"NP 0F 2C", "cvttps2pi", "N,W", "", costFloat, 0, cvtToMM(false, true)},
	{"66 0F 2C", "cvttpd2pi", "N,W", "", costFloat, 0, cvtToMM(true, true)},
	{"NP 0F 2D", "cvtps2pi", "N,W", "", costFloat, 0, cvtToMM(false, false)},
	{"66 0F 2D", "cvtpd2pi", "N,W", "", costFloat, 0, cvtToMM(true, false)},
	{"66 0F 3A 08", "roundps", "V,W,Ib", "", costFloat, 0, roundPacked(false, false)},
	{"66 0F 3A 09", "roundpd", "V,W,Ib", "", costFloat, 0, roundPacked(true, false)},
	{"66 0F 3A 0A", "roundss", "V,W,Ib", "", costFloat, 0, roundPacked(false, true)},
	{"66 0F 3A 0B", "roundsd", "V,W,Ib", "", costFloat, 0, roundPacked(true, true)},
	{"66 0F 3A 40", "dpps", "V,W,Ib", "", costFloat, 0, sse(dot32)},
	{"66 0F 3A 41", "dppd", "V,W,Ib", "", costFloat, 0, sse(dot64)},
	{"NP 0F AE /2 m", "ldmxcsr", "M", "", costFloat, 0, sse(execLDMXCSR)},
	{"NP 0F AE /3 m", "stmxcsr", "M", "", costFloat, 0, sse(execSTMXCSR)},
}
