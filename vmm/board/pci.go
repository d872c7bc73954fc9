package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// pci is configuration mechanism 1 without a bus behind it: each device reads
// as absent. Source: PCI Local Bus 3.0, 3.2.2.3.2 "Software Generation of
// Configuration Transactions".
type pci struct {
	address      uint32
	resetControl uint8 // port 0xcf9
}

// resetPort is the reset control register, inside the address register's range:
// byte accesses reach it, double words do not.
const resetPort = 0xcf9

func pciAddressIn(b *Board, _ clock.TSC, port uint16, size uint8) uint32 {
	switch {
	case port == 0xcf8 && size == 4:
		return b.st.pci.address
	case port == resetPort && size == 1:
		return uint32(b.st.pci.resetControl)
	}
	return ^uint32(0)
}

func pciAddressOut(b *Board, _ clock.TSC, port uint16, size uint8, v uint32) {
	switch {
	case port == 0xcf8 && size == 4:
		b.st.pci.address = v & 0x80fffffc
	case port == resetPort && size == 1:
		b.st.pci.resetControl = uint8(v) & 2
		if v&4 != 0 {
			b.reset()
		}
	}
}
