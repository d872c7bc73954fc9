package lapic

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Sample is one reading of the three clocks at the same moment.
type Sample struct {
	Host  clock.TSC   // host TSC
	Guest clock.TSC   // TSC as this vCPU's guest reads it
	Mono  clock.Nanos // CLOCK_MONOTONIC of the host
}
