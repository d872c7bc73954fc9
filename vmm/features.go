package vmm

import "strings"

// Features are CPU features that a guest does without: CPUID does not show them
// and the vCPU does not have them.
type Features struct {
	X2APIC, TSCDeadline bool
}

// String returns the names joined by commas.
func (f Features) String() string {
	var names []string
	if f.X2APIC {
		names = append(names, "x2apic")
	}
	if f.TSCDeadline {
		names = append(names, "tsc-deadline")
	}
	return strings.Join(names, ",")
}
