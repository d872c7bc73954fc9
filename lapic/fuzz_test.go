package lapic

import (
	"encoding/binary"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// FuzzAccess runs a program of accesses: a byte of configuration, then records of
// opcode, offset/16 and a 32-bit value.
func FuzzAccess(f *testing.F) {
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 || len(program) > 4096 {
			return
		}
		b := program[0]
		a := New(uint32(b&1), b&1 != 0, Config{Rules: eras[int(b>>4)%len(eras)], Freq: testHz, TSCDeadline: b&2 == 0,
			X2APIC: true, CMCI: b&4 != 0, Strict: b&8 != 0, DirectedEOI: b&4 != 0})
		now := clock.Nanos(0)
		for p := program[1:]; len(p) >= 6; p = p[6:] {
			v := binary.LittleEndian.Uint32(p[2:])
			now += clock.Nanos(v & 0xffff)
			execute(t, &a, p[0], p[1], v, at(now))
			if err := invariants(&a); err != nil {
				t.Fatalf("after %x: %v", p[:6], err)
			}
		}
	})
}

// execute performs one record of a fuzzed program.
func execute(t *testing.T, a *APIC, op, arg byte, v uint32, now Sample) {
	before := *a
	var e Effect
	ok := true
	switch op % 8 {
	case 0:
		e, ok = a.Write(Reg(arg)<<4, uint64(v), now)
	case 1:
		a.Read(Reg(arg)<<4, now)
	case 2:
		e = a.WriteMMIO(uint16(arg)<<4, 4, uint64(v), now)
	case 3:
		e, ok = a.WriteBase(DefaultBase | uint64(v)&0xf00)
	case 4:
		e = a.WriteDeadline(clock.TSC(v) << (arg & 31))
	case 5:
		a.Accept(Vector(arg), v&1 != 0)
	case 6:
		if vec, deliverable := a.Deliverable(); deliverable {
			a.Ack(vec)
		}
		expireNow(a, v&1 != 0)
	case 7:
		e, ok = a.WriteMSR(MSRX2APIC+uint32(arg), uint64(v), now)
	}
	if !ok && *a != before {
		t.Fatalf("op %d on %#x with %#x faulted and changed the APIC", op%8, arg, v)
	}
	if e.Has(EffectArm) {
		if p := a.Restart(now, HV{Usable: v&2 != 0, Multi: 5}); p.Expire {
			expireNow(a, v&4 != 0)
			if a.Timer.Mode != Periodic {
				a.CancelHV()
			}
		}
	}
}

// FuzzImport feeds state pages from outside: nothing may panic, and what was
// taken must survive another round.
func FuzzImport(f *testing.F) {
	a := newDeadline(f, 0)
	var p [StateSize]byte
	a.Export(&p, false, at(0))
	f.Add(p[:], false)
	f.Add(make([]byte, StateSize), true)
	f.Fuzz(func(t *testing.T, page []byte, x2 bool) {
		var p, q [StateSize]byte
		copy(p[:], page)
		a := newAPIC(t)
		if x2 {
			x2apic(t, &a)
		}
		if _, err := a.Import(&p, x2, at(5)); err != nil {
			return
		}
		a.Export(&q, x2, at(5))
		b := a
		if _, err := b.Import(&q, x2, at(5)); err != nil {
			t.Fatalf("exported state is refused: %v", err)
		}
		if b.ISR != a.ISR || b.TMR != a.TMR || b.IRR != a.IRR || b.reg(LVTT) != a.reg(LVTT) {
			t.Fatal("exported state differs from what was imported")
		}
	})
}
