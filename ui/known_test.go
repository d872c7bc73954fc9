package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// kernelRig is a screen on a run with KVM's own local APIC.
func kernelRig(t *testing.T, w, h int) *rig {
	t.Helper()
	r := newRig(t, w, h, 400)
	r.s.Header.Engine, r.s.Header.LAPIC, r.s.Header.Provenance = "kvm", "kernel", trace.Measured
	k := &r.s.Known
	for i := range k {
		k[i] = vmm.Known{Basis: vmm.OnMeasure, By: "a reading"}
	}
	k[vmm.FigureBacking] = vmm.Known{Basis: vmm.OnInference, By: "a deduction"}
	k[vmm.FigureMode] = vmm.Known{Basis: vmm.OnNothing, By: "no event tells it"}
	apic := vmm.APICFrame{Known: true, At: r.m.frame.Status.Now, PPR: 0xe0, Deadline: r.m.frame.Status.Now + 1_000_000,
		Regs: trace.APICRegisters{LVTT: 0x400e7, Deadline: 987_654_321, SPIV: 0x1ff, TPR: 0x10}}
	apic.IRR.Add(0xd3)
	apic.ISR.Add(0xe7)
	for i := range r.s.CPUs {
		r.s.CPUs[i].APIC = apic
	}
	r.frame()
	return r
}

// What was read of the local APIC goes before what events tell, and each figure
// says what it rests on.
func TestTimerPaneShowsTheAPICThatWasRead(t *testing.T) {
	r := kernelRig(t, 200, 50)
	r.press("z")
	for _, want := range []string{"0x400e7", "measured", "in 1,000,000 cyc", "IRR d3", "ISR e7", "PPR 0xe0", "~hv", "mode ?",
		"~ inferred, ? not known", "local APIC registers", "MSR 0x6e0 987,654,321", "SVR 0x1ff", "a reading"} {
		r.wants(want)
	}
	r.s.CPUs[0].APIC.Regs.Deadline, r.s.CPUs[0].APIC.Deadline = 0, 0
	r.s.Status.Now++
	r.frame()
	r.wants("not armed")
	r.s.CPUs[0].APIC.Deadline = r.m.frame.Status.Now - 500
	r.s.Status.Now++
	r.frame()
	r.wants("pending yes") // it has expired, and its vector is nowhere
}

// A guest that is ahead of what is shown is said to be, wherever its registers
// are shown, on a small screen too.
func TestGuestAheadOfTheScreenIsTold(t *testing.T) {
	r := kernelRig(t, 80, 24)
	r.s.Status.Ahead = vmm.Ahead{Events: 30, Exits: 7}
	r.frame()
	r.wants("the guest is 7 exits ahead")
	r.wants("unmasked  measured 7 exits on")
	r.press("6,enter")
	r.wants("registers 7 exits on")
	r.s.Status.Ahead = vmm.Ahead{Events: 30, Exits: 1, AtLeast: true}
	r.frame()
	r.wants("the guest is 1 or more exits ahead")
	r.wants("registers at least 1 exit on")
	r.s.Status.Ahead = vmm.Ahead{}
	r.frame()
	if s := r.screen(); strings.Contains(s, "ahead") || !strings.Contains(s, "registers") {
		t.Errorf("nothing is ahead any more:\n%s", s)
	}
}

// The past of a live run is called so, with the key that leads back.
func TestPastOfALiveRunSaysHowToReturn(t *testing.T) {
	r := kernelRig(t, 80, 24)
	r.s.Status.Past, r.s.Status.CanBack, r.s.Status.Replaying = true, true, true
	r.s.Status.Head = r.m.frame.Status.Now + 5_000_000
	r.frame()
	r.wants("in the past")
	r.wants("G back to now")
	r.s.CPUs, r.s.Known = nil, r.s.Known.Past()
	for i := range r.s.Known {
		if vmm.Figure(i) == vmm.FigureRegisters {
			r.s.Known[i] = vmm.Known{Basis: vmm.OnNothing, By: "read of the present only"}
		}
	}
	r.s.Status.Now++
	r.frame()
	r.press("6,enter")
	r.wants("read of the present only")
	for _, keys := range []string{"G", "esc,G"} { // over the open exit too
		r.s.Done = nil
		r.press(keys)
		if n := len(r.s.Done); n == 0 || r.s.Done[n-1] != (vmm.Command{Verb: vmm.DoSeek, At: r.s.Status.Head}) {
			t.Errorf("%s asks for %+v, want the head of the run", keys, r.s.Done)
		}
	}
}

// A pane whose figures are inferred, or not known, says so on top.
func TestPaneTitlesSayWhatTheirFiguresRestOn(t *testing.T) {
	r := kernelRig(t, 120, 40)
	r.s.Known[vmm.FigureLateness] = vmm.Known{Basis: vmm.OnInference, By: "the entry"}
	r.s.Known[vmm.FigureFastpath] = vmm.Known{Basis: vmm.OnNothing, By: "no probe tells it"}
	r.s.Status.Now++
	r.frame()
	r.press("2,z")
	r.wants("~ lateness inferred")
	r.press("3")
	r.wants("not known: no probe tells it")
	r.send(tea.WindowSizeMsg{Width: MinWidth, Height: MinHeight})
	r.wants("not known: no p")
	r.press("4")
	if s := r.screen(); strings.Contains(s, "not known") || strings.Contains(s, "inferred") {
		t.Errorf("kicks are measured here:\n%s", s)
	}
}

// The help of a pane lists what its figures rest on.
func TestHelpSaysWhatFiguresRestOn(t *testing.T) {
	r := kernelRig(t, 120, 60)
	r.press("1,?")
	r.wants("LAPIC registers — measured: a reading")
	r.wants("hv or sw — inferred: a deduction")
	r.wants("mode — not available: no event tells it")
	r.press("?,3,?")
	r.wants("fastpath result — measured: a reading")
	if strings.Contains(r.screen(), "LAPIC registers") {
		t.Error("the help of Fastpath lists figures of Timer")
	}
}

// The results of a kernel's fastpath are its own, whatever rules are nearest to it.
func TestFastpathOfAKernelIsNotCalledARuleSet(t *testing.T) {
	r := kernelRig(t, 200, 50)
	r.press("3z")
	r.wants("kernel ~")
	r.s.Header.LAPIC = "vmm"
	r.s.Status.Now++
	r.frame()
	if s := r.screen(); strings.Contains(s, "kernel ~") {
		t.Errorf("the loop's own fastpath is called the kernel's:\n%s", s)
	}
}
