package lapic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestReceive(t *testing.T) {
	enabled := func(*APIC) {}
	soft := func(a *APIC) { a.Page[SPIV>>4] = 0xff }
	hard := func(a *APIC) { a.Base = DefaultBase }
	tests := []struct {
		name    string
		prepare func(*APIC)
		m       Message
		want    Outcome
	}{
		{"fixed", enabled, Message{Vector: 0x40}, OutcomeVector},
		{"lowest priority", enabled, Message{Vector: 0x40, Delivery: LowestPriority}, OutcomeVector},
		{"level asserted", enabled, Message{Vector: 0x40, Level: true, Assert: true}, OutcomeVector},
		{"level de-asserted", enabled, Message{Vector: 0x40, Level: true}, OutcomeIgnored},
		{"software-disabled", soft, Message{Vector: 0x40}, OutcomeDisabled},
		{"hardware-disabled", hard, Message{Vector: 0x40}, OutcomeDisabled},
		{"illegal vector passes in KVM", enabled, Message{Vector: 1}, OutcomeVector},
		{"NMI reaches a disabled APIC", soft, Message{Delivery: NMI, Vector: 9}, OutcomeNMI},
		{"SMI", soft, Message{Delivery: SMI}, OutcomeSMI},
		{"INIT", soft, Message{Delivery: INIT, Assert: true}, OutcomeINIT},
		{"INIT level de-assert", enabled, Message{Delivery: INIT, Level: true}, OutcomeIgnored},
		{"INIT level assert", enabled, Message{Delivery: INIT, Level: true, Assert: true}, OutcomeINIT},
		{"start-up", soft, Message{Delivery: StartUp, Vector: 8}, OutcomeStartUp},
		{"ExtINT", enabled, Message{Delivery: ExtINT}, OutcomeExtINT},
		{"reserved", enabled, Message{Delivery: RemoteRead}, OutcomeIgnored},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		tt.prepare(&a)
		before := a
		if got := a.Receive(tt.m); got != tt.want {
			t.Errorf("%s: Receive = %v, want %v", tt.name, got, tt.want)
		}
		if a != before {
			t.Errorf("%s: Receive changed the APIC", tt.name)
		}
	}
}

func TestDestinationsInXAPICMode(t *testing.T) {
	const flat, cluster, invalid = 0xffffffff, 0x0fffffff, 0x3fffffff
	tests := []struct {
		name    string
		dfr     uint64
		logical bool
		dest    uint32
		want    bool
	}{
		{"physical, own ID", flat, false, 5, true},
		{"physical, other ID", flat, false, 4, false},
		{"physical broadcast", flat, false, 0xff, true},
		{"physical, 32-bit broadcast is none", flat, false, 0xffffffff, false},
		{"flat, own bit", flat, true, 0x20, true},
		{"flat, among others", flat, true, 0x61, true},
		{"flat, other bits", flat, true, 0x5f &^ 0x20, false},
		{"flat, none", flat, true, 0, false},
		{"logical broadcast", flat, true, 0xff, true},
		{"cluster, own", cluster, true, 0x24, true},
		{"cluster, set in cluster", cluster, true, 0x26, true},
		{"cluster, other bit", cluster, true, 0x21, false},
		{"cluster, other cluster", cluster, true, 0x14, false},
		{"cluster broadcast", cluster, true, 0xff, true},
		{"invalid model", invalid, true, 0x24, false},
	}
	for _, tt := range tests {
		a := newAPIC(t)
		mustWrite(t, &a, ID, 5<<24)
		ldr := uint64(0x20 << 24)
		if tt.dfr != flat {
			ldr = 0x24 << 24 // cluster 2, bit 2
		}
		mustWrite(t, &a, LDR, ldr)
		mustWrite(t, &a, DFR, tt.dfr)
		if got := a.Matches(Message{Dest: tt.dest, Logical: tt.logical, IPI: true}); got != tt.want {
			t.Errorf("%s: Matches = %v", tt.name, got)
		}
	}
}

func TestDestinationsInX2APICMode(t *testing.T) {
	tests := []struct {
		name    string
		logical bool
		ipi     bool
		dest    uint32
		want    bool
	}{
		{"physical, own ID", false, true, 0x123, true},
		{"physical, low byte only", false, true, 0x23, false},
		{"physical broadcast", false, true, 0xffffffff, true},
		{"8-bit broadcast by IPI", false, true, 0xff, false},
		{"8-bit broadcast by MSI", false, false, 0xff, true},
		{"logical, own", true, true, 0x12<<16 | 8, true},
		{"logical, set in cluster", true, true, 0x12<<16 | 0xffff, true},
		{"logical, other bit", true, true, 0x12<<16 | 4, false},
		{"logical, other cluster", true, true, 0x11<<16 | 8, false},
		{"logical broadcast", true, true, 0xffffffff, true},
	}
	for _, tt := range tests {
		a := New(0x123, false, testConfig())
		x2apic(t, &a)
		if got := a.Matches(Message{Dest: tt.dest, Logical: tt.logical, IPI: tt.ipi}); got != tt.want {
			t.Errorf("%s: Matches = %v", tt.name, got)
		}
	}
	a := newAPIC(t)
	a.WriteBase(DefaultBase)
	if a.Matches(Message{Dest: 0xff}) || a.Matches(Message{Dest: 0}) {
		t.Error("a disabled APIC is addressed")
	}
}

func TestPickLowestHashesVector(t *testing.T) {
	tests := []struct {
		v          Vector
		candidates uint64
		want       int
		ok         bool
	}{
		{0x40, 0, 0, false},
		{0x40, 1 << 7, 7, true},
		{0x40, 0b1111, 0, true}, // 64 mod 4 = 0
		{0x41, 0b1111, 1, true},
		{0x43, 0b10101010, 7, true}, // the fourth of 1, 3, 5, 7
		{0xff, ^uint64(0), 63, true},
	}
	for _, tt := range tests {
		if cpu, ok := PickLowest(tt.v, tt.candidates); cpu != tt.want || ok != tt.ok {
			t.Errorf("PickLowest(%#x, %b) = %d, %v, want %d, %v", tt.v, tt.candidates, cpu, ok, tt.want, tt.ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.Uint64Min(1).Draw(t, "candidates")
		cpu, ok := PickLowest(Vector(rapid.Uint8().Draw(t, "vector")), c)
		if !ok || c>>cpu&1 == 0 {
			t.Fatalf("picked %d, not among %b", cpu, c)
		}
	})
}

func TestLocalDeliver(t *testing.T) {
	a := newAPIC(t)
	for _, tt := range []struct {
		name string
		reg  Reg
		v    uint64
		want Message
		ok   bool
	}{
		{"timer", LVTT, 0xef, Message{Vector: 0xef, Assert: true}, true},
		{"masked", LVTT, 0x100ef, Message{}, false},
		{"LINT1 as NMI", LVT1, 0x400, Message{Delivery: NMI, Assert: true}, true},
		{"LINT0 level, fixed", LVT0, 0x8041, Message{Vector: 0x41, Level: true, Assert: true}, true},
		{"LINT0 as ExtINT", LVT0, 0x700, Message{Delivery: ExtINT, Assert: true}, true},
		{"performance counter as NMI", LVTPC, 0x400, Message{Delivery: NMI, Assert: true}, true},
	} {
		mustWrite(t, &a, tt.reg, tt.v)
		if m, ok := a.LocalDeliver(tt.reg); m != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v", tt.name, m, ok)
		}
	}
	if _, ok := a.LocalDeliver(LVTPC); ok {
		t.Error("a performance-counter interrupt did not mask its vector")
	}
	a.WriteBase(DefaultBase)
	if _, ok := a.LocalDeliver(LVT1); ok {
		t.Error("a disabled APIC delivers a local interrupt")
	}
}

func TestLINT0Modes(t *testing.T) {
	for _, tt := range []struct {
		name     string
		lvt0     uint64
		pic, nmi bool
	}{
		{"ExtINT", 0x700, true, false},
		{"ExtINT masked", 0x10700, false, false},
		{"NMI", 0x400, false, true},
		{"NMI masked", 0x10400, false, false},
		{"fixed", 0x41, false, false},
	} {
		a := newAPIC(t)
		mustWrite(t, &a, LVT0, tt.lvt0)
		if a.AcceptsPIC() != tt.pic || a.PICNMI() != tt.nmi {
			t.Errorf("%s: AcceptsPIC = %v, PICNMI = %v", tt.name, a.AcceptsPIC(), a.PICNMI())
		}
		a.WriteBase(DefaultBase)
		if !a.AcceptsPIC() {
			t.Errorf("%s: the PIC does not reach the CPU past a disabled APIC", tt.name)
		}
	}
}

func TestNamesCoverTheirEnumerations(t *testing.T) {
	for name, n := range map[string]int{
		"outcomes": len(OutcomeNames) - int(numOutcomes), "verdicts": len(VerdictNames) - int(numVerdicts),
		"tune verdicts": len(TuneVerdictNames) - int(numTuneVerdicts),
	} {
		if n != 0 {
			t.Errorf("%s: %d names too many", name, n)
		}
	}
	for _, s := range []string{OutcomeIllegal.String(), StartNoFreq.String(), TuneOff.String(), WaitNotInjected.String(),
		ExtINT.String(), ToOthers.String(), ReservedMode.String(), ReadWrite.String()} {
		if s == "" || s == "bad" {
			t.Errorf("a value has no name")
		}
	}
	if Outcome(99).String() != "bad" || Verdict(99).String() != "bad" {
		t.Error("values out of range do not say so")
	}
}
