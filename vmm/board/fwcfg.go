package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// The fw_cfg items that the board has. Source: QEMU docs/specs/fw_cfg.rst,
// "Selector (Control) Register" and the items' customary keys.
const (
	itemSignature = 0x00 // "QEMU"
	itemID        = 0x01 // bit 0: the traditional interface, no DMA
	itemRAM       = 0x03 // bytes, 8
	itemNoGraphic = 0x04 // 1: serial console only
	itemVCPUs     = 0x05 // 2
	itemMaxVCPUs  = 0x0f // 2
	itemMaxRAM    = 0x11 // 8; 0: no limit, as the unit tests read it
	itemFiles     = 0x19 // big-endian count of named files: 0
	itemNone      = 0xffff
)

// fwcfg is the selector and the read position of the fw_cfg device.
type fwcfg struct {
	item uint16
	off  uint32
}

func newFwcfg() fwcfg { return fwcfg{item: itemNone} }

// item returns the bytes of an fw_cfg item as a little-endian number.
func (c *Config) item(key uint16) (v uint64, size uint32) {
	switch key {
	case itemSignature:
		return 'Q' | 'E'<<8 | 'M'<<16 | 'U'<<24, 4
	case itemID:
		return 1, 4
	case itemRAM:
		return c.RAM, 8
	case itemNoGraphic:
		return 1, 2
	case itemVCPUs:
		return uint64(c.VCPUs), 2
	case itemMaxVCPUs:
		return uint64(c.VCPUs), 2
	case itemMaxRAM:
		return 0, 8
	case itemFiles:
		return 0, 4
	}
	return 0, 0
}

// fwcfgIn reads the next byte of the item at the data port; behind its end, zero.
// The selector is not readable.
func fwcfgIn(b *Board, _ clock.TSC, port uint16, size uint8) uint32 {
	if port == 0x510 {
		return 0
	}
	f := &b.st.fwcfg
	var v uint32
	for i := range uint(size) {
		var c uint32
		if n, length := b.cfg.item(f.item); f.off < length {
			c = uint32(n>>(8*f.off)) & 0xff
			f.off++
		}
		v |= c << (8 * i)
	}
	return v
}

// fwcfgOut selects an item. Writes to the data port do nothing.
func fwcfgOut(b *Board, _ clock.TSC, port uint16, _ uint8, v uint32) {
	if port == 0x510 {
		b.st.fwcfg = fwcfg{item: uint16(v)}
	}
}
