package vmmtest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// The status flags.
const (
	flagC = 1 << 0
	flagP = 1 << 2
	flagA = 1 << 4
	flagZ = 1 << 6
	flagS = 1 << 7
	flagO = 1 << 11

	statusFlags = flagC | flagP | flagA | flagZ | flagS | flagO
)

// randomOp is one instruction of random programs: 64-bit registers except RSP,
// or XMM registers.
type randomOp struct {
	name string
	// reads are the flags that it looks at, writes those that it sets, spoils
	// those that it leaves undefined.
	reads, writes, spoils uint16
	emit                  func(a *asm, r *rand.Rand)
}

// reg is a general register other than RSP.
func reg(r *rand.Rand) byte {
	for {
		if n := byte(r.IntN(16)); n != 4 {
			return n
		}
	}
}

// modrm appends REX (W as given), the opcode and a register-register ModRM.
func (a *asm) modrm(w byte, prefix, opcode []byte, field, rm byte) {
	a.b(prefix...)
	a.b(0x40 | w<<3 | field>>3<<2 | rm>>3)
	a.b(opcode...)
	a.b(0xc0 | field&7<<3 | rm&7)
}

// rr is an instruction with two registers.
func rr(opcode ...byte) func(*asm, *rand.Rand) {
	return func(a *asm, r *rand.Rand) { a.modrm(byte(r.IntN(2)), nil, opcode, reg(r), reg(r)) }
}

// r1 is an instruction with one register and an extension of the opcode.
func r1(opcode, ext byte) func(*asm, *rand.Rand) {
	return func(a *asm, r *rand.Rand) { a.modrm(byte(r.IntN(2)), nil, []byte{opcode}, ext, reg(r)) }
}

// ri is the same with an immediate byte from lo to hi.
func ri(opcode, ext, lo, hi byte) func(*asm, *rand.Rand) {
	return func(a *asm, r *rand.Rand) {
		r1(opcode, ext)(a, r)
		a.b(lo + byte(r.IntN(int(hi-lo)+1)))
	}
}

// xx is an SSE instruction with two registers.
func xx(opcode byte) func(*asm, *rand.Rand) {
	return func(a *asm, r *rand.Rand) {
		a.modrm(0, []byte{0x66}, []byte{0x0f, opcode}, byte(r.IntN(16)), byte(r.IntN(16)))
	}
}

// randomOps is the table. The flags are those of Intel SDM vol. 1, appendix A
// "EFLAGS Cross-Reference".
func randomOps() []randomOp {
	const arith, logic = statusFlags, statusFlags &^ flagA
	ops := []randomOp{
		{"adc", flagC, arith, 0, rr(0x11)}, {"sbb", flagC, arith, 0, rr(0x19)},
		{"add", 0, arith, 0, rr(0x01)}, {"sub", 0, arith, 0, rr(0x29)}, {"cmp", 0, arith, 0, rr(0x39)},
		{"and", 0, logic, flagA, rr(0x21)}, {"or", 0, logic, flagA, rr(0x09)}, {"xor", 0, logic, flagA, rr(0x31)},
		{"test", 0, logic, flagA, rr(0x85)},
		{"inc", 0, arith &^ flagC, 0, r1(0xff, 0)}, {"dec", 0, arith &^ flagC, 0, r1(0xff, 1)},
		{"neg", 0, arith, 0, r1(0xf7, 3)}, {"not", 0, 0, 0, r1(0xf7, 2)},
		{"add imm", 0, arith, 0, ri(0x83, 0, 0, 255)}, {"cmp imm", 0, arith, 0, ri(0x83, 7, 0, 255)},
		{"rol 1", 0, flagC | flagO, 0, r1(0xd1, 0)}, {"ror 1", 0, flagC | flagO, 0, r1(0xd1, 1)},
		{"rcl 1", flagC, flagC | flagO, 0, r1(0xd1, 2)}, {"rcr 1", flagC, flagC | flagO, 0, r1(0xd1, 3)},
		{"shl 1", 0, logic, flagA, r1(0xd1, 4)}, {"shr 1", 0, logic, flagA, r1(0xd1, 5)}, {"sar 1", 0, logic, flagA, r1(0xd1, 7)},
		{"shl n", 0, logic &^ flagO, flagA | flagO, ri(0xc1, 4, 2, 31)},
		{"shr n", 0, logic &^ flagO, flagA | flagO, ri(0xc1, 5, 2, 31)},
		{"sar n", 0, logic &^ flagO, flagA | flagO, ri(0xc1, 7, 2, 31)},
		{"rol n", 0, flagC, flagO, ri(0xc1, 0, 2, 31)}, {"ror n", 0, flagC, flagO, ri(0xc1, 1, 2, 31)},
		{"mul", 0, flagC | flagO, statusFlags &^ (flagC | flagO), r1(0xf7, 4)},
		{"imul", 0, flagC | flagO, statusFlags &^ (flagC | flagO), r1(0xf7, 5)},
		{"imul rr", 0, flagC | flagO, statusFlags &^ (flagC | flagO), rr(0x0f, 0xaf)},
		{"mov", 0, 0, 0, rr(0x89)}, {"xchg", 0, 0, 0, rr(0x87)}, {"movsxd", 0, 0, 0, rr(0x63)},
		{"movzx b", 0, 0, 0, rr(0x0f, 0xb6)}, {"movzx w", 0, 0, 0, rr(0x0f, 0xb7)},
		{"movsx b", 0, 0, 0, rr(0x0f, 0xbe)}, {"movsx w", 0, 0, 0, rr(0x0f, 0xbf)},
		{"bt", 0, flagC, statusFlags &^ (flagC | flagZ), rr(0x0f, 0xa3)},
		{"bts", 0, flagC, statusFlags &^ (flagC | flagZ), rr(0x0f, 0xab)},
		{"btr", 0, flagC, statusFlags &^ (flagC | flagZ), rr(0x0f, 0xb3)},
		{"btc", 0, flagC, statusFlags &^ (flagC | flagZ), rr(0x0f, 0xbb)},
		{"xadd", 0, arith, 0, rr(0x0f, 0xc1)}, {"cmpxchg", 0, arith, 0, rr(0x0f, 0xb1)},
		{"popcnt", 0, arith, 0, func(a *asm, r *rand.Rand) {
			a.modrm(1, []byte{0xf3}, []byte{0x0f, 0xb8}, reg(r), reg(r))
		}},
		{"bswap", 0, 0, 0, func(a *asm, r *rand.Rand) { n := reg(r); a.b(0x48|n>>3, 0x0f, 0xc8|n&7) }},
		{"cdqe", 0, 0, 0, func(a *asm, _ *rand.Rand) { a.b(0x48, 0x98) }},
		{"cqo", 0, 0, 0, func(a *asm, _ *rand.Rand) { a.b(0x48, 0x99) }},
		{"lea", 0, 0, 0, func(a *asm, r *rand.Rand) { // lea r, [base + index × scale + disp8]
			d, base, index := reg(r), reg(r), reg(r)
			a.b(0x48|d>>3<<2|index>>3<<1|base>>3, 0x8d, 0x44|d&7<<3, byte(r.IntN(4))<<6|index&7<<3|base&7, byte(r.IntN(256)))
		}},
		{"push pop", 0, 0, 0, func(a *asm, r *rand.Rand) {
			s, d := reg(r), reg(r)
			a.b(0x40|s>>3, 0x50|s&7, 0x40|d>>3, 0x58|d&7)
		}},
		{"movq to xmm", 0, 0, 0, func(a *asm, r *rand.Rand) {
			a.modrm(1, []byte{0x66}, []byte{0x0f, 0x6e}, byte(r.IntN(16)), reg(r))
		}},
		{"movq from xmm", 0, 0, 0, func(a *asm, r *rand.Rand) {
			a.modrm(1, []byte{0x66}, []byte{0x0f, 0x7e}, byte(r.IntN(16)), reg(r))
		}},
		{"pshufd", 0, 0, 0, func(a *asm, r *rand.Rand) { xx(0x70)(a, r); a.b(byte(r.IntN(256))) }},
	}
	for c := byte(0); c < 16; c++ {
		reads := conditionFlags[c>>1]
		ops = append(ops, randomOp{fmt.Sprintf("cmov %x", c), reads, 0, 0, rr(0x0f, 0x40|c)},
			randomOp{fmt.Sprintf("set %x", c), reads, 0, 0, func(a *asm, r *rand.Rand) {
				a.modrm(0, nil, []byte{0x0f, 0x90 | c}, 0, reg(r))
			}})
	}
	for _, op := range sseOps {
		ops = append(ops, randomOp{fmt.Sprintf("sse %02x", op), 0, 0, 0, xx(op)})
	}
	return ops
}

// conditionFlags are the flags that the conditions look at, by code / 2.
var conditionFlags = [8]uint16{flagO, flagC, flagZ, flagC | flagZ, flagS, flagP, flagS | flagO, flagZ | flagS | flagO}

// sseOps are integer instructions 66 0F op of SSE2.
var sseOps = []byte{0xfc, 0xfd, 0xfe, 0xd4, 0xf8, 0xf9, 0xfa, 0xfb, 0xdb, 0xdf, 0xeb, 0xef, 0x74, 0x75, 0x76, 0x64,
	0x65, 0x66, 0x60, 0x61, 0x62, 0x6c, 0x68, 0x69, 0x6a, 0x6d, 0x63, 0x67, 0x6b, 0xf4, 0xd5, 0xe5, 0xe4, 0xf5, 0xe0, 0xe3,
	0xde, 0xea, 0xda, 0xee, 0xd8, 0xd9, 0xdc, 0xdd, 0xe8, 0xe9, 0xec, 0xed, 0xf6, 0x6f, 0x14, 0x15}

// RandomProgram is a program of n random instructions whose results depend on
// nothing but its seed: at its end it stores the general registers, the flags
// and the XMM registers, and ends the guest.
type RandomProgram struct {
	Seed uint64
	Ops  []string
	// Flags are the status flags that are defined at the end.
	Flags uint64
	code  []byte
}

// randomWords is how many 64-bit words a program stores.
const randomWords = 16 + 1 + 32

// NewRandomProgram makes the program of a seed.
func NewRandomProgram(seed uint64, n int) *RandomProgram {
	r := rand.New(rand.NewPCG(seed, 1))
	ops := randomOps()
	p := &RandomProgram{Seed: seed}
	a := &asm{}
	for i := byte(0); i < 16; i++ {
		if i == 4 {
			continue
		}
		a.b(0x48|i>>3, 0xb8|i&7) // mov r, imm64
		a.code = binary.LittleEndian.AppendUint64(a.code, r.Uint64())
		a.modrm(1, []byte{0x66}, []byte{0x0f, 0x6e}, i, i) // movq xmm, r
	}
	a.b(0x66, 0x0f, 0xef, 0xe4)         // pxor xmm4, xmm4
	a.modrm(1, nil, []byte{0x39}, 0, 1) // cmp rcx, rax: all flags defined
	undefined := uint16(0)
	for range n {
		op := &ops[r.IntN(len(ops))]
		if op.reads&undefined != 0 {
			a.modrm(1, nil, []byte{0x39}, reg(r), reg(r))
			undefined = 0
		}
		op.emit(a, r)
		undefined = undefined&^op.writes | op.spoils
		p.Ops = append(p.Ops, op.name)
	}
	p.Flags = uint64(statusFlags &^ undefined)
	a.storeAll()
	a.end()
	p.code = a.code
	return p
}

// storeAll stores RAX to R15, the flags and XMM0 to XMM15 as results.
func (a *asm) storeAll() {
	for i := byte(0); i < 16; i++ { // mov [abs32], r
		a.b(0x48|i>>3<<2, 0x89, 0x04|i&7<<3, 0x25)
		a.imm32(uint32(results + 8*int(i)))
	}
	a.b(0x9c, 0x58) // pushfq; pop rax
	a.slots = 16
	a.keep()
	for i := byte(0); i < 16; i++ { // movdqu [abs32], xmm
		a.b(0xf3, 0x40|i>>3<<2, 0x0f, 0x7f, 0x04|i&7<<3, 0x25)
		a.imm32(uint32(results + 8*17 + 16*int(i)))
	}
}

// Image is the guest.
func (p *RandomProgram) Image() []byte { return p.code }

// Compare compares what two engines stored. RSP and undefined flags are left
// out.
func (p *RandomProgram) Compare(a, b []uint64) (wrong []string) {
	for i := range a {
		x, y := a[i], b[i]
		name := fmt.Sprintf("register %d", i)
		switch {
		case i == 16:
			x, y, name = x&p.Flags, y&p.Flags, "flags"
		case i > 16:
			name = fmt.Sprintf("xmm%d, half %d", (i-17)/2, (i-17)%2)
		}
		if x != y {
			wrong = append(wrong, fmt.Sprintf("%s: %#x and %#x", name, x, y))
		}
	}
	return wrong
}
