package trace

import (
	"bytes"
	"io"
	"reflect"
	"testing"
)

func TestCopyIsEqualAndSharesNothing(t *testing.T) {
	for _, n := range []int{0, 1, 500, 60_000} {
		s := foldAll(testHeader(), guestEvents(n, 7))
		var c State
		for range 2 { // into fresh and into used memory
			s.CopyTo(&c)
			if d := diffStates(s, &c); d != "" {
				t.Fatalf("%d events: %s", n, d)
			}
		}
		if p := shared(reflect.ValueOf(s).Elem(), reflect.ValueOf(&c).Elem(), "State"); p != "" {
			t.Errorf("%d events: %s is shared", n, p)
		}
		before := appendState(nil, s)
		for _, e := range guestEvents(3000, 8) {
			c.Apply(&e)
		}
		if !bytes.Equal(before, appendState(nil, s)) {
			t.Errorf("%d events: applying to the copy changed the original", n)
		}
	}
}

// shared returns the path of the first slice that two values share.
func shared(a, b reflect.Value, path string) string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if p := shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); p != "" {
				return p
			}
		}
	case reflect.Slice:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			return path
		}
		for i := range a.Len() {
			if p := shared(a.Index(i), b.Index(i), path); p != "" {
				return p
			}
		}
	case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan:
		return path + " (not plain data)"
	}
	return ""
}

func TestCopyFromALargerToASmallerState(t *testing.T) {
	large, small := foldAll(testHeader(), guestEvents(50_000, 1)), foldAll(&Header{VCPUs: 1, Hz: 1e9}, guestEvents(20, 1)[:7])
	var c State
	for _, s := range []*State{large, small, large, small} {
		s.CopyTo(&c)
		if d := diffStates(s, &c); d != "" {
			t.Fatal(d)
		}
	}
}

func TestResetForgetsEverything(t *testing.T) {
	fresh := foldAll(testHeader(), nil)
	s := foldAll(&Header{VCPUs: 9, Hz: 1}, guestEvents(50_000, 1))
	s.Reset(testHeader())
	if d := diffStates(fresh, s); d != "" {
		t.Errorf("after Reset: %s", d)
	}
	for _, e := range guestEvents(5000, 2) {
		fresh.Apply(&e)
		s.Apply(&e)
	}
	if d := diffStates(fresh, s); d != "" {
		t.Errorf("the same events after Reset: %s", d)
	}
}

func TestHeaderWithTooManyVCPUs(t *testing.T) {
	var s State
	s.Reset(&Header{VCPUs: 1 << 30})
	if len(s.VCPUs) != MaxVCPUs {
		t.Errorf("%d vCPUs, want %d", len(s.VCPUs), MaxVCPUs)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	events := guestEvents(50_000, 1)
	s, dst := foldAll(testHeader(), events), new(State)
	s.CopyTo(dst)
	w, err := NewWriter(io.Discard, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * snapshotEvents {
		w.Emit(events[i%len(events)])
	}
	var b []byte
	i := 0
	next := func() *Event {
		i++
		return &events[i%len(events)]
	}
	tests := []struct {
		name string
		f    func()
	}{
		{"Apply", func() { s.Apply(next()) }},
		{"Apply of a local event", func() { e := *next(); s.Apply(&e) }},
		{"CopyTo", func() { s.CopyTo(dst) }},
		{"Emit", func() { w.Emit(*next()) }},
		{"AppendText", func() { b = AppendText(b[:0], next()) }},
		{"Validate", func() { _ = Validate(next()) }},
		{"Percentile", func() { s.Deadlines.Late.Percentile(99) }},
	}
	for _, tt := range tests {
		if n := testing.AllocsPerRun(1000, tt.f); n != 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
}

// TestStateSurvivesItsCodec fills every field, so that none can be forgotten.
func TestStateSurvivesItsCodec(t *testing.T) {
	s := foldAll(testHeader(), guestEvents(3000, 1))
	n := uint64(1)
	fill(reflect.ValueOf(s).Elem(), &n)
	p := appendState(nil, s)
	d := stateDecoder{p}
	got := new(State)
	if !d.value(reflect.ValueOf(got).Elem()) || len(d.p) != 0 {
		t.Fatalf("%d bytes are left of %d", len(d.p), len(p))
	}
	if !reflect.DeepEqual(s, got) {
		t.Error("the state that comes back differs")
	}
	for cut := 0; cut < len(p); cut += 19997 {
		if decodeState(p[:cut], got) == nil {
			t.Fatalf("cut at %d of %d is accepted", cut, len(p))
		}
	}
}

// fill gives every number in v another value.
func fill(v reflect.Value, n *uint64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			v.SetZero() // an empty slice comes back as nil
		}
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		*n++
		v.SetInt(-int64(*n))
	default:
		*n++
		v.SetUint(*n & (1<<v.Type().Bits() - 1))
	}
}
