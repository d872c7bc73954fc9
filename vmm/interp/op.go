package interp

// handler executes one op. When it is called RIP is that of the next
// instruction; it sets CPU.stop if the instruction was not completed or the
// block cannot go on.
type handler func(c *CPU, o *op)

// op is one decoded instruction. Its addresses are relative to the start of its
// block, so that it holds for every linear address that maps the same bytes.
type op struct {
	fn handler
	// imm is the immediate, sign-extended; of a far pointer the offset, whose
	// selector is in disp.
	imm  uint64
	disp uint64
	// amask is the mask of the address size.
	amask uint64
	// cyc is the number of cycles from the block's start to this op, cost the
	// cycles it takes.
	cyc, cost uint32
	// end is the offset from the block's start to the next op.
	end uint16
	len uint8
	// size is the operand size in bytes, asize the address size.
	size, asize uint8
	// dst and src are register numbers in the order of the operands. Bit 4 of a
	// byte register means bits 15:8 (AH, CH, DH, BH).
	dst, src uint8
	// base and index are register numbers, regZero if there is none.
	base, index, scale uint8
	// seg is the segment of the memory operand; segNone if its base is zero.
	seg uint8
	// reg and rm are the fields of ModRM with their REX bits, code the last
	// opcode byte.
	reg, rm, code uint8
	// rex is the REX prefix, or 0.
	rex   uint8
	flags opFlags
	row   *row
}

// opFlags are facts of one decoded instruction.
type opFlags uint16

// The flags.
const (
	opMem    opFlags = 1 << iota // E operand is in memory
	opImm                        // source is imm
	opLock                       // LOCK prefix
	opRep                        // F3 prefix
	opRepne                      // F2 prefix
	opData                       // 66 prefix
	opLegacy                     // not 64-bit mode: segment checks apply
	opEnd                        // last of its block
)

// Register numbers beyond the general ones.
const (
	regZero = 16 // always 0
	regIP   = 17 // RIP
	numRegs = 32
)

// Segment numbers, in the order of the encoding.
const (
	segES = iota
	segCS
	segSS
	segDS
	segFS
	segGS
	segNone // base 0, no checks
	numSegs = 8
)

// sint is the type of an operand. Operands are signed so that widening
// sign-extends, which is what the lazy flags want.
type sint interface {
	int8 | int16 | int32 | int64
}

// zx returns v zero-extended.
func zx[T sint](v T) uint64 {
	switch width[T]() {
	case 1:
		return uint64(uint8(v))
	case 2:
		return uint64(uint16(v))
	case 4:
		return uint64(uint32(v))
	}
	return uint64(v)
}

// zext truncates v to size bytes.
func zext(v uint64, size uint8) uint64 {
	n := (64 - 8*size) & 63
	return v << n >> n
}

// sext sign-extends the lowest size bytes of v.
func sext(v uint64, size uint8) int64 {
	n := (64 - 8*size) & 63
	return int64(v<<n) >> n
}

// get reads register i.
func get[T sint](c *CPU, i uint8) T {
	if width[T]() == 1 {
		return T(c.r[i&15] >> (i >> 1 & 8))
	}
	return T(c.r[i&15])
}

// put writes register i: 32-bit results clear the upper half, shorter ones leave
// the rest alone.
func put[T sint](c *CPU, i uint8, v T) {
	switch width[T]() {
	case 8:
		c.r[i&15] = uint64(v)
	case 4:
		c.r[i&15] = uint64(uint32(v))
	case 2:
		c.r[i&15] = c.r[i&15]&^0xffff | uint64(uint16(v))
	case 1:
		s := i >> 1 & 8
		c.r[i&15] = c.r[i&15]&^(0xff<<s) | uint64(uint8(v))<<s
	}
}

// getN and putN are the same with a size that is not known when compiling. For
// byte registers i is the encoding with bit 4 as in op.dst.
func (c *CPU) getN(i, size uint8) uint64 {
	switch size {
	case 1:
		return zx(get[int8](c, i))
	case 2:
		return zx(get[int16](c, i))
	case 4:
		return zx(get[int32](c, i))
	}
	return c.r[i&15]
}

func (c *CPU) putN(i, size uint8, v uint64) {
	switch size {
	case 1:
		put(c, i, int8(v))
	case 2:
		put(c, i, int16(v))
	case 4:
		put(c, i, int32(v))
	default:
		c.r[i&15] = v
	}
}

// src returns the source operand: immediate or register.
func src[T sint](c *CPU, o *op) T {
	if o.flags&opImm != 0 {
		return T(o.imm)
	}
	return get[T](c, o.src)
}
