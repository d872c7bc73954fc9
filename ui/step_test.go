package ui

import (
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestInspectorGoesAlongWithSteps(t *testing.T) {
	r := newRig(t, 120, 40, 9_000)
	r.press("6,enter")
	first := r.m.open.num
	r.press("s")
	if got := r.m.frame.State.Exits.Last(0).Num; r.m.open.num != got || got == first {
		t.Errorf("after a step exit %d is open, want the newest, %d, and not %d", r.m.open.num, got, first)
	}
	r.press("left")
	was := r.m.open.num
	r.press(" ")
	r.frame()
	r.press(" ")
	if r.m.open.num != was {
		t.Errorf("an exit that was chosen is left for %d when the run goes on", r.m.open.num)
	}
}

func TestSelectedAndLatestPlacesCanBeJumpedTo(t *testing.T) {
	r := newRig(t, 120, 40, 11_500)
	r.s.Status.CanBack = true
	r.frame()
	r.press("2,up,up,up,6,up,up")
	d := r.m.panes[paneDeadlines].(*deadlinesPane).chosen(r.m.scene())
	x := exitByNum(&r.m.frame.State, r.m.panes[paneExits].(*exitsPane).chosen(r.m.scene()))
	r.press("'")
	r.wants("selected deadline " + group3(uint64(d.Num)))
	r.wants("selected exit " + group3(uint64(x.Num)))
	r.wants("latest deadline ")
	r.press(`"selected d",enter,'`)
	r.press(`"selected e",enter`)
	want := []vmm.Command{{Verb: vmm.DoSeek, At: d.ISRAt}, {Verb: vmm.DoSeek, At: x.At}}
	if !slices.Equal(r.s.Done, want) {
		t.Errorf("the session was asked for %+v, want %+v", r.s.Done, want)
	}
}
