package interp

// The bits of RFLAGS. Intel SDM vol. 1, 3.4.3 "EFLAGS Register".
const (
	flagCF   = 1 << 0
	flagOne  = 1 << 1
	flagPF   = 1 << 2
	flagAF   = 1 << 4
	flagZF   = 1 << 6
	flagSF   = 1 << 7
	flagTF   = 1 << 8
	flagIF   = 1 << 9
	flagDF   = 1 << 10
	flagOF   = 1 << 11
	flagIOPL = 3 << 12
	flagNT   = 1 << 14
	flagRF   = 1 << 16
	flagVM   = 1 << 17
	flagAC   = 1 << 18
	flagVIF  = 1 << 19
	flagVIP  = 1 << 20
	flagID   = 1 << 21

	flagsArith = flagCF | flagPF | flagAF | flagZF | flagSF | flagOF
)

// ccKind says how the arithmetic flags follow from the last operation, whose
// operands and result are kept sign-extended: then one rule per flag does for
// all operand sizes, as sign extension keeps the order of unsigned numbers.
type ccKind uint8

// The kinds of lazy flags.
const (
	ccEager ccKind = iota // in state.rflags
	ccAdd                 // r = a + b
	ccSub                 // r = a − b
	ccLogic               // r, with CF and OF clear
	ccRes                 // r, with CF and OF as given; AF is bit 4 of a ^ b ^ r
)

// lazy is the last operation that set the arithmetic flags.
type lazy struct {
	kind    ccKind
	cf, of  bool
	a, b, r int64
}

func (c *CPU) zf() bool {
	if c.cc.kind != ccEager {
		return c.cc.r == 0
	}
	return c.rflags&flagZF != 0
}

func (c *CPU) sf() bool {
	if c.cc.kind != ccEager {
		return c.cc.r < 0
	}
	return c.rflags&flagSF != 0
}

func (c *CPU) cf() bool {
	switch c.cc.kind {
	case ccAdd:
		return uint64(c.cc.r) < uint64(c.cc.a)
	case ccSub:
		return uint64(c.cc.a) < uint64(c.cc.b)
	case ccLogic:
		return false
	case ccRes:
		return c.cc.cf
	}
	return c.rflags&flagCF != 0
}

func (c *CPU) of() bool {
	switch c.cc.kind {
	case ccAdd:
		return (c.cc.a^c.cc.r)&(c.cc.b^c.cc.r) < 0
	case ccSub:
		return (c.cc.a^c.cc.b)&(c.cc.a^c.cc.r) < 0
	case ccLogic:
		return false
	case ccRes:
		return c.cc.of
	}
	return c.rflags&flagOF != 0
}

// parity has bit n set if the number n, 0–15, has an even number of ones.
const parity = 0x9669

func (c *CPU) pf() bool {
	if c.cc.kind != ccEager {
		b := uint8(c.cc.r)
		return parity>>((b^b>>4)&15)&1 != 0
	}
	return c.rflags&flagPF != 0
}

func (c *CPU) af() bool {
	switch c.cc.kind {
	case ccAdd, ccSub, ccRes:
		return (c.cc.a^c.cc.b^c.cc.r)&16 != 0
	case ccLogic:
		return false
	}
	return c.rflags&flagAF != 0
}

// flags returns RFLAGS and makes the arithmetic flags eager.
func (c *CPU) flags() uint64 {
	if c.cc.kind != ccEager {
		f := bit(c.cf(), flagCF) | bit(c.pf(), flagPF) | bit(c.af(), flagAF) |
			bit(c.zf(), flagZF) | bit(c.sf(), flagSF) | bit(c.of(), flagOF)
		c.rflags = c.rflags&^flagsArith | f
		c.cc = lazy{}
	}
	return c.rflags
}

// setFlags replaces RFLAGS.
func (c *CPU) setFlags(f uint64) {
	c.cc = lazy{}
	c.rflags = f | flagOne
}

// bit returns m if b, else 0.
func bit(b bool, m uint64) uint64 {
	if b {
		return m
	}
	return 0
}

// cond evaluates condition code n of Jcc, SETcc and CMOVcc. Intel SDM vol. 1,
// B "EFLAGS Condition Codes".
func (c *CPU) cond(n uint8) bool {
	var v bool
	switch n >> 1 & 7 {
	case 0:
		v = c.of()
	case 1:
		v = c.cf()
	case 2:
		v = c.zf()
	case 3:
		v = c.cf() || c.zf()
	case 4:
		v = c.sf()
	case 5:
		v = c.pf()
	case 6:
		v = c.less()
	case 7:
		v = c.zf() || c.less()
	}
	return v != (n&1 != 0)
}

// less is the signed comparison SF ≠ OF.
func (c *CPU) less() bool {
	if c.cc.kind == ccSub {
		return c.cc.a < c.cc.b
	}
	return c.sf() != c.of()
}
