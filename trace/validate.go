package trace

import (
	"fmt"
	"math/bits"
)

// Validate reports whether e can be an event: a known kind, no unknown flags,
// every field within its form and unused arguments zero. The error is one
// sentence that names the field.
func Validate(e *Event) error {
	if e.Kind == BadKind || e.Kind >= numKinds {
		return fmt.Errorf("invalid kind %d", e.Kind)
	}
	if e.Flags&^FlagInferred != 0 {
		return fmt.Errorf("%v has unknown flags %#x", e.Kind, uint8(e.Flags))
	}
	sp := &Specs[e.Kind]
	for i, v := range e.args() {
		if f := &sp.Fields[i]; !f.Holds(v) {
			if f.Form == NoField {
				return fmt.Errorf("%v has %#x in unused argument %d", e.Kind, v, i)
			}
			return fmt.Errorf("%v: %s cannot be %#x", e.Kind, f.Name, v)
		}
	}
	return nil
}

// Holds reports whether v is within the form of f.
func (f *Field) Holds(v uint64) bool {
	switch f.Form {
	case NoField:
		return v == 0
	case Bool:
		return v <= 1
	case Enum:
		return v < uint64(len(f.Names))
	case Mask:
		return bits.Len64(v) <= len(f.Names)
	case Costs:
		a, b := UnpackCosts(v)
		return a.Phase < NumPhases && b.Phase < NumPhases
	}
	return true
}
