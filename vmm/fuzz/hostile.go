package fuzz

import (
	"fmt"
	"math/rand/v2"
)

// places are addresses that are not what a program expects: the end of RAM, holes, the
// APIC's page, the IOAPIC, the tables that the loader has made, the program itself.
var places = []uint32{0, 0xfff, 0x1000, 0x2ff8, 0x4000, 0x8000, 0x9f000, 0xa0000, 0xb8000, 0xf0000, base, base + 0xffe,
	16<<20 - 8, 16<<20 - 1, 16 << 20, 0x80000000, 0xbffffff8, 0xc0000000, 0xcfffffff, 0xfec00000, 0xfec00ff9, 0xfee00000,
	0xfee000b0, 0xfee00380, 0xfee00ffd, 0xfffff000, 0xfffffffc}

func place(r *rand.Rand) uint32 {
	p := places[r.IntN(len(places))]
	if r.IntN(4) == 0 {
		p += uint32(r.IntN(64)) - 32
	}
	return p
}

// noise are random bytes.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// atRAX are instructions on what RAX points to.
var atRAX = []string{"0fae00", "0fae08", "0fae20", "0fae28", "dd30", "dd20", "d930", "d920", "dbb8 00000000", "dba8 00000000",
	"8b00", "8900", "4889 00", "f00fc100", "0fc708", "480fc708", "f3a4", "f3a5", "f348a5", "a6", "f3ae", "ff30", "8f00", "ff10", "ff20", "ff18",
	"ff28", "0f0110", "0f0118", "0f0000", "0f00 18", "0f1000", "0f2900", "660fef00", "0f18 00", "0fc300", "660f3810 00", "f20f1000",
	"0fa300", "0fab00", "d000", "6200", "0f0d00", "0fae38", "0f0138"}

// alone are instructions that need nothing.
var alone = []string{"0f0b", "cc", "f1", "cd40", "cd00", "cdff", "ce", "cf", "48cf", "0f05", "0f07", "0f34", "0f35", "f4", "fa", "fb", "9d",
	"9c", "0f08", "0f09", "0f30", "0f32", "0f31", "0fa2", "0f01c1", "0f01d9", "0f01c8", "0f01c9", "0f01d0", "0f01d1", "0f22c0", "0f22d8",
	"0f22e0", "440f22c0", "0f20c0", "0f23f8", "0f23c0", "0f21c0", "0f06", "c8000001f", "c8ffff1f", "c9", "c3", "cb", "60", "61", "50", "58",
	"16", "17", "8ed0", "8ed8", "8ec0", "0fa9", "0fa1", "e460", "e664", "ec", "ee", "6c", "6e", "f36c", "f36e", "e6f4", "e6e9", "dbe3", "d9d0",
	"ebfe", "f390ebfc", "eb00", "e8fbffffff", "0f00d8", "0f00d0", "66b80000", "0f01f8", "0f0d", "d7", "f3c3", "9b", "0f77"}

// hex decodes an entry of the tables above.
func hex(s string) (b []byte) {
	half, have := byte(0), false
	for _, c := range []byte(s) {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= '0':
			c -= '0'
		default:
			continue
		}
		if have {
			b = append(b, half<<4|c)
		}
		half, have = c, !have
	}
	return b
}

// hostilePieces are what no guest should do.
var hostilePieces = []func(p *Piece, r *rand.Rand){
	func(p *Piece, r *rand.Rand) { p.bytes(noise(r, 1+r.IntN(24))) },
	func(p *Piece, r *rand.Rand) { p.bytes(hex(alone[r.IntN(len(alone))])) },
	func(p *Piece, r *rand.Rand) { p.mov(eax, place(r)).bytes(hex(atRAX[r.IntN(len(atRAX))])) },
	func(p *Piece, r *rand.Rand) { // a stack anywhere
		p.mov(esp, place(r)).bytes(hex(alone[r.IntN(len(alone))]))
	},
	func(p *Piece, r *rand.Rand) { // string instructions from anywhere to anywhere
		ops := []string{"f3a4", "f348a5", "f3aa", "f348ab", "f3a6", "f2ae", "f3ac", "f36c", "f36e", "f36d", "fdf3a4fc", "67f3a4"}
		p.mov(esi, place(r)).mov(edi, place(r)).mov(ecx, r.Uint32()>>uint(8+r.IntN(24))).mov(edx, uint32([]int{0x60, 0x3f8, 0xf4, 0x80, 0x70}[r.IntN(5)]))
		p.bytes(hex(ops[r.IntN(len(ops))]))
	},
	func(p *Piece, r *rand.Rand) { // page tables anywhere
		p.mov(eax, place(r)&^0xfff).ins("mov cr3, rax", 0x0f, 0x22, 0xd8)
	},
	func(p *Piece, r *rand.Rand) { // an entry of the page tables that leads anywhere
		p.mov(eax, place(r)&^0xfff|[]uint32{0, 1, 3, 7, 0x87, 0xe7}[r.IntN(6)])
		p.ins("mov [table], eax", append([]byte{0x89, 0x04, 0x25}, le32(0x2000+8*uint32(r.IntN(0xc00)))...)...)
	},
	func(p *Piece, r *rand.Rand) { // descriptor tables anywhere
		load := []byte{0x10, 0x18}[r.IntN(2)]
		p.mov(eax, place(r)).ins("mov [0x200002], rax", append([]byte{0x48, 0x89, 0x04, 0x25}, le32(0x200002)...)...)
		p.mov(eax, uint32(r.IntN(0x10000))).ins("mov [0x200000], ax", append([]byte{0x66, 0x89, 0x04, 0x25}, le32(0x200000)...)...)
		p.mov(eax, 0x200000).ins("lgdt/lidt [rax]", 0x0f, 0x01, load)
		p.bytes(hex(alone[r.IntN(len(alone))]))
	},
	func(p *Piece, r *rand.Rand) { // interrupts to anybody, INIT and SIPI among them
		p.wrmsr(msrICR, uint64(r.IntN(70))<<32|uint64(r.IntN(4)<<18|r.IntN(2)<<15|r.IntN(2)<<14|r.IntN(8)<<8|r.IntN(256)))
	},
	func(p *Piece, r *rand.Rand) { // all others, at once
		p.wrmsr(msrICR, 3<<18|0x4500).wrmsr(msrICR, 3<<18|0x4600|uint64(r.IntN(256)))
	},
	func(p *Piece, r *rand.Rand) { // a timer that never rests
		p.wrmsr(msrTDCR, uint64(r.IntN(16))).wrmsr(msrLVTT, uint64(r.IntN(4)<<17|r.IntN(2)<<16|r.IntN(256)))
		p.wrmsr(msrTMICT, uint64(r.Uint32()>>uint(r.IntN(32)))).wrmsr(msrTSCDeadline, r.Uint64()>>uint(r.IntN(64)))
	},
	func(p *Piece, r *rand.Rand) { // any MSR
		p.wrmsr([]uint32{0x1b, 0x10, 0x3b, 0x6e0, 0xc0000080, 0xc0000100, 0x800 + uint32(r.IntN(0x40)), r.Uint32(), 0x4b564d01, 0x40000000 + uint32(r.IntN(0x200))}[r.IntN(10)],
			r.Uint64()>>uint(r.IntN(64)))
	},
	func(p *Piece, r *rand.Rand) { // code that changes itself, here or in a page of its own
		at := base + uint32(r.IntN(0x400))
		p.mov(eax, r.Uint32()).ins(fmt.Sprintf("mov [%#x], eax", at), append([]byte{0x89, 0x04, 0x25}, le32(at)...)...)
	},
	func(p *Piece, r *rand.Rand) { // control registers
		p.mov64(eax, r.Uint64()>>uint(r.IntN(64))).bytes([]byte{0x0f, 0x22, 0xc0 | byte([]int{0, 2, 3, 4}[r.IntN(4)]<<3)})
	},
	func(p *Piece, r *rand.Rand) { // a jump anywhere
		p.mov(eax, place(r)).ins("jmp rax", 0xff, 0xe0)
	},
	func(p *Piece, r *rand.Rand) { // a port
		p.mov(edx, uint32([]int{0x20, 0x21, 0x40, 0x43, 0x60, 0x61, 0x64, 0x70, 0x71, 0xa0, 0xa1, 0xcf8, 0xcfc, 0xcf9, 0x3f8, 0x3fd, 0x608, 0x510, 0x511, 0xe0}[r.IntN(20)]))
		p.mov(eax, r.Uint32()).bytes([]byte{[]byte{0xee, 0xef, 0xec, 0xed}[r.IntN(4)]})
	},
	func(p *Piece, r *rand.Rand) { // the xAPIC page
		p.mov(eax, 0xfee00000+16*uint32(r.IntN(0x40))).mov(ecx, r.Uint32()>>uint(r.IntN(32))).ins("mov [rax], ecx", 0x89, 0x08)
	},
	func(p *Piece, r *rand.Rand) { // a busy wait on memory anywhere
		p.mov(eax, place(r)).ins("cmp dword [rax], 0", 0x83, 0x38, 0).ins("je $-3", 0x74, 0xfb)
	},
}

// Hostile makes a guest that does what none should.
func Hostile(r *rand.Rand) *Program {
	p := &Program{Bare: r.IntN(3) == 0}
	if !p.Bare && r.IntN(2) == 0 {
		var on Piece
		p.Pieces = append(p.Pieces, *on.ins("sti", 0xfb))
	}
	for range 1 + r.IntN(12) {
		var x Piece
		hostilePieces[r.IntN(len(hostilePieces))](&x, r)
		p.Pieces = append(p.Pieces, x)
	}
	if r.IntN(3) == 0 {
		hostilePieces[r.IntN(len(hostilePieces))](&p.Handlers[r.IntN(2)], r)
	}
	return p
}
