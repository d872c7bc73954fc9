package lapic

import "testing"

// armAndDeliver is the hot path: a deadline from WRMSR to EOI.
func armAndDeliver(a *APIC, now Sample) bool {
	e, _ := a.WriteMSR(MSRDeadline, uint64(now.Guest)+100_000, now)
	p := a.Restart(now, hv5)
	ticks, _ := PreemptionTicks(a.Timer.HVDeadline, now.Host, 5)
	a.Expire()
	m, ok := a.InjectTimer()
	a.CancelHV()
	a.Post(m.Vector, false)
	a.Sync()
	w := a.WaitExpire(now.Guest+99_900, true, false, false)
	v, deliverable := a.Deliverable()
	a.Ack(v)
	a.ReadMMIO(0x390, 4, now)
	end := a.EOI()
	return e.Has(EffectArm) && p.Backing == BackHV && ticks > 0 && ok && w.Wait > 0 && deliverable && end.InService
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	a := newDeadline(t, 1000)
	worked := true
	if n := testing.AllocsPerRun(100, func() { worked = worked && armAndDeliver(&a, at(1000)) }); n != 0 {
		t.Errorf("a deadline allocates %v times", n)
	}
	if !worked {
		t.Error("the path did not run as meant")
	}
	var copied APIC
	if n := testing.AllocsPerRun(100, func() { copied = a }); n != 0 || copied != a {
		t.Errorf("copying allocates %v times", n)
	}
	var p [StateSize]byte
	if n := testing.AllocsPerRun(100, func() { a.Export(&p, false, at(0)); a.Import(&p, false, at(0)) }); n != 0 {
		t.Errorf("export and import allocate %v times", n)
	}
}

func BenchmarkDeadline(b *testing.B) {
	a := newDeadline(b, 1000)
	for b.Loop() {
		armAndDeliver(&a, at(1000))
	}
}

func BenchmarkCopy(b *testing.B) {
	a := newDeadline(b, 1000)
	var c APIC
	for b.Loop() {
		c = a
		a.Timer.Advance = c.Timer.Advance
	}
}
