package lapic

import "testing"

func TestX2APICMSRsNeedX2APICMode(t *testing.T) {
	a := newAPIC(t)
	for index := MSRX2APIC; index <= msrX2Last; index++ {
		if _, ok := a.ReadMSR(index, at(0)); ok {
			t.Fatalf("RDMSR %#x in xAPIC mode: no #GP", index)
		}
		if _, ok := a.WriteMSR(index, 0, at(0)); ok {
			t.Fatalf("WRMSR %#x in xAPIC mode: no #GP", index)
		}
	}
	x2apic(t, &a)
	if _, ok := a.WriteMSR(0x808, 0x30, at(0)); !ok {
		t.Fatal("WRMSR TPR: #GP")
	}
	if v, ok := a.ReadMSR(0x808, at(0)); v != 0x30 || !ok {
		t.Errorf("RDMSR TPR = %#x, %v", v, ok)
	}
	if v, ok := a.ReadMSR(0x80a, at(0)); v != 0x30 || !ok {
		t.Errorf("RDMSR PPR = %#x, %v", v, ok)
	}
	for _, index := range []uint32{0x831, 0x80e, 0x809, 0x80b, 0x83f, 0x82f, 0x8ff, 0x10} {
		if _, ok := a.ReadMSR(index, at(0)); ok {
			t.Errorf("RDMSR %#x: no #GP", index)
		}
	}
}

func TestBaseAndDeadlineMSRsWorkInBothModes(t *testing.T) {
	a := newDeadline(t, 0)
	for range 2 {
		if v, ok := a.ReadMSR(MSRBase, at(0)); v != a.Base || !ok {
			t.Errorf("RDMSR 0x1b = %#x, %v", v, ok)
		}
		if e, ok := a.WriteMSR(MSRDeadline, 77777, at(0)); !ok || !e.Has(EffectArm) {
			t.Errorf("WRMSR 0x6e0: %+v, %v", e, ok)
		}
		if v, ok := a.ReadMSR(MSRDeadline, at(0)); v != 77777 || !ok {
			t.Errorf("RDMSR 0x6e0 = %d, %v", v, ok)
		}
		if _, ok := a.WriteMSR(MSRBase, a.Base|BaseX2APIC, at(0)); !ok {
			t.Error("WRMSR 0x1b: #GP")
		}
	}
}

func TestMMIOWidthAndAlignment(t *testing.T) {
	a := newAPIC(t)
	loads := []struct {
		off  uint16
		size uint8
		want uint64
	}{
		{0x30, 4, 0x50014}, {0x30, 2, 0x14}, {0x32, 1, 5}, {0x32, 2, 5}, {0x31, 4, 0}, {0x34, 4, 0}, {0x30, 8, 0},
		{0x00, 4, 0}, {0xb0, 4, 0}, {0xff0, 4, 0},
	}
	for _, tt := range loads {
		if got := a.ReadMMIO(tt.off, tt.size, at(0)); got != tt.want {
			t.Errorf("load of %d bytes at %#x = %#x, want %#x", tt.size, tt.off, got, tt.want)
		}
	}
	for _, tt := range []struct {
		off  uint16
		size uint8
	}{{0x80, 1}, {0x80, 8}, {0x84, 4}, {0x82, 2}} {
		if a.WriteMMIO(tt.off, tt.size, 0x40, at(0)); mustRead(t, &a, TPR, at(0)) != 0 {
			t.Errorf("store of %d bytes at %#x was not dropped", tt.size, tt.off)
		}
	}
	a.WriteMMIO(0x80, 4, 0xdead_00000040, at(0))
	if got := mustRead(t, &a, TPR, at(0)); got != 0x40 {
		t.Errorf("TPR = %#x after a store, want 0x40", got)
	}
}

func TestMMIOHole(t *testing.T) {
	for name, prepare := range map[string]func(*APIC){
		"x2APIC":   func(a *APIC) { a.WriteBase(a.Base | BaseX2APIC) },
		"disabled": func(a *APIC) { a.WriteBase(DefaultBase) },
	} {
		a := newAPIC(t)
		prepare(&a)
		before := a
		for size, want := range map[uint8]uint64{1: 0xff, 2: 0xffff, 4: 0xffffffff, 8: ^uint64(0)} {
			if got := a.ReadMMIO(0x30, size, at(0)); got != want {
				t.Errorf("%s: load of %d bytes = %#x, want all ones", name, size, got)
			}
		}
		if e := a.WriteMMIO(0x80, 4, 0x40, at(0)); e != (Effect{}) || a != before {
			t.Errorf("%s: a store had an effect: %+v", name, e)
		}
	}
}
