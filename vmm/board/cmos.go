package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// DefaultEpoch is the wall-clock time of power-up unless Config says otherwise:
// 2024-01-01 00:00:00 UTC.
const DefaultEpoch = 1_704_067_200

// The CMOS registers with a meaning. Source: Motorola MC146818A data sheet and
// the PC/AT's use of its RAM.
const (
	cmosSeconds = 0x00
	cmosMinutes = 0x02
	cmosHours   = 0x04
	cmosWeekday = 0x06
	cmosDay     = 0x07
	cmosMonth   = 0x08
	cmosYear    = 0x09
	cmosA       = 0x0a
	cmosB       = 0x0b
	cmosC       = 0x0c
	cmosD       = 0x0d
	cmosCentury = 0x32
	cmosBinary  = 0x04 // register B: binary, not BCD
	cmosSize    = 0x80
)

// cmos is the index and the RAM of the real-time clock. The date is computed
// from the TSC at each read; setting it has no effect, and it does not interrupt.
type cmos struct {
	index uint8
	ram   [cmosSize]uint8
}

// newCMOS fills in what firmware would: base memory in KiB at 0x15, memory from
// 1 MiB in KiB at 0x17 and 0x30, from 16 MiB in 64 KiB at 0x34, the number of
// CPUs less one at 0x5f.
func newCMOS(c *Config) cmos {
	m := cmos{}
	put := func(at int, v uint64) {
		v = min(v, 0xffff)
		m.ram[at], m.ram[at+1] = uint8(v), uint8(v>>8)
	}
	put(0x15, 640)
	put(0x17, (c.RAM-1<<20)>>10)
	put(0x30, (c.RAM-1<<20)>>10)
	if c.RAM > 16<<20 {
		put(0x34, (c.RAM-16<<20)>>16)
	}
	m.ram[0x5f] = uint8(c.VCPUs - 1)
	m.ram[cmosA], m.ram[cmosB], m.ram[cmosD] = 0x26, 0x02, 0x80 // 32 kHz, 24 hours and BCD, battery good
	return m
}

func cmosIn(b *Board, now clock.TSC, port uint16, _ uint8) uint32 {
	m := &b.st.cmos
	if port == 0x70 {
		return 0xff // the index is write-only
	}
	sec := b.cfg.Epoch
	if ns, ok := b.cfg.Hz.ToNanos(now - b.cfg.Start); ok {
		sec += int64(ns / 1e9)
	}
	t := dateOf(sec)
	v, ok := t.field(m.index)
	switch {
	case !ok:
		return uint32(m.ram[m.index])
	case m.ram[cmosB]&cmosBinary != 0:
		return uint32(v)
	}
	return uint32(v/10<<4 | v%10)
}

func cmosOut(b *Board, _ clock.TSC, port uint16, _ uint8, v uint32) {
	m := &b.st.cmos
	switch {
	case port == 0x70:
		m.index = uint8(v) & 0x7f
	case m.index != cmosC && m.index != cmosD:
		m.ram[m.index] = uint8(v)
	}
}

// date is a calendar date and time of day, UTC.
type date struct{ year, month, day, weekday, hour, minute, second int }

// field is a date register's value in binary.
func (d *date) field(index uint8) (v uint8, ok bool) {
	switch index {
	case cmosSeconds:
		return uint8(d.second), true
	case cmosMinutes:
		return uint8(d.minute), true
	case cmosHours:
		return uint8(d.hour), true
	case cmosWeekday:
		return uint8(d.weekday), true
	case cmosDay:
		return uint8(d.day), true
	case cmosMonth:
		return uint8(d.month), true
	case cmosYear:
		return uint8(d.year % 100), true
	case cmosCentury:
		return uint8(d.year / 100 % 100), true
	}
	return 0, false
}

// dateOf converts Unix seconds, not before 1970, to a Gregorian date. It counts
// years from 1 March 0000, so that the leap day is the last of a year; 719468
// days lie between that and 1970.
func dateOf(sec int64) date {
	days, rest := sec/86400, int(sec%86400)
	d := date{weekday: int((days+4)%7) + 1, hour: rest / 3600, minute: rest / 60 % 60, second: rest % 60}
	z := int(days) + 719468
	era, doe := z/146097, z%146097 // 400 years, day of them
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153 // month from March
	d.day = doy - (153*mp+2)/5 + 1
	d.month = (mp+2)%12 + 1
	d.year = yoe + 400*era
	if d.month <= 2 {
		d.year++
	}
	return d
}
