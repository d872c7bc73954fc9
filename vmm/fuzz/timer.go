package fuzz

import (
	"fmt"
	"math/rand/v2"
)

// The registers of the x2APIC that guests use.
const (
	msrTSCDeadline = 0x6e0
	msrTPR         = 0x808
	msrICR         = 0x830
	msrLVTT        = 0x832
	msrTMICT       = 0x838
	msrTDCR        = 0x83e
	msrSelfIPI     = 0x83f
)

// armDeadline arms the TSC deadline d cycles from now.
func (p *Piece) armDeadline(d uint32) *Piece {
	p.ins("rdtsc", 0x0f, 0x31).ins("shl rdx, 32", 0x48, 0xc1, 0xe2, 32).ins("or rax, rdx", 0x48, 0x09, 0xd0)
	p.ins(fmt.Sprintf("add rax, %#x", d), append([]byte{0x48, 0x05}, le32(d)...)...)
	p.ins("mov rdx, rax", 0x48, 0x89, 0xc2).ins("shr rdx, 32", 0x48, 0xc1, 0xea, 32)
	return p.mov(ecx, msrTSCDeadline).ins("wrmsr", 0x0f, 0x30)
}

// timerPieces are what a guest does with its timer, by a distance in cycles.
var timerPieces = []func(p *Piece, r *rand.Rand, d uint32){
	func(p *Piece, _ *rand.Rand, d uint32) { p.wrmsr(msrLVTT, 2<<17|timerVector).armDeadline(d) },
	func(p *Piece, _ *rand.Rand, d uint32) {
		p.wrmsr(msrLVTT, 2<<17|timerVector).armDeadline(d).ins("hlt", 0xf4)
	},
	func(p *Piece, _ *rand.Rand, d uint32) {
		p.wrmsr(msrTDCR, 0xb).wrmsr(msrLVTT, timerVector).wrmsr(msrTMICT, uint64(d))
	},
	func(p *Piece, r *rand.Rand, d uint32) {
		p.wrmsr(msrTDCR, uint64(r.IntN(4))).wrmsr(msrLVTT, 1<<17|timerVector).wrmsr(msrTMICT, uint64(d|0x800))
	},
	func(p *Piece, _ *rand.Rand, d uint32) { p.wrmsr(msrTSCDeadline, 0) },
	func(p *Piece, _ *rand.Rand, d uint32) { p.wrmsr(msrTMICT, 0) },
	func(p *Piece, _ *rand.Rand, d uint32) { p.spin(d) },
	func(p *Piece, _ *rand.Rand, d uint32) { p.ins("cli", 0xfa).spin(d).ins("sti", 0xfb) },
	func(p *Piece, _ *rand.Rand, d uint32) { p.ins("sti", 0xfb).ins("hlt", 0xf4) },
	func(p *Piece, r *rand.Rand, _ uint32) { p.wrmsr(msrSelfIPI, ipiVector) },
	func(p *Piece, r *rand.Rand, d uint32) {
		p.wrmsr(msrTPR, uint64(r.IntN(8)<<4)).spin(d/4).wrmsr(msrTPR, 0)
	},
	func(p *Piece, _ *rand.Rand, _ uint32) { p.mov(eax, 0).ins("cpuid", 0x0f, 0xa2) },
	func(p *Piece, _ *rand.Rand, _ uint32) { p.ins("in al, 0x71", 0xe4, 0x71) },
}

// spin executes PAUSE for about d cycles.
func (p *Piece) spin(d uint32) *Piece {
	return p.mov(ecx, d/8+1).ins("pause", 0xf3, 0x90).ins("dec ecx", 0xff, 0xc9).ins("jnz $-4", 0x75, 0xfa)
}

// distance draws a distance in cycles: most lie where routes change.
func distance(r *rand.Rand) uint32 {
	d := uint32(1) << (6 + r.IntN(14))
	return d + uint32(r.IntN(int(d)))
}

// Timer makes a guest that uses its timer as an operating system may: it never loses an
// interrupt by what it does itself.
func Timer(r *rand.Rand) *Program {
	p := &Program{}
	var on Piece
	p.Pieces = append(p.Pieces, *on.ins("sti", 0xfb))
	for range 1 + r.IntN(6) {
		var x Piece
		timerPieces[r.IntN(len(timerPieces))](&x, r, distance(r))
		p.Pieces = append(p.Pieces, x)
	}
	if r.IntN(2) == 0 {
		p.Handlers[0].armDeadline(distance(r))
	}
	// Something is always armed, so that no HLT waits for ever.
	var last Piece
	p.Pieces = append(p.Pieces, *last.wrmsr(msrLVTT, 2<<17|timerVector).armDeadline(distance(r)).ins("hlt", 0xf4))
	return p
}
