package trace

import "testing"

func TestMissesTellOfEachAddressOnce(t *testing.T) {
	var m Misses
	if !m.First(MissedKey(0x60, false)) || m.First(MissedKey(0x60, false)) {
		t.Error("a port is told of not once")
	}
	if !m.First(MissedKey(0x60, true)) {
		t.Error("an address in memory is taken for the port of the same number")
	}
	for i := range uint64(MissingMax) {
		m.First(MissedKey(0x1000+i, true))
	}
	if m.First(MissedKey(0x9999, true)) {
		t.Errorf("more than %d are told of", MissingMax)
	}
}

func TestMissingDevicesAreInTheReport(t *testing.T) {
	h := &Header{Engine: "model", Provenance: Modelled, Hz: 1e9, VCPUs: 1, PCPUs: 1}
	var s State
	s.Reset(h)
	s.Apply(&Event{TSC: 1, Kind: KindMissing, A: 0x2f8, B: 1, C: 0xffff, D: 3})
	s.Apply(&Event{TSC: 2, Kind: KindMissing, A: 0xfed00000, B: 2, C: 0x1234})
	r := NewReport(h, &s)
	want := []string{"port 0x2f8: 0x3 written at 0xffff", "address 0xfed00000: read at 0x1234"}
	if len(r.Missing) != 2 || r.Missing[0] != want[0] || r.Missing[1] != want[1] {
		t.Errorf("report has %q, want %q", r.Missing, want)
	}
}
