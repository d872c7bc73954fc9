package sweep

import (
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Axis is a knob with the values that it takes.
type Axis struct {
	Knob   trace.Knob
	Values []uint64
}

// MaxPoints is the largest grid.
const MaxPoints = 100_000

// ParseAxis reads NAME=VALUE,VALUE… or NAME=FROM:TO:STEP, the latter for knobs
// that are times. The error is one sentence.
func ParseAxis(text string) (Axis, error) {
	name, list, ok := strings.Cut(text, "=")
	if !ok || list == "" {
		return Axis{}, fmt.Errorf("%q: want NAME=VALUE,VALUE… or NAME=FROM:TO:STEP", text)
	}
	name = strings.TrimSpace(name)
	parts := strings.Split(list, ":")
	if len(parts) == 1 {
		return parseList(name, strings.Split(list, ","))
	}
	if len(parts) != 3 {
		return Axis{}, fmt.Errorf("%q: a range is FROM:TO:STEP", text)
	}
	return parseRange(name, parts)
}

func parseList(name string, values []string) (Axis, error) {
	var a Axis
	for _, s := range values {
		k, v, err := trace.ParseKnob(name, strings.TrimSpace(s))
		if err != nil {
			return Axis{}, err
		}
		a.Knob = k
		for _, have := range a.Values {
			if have == v {
				return Axis{}, fmt.Errorf("%s: %s is there twice", name, trace.FormatKnob(k, v))
			}
		}
		a.Values = append(a.Values, v)
	}
	return a, nil
}

func parseRange(name string, parts []string) (Axis, error) {
	var n [3]uint64
	var k trace.Knob
	for i, s := range parts {
		if _, err := strconv.ParseFloat(strings.TrimRight(s, "nsuµm"), 64); err != nil && s != "off" {
			return Axis{}, fmt.Errorf("%s: a range needs numbers, have %q", name, s)
		}
		var err error
		if k, n[i], err = trace.ParseKnob(name, s); err != nil {
			return Axis{}, err
		}
	}
	from, to, step := n[0], n[1], n[2]
	if to < from || step == 0 {
		return Axis{}, fmt.Errorf("%s: a range goes from the lower to the higher value in steps above 0", name)
	}
	if (to-from)/step >= MaxPoints {
		return Axis{}, fmt.Errorf("%s: a range of more than %d values", name, MaxPoints)
	}
	a := Axis{Knob: k}
	for v := from; v <= to; v += step {
		a.Values = append(a.Values, v)
	}
	return a, nil
}

// Grid is the points of all axes' values, the last axis varying fastest.
type Grid []Axis

// Size is the number of points.
func (g Grid) Size() int {
	n := 1
	for _, a := range g {
		n *= len(a.Values)
		if n > MaxPoints {
			return n
		}
	}
	return n
}

// Check refuses grids that cannot be swept.
func (g Grid) Check() error {
	if len(g) == 0 {
		return fmt.Errorf("nothing to vary")
	}
	seen := map[trace.Knob]bool{}
	for _, a := range g {
		if seen[a.Knob] {
			return fmt.Errorf("%s is varied twice", a.Knob)
		}
		seen[a.Knob] = true
		var k vmm.Knobs
		for _, v := range a.Values {
			if err := k.Set(a.Knob, v); err != nil {
				return err
			}
		}
	}
	if g.Size() > MaxPoints {
		return fmt.Errorf("a grid of more than %d points", MaxPoints)
	}
	return nil
}

// At returns the values of point i, one for each axis.
func (g Grid) At(i int) []uint64 {
	out := make([]uint64, len(g))
	for n := len(g) - 1; n >= 0; n-- {
		v := g[n].Values
		out[n] = v[i%len(v)]
		i /= len(v)
	}
	return out
}

// Name is a point in words: NAME=VALUE, one for each axis.
func (g Grid) Name(values []uint64) string {
	words := make([]string, len(g))
	for i, a := range g {
		words[i] = a.Knob.String() + "=" + trace.FormatKnob(a.Knob, values[i])
	}
	return strings.Join(words, " ")
}

// Turned returns base with the values of a point.
func (g Grid) Turned(base vmm.Knobs, values []uint64) (vmm.Knobs, error) {
	for i, a := range g {
		if err := base.Set(a.Knob, values[i]); err != nil {
			return base, err
		}
	}
	return base, nil
}
