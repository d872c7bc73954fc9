package lapic

import (
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// drive takes a random walk through what a guest and a loop do with an APIC,
// checking the invariants after each step. Time moves forward.
func drive(t *rapid.T, a *APIC, steps int) {
	now := clock.Nanos(0)
	hv := HV{Usable: rapid.Bool().Draw(t, "hv"), Multi: 5}
	for range rapid.IntRange(0, steps).Draw(t, "steps") {
		now += clock.Nanos(rapid.Int64Range(0, 3_000_000).Draw(t, "pause"))
		walk(t, a, at(now), hv)
		if err := invariants(a); err != nil {
			t.Fatal(err)
		}
	}
}

// walk takes one step.
func walk(t *rapid.T, a *APIC, now Sample, hv HV) {
	var e Effect
	switch rapid.IntRange(0, 8).Draw(t, "step") {
	case 0:
		w := Table[rapid.IntRange(0, len(Table)-1).Draw(t, "row")]
		e, _ = a.Write(w.Reg, uint64(rapid.Uint32().Draw(t, "value")), now)
	case 1:
		m := TimerMode(rapid.IntRange(0, 3).Draw(t, "mode"))
		e, _ = a.Write(LVTT, mode(m)|uint64(rapid.IntRange(0, 1).Draw(t, "masked"))<<16, now)
	case 2:
		e, _ = a.Write(TMICT, uint64(rapid.IntRange(0, 2_000_000).Draw(t, "count")), now)
	case 3:
		ahead := clock.Cycles(rapid.Int64Range(-5000, 5_000_000).Draw(t, "ahead"))
		e = a.WriteDeadline(now.Guest.Add(ahead))
	case 4:
		a.Accept(Vector(rapid.IntRange(16, 255).Draw(t, "vector")), rapid.Bool().Draw(t, "level"))
	case 5:
		if v, ok := a.Deliverable(); ok {
			a.Ack(v)
		}
	case 6:
		a.EOI()
	case 7:
		expireNow(a, rapid.Bool().Draw(t, "apicv"))
		a.WaitExpire(now.Guest, true, false, false)
	case 8:
		e, _ = a.Write(SPIV, uint64(rapid.SampledFrom([]int{0xff, 0x1ff}).Draw(t, "spiv")), now)
	}
	if e.Has(EffectArm) {
		p := a.Restart(now, hv)
		checkPlan(t, a, p, now)
		if p.Expire {
			expireNow(a, true)
			if a.Timer.Mode != Periodic {
				a.CancelHV()
			}
		}
	}
}

// expireNow is the loop's part of an expiry: inject at once, or leave it pending.
func expireNow(a *APIC, direct bool) {
	if !a.Expire() {
		return
	}
	if !direct {
		a.Timer.Pending = true
		return
	}
	if m, ok := a.InjectTimer(); ok && a.Receive(m) == OutcomeVector {
		a.Accept(m.Vector, false)
	}
}

// checkPlan checks what holds of every plan: one backing, none in the past.
func checkPlan(t *rapid.T, a *APIC, p Plan, now Sample) {
	switch {
	case p.Backing == BackHV && (!a.Timer.HVInUse || !p.CancelSW):
		t.Fatalf("preemption timer with the hrtimer left armed: %+v", p)
	case p.Backing == BackSW && a.Timer.HVInUse:
		t.Fatalf("hrtimer with the preemption timer in use: %+v", p)
	case p.Backing == BackHV && p.HVFire < now.Host:
		t.Fatalf("preemption timer due before now: %+v", p)
	case p.Wrapped:
		t.Fatalf("a deadline seconds away overflows: %+v", p)
	case p.Expire && a.Timer.Pending && a.Timer.Mode != Periodic:
		t.Fatalf("an expiry on top of a pending one: %+v", p)
	}
}

func TestInvariantsHoldForAnyGuest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPIC(t, inEra(rapid.SampledFrom(eras).Draw(rt, "era")))
		if rapid.Bool().Draw(rt, "x2apic") {
			x2apic(t, &a)
		}
		a.SetAdvance(TuningAdaptive, 0, rapid.SampledFrom(tunings).Draw(rt, "tuning"))
		drive(rt, &a, 60)
	})
}

func TestPendingExpiryKeepsItsTimerUntilTheGuestWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newDeadline(t, 1000)
		a.WriteDeadline(clock.TSC(rapid.Uint64Min(1).Draw(rt, "deadline")))
		a.Timer.Pending = true
		before := a
		now := at(clock.Nanos(rapid.Int64Range(0, 1e9).Draw(rt, "now")))
		if p := a.Restart(now, hv5); p != (Plan{HV: StartPending, SW: StartPending}) || a != before {
			rt.Fatalf("restart with a pending expiry: %+v", p)
		}
		if s := a.SoftStart(now); s.Verdict != StartPending {
			rt.Fatalf("SoftStart with a pending expiry: %+v", s)
		}
		a.WriteDeadline(1)
		if a.Timer.Pending {
			rt.Fatal("a guest write keeps the pending expiry")
		}
	})
}

func TestCurrentCountNeverRisesWithoutAnEvent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPIC(t)
		mustWrite(t, &a, TDCR, uint64(rapid.IntRange(0, 11).Draw(rt, "tdcr")))
		mustWrite(t, &a, LVTT, mode(TimerMode(rapid.IntRange(0, 1).Draw(rt, "mode"))))
		mustWrite(t, &a, TMICT, uint64(rapid.Uint32Min(1).Draw(rt, "count")))
		// Strictly after the start, where the modulo makes it read 0.
		now, last := clock.Nanos(1), a.CurrentCount(1)
		for range 20 {
			now += clock.Nanos(rapid.Int64Range(0, int64(a.Timer.Target)/8+1).Draw(rt, "pause"))
			count := a.CurrentCount(now)
			if count > last || uint64(count) > uint64(a.Timer.Period) {
				rt.Fatalf("TMCCT rose from %d to %d at %d ns", last, count, now)
			}
			last = count
		}
		if a.CurrentCount(a.Timer.Target) != 0 {
			rt.Fatal("TMCCT is not 0 at the target")
		}
	})
}

func TestAdvanceStaysBelowTheCeiling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		era := rapid.SampledFrom(tunings[1:]).Draw(rt, "era")
		khz := rapid.Uint32Min(1).Draw(rt, "khz")
		adv := AdvanceInit
		for range 50 {
			delta := clock.Cycles(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-20000, 20000)).Draw(rt, "delta"))
			res, _ := era.Step(adv, delta, khz)
			if res.Old != adv || res.New < 0 || res.New > AdvanceMax {
				rt.Fatalf("%v: Step(%d, %d, %d) = %+v", era, adv, delta, khz, res)
			}
			adv = res.New
		}
	})
}

func TestWaitNeverExceedsTheAdvance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		era := rapid.SampledFrom(eras[2:]).Draw(rt, "era")
		a := newDeadline(t, 0, inEra(era))
		a.SetAdvance(TuningAdaptive, 0, Tune5_4)
		a.SetEntryAdvance(clock.Nanos(rapid.IntRange(0, 2000).Draw(rt, "entry")))
		deadline := clock.TSC(rapid.Uint64Range(1, 1<<62).Draw(rt, "deadline"))
		now := clock.TSC(rapid.Uint64Range(0, 1<<62).Draw(rt, "now"))
		a.Timer.Expired = deadline
		before := a.Timer.Advance
		w := a.WaitExpire(now, true, rapid.Bool().Draw(rt, "scaled"), true)
		limit := a.Timer.Scale.Cycles(uint64(max(before, a.Timer.Advance)))
		if w.Wait < 0 || w.Wait > w.Cap || w.Cap > clock.Cycles(limit) || w.Delta >= 0 && w.Wait != 0 {
			rt.Fatalf("%+v with an advance of %d to %d", w, before, a.Timer.Advance)
		}
		if w.Delta != now.Add(a.Timer.EntryCycles).Sub(deadline) || a.Timer.Expired != 0 {
			rt.Fatalf("%+v, expired deadline %d", w, a.Timer.Expired)
		}
	})
}

func TestHostTimersAreNeverLate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		advance := clock.Nanos(rapid.IntRange(0, 5000).Draw(rt, "advance"))
		a := newDeadline(t, advance)
		now := at(clock.Nanos(rapid.Int64Range(0, 1e12).Draw(rt, "now")))
		ahead := clock.TSC(rapid.Uint64Range(1, 1<<36).Draw(rt, "ahead"))
		a.WriteDeadline(now.Guest + ahead)
		if fire, due, v := a.HVStart(now, hv5); v != StartArmed || due != (fire == now.Host) || fire > now.Host+ahead {
			rt.Fatalf("HVStart %d cycles ahead: now+%d, %v, %v", ahead, fire-now.Host, due, v)
		}
		s := a.SoftStart(now)
		if s.Verdict == StartArmed && (s.FireAt <= now.Mono || s.FireAt+advance > now.Mono+clock.Nanos(ahead*2/5)) {
			rt.Fatalf("SoftStart %d cycles ahead: now+%d", ahead, s.FireAt-now.Mono)
		}
	})
}
