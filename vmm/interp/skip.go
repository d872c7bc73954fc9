package interp

// probe looks for busy-wait loops.
type probe struct {
	on      bool
	changed bool
	count   int
}

func (p *probe) reset() { p.count = 1 << 30 }

func (c *CPU) tryskip() { c.probe.reset() }
