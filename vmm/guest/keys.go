package guest

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

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
	{"test", "one of " + strings.Join(VMExitTests, ", "), nil, func(p *Params, v string) error {
		return choose(&p.Variant, VMExitTests, v)
	}},
	{"via", "icr, or self: the x2APIC SELF_IPI register", nil,
		oneOf(func(p *Params) *bool { return &p.SelfIPI }, "icr", "self")},
	{"rearms", "times that the deadline is written again: storm before it may fire, cyclic in the handler", nil,
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
