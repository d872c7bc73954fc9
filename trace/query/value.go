package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Unit is what a number counts.
type Unit uint8

// The units. BadUnit is the invalid zero value.
const (
	BadUnit Unit = iota
	Plain        // a count, or an enumeration's number
	Cycles       // TSC cycles
	Nanos        // nanoseconds
	Percent
)

// unitNames are the suffixes of numbers, with the factor to the unit's base.
var unitNames = []struct {
	name   string
	unit   Unit
	factor float64
}{{"cycles", Cycles, 1}, {"ns", Nanos, 1}, {"us", Nanos, 1e3}, {"µs", Nanos, 1e3}, {"ms", Nanos, 1e6}, {"s", Nanos, 1e9},
	{"%", Percent, 1}}

// Number is a quantity.
type Number struct {
	V    float64
	Unit Unit
	// text is how a literal was written.
	text string
}

// parseNumber reads digits with an optional unit.
func parseNumber(s string) (n Number, err error) {
	digits, n := s, Number{Unit: Plain, text: s}
	factor := 1.0
	for _, u := range unitNames {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, n.Unit, factor = d, u.unit, u.factor
			break
		}
	}
	if strings.ContainsAny(digits, "xXpPnNiI_+") {
		return n, fmt.Errorf("%q is not a number", s)
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) {
		return n, fmt.Errorf("%q is not a number with a unit of cycles, ns, us, ms, s or %%", s)
	}
	n.V = v * factor
	return n, nil
}

// in converts n to unit u at hz. Cycles and nanoseconds convert into each other;
// a literal without unit takes the other side's.
func (n Number) in(u Unit, hz clock.Hz) float64 {
	switch {
	case n.Unit == Cycles && u == Nanos:
		return n.V * 1e9 / float64(hz)
	case n.Unit == Nanos && u == Cycles:
		return n.V * float64(hz) / 1e9
	}
	return n.V
}

// String formats n with its unit, times in the largest unit that is not below 1.
func (n Number) String() string {
	switch n.Unit {
	case Cycles:
		return trimFloat(n.V) + " cycles"
	case Percent:
		return trimFloat(n.V) + "%"
	case Nanos:
		for _, u := range []struct {
			ns   float64
			name string
		}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
			if math.Abs(n.V) >= u.ns {
				return trimFloat(n.V/u.ns) + u.name
			}
		}
		return trimFloat(n.V) + "ns"
	}
	return trimFloat(n.V)
}

// trimFloat prints up to four decimals, enough to tell values that differ.
func trimFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', 4, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
