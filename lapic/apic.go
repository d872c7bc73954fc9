package lapic

import (
	"errors"
	"fmt"
	"math"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Config is what a local APIC is built with.
type Config struct {
	Rules Rules    // of the kernel
	Freq  clock.Hz // guest TSC frequency
	// BusCycle is the length of one count at divisor 1; 0 means 1 ns
	// (KVM_CAP_X86_APIC_BUS_CYCLES_NS).
	BusCycle clock.Nanos
	// MinPeriod is min_timer_period_us; 0 means the kernel's default.
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

// Check returns an error if no VM could have this configuration.
func (c Config) Check() error {
	switch {
	case c.Rules.MinPeriod <= 0:
		return errors.New("lapic: no rules of a kernel are given")
	case c.Freq.KHz() == 0 || c.Freq.KHz() > math.MaxUint32:
		return fmt.Errorf("lapic: guest TSC of %d Hz is not between 1 kHz and 4294967295 kHz", uint64(c.Freq))
	case c.BusCycle < 0 || uint64(c.BusCycle) > math.MaxUint64/(math.MaxUint32*128):
		return fmt.Errorf("lapic: bus cycle of %d ns overflows 64 bits at the largest count and divisor", c.BusCycle)
	case c.MinPeriod < 0:
		return fmt.Errorf("lapic: minimum timer period of %d ns is negative", c.MinPeriod)
	}
	return nil
}

// rules returns the rules of the kernel.
func (a *APIC) rules() *Rules { return &a.Config.Rules }

// APIC is the local APIC of one vCPU. It holds no pointers: assignment copies it.
type APIC struct {
	Config Config
	ID     uint32 // the vCPU's APIC ID as reset gives it, all 32 bits
	Base   uint64 // IA32_APIC_BASE
	// Page is the raw register page; see Reg. Registers that are computed or
	// kept elsewhere (ISR, TMR, IRR, PPR, TMCCT) are 0 in it.
	Page          [64]uint32
	ISR, TMR, IRR Set256
	// Errs is what ESR will show after the next write to it (Config.Errors).
	Errs  uint32
	Timer Timer
	PI    Descriptor
}

// New returns the APIC of vCPU id after power-up: enabled in xAPIC mode, software
// disabled, all local vectors masked but LVT0 of the boot processor, which is
// ExtINT. The timer's advance is off. bsp is true for the boot processor.
func New(id uint32, bsp bool, c Config) APIC {
	a := APIC{Config: c, ID: id}
	if bsp {
		a.Base = BaseBSP
	}
	a.Timer.Tuning = TuningOff
	a.Reset(false)
	a.SetFrequency(c.Freq)
	return a
}

// Reset puts the APIC into its state after INIT (keepBase: IA32_APIC_BASE and the
// APIC ID survive) or power-up. The settings of the timer's advance survive both;
// the posted-interrupt descriptor is emptied. The hrtimer must be cancelled.
//
// INIT cancels the preemption timer only as writing 0 to LVTT would: one that backs
// a one-shot or periodic timer runs on, for a LVTT that is masked now.
//
// Source: arch/x86/kvm/lapic.c, kvm_lapic_reset, with the quirk LINT0_REENABLED.
func (a *APIC) Reset(keepBase bool) {
	old := a.Page
	t := a.Timer
	goesOn := keepBase && t.HVInUse && !(t.Mode == TSCDeadline && a.rules().SwitchCancelsHV)
	if !keepBase {
		a.Base = DefaultBase | BaseEnable | a.Base&BaseBSP
	}
	for i := range Table {
		for n := range Table[i].Count {
			a.Page[int(Table[i].Reg>>4)+n] = Table[i].Reset
		}
	}
	a.setID()
	if keepBase {
		a.Page[ID>>4] = old[ID>>4]
	}
	a.Page[Version>>4] |= a.version()
	if a.Base&BaseBSP != 0 {
		a.Page[LVT0>>4] = uint32(ExtINT) << 8
	}
	if !a.Config.CMCI {
		a.Page[LVTCMCI>>4] = 0
	}
	a.ISR, a.TMR, a.IRR, a.Errs = Set256{}, Set256{}, Set256{}, 0
	a.PI = Descriptor{NV: NotifyVector, SN: a.PI.SN}
	a.Timer.reset()
	if goesOn {
		a.Timer.HVInUse, a.Timer.HVDeadline = true, t.HVDeadline
		if t.Mode != TSCDeadline {
			a.Timer.Deadline, a.Timer.Target, a.Timer.Period = t.Deadline, t.Target, t.Period
		}
	}
}

func (a *APIC) version() uint32 {
	v := uint32(5) << 16 // highest LVT entry
	if a.Config.CMCI {
		v = 6 << 16
	}
	if a.Config.DirectedEOI {
		v |= versionDEOI
	}
	return v
}

// setID gives ID and LDR the values of the present mode.
func (a *APIC) setID() {
	if a.X2APIC() {
		a.Page[ID>>4] = a.ID
		a.Page[LDR>>4] = LogicalX2APIC(a.ID)
		return
	}
	a.Page[ID>>4] = a.ID << 24
}

// reg returns the raw value of r.
func (a *APIC) reg(r Reg) uint32 { return a.Page[r>>4&63] }

// Enabled reports whether IA32_APIC_BASE enables the APIC (hardware-enabled).
func (a *APIC) Enabled() bool { return a.Base&BaseEnable != 0 }

// X2APIC reports whether the APIC is in x2APIC mode.
func (a *APIC) X2APIC() bool { return a.Base&(BaseEnable|BaseX2APIC) == BaseEnable|BaseX2APIC }

// SoftEnabled reports whether SPIV bit 8 is set.
func (a *APIC) SoftEnabled() bool { return a.reg(SPIV)&spivEnable != 0 }

// busCycle returns the length of one count at divisor 1.
func (a *APIC) busCycle() uint64 {
	if a.Config.BusCycle == 0 {
		return 1
	}
	return uint64(a.Config.BusCycle)
}
