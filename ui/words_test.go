package ui

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestEveryClauseAndRouteHasWords(t *testing.T) {
	for c := range trace.Clause(trace.NumClauses) {
		if clauseWords[c] == "" {
			t.Errorf("clause %v has no words", c)
		}
	}
	for r := trace.BadRoute + 1; r < trace.NumRoutes; r++ {
		if routeWords[r] == "" {
			t.Errorf("route %v has no words", r)
		}
	}
}

func TestEveryKnobHasARowAKeyAndWords(t *testing.T) {
	m := keymap.New(keymap.Default())
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		r := knobRowOf(k)
		if r == nil {
			t.Fatalf("knob %v has no row", k)
		}
		if m.Key(r.action) == "" || knobOfAction(r.action) != k {
			t.Errorf("knob %v: key %q turns %v", k, m.Key(r.action), knobOfAction(r.action))
		}
		for _, v := range r.values {
			if got, _, err := parseKnob(k.String() + "=" + v); err != nil || got != k {
				t.Errorf("the palette offers %v=%s, which reads as %v, %v", k, v, got, err)
			}
		}
	}
}

func TestEveryGlobalActionIsHandled(t *testing.T) {
	for _, b := range keymap.Default() {
		_, ok := handlers[b.Action]
		if _, goes := paneOf(b.Action); goes {
			ok = true
		}
		switch b.Action {
		case keymap.Up, keymap.Down, keymap.PageUp, keymap.PageDown, keymap.Top, keymap.Bottom:
			ok = true // panes take them
		case keymap.Compare:
			continue // refused with a reason
		}
		if (b.Scope == keymap.Global) != ok {
			t.Errorf("action %s in scope %v: handled %v", b.Name, b.Scope, ok)
		}
	}
}

func TestRegistersAreDecoded(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"LVTT", lvttWords(0x400ef), "tsc-deadline · vector 0xef · unmasked"},
		{"LVTT masked periodic", lvttWords(0x30030), "periodic · vector 0x30 · masked"},
		{"ICR fixed", icrWords(1<<32 | 0xef), "fixed · vector 0xef · physical 0x1"},
		{"ICR self", icrWords(1<<18 | 0xb0), "fixed · vector 0xb0 · to self"},
		{"ICR INIT to all", icrWords(3<<18 | 5<<8), "INIT · vector 0x0 · to all but self"},
		{"ICR logical", icrWords(2<<32 | 1<<11 | 0x41), "fixed · vector 0x41 · logical 0x2"},
		{"flags", flagWords(0x246), "PF ZF IF"},
		{"mask", maskWords(0x105, []string{"A", "B", "C"}), "A|C|0x100"},
		{"empty mask", maskWords(0, []string{"A"}), "none"},
		{"vectors", vectorList(&trace.Vectors{1 << 48, 0, 0, 1 << 47}), "ef 30"},
		{"six vectors", vectorList(&trace.Vectors{0x3f << 32}), "25 24 23 22 +2"},
		{"TDCR 0xb", group3(uint64(divisor(0xb))), "1"},
		{"TDCR 0", group3(uint64(divisor(0))), "2"},
		{"TDCR 0xa", group3(uint64(divisor(0xa))), "128"},
		{"MSR exit", exitInfo(&trace.ExitRecord{Reason: trace.ExitMSRWrite, Info1: 0x6e0, Info2: 1234567}), "TSC_DEADLINE=1,234,567"},
		{"APIC page", exitInfo(&trace.ExitRecord{Reason: trace.ExitMMIO, Info1: 0xfee00380}), "APIC TMICT"},
		{"other page", exitInfo(&trace.ExitRecord{Reason: trace.ExitMMIO, Info1: 0xfed00380}), "gpa 0xfed00380"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestPredicateStopsAtTheFailingClause(t *testing.T) {
	x := &trace.ExitRecord{Reason: trace.ExitMSRWrite, Info1: 0x6e0}
	on := func(set vmm.RuleSet) *kernel.Fastpath {
		host := kernel.At(kernel.Default, kernel.Intel)
		f := host.FastpathAs(set)
		return &f
	}
	tests := []struct {
		name   string
		rules  vmm.RuleSet
		failed trace.Clause
		held   int
		words  string
		after  int
	}{
		{"off", vmm.RulesOff, trace.ClauseKnobOff, 0, "fastpath on", 0},
		{"as posted, APICv off", vmm.RulesS004, trace.ClauseAPICvOff, 2, "APICv active", 8},
		{"5.15, MWAIT in guest", vmm.Rules515, trace.ClauseMWAITInGuest, 4, "MWAIT exits", 5},
		{"5.15, timer off", vmm.Rules515, trace.ClauseHVOff, 3, "preemption_timer on", 6},
		{"6.18, request", vmm.Rules618, trace.ClauseRequest, 3, "no request pending", 2},
		{"unlisted", vmm.Rules618, trace.ClausePostable, 0, "not: the timer can be posted", 6},
	}
	for _, tt := range tests {
		var n [3]int
		words := ""
		for _, tm := range judge(fastTerms(on(tt.rules), x), tt.failed) {
			n[tm.state]++
			if tm.state == termFailed {
				words = tm.words
			}
		}
		if n != [3]int{tt.held, 1, tt.after} || words != tt.words {
			t.Errorf("%s: held, failed, not reached = %v with %q, want %d, 1, %d with %q", tt.name, n, words, tt.held, tt.after, tt.words)
		}
	}
	for _, tm := range judge(fastTerms(on(vmm.Rules515), x), trace.ClauseNone) {
		if tm.state != termHeld || tm.words == "" {
			t.Errorf("nothing failed, but term %+v", tm)
		}
	}
}

func TestDisassemblyAlignsToTheInstruction(t *testing.T) {
	cpu := &vmm.CPUFrame{CodeAt: 0x1000, Bits: 64, Code: []byte{
		0x48, 0xb8, 0x0f, 0x30, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, // mov rax, imm64 that looks like wrmsr
		0x0f, 0x30, 0xf4, 0xeb}} // wrmsr; hlt; a jmp that is cut off
	lines, cur := disassemble(cpu, 0x100a)
	if len(lines) < 3 || lines[cur].at != 0x100a || lines[cur].words != "wrmsr" || lines[cur+1].words != "hlt" {
		t.Fatalf("disassemble = %+v, current %d", lines, cur)
	}
	if last := lines[len(lines)-1]; last.words == "(bad)" {
		t.Errorf("the cut-off instruction is shown as %+v", last)
	}
	if lines, _ := disassemble(cpu, 0x2000); lines != nil {
		t.Errorf("code outside of the frame gives %+v", lines)
	}
}

func TestFuzzyPrefersWholeAndEarlyMatches(t *testing.T) {
	if a, b := fuzzy("fastpath", "fast"), fuzzy("pane-fastpath", "fast"); a >= b {
		t.Errorf("fuzzy scores fastpath %d, pane-fastpath %d", a, b)
	}
	if a, b := fuzzy("kick-tax-cut", "ktc"), fuzzy("kick-tax-cut", "kick"); a <= b || a < 0 {
		t.Errorf("fuzzy scores ktc %d, kick %d", a, b)
	}
	if got := fuzzy("apicv", "vpa"); got != -1 {
		t.Errorf("fuzzy of runes out of order = %d, want −1", got)
	}
}

// kvm_exit carries no leaf, no address of an EPT violation and no MSR; what other
// lines do not tell is not known, and 0 would be a claim.
func TestUnknownExitInformationIsNotShown(t *testing.T) {
	for _, r := range []trace.ExitReason{trace.ExitMSRWrite, trace.ExitMSRRead, trace.ExitCPUID, trace.ExitEPTViolation,
		trace.ExitExternalInterrupt} {
		if got := exitInfo(&trace.ExitRecord{Reason: r}); got != "" {
			t.Errorf("%v without information: %q", r, got)
		}
	}
	if got := exitInfo(&trace.ExitRecord{Reason: trace.ExitMSRWrite, Info1: 0x80b}); got == "" {
		t.Error("a write of 0 to a known MSR shows nothing")
	}
}
