package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
)

// foldVersion is raised when the fold changes what it makes of the same events.
const foldVersion = 2

// stateLayout is a fingerprint of State's fields and of the fold. A snapshot
// written under another one is not used.
func stateLayout() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "fold %d\n", foldVersion)
	describeType(h, reflect.TypeFor[State]())
	return h.Sum64()
}

func describeType(w io.Writer, t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct:
		fmt.Fprint(w, "{")
		for f := range t.Fields() {
			fmt.Fprintf(w, "%s ", f.Name)
			describeType(w, f.Type)
		}
		fmt.Fprint(w, "}")
	case reflect.Array:
		fmt.Fprintf(w, "[%d]", t.Len())
		describeType(w, t.Elem())
	case reflect.Slice:
		fmt.Fprint(w, "[]")
		describeType(w, t.Elem())
	default:
		fmt.Fprintf(w, "%v;", t.Kind())
	}
}

// appendState appends the binary form of s: its fields in order, structs and
// arrays element by element, slices behind their length, unsigned numbers as
// varints, signed ones zigzag, booleans as a byte.
func appendState(b []byte, s *State) []byte { return appendValue(b, reflect.ValueOf(s).Elem()) }

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		b = appendElems(b, v)
	case reflect.Array:
		b = appendElems(b, v)
	case reflect.Bool:
		b = append(b, 0)
		if v.Bool() {
			b[len(b)-1] = 1
		}
	case reflect.Int64, reflect.Int32, reflect.Int:
		b = binary.AppendVarint(b, v.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b = binary.AppendUvarint(b, v.Uint())
	default:
		panic("BUG: a State cannot hold a " + v.Kind().String())
	}
	return b
}

func appendElems(b []byte, v reflect.Value) []byte {
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return append(b, v.Bytes()...)
	case v.Type().Elem().Kind() == reflect.Uint64 && v.CanAddr():
		return appendWords(b, v)
	}
	for i := range v.Len() {
		b = appendValue(b, v.Index(i))
	}
	return b
}

// appendWords is the fast path for counters.
func appendWords(b []byte, v reflect.Value) []byte {
	for i := range v.Len() {
		b = binary.AppendUvarint(b, v.Index(i).Uint())
	}
	return b
}

var errState = errors.New("not a state")

// decodeState reads into s what appendState wrote.
func decodeState(p []byte, s *State) error {
	d := stateDecoder{p}
	if !d.value(reflect.ValueOf(s).Elem()) || len(d.p) != 0 {
		return errState
	}
	return s.check()
}

type stateDecoder struct{ p []byte }

// value reads into v and reports whether there was enough.
func (d *stateDecoder) value(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !d.value(v.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		n, ok := d.uvarint()
		if !ok || n > uint64(len(d.p)) {
			return false
		}
		resize(v, int(n))
		return d.elems(v)
	case reflect.Array:
		return d.elems(v)
	case reflect.Bool:
		n, ok := d.uvarint()
		v.SetBool(n == 1)
		return ok && n <= 1
	case reflect.Int64, reflect.Int32, reflect.Int:
		n, k := binary.Varint(d.p)
		if k <= 0 || v.OverflowInt(n) {
			return false
		}
		d.p = d.p[k:]
		v.SetInt(n)
		return true
	}
	n, ok := d.uvarint()
	if !ok || v.OverflowUint(n) {
		return false
	}
	v.SetUint(n)
	return true
}

// resize gives a slice n elements and keeps its memory where it can.
func resize(v reflect.Value, n int) {
	if v.Cap() < n {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	v.SetLen(n)
}

func (d *stateDecoder) elems(v reflect.Value) bool {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		d.p = d.p[copy(v.Bytes(), d.p):]
		return true
	}
	for i := range v.Len() {
		if !d.value(v.Index(i)) {
			return false
		}
	}
	return true
}

func (d *stateDecoder) uvarint() (uint64, bool) {
	n, k := binary.Uvarint(d.p)
	if k <= 0 {
		return 0, false
	}
	d.p = d.p[k:]
	return n, true
}

// check reports whether the fold can go on from s: that what it indexes with is
// in range.
func (s *State) check() error {
	ok := len(s.KnobTurns.Buf) == knobRing && len(s.Bookmarks.Buf) == bookmarkRing &&
		len(s.Chains.Buf) == chainRing && len(s.Scatter.Buf) == scatterRing && len(s.Exits.Buf) == exitRing &&
		len(s.KickLedger.Buf) == kickRing && len(s.Console.Buf) == consoleRing &&
		len(s.Stretches.Buf) == stretchRing && len(s.Tasks.Buf) == MaxTasks &&
		len(s.Advances.Points) <= AdvancePoints && s.Advances.Stride > 0 &&
		s.Rates.Width > 0 && s.Rates.Used >= 0 && s.Rates.Used <= RateBuckets &&
		len(s.VCPUs) <= MaxVCPUs && s.Samples.check() && s.Deadlines.Late.check() && s.Deadlines.SinceKnob.check()
	for i := range s.VCPUs {
		v := &s.VCPUs[i]
		ok = ok && v.NFlight <= MaxFlight && v.NServing <= MaxServing && v.Late.check() && v.ExitReason < NumExits && v.Off.State < NumTaskStates
		v.Open(func(c *Chain) { ok = ok && c.Outcome < NumOutcomes })
	}
	for i := range s.Exits.Buf {
		ok = ok && s.Exits.Buf[i].Costs.N <= MaxExitCosts
	}
	if !ok {
		return errState
	}
	return nil
}

func (l *Lateness) check() bool { return l.Early.check() && l.Late.check() }

func (h *Hist) check() bool {
	if h.Lo < 0 || h.Hi < h.Lo || int(h.Hi) > len(h.Counts) || len(h.Counts) > (64-histSubBits+2)*histHalf {
		return false
	}
	var n uint64
	for i, c := range h.Counts {
		if n += c; c != 0 && (int32(i) < h.Lo || int32(i) >= h.Hi) {
			return false
		}
	}
	return n == h.N
}
