package board

import (
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Limits of Config.
const (
	// MaxVCPUs is the largest number of vCPUs: xAPIC IDs 0–254.
	MaxVCPUs = 255
	// MinRAM and MaxRAM bound the guest's memory in bytes. RAM is one block from
	// address 0; from 3 GiB on lie the device windows.
	MinRAM = 2 << 20
	MaxRAM = 3 << 30
)

// Config says what a board is made of.
type Config struct {
	VCPUs int
	// RAM is the size of guest memory in bytes, a multiple of 4096.
	RAM uint64
	// Hz is the frequency of the host TSC.
	Hz clock.Hz
	// Start is the host TSC of power-up, the zero of all device clocks.
	Start clock.TSC
	// Epoch is the wall-clock time of power-up in Unix seconds, as the real-time
	// clock shows it. Model runs leave it 0 (DefaultEpoch is used) so that two
	// runs are the same.
	Epoch int64
	// TestDevice adds the unit tests' device: IRQ lines, a scratch port and a
	// scratch page of device memory.
	TestDevice bool
	// Inputs are what is typed at the serial port.
	Inputs []Input
}

// Board is the platform. It implements vmm.Bus.
type Board struct {
	cfg   Config
	lines vmm.Lines
	irqs  vmm.IRQLines // lines, if the interrupt controllers are elsewhere
	ports []portRow
	mems  []memRow
	hot   *portRow // the row of the last port written: guests stay with one
	st    state
}

// state is all that changes while a guest runs.
type state struct {
	serial   serial
	fwcfg    fwcfg
	cmos     cmos
	power    power
	keyboard keyboard
	pic      picPair
	pit      pit
	ioapic   ioapic
	pci      pci
	testdev  testdev
	crtc     crtc
	typist   typist
	sources  [numPins]uint8 // per interrupt line: which sources hold it high
	post     uint8          // last byte written to the diagnostic port
}

// New returns a board after power-up that drives lines.
func New(cfg Config, lines vmm.Lines) (*Board, error) {
	switch {
	case cfg.VCPUs < 1 || cfg.VCPUs > MaxVCPUs:
		return nil, fmt.Errorf("a board has 1 to %d vCPUs, not %d", MaxVCPUs, cfg.VCPUs)
	case cfg.RAM < MinRAM || cfg.RAM > MaxRAM || cfg.RAM%4096 != 0:
		return nil, fmt.Errorf("a board has %d MiB to %d MiB of RAM in whole pages, not %d bytes",
			MinRAM>>20, MaxRAM>>20, cfg.RAM)
	case cfg.Hz == 0:
		return nil, errors.New("a board needs the frequency of the TSC, not 0 Hz")
	}
	if cfg.Epoch == 0 {
		cfg.Epoch = DefaultEpoch
	}
	b := &Board{cfg: cfg, lines: lines}
	b.irqs, _ = lines.(vmm.IRQLines)
	b.ports = rowsFor(portTable, cfg.TestDevice)
	b.mems = rowsFor(memTable, cfg.TestDevice)
	b.Reset()
	return b, nil
}

// Reset puts all devices into their power-up state. No line is driven.
func (b *Board) Reset() {
	b.st = state{
		serial: newSerial(), fwcfg: newFwcfg(), cmos: newCMOS(&b.cfg), pic: newPICPair(), pit: newPIT(b.cfg.Start),
		ioapic: newIOAPIC(), keyboard: newKeyboard(),
	}
}

// In reads a port: each byte, word or double word by the row of portTable that
// holds it.
func (b *Board) In(now clock.TSC, port uint16, size uint8) (v uint32, where vmm.Where) {
	r := findRow(b.ports, uint64(port))
	if r == nil {
		if size == 1 || findRow(b.ports, uint64(port)+1) == nil {
			return ones32(size), vmm.Unclaimed
		}
		return b.inBytes(now, port, size), vmm.Unclaimed
	}
	if size > r.width {
		return b.inBytes(now, port, size), r.where
	}
	return r.in(b, now, port, size) & ones32(size), r.where
}

// inBytes reads size single ports.
func (b *Board) inBytes(now clock.TSC, port uint16, size uint8) (v uint32) {
	for i := range uint16(size) {
		c := uint32(0xff)
		if r := findRow(b.ports, uint64(port+i)); r != nil && r.width == 1 {
			c = r.in(b, now, port+i, 1) & 0xff
		}
		v |= c << (8 * i)
	}
	return v
}

// Out writes a port, by rows as In does.
func (b *Board) Out(now clock.TSC, port uint16, size uint8, v uint32) vmm.Where {
	if r := b.hot; r != nil && uint64(port)-r.first <= r.last-r.first && size == 1 {
		r.out(b, now, port, size, v&0xff)
		return r.where
	}
	r := findRow(b.ports, uint64(port))
	switch {
	case r == nil:
		return vmm.Unclaimed
	case size <= r.width:
		b.hot = r
		r.out(b, now, port, size, v&ones32(size))
	default:
		for i := range uint16(size) {
			if r := findRow(b.ports, uint64(port+i)); r != nil && r.width == 1 {
				r.out(b, now, port+i, 1, v>>(8*i)&0xff)
			}
		}
	}
	return r.where
}

// ReadMem reads device memory.
func (b *Board) ReadMem(now clock.TSC, gpa uint64, size uint8) (v uint64, where vmm.Where) {
	r := findRow(b.mems, gpa)
	if r == nil {
		return ones64(size), vmm.Unclaimed
	}
	return r.read(b, now, gpa-r.first, size) & ones64(size), r.where
}

// WriteMem writes device memory.
func (b *Board) WriteMem(now clock.TSC, gpa uint64, size uint8, v uint64) vmm.Where {
	r := findRow(b.mems, gpa)
	if r == nil {
		return vmm.Unclaimed
	}
	r.write(b, now, gpa-r.first, size, v&ones64(size))
	return r.where
}

// Save returns a copy of all device state.
func (b *Board) Save() any { return b.st.clone() }

// Restore brings back what Save returned. It drives no line: the machine's own
// state, saved at the same time, has their levels.
func (b *Board) Restore(s any) {
	st, ok := s.(state)
	if !ok {
		panic(fmt.Sprintf("BUG: board.Restore of a %T", s))
	}
	b.st = st.clone()
}

// clone copies the state; two copies share no memory that is written.
func (s state) clone() state {
	s.testdev = s.testdev.clone()
	return s
}

func ones32(size uint8) uint32 { return uint32(ones64(size)) }

// ones64 is size bytes of ones.
func ones64(size uint8) uint64 {
	if size >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*uint(size)) - 1
}
