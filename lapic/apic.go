package lapic

import "ticktrap/internal/clock"

// Config is what a local APIC is built with.
type Config struct {
	Era  Era
	Freq clock.Hz // guest TSC frequency
	// BusCycle is the length of one count at divisor 1; 0 means 1 ns
	// (KVM_CAP_X86_APIC_BUS_CYCLES_NS).
	BusCycle clock.Nanos
	// MinPeriod is min_timer_period_us; 0 means the era's default.
	MinPeriod   clock.Nanos
	TSCDeadline bool // CPUID.1:ECX[24]
	X2APIC      bool // CPUID.1:ECX[21]
	CMCI        bool // there is an LVT for corrected machine checks
	DirectedEOI bool // version bit 24: SPIV bit 12 can suppress EOI broadcasts
	// Strict makes x2APIC writes with reserved bits fault as the manual says;
	// KVM checks fewer registers.
	Strict bool
	// Errors makes ESR record illegal vectors; KVM's ESR is always 0.
	Errors bool
}

// APIC is the local APIC of one vCPU. It holds no pointers: assignment copies it.
type APIC struct {
	Config Config
	ID     uint32 // the vCPU's APIC ID as reset gives it, all 32 bits
	Base   uint64 // IA32_APIC_BASE
	// Page is the raw register page; see Reg. Registers that are computed or
	// kept elsewhere (ISR, TMR, IRR, PPR, TMCCT) are 0 in it.
	Page          [64]uint32
	ISR, TMR, IRR Set256
	Timer         Timer
	PI            Descriptor
}

// New returns the APIC of vCPU id after power-up: enabled in xAPIC mode, software
// disabled, all local vectors masked. bsp is true for the boot processor.
func New(id uint32, bsp bool, c Config) APIC { return APIC{} }

// Reset puts the APIC into its state after INIT (keepBase: IA32_APIC_BASE and the
// APIC ID survive) or power-up. The host timers must be cancelled.
func (a *APIC) Reset(keepBase bool) {}

// Enabled reports whether IA32_APIC_BASE enables the APIC (hardware-enabled).
func (a *APIC) Enabled() bool { return false }

// X2APIC reports whether the APIC is in x2APIC mode.
func (a *APIC) X2APIC() bool { return false }

// SoftEnabled reports whether SPIV bit 8 is set.
func (a *APIC) SoftEnabled() bool { return false }

// Read returns the value of r as the guest reads it in the present mode. In
// xAPIC mode it always succeeds (reserved registers read 0); in x2APIC mode
// ok=false means #GP.
func (a *APIC) Read(r Reg, now Sample) (v uint64, ok bool) { return 0, false }

// Write writes r as the guest does in the present mode. In xAPIC mode writes to
// reserved or read-only registers are dropped; in x2APIC mode ok=false means #GP
// and nothing changed.
func (a *APIC) Write(r Reg, v uint64, now Sample) (e Effect, ok bool) { return Effect{}, false }

// ReadMSR is RDMSR of an MSR for which OwnsMSR is true; ok=false means #GP.
func (a *APIC) ReadMSR(index uint32, now Sample) (v uint64, ok bool) { return 0, false }

// WriteMSR is WRMSR of an MSR for which OwnsMSR is true; ok=false means #GP and
// nothing changed.
func (a *APIC) WriteMSR(index uint32, v uint64, now Sample) (e Effect, ok bool) {
	return Effect{}, false
}

// ReadMMIO is a load of size bytes at offset off (below 0x1000) of the APIC page.
// In x2APIC mode or with the APIC disabled it reads as all ones.
func (a *APIC) ReadMMIO(off uint16, size uint8, now Sample) uint64 { return 0 }

// WriteMMIO is a store to the APIC page. Stores that are not 4 bytes at a
// multiple of 16 are dropped, as are all in x2APIC mode or with the APIC disabled.
func (a *APIC) WriteMMIO(off uint16, size uint8, v uint64, now Sample) Effect { return Effect{} }

// WriteBase writes IA32_APIC_BASE as the guest does; ok=false means #GP.
func (a *APIC) WriteBase(v uint64) (e Effect, ok bool) { return Effect{}, false }

// MMIOBase returns the guest-physical address of the APIC page, and whether the
// APIC decodes it (enabled, xAPIC mode).
func (a *APIC) MMIOBase() (gpa uint64, decoded bool) { return 0, false }
