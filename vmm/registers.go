package vmm

// Registers is the architectural register state of one vCPU, as a value: it can
// be kept, compared and printed.
type Registers struct {
	// GPR holds RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8–R15: the encoding's
	// order.
	GPR                          [16]uint64
	RIP, RFLAGS                  uint64
	ES, CS, SS, DS, FS, GS       Segment
	TR, LDTR                     Segment
	GDTR, IDTR                   Table
	CR0, CR2, CR3, CR4, CR8      uint64
	EFER, XCR0                   uint64
	DR                           [8]uint64
	STAR, LSTAR, CSTAR, SFMASK   uint64
	KernelGSBase, TSCAux         uint64
	SysenterCS, SysenterESP, EIP uint64
	FPU                          FPU
	// Shadow is true while interrupts are blocked by STI or MOV SS.
	Shadow bool
	// NMIBlocked is true from the delivery of an NMI to the next IRET.
	NMIBlocked bool
}

// The indexes of Registers.GPR.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// Segment is a segment register with its hidden part.
type Segment struct {
	Selector uint16
	Base     uint64
	// Limit is in bytes, granularity applied.
	Limit uint32
	// Attr is the descriptor's bytes 5 and 6 as VMX access rights have them
	// (Intel SDM vol. 3C, 25.4.1 "Guest Register State"):
	// type 3:0, S 4, DPL 6:5, P 7, AVL 12, L 13, D/B 14, G 15, unusable 16.
	Attr uint32
}

// Table is GDTR or IDTR.
type Table struct {
	Base  uint64
	Limit uint16
}

// FPU is the x87, MMX and SSE state.
type FPU struct {
	// ST are the x87 registers in stack order, as 80-bit images: 64-bit
	// significand, then sign and exponent.
	ST             [8]X87
	Control        uint16
	Status         uint16 // without TOP, which is Top
	Top            uint8
	Tag            uint8 // bit i: physical register i is not empty
	Opcode         uint16
	LastIP, LastDP uint64
	XMM            [16][2]uint64
	MXCSR          uint32
}

// X87 is an 80-bit floating-point register image.
type X87 struct {
	Mant uint64
	Exp  uint16 // sign in bit 15
}
