package lapic

import "testing"

func TestModeTransitions(t *testing.T) {
	const disabled, xapic, x2 = 0, BaseEnable, BaseEnable | BaseX2APIC
	tests := []struct {
		name     string
		from, to uint64
		ok       bool
	}{
		{"disabled to xAPIC", disabled, xapic, true},
		{"disabled to x2APIC", disabled, x2, false},
		{"disabled stays", disabled, disabled, true},
		{"xAPIC to disabled", xapic, disabled, true},
		{"xAPIC to x2APIC", xapic, x2, true},
		{"x2APIC to disabled", x2, disabled, true},
		{"x2APIC to xAPIC", x2, xapic, false},
		{"xAPIC to the invalid state", xapic, BaseX2APIC, false},
		{"x2APIC to the invalid state", x2, BaseX2APIC, false},
	}
	for _, tt := range tests {
		a := New(0x23, false, testConfig())
		a.Base = DefaultBase | tt.from
		before := a
		e, ok := a.WriteBase(DefaultBase | tt.to)
		if ok != tt.ok {
			t.Errorf("%s: ok = %v, want %v", tt.name, ok, tt.ok)
		}
		if !ok && a != before {
			t.Errorf("%s: the faulting write changed the APIC", tt.name)
		}
		if changed := tt.from != tt.to; ok && e.Has(EffectModeChange) != changed {
			t.Errorf("%s: effects %#x", tt.name, e.Do)
		}
	}
}

func TestReservedBaseBitsFault(t *testing.T) {
	for bit := range 64 {
		a := newAPIC(t)
		_, ok := a.WriteBase(a.Base ^ 1<<bit)
		reserved := bit < 8 || bit == 9 || bit >= 52
		if ok == reserved {
			t.Errorf("toggling bit %d: ok = %v", bit, ok)
		}
	}
	a := newAPIC(t, func(c *Config) { c.X2APIC = false })
	if _, ok := a.WriteBase(a.Base | BaseX2APIC); ok {
		t.Error("x2APIC mode without the CPUID bit: no #GP")
	}
}

func TestModeChangeGivesIDs(t *testing.T) {
	a := New(0x123, false, testConfig())
	x2apic(t, &a)
	if id, ldr := mustRead(t, &a, ID, at(0)), mustRead(t, &a, LDR, at(0)); id != 0x123 || ldr != 0x12<<16|1<<3 {
		t.Errorf("x2APIC ID %#x, LDR %#x", id, ldr)
	}
	a.WriteBase(DefaultBase)
	if a.Enabled() || a.X2APIC() {
		t.Error("still enabled")
	}
	a.WriteBase(DefaultBase | BaseEnable)
	if id := mustRead(t, &a, ID, at(0)); id != 0x23<<24 {
		t.Errorf("xAPIC ID after enabling again = %#x, want the low 8 bits of the ID", id)
	}
}

func TestDisabledAPICKeepsRegisters(t *testing.T) {
	a := newDeadline(t, 0)
	mustWrite(t, &a, TPR, 0x20)
	spiv := mustRead(t, &a, SPIV, at(0))
	a.WriteBase(DefaultBase)
	a.WriteBase(DefaultBase | BaseEnable)
	if mustRead(t, &a, TPR, at(0)) != 0x20 || mustRead(t, &a, SPIV, at(0)) != spiv {
		t.Error("disabling and enabling changed registers; KVM keeps them")
	}
}

func TestLogicalX2APIC(t *testing.T) {
	for id, want := range map[uint32]uint32{0: 1, 1: 2, 15: 0x8000, 16: 0x10001, 0xff: 0xf8000} {
		if got := LogicalX2APIC(id); got != want {
			t.Errorf("LogicalX2APIC(%#x) = %#x, want %#x", id, got, want)
		}
	}
}

func TestMMIOBaseFollowsMode(t *testing.T) {
	a := newAPIC(t)
	if gpa, ok := a.MMIOBase(); gpa != 0xfee00000 || !ok {
		t.Errorf("MMIOBase = %#x, %v", gpa, ok)
	}
	a.WriteBase(0x12345000 | BaseEnable)
	if gpa, ok := a.MMIOBase(); gpa != 0x12345000 || !ok {
		t.Errorf("MMIOBase after moving = %#x, %v", gpa, ok)
	}
	x2apic(t, &a)
	if _, ok := a.MMIOBase(); ok {
		t.Error("the page is decoded in x2APIC mode")
	}
}
