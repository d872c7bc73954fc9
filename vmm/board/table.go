package board

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// row is what port and memory rows share.
type row struct {
	first, last uint64
	name        string
	doc         string
	where       vmm.Where
	test        bool // only with Config.TestDevice
}

func (r *row) span() *row { return r }

// portRow maps a range of I/O ports to a device.
type portRow struct {
	row
	width uint8 // widest access that the device takes; wider ones are split into bytes
	in    func(b *Board, now clock.TSC, port uint16, size uint8) uint32
	out   func(b *Board, now clock.TSC, port uint16, size uint8, v uint32)
}

// memRow maps a range of guest-physical addresses to a device. The device sees
// offsets from first.
type memRow struct {
	row
	read  func(b *Board, now clock.TSC, off uint64, size uint8) uint64
	write func(b *Board, now clock.TSC, off uint64, size uint8, v uint64)
}

// portTable is the map of I/O ports, ascending and without overlap. Which of
// them are InKernel is KVM's in-kernel irqchip and PIT.
//
// Source of port numbers: the PC/AT's, but where a row says otherwise.
var portTable = []portRow{
	{row{0x20, 0x21, "PIC master", "8259A", vmm.InKernel, false}, 1, picIn, picOut},
	{row{0x40, 0x43, "PIT", "8254, channel 0 drives IRQ 0", vmm.InKernel, false}, 1, pitIn, pitOut},
	{row{0x60, 0x60, "keyboard data", "the controller's output port; no keyboard", vmm.InUser, false}, 1, keyboardDataIn, keyboardDataOut},
	{row{0x61, 0x61, "port B", "PIT channel 2 gate and output, refresh toggle", vmm.InKernel, false}, 1, portBIn, portBOut},
	{row{0x64, 0x64, "keyboard control", "0xd0, 0xd1: output port, bit 0 low: reset; 0xfe: reset", vmm.InUser, false}, 1, keyboardStatusIn, keyboardCommandOut},
	{row{0x70, 0x71, "CMOS", "index, data: real-time clock and memory sizes", vmm.InUser, false}, 1, cmosIn, cmosOut},
	{row{0x80, 0x80, "POST", "diagnostic byte; used as a delay", vmm.InUser, false}, 4, postIn, postOut},
	{row{0x92, 0x92, "port A", "bit 0 rising: reset; bit 1: A20, always on", vmm.InUser, false}, 1, portAIn, portAOut},
	{row{0xa0, 0xa1, "PIC slave", "8259A on the master's input 2", vmm.InKernel, false}, 1, picIn, picOut},
	{row{0xe0, 0xe3, "test scratch", "reads back what was written", vmm.InUser, true}, 4, scratchIn, scratchOut},
	{row{0xe4, 0xe7, "test flush", "no effect: there is no shadow to flush", vmm.InUser, true}, 4, readsZero, ignores},
	{row{0xf4, 0xf4, "debug exit", "write v: the guest ends with status 2v+1", vmm.InUser, false}, 4, readsZero, debugExitOut},
	{row{0x3d4, 0x3d5, "CRTC", "index, data: registers read back what was written", vmm.InUser, false}, 2, crtcIn, crtcOut},
	{row{0x3f8, 0x3ff, "serial", "16550A on IRQ 4", vmm.InUser, false}, 1, serialIn, serialOut},
	{row{0x4d0, 0x4d1, "ELCR", "edge or level per IRQ", vmm.InKernel, false}, 1, elcrIn, elcrOut},
	{row{0x510, 0x511, "fw_cfg", "selector, data: configuration items", vmm.InUser, false}, 2, fwcfgIn, fwcfgOut},
	{row{0x600, 0x603, "PM1a event", "ACPI status and enable", vmm.InUser, false}, 2, pm1EventIn, pm1EventOut},
	{row{0x604, 0x605, "PM1a control", "ACPI sleep type and enable: power off", vmm.InUser, false}, 2, pm1ControlIn, pm1ControlOut},
	{row{0x608, 0x60b, "PM timer", "24 bits at 3.579545 MHz", vmm.InUser, false}, 4, pmTimerIn, ignores},
	{row{0xcf8, 0xcfb, "PCI address", "1, 2 or 4 bytes; 0xcf9 bit 2: reset", vmm.InUser, false}, 4, pciAddressIn, pciAddressOut},
	{row{0xcfc, 0xcff, "PCI data", "all ones: no device answers", vmm.InUser, false}, 4, readsOnes, ignores},
	{row{0x2000, 0x2017, "test IRQ lines", "write the level of line port − 0x2000", vmm.InUser, true}, 4, readsZero, testLineOut},
	{row{0x8900, 0x8900, "Bochs shutdown", "the text \"Shutdown\" powers off", vmm.InUser, false}, 1, readsZero, bochsOut},
}

// memTable is the map of device memory. The local APICs' page is not on it: the
// machine answers for that.
var memTable = []memRow{
	{row{0xfec00000, 0xfec000ff, "I/O APIC", "24 pins", vmm.InKernel, false}, ioapicRead, ioapicWrite},
	{row{0xff000000, 0xff00ffff, "test memory", "reads back what was written", vmm.InUser, true}, testMemRead, testMemWrite},
}

// rowsFor is table, without the test device's rows unless test.
func rowsFor[R any, P interface {
	*R
	span() *row
}](table []R, test bool) []R {
	var rows []R
	for i := range table {
		if r := P(&table[i]).span(); test || !r.test {
			rows = append(rows, table[i])
		}
	}
	return rows
}

// findRow returns the row that holds addr, or nil.
func findRow[R any, P interface {
	*R
	span() *row
}](rows []R, addr uint64) *R {
	lo, hi := 0, len(rows)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch r := P(&rows[mid]).span(); {
		case addr < r.first:
			hi = mid
		case addr > r.last:
			lo = mid + 1
		default:
			return &rows[mid]
		}
	}
	return nil
}

// Range is a row of the board's map as the documentation shows it.
type Range struct {
	First, Last uint64
	Memory      bool // else I/O ports
	Name, Doc   string
	Where       vmm.Where
	TestDevice  bool // only with Config.TestDevice
}

// Ranges returns the whole map, ports first.
func Ranges() []Range {
	var rs []Range
	for _, r := range portTable {
		rs = append(rs, Range{r.first, r.last, false, r.name, r.doc, r.where, r.test})
	}
	for _, r := range memTable {
		rs = append(rs, Range{r.first, r.last, true, r.name, r.doc, r.where, r.test})
	}
	return rs
}

func readsZero(*Board, clock.TSC, uint16, uint8) uint32          { return 0 }
func readsOnes(*Board, clock.TSC, uint16, uint8) uint32          { return ^uint32(0) }
func ignores(*Board, clock.TSC, uint16, uint8, uint32)           {}
func postIn(b *Board, _ clock.TSC, _ uint16, _ uint8) uint32     { return uint32(b.st.post) }
func postOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) { b.st.post = uint8(v) }
