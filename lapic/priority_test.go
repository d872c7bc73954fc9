package lapic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestProcessorPriority(t *testing.T) {
	tests := []struct {
		name string
		tpr  uint8
		isr  []Vector
		want uint8
	}{
		{"idle", 0, nil, 0},
		{"TPR with subclass", 0x35, nil, 0x35},
		{"in service above TPR", 0x35, []Vector{0x41}, 0x40},
		{"same class: TPR, all 8 bits", 0x35, []Vector{0x3f}, 0x35},
		{"in service below TPR", 0x52, []Vector{0x41}, 0x52},
		{"highest in service counts", 0, []Vector{0x41, 0x80, 0x20}, 0x80},
		{"class 15", 0xff, []Vector{0xff}, 0xff},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		a.SetTPR(tt.tpr)
		for _, v := range tt.isr {
			a.Accept(v, false)
			a.Ack(v)
		}
		if got := a.PPR(); got != tt.want {
			t.Errorf("%s: PPR = %#x, want %#x", tt.name, got, tt.want)
		}
		if got := mustRead(t, &a, PPR, at(0)); got != uint64(tt.want) {
			t.Errorf("%s: PPR reads %#x", tt.name, got)
		}
	}
}

func TestDeliverableNeedsHigherClass(t *testing.T) {
	tests := []struct {
		name string
		tpr  uint8
		irr  []Vector
		want Vector
		ok   bool
	}{
		{"nothing pending", 0, nil, 0, false},
		{"above", 0x30, []Vector{0x41, 0x42}, 0x42, true},
		{"same class", 0x40, []Vector{0x4f}, 0, false},
		{"class 0 never", 0, []Vector{0x0f}, 0, false},
		{"class 1 at TPR 0", 0, []Vector{0x10}, 0x10, true},
		{"TPR 15 blocks all", 0xf0, []Vector{0xff}, 0, false},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		a.SetTPR(tt.tpr)
		for _, v := range tt.irr {
			a.Accept(v, false)
		}
		if v, ok := a.Deliverable(); v != tt.want || ok != tt.ok {
			t.Errorf("%s: Deliverable = %#x, %v, want %#x, %v", tt.name, v, ok, tt.want, tt.ok)
		}
	}
}

func TestSoftwareDisabledStillDeliversWhatItAccepted(t *testing.T) {
	a := newAPIC(t)
	a.Accept(0x41, false)
	mustWrite(t, &a, SPIV, 0xff)
	if _, ok := a.Deliverable(); !ok {
		t.Error("software disable hides a pending vector")
	}
	a.WriteBase(DefaultBase)
	if _, ok := a.Deliverable(); ok {
		t.Error("an APIC disabled by IA32_APIC_BASE delivers")
	}
}

func TestTaskPriorityTellsChangeFromFall(t *testing.T) {
	a := newAPIC(t)
	if e := mustWrite(t, &a, TPR, 0x50); e.Do != EffectTPR {
		t.Errorf("raising TPR has effects %#x", e.Do)
	}
	if e := mustWrite(t, &a, TPR, 0x50); e.Do != EffectNone {
		t.Errorf("writing TPR's own value has effects %#x", e.Do)
	}
	if e := mustWrite(t, &a, TPR, 0x20); e.Do != EffectTPR|EffectPPR {
		t.Errorf("lowering TPR has effects %#x", e.Do)
	}
	a.Accept(0x81, false)
	a.Ack(0x81)
	if e := mustWrite(t, &a, TPR, 0x10); e.Do != EffectTPR {
		t.Errorf("lowering TPR below the class in service has effects %#x", e.Do)
	}
	if a.SetCR8(9) || a.CR8() != 9 || mustRead(t, &a, TPR, at(0)) != 0x90 {
		t.Errorf("CR8 := 9 gives TPR %#x", mustRead(t, &a, TPR, at(0)))
	}
	if !a.SetCR8(0) {
		t.Error("CR8 := 0 does not report that PPR fell")
	}
}

func TestEndOfInterrupt(t *testing.T) {
	a := newAPIC(t, func(c *Config) { c.DirectedEOI = true })
	if e := mustWrite(t, &a, EOI, 0xffffffff); e != (Effect{Do: EffectEOI}) {
		t.Errorf("EOI with nothing in service: %+v", e)
	}
	for _, v := range []Vector{0x41, 0x91} {
		a.Accept(v, v == 0x41)
		a.Ack(v)
	}
	if a.IRR != (Set256{}) || a.ISR.Len() != 2 {
		t.Errorf("after two acknowledges: IRR %x, ISR %x", a.IRR, a.ISR)
	}
	if e := a.EOI(); e != (Effect{Do: EffectEOI, Vector: 0x91, InService: true}) {
		t.Errorf("first EOI: %+v", e)
	}
	b := a
	if e := a.EOI(); e != (Effect{Do: EffectEOI, Vector: 0x41, InService: true, Level: true, Broadcast: true}) {
		t.Errorf("EOI of a level-triggered vector: %+v", e)
	}
	mustWrite(t, &b, SPIV, 0x11ff)
	if e := b.EOI(); !e.Level || e.Broadcast {
		t.Errorf("EOI with broadcasts suppressed: %+v", e)
	}
}

func TestAcceptSetsTriggerMode(t *testing.T) {
	a := newAPIC(t)
	if a.Accept(0x41, true) {
		t.Error("first Accept reports the vector pending")
	}
	if !a.TMR.Has(0x41) {
		t.Error("level-triggered vector not in TMR")
	}
	if !a.Accept(0x41, false) {
		t.Error("second Accept does not report the vector pending")
	}
	if a.TMR.Has(0x41) {
		t.Error("edge-triggered vector still in TMR")
	}
	if already, on := a.Post(0x42, true); already || on || !a.TMR.Has(0x42) || a.IRR.Has(0x42) {
		t.Errorf("Post: %v, %v, TMR %x, IRR %x", already, on, a.TMR, a.IRR)
	}
	if moved, fresh, highest, ok := a.Sync(); moved != 1 || !fresh || highest != 0x42 || !ok {
		t.Errorf("Sync = %d, %v, %#x, %v", moved, fresh, highest, ok)
	}
	if got := mustRead(t, &a, IRR+0x20, at(0)); got != 1<<1|1<<2 {
		t.Errorf("IRR2 = %#x", got)
	}
	if got := mustRead(t, &a, TMR+0x20, at(0)); got != 1<<2 {
		t.Errorf("TMR2 = %#x", got)
	}
}

// naivePPR is the manual's rule, spelled out vector by vector.
func naivePPR(tpr uint8, isr map[Vector]bool) uint8 {
	top := 0
	for v, in := range isr {
		if in && int(v) > top {
			top = int(v)
		}
	}
	if tpr/16 >= uint8(top)/16 {
		return tpr
	}
	return uint8(top) / 16 * 16
}

func TestPriorityAgreesWithNaiveModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPIC(t)
		isr, irr := map[Vector]bool{}, map[Vector]bool{}
		tpr := uint8(0)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				v := Vector(rapid.IntRange(16, 255).Draw(rt, "vector"))
				a.Accept(v, false)
				irr[v] = true
			case 1:
				tpr = rapid.Uint8().Draw(rt, "tpr")
				before := naivePPR(uint8(a.reg(TPR)), isr)
				if fell := a.SetTPR(tpr); fell != (naivePPR(tpr, isr) < before) {
					rt.Fatalf("SetTPR(%#x) reports fell = %v", tpr, fell)
				}
			case 2:
				if v, ok := a.Deliverable(); ok {
					a.Ack(v)
					irr[v], isr[v] = false, true
				}
			case 3:
				if e := a.EOI(); e.InService {
					isr[e.Vector] = false
				}
			}
			ppr := naivePPR(tpr, isr)
			if a.PPR() != ppr {
				rt.Fatalf("PPR = %#x, want %#x", a.PPR(), ppr)
			}
			want, found := Vector(0), false
			for v, in := range irr {
				if in && uint8(v)/16 > ppr/16 && v >= want {
					want, found = v, true
				}
			}
			if v, ok := a.Deliverable(); v != want || ok != found {
				rt.Fatalf("Deliverable = %#x, %v, want %#x, %v", v, ok, want, found)
			}
		}
	})
}
