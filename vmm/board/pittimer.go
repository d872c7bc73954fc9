package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// irq0 is the PIT's interrupt line.
const irq0 = 0

// schedule sets next to the firing after count firings.
//
// Modes 0, 1 and 4 fire once, 2 and 3 once per period, 5 never, as in KVM
// (arch/x86/kvm/i8254.c, pit_load_count). Firing k of a periodic mode is at
//
//	load + ceil(k × max(reload / pitHz, pitMinPeriod))
//
// so rounding never adds up.
func (p *pit) schedule(f clock.Hz) {
	c := &p.ch[0]
	p.next = clock.Never
	periodic := c.mode == 2 || c.mode == 3
	if c.mode == 5 || !periodic && p.count > 0 {
		return
	}
	k := p.count + 1
	at, ok := f.TickTime(k*uint64(c.reload), pitHz)
	if periodic && uint64(c.reload)*1e9 < uint64(pitMinPeriod)*uint64(pitHz) {
		at, ok = f.ToCycles(clock.Nanos(k) * pitMinPeriod)
	}
	if at = c.load + at; ok && at >= c.load {
		p.next = at
	}
}

// skip moves count over all firings up to now but the last one: edges of a line
// merge. It assumes that one is due.
func (p *pit) skip(now clock.TSC, f clock.Hz) {
	c := &p.ch[0]
	if c.mode != 2 && c.mode != 3 {
		return
	}
	d := now - c.load
	k := f.Ticks(d, pitHz) / uint64(c.reload)
	if uint64(c.reload)*1e9 < uint64(pitMinPeriod)*uint64(pitHz) {
		ns, _ := f.ToNanos(d)
		k = uint64(ns / pitMinPeriod)
	}
	if k > p.count+1 {
		p.count = k - 1
		p.schedule(f)
		for p.next > now && p.count > 0 { // rounding put it one too far
			p.count--
			p.schedule(f)
		}
	}
}

// NextTimer is when channel 0 fires next. If neither controller lets IRQ 0
// through there is no timer: the next access to a controller catches up.
func (b *Board) NextTimer() clock.TSC {
	if !b.st.pit.visible {
		return clock.Never
	}
	return b.st.pit.next
}

// RunTimers lets channel 0 fire if it is due. Firings that nobody waited for
// merge into one, as with KVM's PIT without reinjection.
func (b *Board) RunTimers(now clock.TSC) { b.pitCatchUp(now) }

// pitCatchUp brings IRQ 0 up to now.
func (b *Board) pitCatchUp(now clock.TSC) {
	p := &b.st.pit
	if p.next > now {
		return
	}
	p.skip(now, b.cfg.Hz)
	p.count++
	p.schedule(b.cfg.Hz)
	// A pulse, as KVM gives it: the line is low between firings.
	b.drive(now, irq0, true)
	b.drive(now, irq0, false)
}

// pitVisible notes whether IRQ 0 can reach a vCPU.
func (b *Board) pitVisible(clock.TSC) {
	m := &b.st.pic.chip[0]
	b.st.pit.visible = b.st.ioapic.redir[pinOf(irq0)]&redirMask == 0 || m.imr&1 == 0 && m.base != 0
}
