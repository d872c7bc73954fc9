package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// debugExitOut ends the guest: after a write of v the status is 2v+1, so that a
// guest cannot claim the success of a plain power-off. Source: QEMU's
// isa-debug-exit device, which guests use under this convention.
func debugExitOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	b.lines.Exit(v, false)
}
