package lapic

import "testing"

func TestXAPICNeverFaults(t *testing.T) {
	a := newAPIC(t)
	for off := Reg(0); off < 0x1000; off++ {
		if _, ok := a.Read(off, at(0)); !ok {
			t.Fatalf("Read(%#x): #GP in xAPIC mode", off)
		}
		if _, ok := a.Write(off, ^uint64(0), at(0)); !ok {
			t.Fatalf("Write(%#x): #GP in xAPIC mode", off)
		}
	}
	if err := invariants(&a); err != nil {
		t.Error(err)
	}
}

func TestX2APICAccessFollowsTable(t *testing.T) {
	for off := Reg(0); off < 0x1000; off += 0x10 {
		a := newAPIC(t)
		x2apic(t, &a)
		want := NoAccess
		if w, ok := Lookup(off); ok && off != LVTCMCI {
			want = w.X2APIC
		}
		if _, ok := a.Read(off, at(0)); ok != (want&ReadOnly != 0) {
			t.Errorf("reading %s (%#x): ok = %v, table says %v", off.Name(), off, ok, want)
		}
		before := a
		_, ok := a.Write(off, 0, at(0))
		if ok != (want&WriteOnly != 0) {
			t.Errorf("writing 0 to %s (%#x): ok = %v, table says %v", off.Name(), off, ok, want)
		}
		if !ok && a != before {
			t.Errorf("a faulting write to %s changed the APIC", off.Name())
		}
	}
}

func TestX2APICWritesThatFault(t *testing.T) {
	tests := []struct {
		name   string
		reg    Reg
		v      uint64
		kvm    bool // faults under KVM
		strict bool // faults under the manual
	}{
		{"bit 32 of TPR", TPR, 1 << 32, true, true},
		{"bit 63 of TMICT", TMICT, 1 << 63, true, true},
		{"TPR above 255", TPR, 0x100, false, true},
		{"EOI not 0", EOI, 1, false, true},
		{"EOI 0", EOI, 0, false, false},
		{"ESR not 0", ESR, 1, true, true},
		{"ESR 0", ESR, 0, false, false},
		{"ICR with a destination", ICRLow, 5<<32 | 0xfd, false, false},
		{"ICR bit 13", ICRLow, 1 << 13, true, true},
		{"ICR bit 17", ICRLow, 1 << 17, true, true},
		{"ICR bit 20", ICRLow, 1 << 20, true, true},
		{"ICR send pending", ICRLow, 1 << 12, false, false},
		{"SELF_IPI above 255", SelfIPI, 0x100, true, true},
		{"LVTT bit 19", LVTT, 1 << 19, false, true},
		{"LVTT mode 3", LVTT, 3 << 17, false, false},
		{"TDCR bit 2", TDCR, 4, false, true},
		{"SPIV bit 11", SPIV, 1 << 11, false, true},
		{"LVT0 all", LVT0, 0x1f7ff, false, false},
		{"LVT error with a mode", LVTError, 0x400, false, true},
		{"TMICT all", TMICT, 0xffffffff, false, false},
	}
	for _, tt := range tests {
		for _, strict := range []bool{false, true} {
			a := newAPIC(t, func(c *Config) { c.Strict = strict })
			x2apic(t, &a)
			want := tt.kvm
			if strict {
				want = tt.strict
			}
			before := a
			_, ok := a.Write(tt.reg, tt.v, at(0))
			if ok == want {
				t.Errorf("%s, strict %v: #GP = %v, want %v", tt.name, strict, !ok, want)
			}
			if !ok && a != before {
				t.Errorf("%s, strict %v: the faulting write changed the APIC", tt.name, strict)
			}
		}
	}
}

func TestStrictChecksModeBitsAgainstCPUID(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.Strict, c.TSCDeadline = true, false })
	x2apic(t, &a)
	if _, ok := a.Write(LVTT, mode(TSCDeadline), at(0)); ok {
		t.Error("LVTT bit 18 without TSC-deadline: no #GP")
	}
	if _, ok := a.Write(LVTT, mode(Periodic), at(0)); !ok {
		t.Error("periodic mode: #GP")
	}
}

func TestWritesAreMasked(t *testing.T) {
	tests := []struct {
		reg  Reg
		want uint64 // after writing all ones
	}{
		{ID, 0xff000000}, {TPR, 0xff}, {LDR, 0xff000000}, {DFR, 0xffffffff}, {SPIV, 0x3ff}, {ESR, 0},
		{ICR2, 0xff000000}, {LVTT, 0x710ff}, {LVTThermal, 0x117ff}, {LVTPC, 0x117ff}, {LVT0, 0x1f7ff}, {LVT1, 0x1f7ff},
		{LVTError, 0x110ff}, {TDCR, 0xb}, {Version, 0x50014}, {ISR, 0}, {APR, 0}, {LVTCMCI, 0}, {RRD, 0},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		mustWrite(t, &a, tt.reg, 0xffffffff)
		if got := mustRead(t, &a, tt.reg, at(0)); got != tt.want {
			t.Errorf("%s reads %#x after writing all ones, want %#x", tt.reg.Name(), got, tt.want)
		}
	}
	a := newAPIC(t)
	mustWrite(t, &a, DFR, 0)
	if got := mustRead(t, &a, DFR, at(0)); got != 0x0fffffff {
		t.Errorf("DFR reads %#x after writing 0, want 0xfffffff: its low bits are ones", got)
	}
	mustWrite(t, &a, ICRLow, 0xffffffff)
	if got := mustRead(t, &a, ICRLow, at(0)); got != 0xffffefff {
		t.Errorf("ICR reads %#x after writing all ones, want the send-pending bit clear", got)
	}
}

func TestDirectedEOIBitNeedsVersionBit(t *testing.T) {
	for _, directed := range []bool{false, true} {
		a := newAPIC(t, func(c *Config) { c.DirectedEOI = directed })
		mustWrite(t, &a, SPIV, 0x11ff)
		if got := mustRead(t, &a, SPIV, at(0))&spivNoBcast != 0; got != directed {
			t.Errorf("directed EOI %v: SPIV bit 12 sticks = %v", directed, got)
		}
	}
}

func TestSoftwareDisable(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.CMCI = true })
	lvts := []Reg{LVTT, LVTThermal, LVTPC, LVT0, LVT1, LVTError, LVTCMCI}
	for _, r := range lvts {
		mustWrite(t, &a, r, 0x50)
	}
	mustWrite(t, &a, TMICT, 1_000_000)
	a.Timer.Pending = true
	e := mustWrite(t, &a, SPIV, 0xff)
	if e.Do != EffectSPIV|EffectLDR|EffectLVT0 {
		t.Errorf("disabling has effects %#x: the running timer is not to be cancelled", e.Do)
	}
	if a.Timer.Pending {
		t.Error("disabling keeps the pending expiry")
	}
	if a.Timer.Period != 1_000_000*2 || a.Timer.Target == 0 {
		t.Errorf("disabling stopped the timer: %+v", a.Timer)
	}
	for _, r := range lvts {
		if got := mustRead(t, &a, r, at(0)); got != 0x10050 {
			t.Errorf("%s = %#x after disabling, want it masked", r.Name(), got)
		}
		mustWrite(t, &a, r, 0x51)
		if got := mustRead(t, &a, r, at(0)); got != 0x10051 {
			t.Errorf("%s = %#x when written while disabled, want the mask bit forced", r.Name(), got)
		}
	}
	if e := mustWrite(t, &a, SPIV, 0x1ff); e.Do != EffectSPIV|EffectLDR {
		t.Errorf("enabling has effects %#x", e.Do)
	}
	if got := mustRead(t, &a, LVTT, at(0)); got != 0x10051 {
		t.Errorf("LVTT = %#x after enabling again, want it still masked", got)
	}
	if e := mustWrite(t, &a, SPIV, 0x1fe); e.Do != EffectNone {
		t.Errorf("changing the spurious vector has effects %#x", e.Do)
	}
}

func TestICRWrites(t *testing.T) {
	a := newAPIC(t)
	mustWrite(t, &a, ICR2, 0x05_123456)
	e := mustWrite(t, &a, ICRLow, 0x48fd)
	if e.Do != EffectIPI || e.ICR != 5<<56|0x48fd {
		t.Errorf("xAPIC ICR write: %#x with ICR %#x", e.Do, e.ICR)
	}
	m := e.ICR.Message(false)
	if m != (Message{Dest: 5, Logical: true, Vector: 0xfd, Assert: true, IPI: true}) {
		t.Errorf("message = %+v", m)
	}
	x2apic(t, &a)
	e = mustWrite(t, &a, ICRLow, 0xdeadbeef_000c4641)
	if e.ICR != 0xdeadbeef_000c4641 || mustRead(t, &a, ICRLow, at(0)) != 0xdeadbeef_000c4641 {
		t.Errorf("x2APIC ICR write: %#x, reads back %#x", e.ICR, mustRead(t, &a, ICRLow, at(0)))
	}
	m = e.ICR.Message(true)
	if m.Dest != 0xdeadbeef || m.Delivery != StartUp || m.Shorthand != ToOthers || m.Vector != 0x41 || m.Logical {
		t.Errorf("message = %+v", m)
	}
}

func TestSelfIPIExistsInX2APICOnly(t *testing.T) {
	a := newAPIC(t)
	if e := mustWrite(t, &a, SelfIPI, 0x41); e != (Effect{}) {
		t.Errorf("SELF_IPI in xAPIC mode: %+v", e)
	}
	x2apic(t, &a)
	before := a
	if e := mustWrite(t, &a, SelfIPI, 0x41); e.Do != EffectSelfIPI || e.Vector != 0x41 {
		t.Errorf("SELF_IPI in x2APIC mode: %+v", e)
	}
	if a != before {
		t.Error("SELF_IPI changed a register")
	}
}

func TestErrorStatus(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.Errors = true })
	if e := mustWrite(t, &a, ICRLow, 0x400f); e.Do != EffectError {
		t.Errorf("sending vector 15: effects %#x, want an error and no IPI", e.Do)
	}
	if o := a.Receive(Message{Vector: 3, Assert: true}); o != OutcomeIllegal {
		t.Errorf("receiving vector 3: %v", o)
	}
	if got := mustRead(t, &a, ESR, at(0)); got != 0 {
		t.Errorf("ESR shows %#x before it is written", got)
	}
	mustWrite(t, &a, ESR, 0)
	if got := mustRead(t, &a, ESR, at(0)); got != 0x60 {
		t.Errorf("ESR = %#x after a write, want both bits", got)
	}
	mustWrite(t, &a, ESR, 0)
	if got := mustRead(t, &a, ESR, at(0)); got != 0 {
		t.Errorf("ESR = %#x after a second write", got)
	}
	if e := mustWrite(t, &a, ICRLow, 0x4502); e.Do != EffectIPI {
		t.Errorf("an INIT whose vector field is 2: effects %#x", e.Do)
	}
	x2apic(t, &a)
	if e := mustWrite(t, &a, SelfIPI, 2); e.Do != EffectError {
		t.Errorf("SELF_IPI of vector 2: effects %#x", e.Do)
	}
}

func TestErrorsAreNotRecordedByDefault(t *testing.T) {
	a := newAPIC(t)
	if e := mustWrite(t, &a, ICRLow, 0x400f); e.Do != EffectIPI {
		t.Errorf("sending vector 15: effects %#x, want an IPI as KVM sends it", e.Do)
	}
	if o := a.Receive(Message{Vector: 3, Assert: true}); o != OutcomeVector || a.Errs != 0 {
		t.Errorf("receiving vector 3: %v, errors %#x", o, a.Errs)
	}
}

func TestEffectsOfDestinationRegisters(t *testing.T) {
	a := newAPIC(t)
	for _, r := range []Reg{ID, LDR, DFR} {
		if e := mustWrite(t, &a, r, 0x1000000); e.Do != EffectLDR {
			t.Errorf("writing %s has effects %#x", r.Name(), e.Do)
		}
	}
	if e := mustWrite(t, &a, LVT0, 0x700); e.Do != EffectLVT0 {
		t.Errorf("writing LVT0 has effects %#x", e.Do)
	}
	if e := mustWrite(t, &a, LVT1, 0x400); e.Do != EffectNone {
		t.Errorf("writing LVT1 has effects %#x", e.Do)
	}
}
