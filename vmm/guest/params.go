package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Mode says how a built-in guest waits.
type Mode uint8

// The modes, as the guests have them.
const (
	Spin  Mode = iota // a tight loop that reads memory
	Halt              // HLT
	Mixed             // spin or halt, by chance for each wait
	Poll              // a loop with PAUSE, as an idle loop that polls
)

// ModeNames are the modes as parameters name them.
var ModeNames = []string{"spin", "hlt", "mixed", "poll"}

// AllVariants lets self-ipi take its variants in turn.
const AllVariants = 5

// VariantNames are the ways of self-ipi.
var VariantNames = []string{"sti_nop", "sti_hlt", "tpr", "tpr_sti_nop", "tpr_sti_hlt", "all"}

// VMExitTests are the subtests of vmexit, in the guest's order. The last two are
// as the figures published up to 2021 measured them: tscdeadline_immed before the
// unit tests let a CPUID follow the write, and vmcall before they looked up the
// vendor, by two CPUIDs, each time.
var VMExitTests = []string{
	"cpuid", "vmcall", "inl_from_pmtimer", "inl_from_qemu", "inl_from_kernel", "outl_to_kernel",
	"tscdeadline_immed", "tscdeadline",
	"self_ipi_sti_nop", "self_ipi_sti_hlt", "self_ipi_tpr", "self_ipi_tpr_sti_nop", "self_ipi_tpr_sti_hlt",
	"x2apic_self_ipi_sti_nop", "x2apic_self_ipi_sti_hlt", "x2apic_self_ipi_tpr", "x2apic_self_ipi_tpr_sti_nop",
	"x2apic_self_ipi_tpr_sti_hlt", "tscdeadline_immed_nop", "vmcall_bare",
}

// Limits of parameters.
const (
	MaxDistance = 1 << 40 // cycles: 7 minutes at 2.5 GHz
	MinVector   = 32
	MaxVector   = 254
	// MinPeriod is the shortest period of the periodic mode in ns: KVM stretches
	// shorter ones (min_timer_period_us), and the guest would not know.
	MinPeriod clock.Nanos = 200_000
	// busHz is the frequency of the LAPIC timer: one count is 1 ns
	// (KVM_CAP_X86_APIC_BUS_CYCLES_NS at its default).
	busHz = clock.Hz(1_000_000_000)
)

// Params are the parameters of a built-in guest. Start from DefaultParams.
type Params struct {
	Count    uint64       // samples to take; 0: no end
	Distance clock.Cycles // from arming to expiry; the interval of cyclic and periodic
	Spread   clock.Cycles // a random part below this is added to Distance
	Mode     Mode
	XAPIC    bool  // xAPIC by memory instead of x2APIC by MSRs
	Vector   uint8 // of the timer or IPI
	Stay     bool  // at the end HLT with interrupts off, instead of a debug exit
	Variant  uint8 // self-ipi: index of VariantNames; vmexit: of VMExitTests
	SelfIPI  bool  // self-ipi: by the SELF_IPI register instead of the ICR
	Rearms   uint64
	Divide   uint8  // oneshot, periodic: timer divisor, 1 to 128
	Seed     uint64 // of the random part
	// Hz is the frequency of the guest's TSC; oneshot and periodic need it.
	Hz clock.Hz

	text string // as given to Parse
}

// DefaultParams are the parameters of a built-in guest unless said otherwise.
// Unknown names get those that all guests share.
func DefaultParams(name string, hz clock.Hz) Params {
	p := Params{Vector: 0xb0, Divide: 1, Seed: 1, Hz: hz}
	if d, ok := Describe(name); ok {
		d.defaults(&p)
	}
	return p
}

// check refuses combinations that cannot work.
func (p *Params) check(d *Description) error {
	switch {
	case p.Distance < 0 || p.Distance > MaxDistance || p.Spread < 0 || p.Spread > MaxDistance:
		return fmt.Errorf("distance %d and spread %d must lie between 0 and %d cycles", p.Distance, p.Spread, int64(MaxDistance))
	case p.Vector < MinVector || p.Vector > MaxVector:
		return fmt.Errorf("vector %d must lie between %d and %d", p.Vector, MinVector, MaxVector)
	case p.Mode > Poll || p.Variant > AllVariants && d.Name != "vmexit" || int(p.Variant) >= len(VMExitTests):
		return fmt.Errorf("mode %d or variant %d is not known", p.Mode, p.Variant)
	case p.Seed == 0:
		return errors.New("seed must not be 0")
	case p.XAPIC && p.SelfIPI:
		return errors.New("via=self needs apic=x2apic: the xAPIC has no SELF_IPI register")
	case p.XAPIC && d.Name == "vmexit" && strings.HasPrefix(VMExitTests[p.Variant], "x2apic"):
		return fmt.Errorf("test=%s needs apic=x2apic", VMExitTests[p.Variant])
	case d.Name == "cyclic" && p.Distance == 0:
		return errors.New("distance must not be 0: it is the interval")
	case d.Name != "oneshot" && d.Name != "periodic":
		return nil
	case p.Hz == 0:
		return errors.New("the frequency of the TSC is not known")
	case bits.OnesCount8(p.Divide) != 1:
		return fmt.Errorf("divide %d must be a power of two from 1 to 128", p.Divide)
	}
	n := p.initial()
	if n == 0 || n > math.MaxUint32 {
		return fmt.Errorf("distance %d cycles is %d timer counts, and the timer takes 1 to %d", p.Distance, n, uint32(math.MaxUint32))
	}
	if ns := clock.Nanos(n * uint64(p.Divide)); d.Name == "periodic" && ns < MinPeriod {
		return fmt.Errorf("distance %d cycles is a period of %d ns, and KVM stretches what is below %d ns", p.Distance, ns, MinPeriod)
	}
	return nil
}

// initial is TMICT for Distance: counts of 1 ns × Divide, rounded down.
func (p *Params) initial() uint64 {
	return p.Hz.Ticks(clock.TSC(p.Distance), busHz) / uint64(max(p.Divide, 1))
}

// scale is cycles per timer count, times 2^32, rounded down.
func (p *Params) scale() uint64 {
	hi, lo := bits.Mul64(uint64(p.Hz), uint64(p.Divide)<<32)
	if hi >= uint64(busHz) {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, uint64(busHz))
	return q
}

// tdcr is the encoding of Divide: bits 3, 1 and 0 hold log2(Divide) − 1 modulo 8.
func (p *Params) tdcr() uint64 {
	n := uint64(bits.TrailingZeros8(p.Divide)+7) % 8
	return n&3 | n&4<<1
}

// paramMagic marks a parameter block: "TTPARAM1".
const paramMagic = 0x314d415241505454

// block is the parameter block as the guest reads it: 64-bit words.
func (p *Params) block() []byte {
	b := make([]byte, resultsEnd)
	bit := func(v bool) uint64 {
		if v {
			return 1
		}
		return 0
	}
	for i, v := range []uint64{
		paramMagic, p.Count, uint64(p.Distance), uint64(p.Spread), uint64(p.Mode), bit(!p.XAPIC), uint64(p.Vector), bit(p.Stay),
		uint64(p.Variant) | bit(p.SelfIPI)<<4, p.Rearms, p.tdcr(), p.initial(), p.scale(), RingSamples - 1, p.Seed,
	} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}
