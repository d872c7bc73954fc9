package interp

// The two-operand arithmetic: three forms of each. The suffix R is "register,
// register or immediate", L "register, memory" (a load), M "memory, register or
// immediate".

func setAdd[T sint](c *CPU, a, b, r T) {
	c.cc = lazy{kind: ccAdd, a: int64(a), b: int64(b), r: int64(r)}
}

func setSub[T sint](c *CPU, a, b, r T) {
	c.cc = lazy{kind: ccSub, a: int64(a), b: int64(b), r: int64(r)}
}

func setLogic[T sint](c *CPU, r T) {
	c.cc = lazy{kind: ccLogic, r: int64(r)}
}

// addCarry and subBorrow compute a ± b ± CF and set the flags.
func addCarry[T sint](c *CPU, a, b T) T {
	in := c.cf()
	r := a + b
	cf := uint64(int64(r)) < uint64(int64(a))
	if in {
		r++
		cf = uint64(int64(r)) <= uint64(int64(a))
	}
	c.cc = lazy{kind: ccRes, cf: cf, of: (a^r)&(b^r) < 0, a: int64(a), b: int64(b), r: int64(r)}
	return r
}

func subBorrow[T sint](c *CPU, a, b T) T {
	in := c.cf()
	r := a - b
	cf := uint64(int64(a)) < uint64(int64(b))
	if in {
		r--
		cf = uint64(int64(a)) <= uint64(int64(b))
	}
	c.cc = lazy{kind: ccRes, cf: cf, of: (a^b)&(a^r) < 0, a: int64(a), b: int64(b), r: int64(r)}
	return r
}

func addR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	r := a + b
	put(c, o.dst, r)
	setAdd(c, a, b, r)
}

func addL[T sint](c *CPU, o *op) {
	b, ok := load[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, o.dst)
	r := a + b
	put(c, o.dst, r)
	setAdd(c, a, b, r)
}

func addM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	b := src[T](c, o)
	if r := a + b; commit(c, o, p, r) {
		setAdd(c, a, b, r)
	}
}

func subR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	r := a - b
	put(c, o.dst, r)
	setSub(c, a, b, r)
}

func subL[T sint](c *CPU, o *op) {
	b, ok := load[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, o.dst)
	r := a - b
	put(c, o.dst, r)
	setSub(c, a, b, r)
}

func subM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	b := src[T](c, o)
	if r := a - b; commit(c, o, p, r) {
		setSub(c, a, b, r)
	}
}

func andR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	r := a & b
	put(c, o.dst, r)
	setLogic(c, r)
}

func andL[T sint](c *CPU, o *op) {
	b, ok := load[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, o.dst)
	r := a & b
	put(c, o.dst, r)
	setLogic(c, r)
}

func andM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	b := src[T](c, o)
	if r := a & b; commit(c, o, p, r) {
		setLogic(c, r)
	}
}

func orR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	r := a | b
	put(c, o.dst, r)
	setLogic(c, r)
}

func orL[T sint](c *CPU, o *op) {
	b, ok := load[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, o.dst)
	r := a | b
	put(c, o.dst, r)
	setLogic(c, r)
}

func orM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	b := src[T](c, o)
	if r := a | b; commit(c, o, p, r) {
		setLogic(c, r)
	}
}

func xorR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	r := a ^ b
	put(c, o.dst, r)
	setLogic(c, r)
}

func xorL[T sint](c *CPU, o *op) {
	b, ok := load[T](c, o)
	if !ok {
		return
	}
	a := get[T](c, o.dst)
	r := a ^ b
	put(c, o.dst, r)
	setLogic(c, r)
}

func xorM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	b := src[T](c, o)
	if r := a ^ b; commit(c, o, p, r) {
		setLogic(c, r)
	}
}

func adcR[T sint](c *CPU, o *op) {
	put(c, o.dst, addCarry(c, get[T](c, o.dst), src[T](c, o)))
}

func adcL[T sint](c *CPU, o *op) {
	if b, ok := load[T](c, o); ok {
		put(c, o.dst, addCarry(c, get[T](c, o.dst), b))
	}
}

func adcM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	old := c.cc
	if !commit(c, o, p, addCarry(c, a, src[T](c, o))) {
		c.cc = old
	}
}

func sbbR[T sint](c *CPU, o *op) {
	put(c, o.dst, subBorrow(c, get[T](c, o.dst), src[T](c, o)))
}

func sbbL[T sint](c *CPU, o *op) {
	if b, ok := load[T](c, o); ok {
		put(c, o.dst, subBorrow(c, get[T](c, o.dst), b))
	}
}

func sbbM[T sint](c *CPU, o *op) {
	a, p, ok := modify[T](c, o)
	if !ok {
		return
	}
	old := c.cc
	if !commit(c, o, p, subBorrow(c, a, src[T](c, o))) {
		c.cc = old
	}
}

func cmpR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	setSub(c, a, b, a-b)
}

func cmpM[T sint](c *CPU, o *op) {
	if a, ok := load[T](c, o); ok {
		b := src[T](c, o)
		setSub(c, a, b, a-b)
	}
}

func testR[T sint](c *CPU, o *op) {
	a, b := get[T](c, o.dst), src[T](c, o)
	setLogic(c, a&b)
}

func testM[T sint](c *CPU, o *op) {
	if a, ok := load[T](c, o); ok {
		b := src[T](c, o)
		setLogic(c, a&b)
	}
}

func cmpL[T sint](c *CPU, o *op) {
	if b, ok := load[T](c, o); ok {
		a := get[T](c, o.dst)
		setSub(c, a, b, a-b)
	}
}

// setRes sets the flags of r, with CF and OF given and AF clear.
func setRes[T sint](c *CPU, r T, cf, of bool) {
	c.cc = lazy{kind: ccRes, cf: cf, of: of, a: int64(r), r: int64(r)}
}

func incR[T sint](c *CPU, o *op) {
	a := get[T](c, o.dst)
	setStep(c, a, 1, a+1, c.cf())
	put(c, o.dst, a+1)
}

func incM[T sint](c *CPU, o *op) {
	if a, p, ok := modify[T](c, o); ok && commit(c, o, p, a+1) {
		setStep(c, a, 1, a+1, c.cf())
	}
}

func decR[T sint](c *CPU, o *op) {
	a := get[T](c, o.dst)
	setStep(c, a, -1, a-1, c.cf())
	put(c, o.dst, a-1)
}

func decM[T sint](c *CPU, o *op) {
	if a, p, ok := modify[T](c, o); ok && commit(c, o, p, a-1) {
		setStep(c, a, -1, a-1, c.cf())
	}
}

// setStep sets the flags of INC and DEC: as of adding by, but CF stays.
func setStep[T sint](c *CPU, a, by, r T, cf bool) {
	c.cc = lazy{kind: ccRes, cf: cf, of: (a^r)&(by^r) < 0, a: int64(a), b: 1, r: int64(r)}
}

func negR[T sint](c *CPU, o *op) {
	a := get[T](c, o.dst)
	put(c, o.dst, -a)
	setSub(c, 0, a, -a)
}

func negM[T sint](c *CPU, o *op) {
	if a, p, ok := modify[T](c, o); ok && commit(c, o, p, -a) {
		setSub(c, 0, a, -a)
	}
}

func notR[T sint](c *CPU, o *op) { put(c, o.dst, ^get[T](c, o.dst)) }

func notM[T sint](c *CPU, o *op) {
	if a, p, ok := modify[T](c, o); ok {
		commit(c, o, p, ^a)
	}
}
