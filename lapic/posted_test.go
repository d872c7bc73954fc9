package lapic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPostReportsWhatIsLeftToDo(t *testing.T) {
	var d Descriptor
	steps := []struct {
		v           Vector
		already, on bool
	}{
		{0x41, false, false}, // notify
		{0x41, true, true},   // PIR set already
		{0x42, false, true},  // a notification is on its way
	}
	for i, s := range steps {
		if already, on := d.Post(s.v); already != s.already || on != s.on {
			t.Errorf("step %d: Post(%#x) = %v, %v, want %v, %v", i, s.v, already, on, s.already, s.on)
		}
	}
}

func TestSyncMovesOnlyWithON(t *testing.T) {
	var d Descriptor
	var irr Set256
	irr.Set(0x41)
	d.Post(0x41)
	d.Post(0x30)
	d.ON = false
	if moved, fresh, highest, ok := d.Sync(&irr); moved != 0 || fresh || highest != 0x41 || !ok {
		t.Errorf("ON clear: %d, %v, %#x, %v", moved, fresh, highest, ok)
	}
	if d.PIR.Len() != 2 {
		t.Errorf("ON clear: PIR %x", d.PIR)
	}
	d.ON = true
	if moved, fresh, highest, ok := d.Sync(&irr); moved != 2 || !fresh || highest != 0x41 || !ok {
		t.Errorf("ON set: %d, %v, %#x, %v", moved, fresh, highest, ok)
	}
	if !d.PIR.Empty() || d.ON || irr.Len() != 2 {
		t.Errorf("afterwards: %+v, IRR %x", d, irr)
	}
	d.Post(0x41)
	if moved, fresh, _, _ := d.Sync(&irr); moved != 1 || fresh {
		t.Errorf("vector in IRR already: moved %d, fresh %v", moved, fresh)
	}
}

func TestSyncOfNothing(t *testing.T) {
	var d Descriptor
	var irr Set256
	if moved, fresh, _, ok := d.Sync(&irr); moved != 0 || fresh || ok {
		t.Errorf("%d, %v, %v", moved, fresh, ok)
	}
}

func TestLoadAndUnload(t *testing.T) {
	d := Descriptor{NV: NotifyVector}
	d.Unload(true, false)
	if !d.SN || d.NV != NotifyVector {
		t.Errorf("preempted: %+v", d)
	}
	d.PIR.Set(0x41) // posted by hardware while suppressed: ON stays clear
	d.Load()
	if d.SN || !d.ON {
		t.Errorf("loaded with PIR not empty: %+v", d)
	}
	d.Sync(&Set256{})
	d.Unload(false, true)
	if d.SN || d.NV != WakeupVector {
		t.Errorf("blocked: %+v", d)
	}
	d.Load()
	if d.ON || d.NV != NotifyVector {
		t.Errorf("loaded with PIR empty: %+v", d)
	}
}

func TestSyncLosesNothingAndIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Descriptor
		var irr, all Set256
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			v := Vector(rapid.Uint8().Draw(t, "vector"))
			all.Set(v)
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				irr.Set(v)
			case 1:
				d.Post(v)
			case 2:
				d.Post(v)
				d.Sync(&irr)
			}
		}
		had := d.PIR.Len()
		moved, _, highest, ok := d.Sync(&irr)
		if moved != had || irr != all || !d.PIR.Empty() || d.ON {
			t.Fatalf("moved %d of %d, IRR %x, want %x", moved, had, irr, all)
		}
		again, fresh, highest2, ok2 := d.Sync(&irr)
		if again != 0 || fresh || irr != all || highest2 != highest || ok2 != ok {
			t.Fatalf("a second Sync moved %d, fresh %v", again, fresh)
		}
	})
}
