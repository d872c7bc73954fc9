package interptest

// The addresses that every vector assumes.
const (
	// CodeBase is the linear address of the instruction. The page is filled
	// with INT3, so that every way out of the instruction ends in #BP.
	CodeBase uint64 = 0x10000000
	// Scratch is the linear address of the data and stack area; the page ends
	// with it, and the next one is not mapped.
	Scratch uint64 = 0x20000f00
	// ScratchSize is the size of that area in bytes.
	ScratchSize = 256
	// Unmapped is the linear address of a page that is not present.
	Unmapped uint64 = 0x30000000
)

// State is what an instruction of a vector can read and write.
type State struct {
	GPR   [16]uint64
	RIP   uint64 // linear
	Flags uint64 // RFLAGS
	XMM   [16][2]uint64
	MXCSR uint32
	FCW   uint16
	FSW   uint16 // with TOP
	FTW   uint8  // abridged: bit i is set if physical register i is not empty
	ST    [8]X87 // in stack order
	Mem   [ScratchSize]byte
}

// X87 is an 80-bit register image.
type X87 struct {
	Mant uint64
	Exp  uint16 // sign in bit 15
}

// Outcome is how an instruction ended.
type Outcome struct {
	State
	// Vector is the exception, 3 (the INT3 after it) if there was none.
	Vector uint8
	Code   uint32 // error code
	CR2    uint64 // of a page fault
}

// Vector is one measured instruction.
type Vector struct {
	Name string
	Mode int // 64, 32 or 16: the code segment
	Code []byte
	Kind Kind
	Seed uint64
	In   State
	Out  Outcome
	// Undef are the bits of RFLAGS that the manual leaves undefined after it;
	// UndefFSW the same of the x87 status word.
	Undef    uint64
	UndefFSW uint16
	patches  []patch
}
