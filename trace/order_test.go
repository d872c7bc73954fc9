package trace

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

func TestOrder(t *testing.T) {
	ev := func(k Kind, v uint8, at clock.TSC) Event { return Event{Kind: k, VCPU: v, TSC: at} }
	tests := []struct {
		name   string
		events []Event
		want   string // of the last event, "" if it may come
	}{
		{"exit and entry alternate", []Event{ev(KindEntry, 0, 1), ev(KindExit, 0, 2), ev(KindEntry, 0, 2)}, ""},
		{"begins in the guest", []Event{ev(KindExit, 0, 1)}, ""},
		{"two exits", []Event{ev(KindExit, 0, 1), ev(KindExit, 0, 2)}, "a second exit of vCPU 0"},
		{"two entries", []Event{ev(KindEntry, 3, 1), ev(KindEntry, 3, 2)}, "a second entry of vCPU 3"},
		{"entries of two vCPUs", []Event{ev(KindEntry, 0, 1), ev(KindEntry, 1, 2)}, ""},
		{"back in time", []Event{ev(KindEntry, 0, 9), ev(KindExit, 0, 8)}, "exit of vCPU 0 at 8, before 9"},
		{"another vCPU lags", []Event{ev(KindEntry, 0, 9), ev(KindEntry, 1, 8)}, ""},
		{"handler in the host", []Event{ev(KindExit, 0, 1), ev(KindGuestIRQ, 0, 2)}, "guest_irq while vCPU 0 is in the host"},
		{"handler in the guest", []Event{ev(KindEntry, 0, 1), ev(KindGuestIRQ, 0, 2)}, ""},
		{"handler of who knows", []Event{ev(KindGuestIRQ, 0, 2)}, ""},
		{"halt in the guest", []Event{ev(KindEntry, 0, 1), ev(KindHalt, 0, 2)}, "halt while vCPU 0 is in the guest"},
		{"delivery to the guest", []Event{ev(KindEntry, 0, 1), ev(KindDeliver, 0, 2)}, ""},
		{"after a gap", []Event{ev(KindExit, 0, 1), ev(KindLost, NoCPU, 2), ev(KindExit, 0, 3)}, ""},
		{"after the end", []Event{ev(KindEnd, NoCPU, 1), ev(KindEntry, 0, 2), ev(KindExit, 0, 3), ev(KindEntry, 0, 4)},
			"a second entry of vCPU 0 after the end"},
		{"on the way at the end", []Event{ev(KindEnd, NoCPU, 1), ev(KindEntry, 0, 2), ev(KindEntry, 1, 2)}, ""},
		{"cost of a notification", []Event{ev(KindEntry, 0, 1), {Kind: KindCost, VCPU: 0, TSC: 2,
			A: PackCosts(PhaseCost{PhaseNotify, 500}, PhaseCost{PhasePIRSync, 40})}}, ""},
		{"cost in the guest", []Event{ev(KindEntry, 0, 1), {Kind: KindCost, VCPU: 0, TSC: 2,
			A: PackCosts(PhaseCost{PhasePrepare, 500}, PhaseCost{})}}, "cost while vCPU 0 is in the guest"},
		{"the step finishes", []Event{ev(KindEnd, NoCPU, 1), ev(KindAPIC, 0, 2)}, ""},
	}
	for _, tt := range tests {
		var o Order
		for i := range tt.events {
			err := o.Check(&tt.events[i])
			switch last := i == len(tt.events)-1; {
			case !last && err != nil:
				t.Errorf("%s: event %d: %v", tt.name, i, err)
			case last && tt.want == "" && err != nil:
				t.Errorf("%s: %v", tt.name, err)
			case last && tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
	}
}

func TestVerifyNamesTheFirstImpossibleEvent(t *testing.T) {
	events := guestEvents(chunkEvents+100, 1)
	rec := openBytes(t, record(t, testHeader(), events))
	if err := rec.Verify(); err != nil {
		t.Errorf("a good recording: %v", err)
	}
	bad := chunkEvents + 50
	for events[bad].Kind != KindExit {
		bad++
	}
	events[bad+1] = events[bad]
	rec = openBytes(t, record(t, testHeader(), events))
	err := rec.Verify()
	var de *DamageError
	if !errors.As(err, &de) || de.Seq != Seq(bad+1) || de.Offset != rec.chunks[1].offset {
		t.Errorf("error %v, want event %d in the block at %d", err, bad+1, rec.chunks[1].offset)
	}
}

func TestStreamsAreInOrder(t *testing.T) {
	files, _ := filepath.Glob("testdata/streams/*.txt")
	for _, f := range files {
		var o Order
		for i, e := range readStream(t, f).events {
			if err := o.Check(&e); err != nil {
				t.Errorf("%s: event %d: %v", filepath.Base(f), i, err)
			}
		}
	}
}
