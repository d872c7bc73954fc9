package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"ticktrap/internal/clock"
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
	Variant  uint8 // self-ipi: index of VariantNames
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

// Key is a parameter as --append takes it: key=value, separated by blanks.
type Key struct {
	Name string
	Doc  string
	// For are the guests that it means something to; empty: all.
	For []string
	set func(p *Params, v string) error
}

// keys is the table of parameters.
var keys = []Key{
	{"count", "samples to take; 0 means no end", nil, number(func(p *Params) *uint64 { return &p.Count }, math.MaxInt64)},
	{"distance", "cycles from arming to expiry, or the interval", nil,
		cycles(func(p *Params) *clock.Cycles { return &p.Distance })},
	{"spread", "cycles; a random part below it is added to distance", nil,
		cycles(func(p *Params) *clock.Cycles { return &p.Spread })},
	{"mode", "how to wait: spin, hlt, mixed or poll", nil, func(p *Params, v string) error {
		return choose(&p.Mode, ModeNames, v)
	}},
	{"apic", "x2apic or xapic", nil, oneOf(func(p *Params) *bool { return &p.XAPIC }, "x2apic", "xapic")},
	{"vector", "interrupt vector, 32 to 254", nil, func(p *Params, v string) error {
		n, err := strconv.ParseUint(v, 0, 8)
		if err != nil || n < MinVector || n > MaxVector {
			return fmt.Errorf("expected a vector from %d to %d", MinVector, MaxVector)
		}
		p.Vector = uint8(n)
		return nil
	}},
	{"end", "what follows the last sample: exit, or hlt with interrupts off", nil,
		oneOf(func(p *Params) *bool { return &p.Stay }, "exit", "hlt")},
	{"variant", "one of " + strings.Join(VariantNames, ", "), nil, func(p *Params, v string) error {
		return choose(&p.Variant, VariantNames, v)
	}},
	{"via", "icr, or self: the x2APIC SELF_IPI register", nil,
		oneOf(func(p *Params) *bool { return &p.SelfIPI }, "icr", "self")},
	{"rearms", "times that a deadline is moved before it may fire", nil,
		number(func(p *Params) *uint64 { return &p.Rearms }, 1<<20)},
	{"divide", "timer divisor: 1, 2, 4, …, 128", nil, func(p *Params, v string) error {
		n, err := strconv.ParseUint(v, 0, 8)
		if err != nil || n > 128 || bits.OnesCount64(n) != 1 {
			return errors.New("expected a power of two from 1 to 128")
		}
		p.Divide = uint8(n)
		return nil
	}},
	{"seed", "of the random part, not 0", nil, func(p *Params, v string) error {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil || n == 0 {
			return errors.New("expected a number from 1 on")
		}
		p.Seed = n
		return nil
	}},
}

// Keys returns the table of parameters with the guests that each is for.
func Keys() []Key {
	ks := slices.Clone(keys)
	for i := range ks {
		ks[i].For = usersOf(ks[i].Name)
	}
	return ks
}

// usersOf are the guests whose description names a key, nil if none does: it is
// for all.
func usersOf(key string) (names []string) {
	for i := range builtins {
		if slices.Contains(builtins[i].Keys, key) {
			names = append(names, builtins[i].Name)
		}
	}
	return names
}

// ParseParams reads parameters for a built-in guest, as --append gives them, on
// top of its defaults. Guests refuse parameters that mean nothing to them.
func ParseParams(name, text string, hz clock.Hz) (Params, error) {
	p := DefaultParams(name, hz)
	p.text = text
	for _, f := range strings.Fields(text) {
		k, v, ok := strings.Cut(f, "=")
		i := slices.IndexFunc(keys, func(e Key) bool { return e.Name == k })
		switch {
		case !ok:
			return p, fmt.Errorf("guest %s: parameter %q: expected key=value", name, f)
		case i < 0:
			return p, fmt.Errorf("guest %s: no parameter %q; there are %s", name, k, strings.Join(keysOf(name), ", "))
		case !slices.Contains(keysOf(name), k):
			return p, fmt.Errorf("guest %s: parameter %q means nothing to it; it takes %s", name, k, strings.Join(keysOf(name), ", "))
		}
		if err := keys[i].set(&p, v); err != nil {
			return p, fmt.Errorf("guest %s: parameter %s=%s: %w", name, k, v, err)
		}
	}
	return p, nil
}

// keysOf are the keys that a guest takes, in the table's order.
func keysOf(name string) (names []string) {
	for i := range keys {
		if users := usersOf(keys[i].Name); users == nil || slices.Contains(users, name) {
			names = append(names, keys[i].Name)
		}
	}
	return names
}

// check refuses combinations that cannot work.
func (p *Params) check(d *Description) error {
	switch {
	case p.Distance < 0 || p.Distance > MaxDistance || p.Spread < 0 || p.Spread > MaxDistance:
		return fmt.Errorf("distance %d and spread %d must lie between 0 and %d cycles", p.Distance, p.Spread, int64(MaxDistance))
	case p.Vector < MinVector || p.Vector > MaxVector:
		return fmt.Errorf("vector %d must lie between %d and %d", p.Vector, MinVector, MaxVector)
	case p.Mode > Poll || p.Variant > AllVariants:
		return fmt.Errorf("mode %d or variant %d is not known", p.Mode, p.Variant)
	case p.Seed == 0:
		return errors.New("seed must not be 0")
	case p.XAPIC && p.SelfIPI:
		return errors.New("via=self needs apic=x2apic: the xAPIC has no SELF_IPI register")
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

// number is a setter for a decimal or 0x number up to most.
func number(field func(*Params) *uint64, most uint64) func(*Params, string) error {
	return func(p *Params, v string) error {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil || n > most {
			return fmt.Errorf("expected a number from 0 to %d", most)
		}
		*field(p) = n
		return nil
	}
}

// cycles is a setter for a number of cycles up to MaxDistance.
func cycles(field func(*Params) *clock.Cycles) func(*Params, string) error {
	return func(p *Params, v string) error {
		n, err := strconv.ParseUint(v, 0, 64)
		if err != nil || n > MaxDistance {
			return fmt.Errorf("expected a number of cycles from 0 to %d", int64(MaxDistance))
		}
		*field(p) = clock.Cycles(n)
		return nil
	}
}

// oneOf is a setter for one of two words.
func oneOf(field func(*Params) *bool, no, yes string) func(*Params, string) error {
	return func(p *Params, v string) error {
		if v != no && v != yes {
			return fmt.Errorf("expected %s or %s", no, yes)
		}
		*field(p) = v == yes
		return nil
	}
}

// choose sets a value to the index of a name.
func choose[T ~uint8](dst *T, names []string, v string) error {
	i := slices.Index(names, v)
	if i < 0 {
		return fmt.Errorf("expected one of %s", strings.Join(names, ", "))
	}
	*dst = T(i)
	return nil
}
