package ui

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// clauseWords says each clause in words, as the reason why something was not
// done.
var clauseWords = [trace.NumClauses]string{
	trace.ClauseNone:          "every clause held",
	trace.ClauseKnobOff:       "the mechanism is turned off",
	trace.ClauseHVOff:         "the preemption timer is turned off",
	trace.ClauseReserved:      "the value has a reserved bit set",
	trace.ClauseNoDirect:      "this release injects no expiry at once",
	trace.ClauseNoHandler:     "this rule set has no fastpath for the exit",
	trace.ClauseGuestMode:     "L2 is running",
	trace.ClauseAPICvOff:      "APICv is not active",
	trace.ClauseModeExiting:   "vcpu->mode is EXITING_GUEST_MODE",
	trace.ClauseRequest:       "a request is pending on the vCPU",
	trace.ClauseNeedResched:   "the host CPU wants to reschedule",
	trace.ClauseSignal:        "a signal is pending",
	trace.ClauseOtherMSR:      "the MSR has no fastpath",
	trace.ClauseNoHVTimer:     "no VMX preemption timer here",
	trace.ClauseMWAITInGuest:  "MWAIT does not exit",
	trace.ClausePostable:      "the timer can be posted",
	trace.ClauseNoKernelLAPIC: "the LAPIC is not in the kernel",
	trace.ClauseNotX2APIC:     "the APIC is not in x2APIC mode",
	trace.ClauseShorthand:     "ICR uses a shorthand",
	trace.ClauseLogical:       "ICR destination is logical",
	trace.ClauseNotFixed:      "ICR delivery mode is not fixed",
	trace.ClauseBroadcast:     "ICR destination is the broadcast",
	trace.ClauseSoftDisabled:  "the preemption timer holds its maximum",
	trace.ClauseImmediateExit: "an immediate exit was forced",
	trace.ClauseNotRunnable:   "HLT and nothing to run",
	trace.ClauseNoNextRIP:     "the CPU gave no next RIP",
	trace.ClauseZeroDeadline:  "tscdeadline is 0",
	trace.ClauseRange:         "too far away for the preemption timer",
	trace.ClauseBlocked:       "the vCPU is halting",
	trace.ClausePIOff:         "pi_inject_timer is 0",
	trace.ClauseExitsOn:       "neither MWAIT nor HLT exits are disabled",
	trace.ClauseNotInGuest:    "vcpu->mode is not IN_GUEST_MODE",
	trace.ClausePending:       "an expiry is pending already",
	trace.ClauseCallback:      "it comes from the timer callback",
	trace.ClauseMasked:        "LVTT is masked",
	trace.ClauseAPICDisabled:  "the local APIC is disabled",
	trace.ClauseNoExpired:     "no expired deadline is recorded",
	trace.ClauseNoAdvance:     "timer_advance_ns is 0",
	trace.ClauseNotInjected:   "the timer's vector is not injected",
	trace.ClausePIRSet:        "the PIR bit was set already",
	trace.ClauseONSet:         "a notification is outstanding already",
	trace.ClauseRunning:       "the target is the running vCPU",
	trace.ClauseIF:            "RFLAGS.IF is 0",
	trace.ClauseShadow:        "STI or MOV-SS shadow",
	trace.ClausePriority:      "its priority class is not above PPR",
	trace.ClauseMode:          "the timer mode does not arm here",
	trace.ClauseInPast:        "the deadline has passed or lies within the advance",
	trace.ClauseWouldBlock:    "map-based delivery is not possible",
	trace.ClauseEventActive:   "another event is being injected",
}

// routeWords says what an expiry did.
var routeWords = [trace.NumRoutes]string{
	trace.RouteMerged:   "merged: an expiry was pending already",
	trace.RouteDirect:   "injected at once in the vCPU thread (APICv)",
	trace.RoutePosted:   "posted from the timer callback",
	trace.RoutePending:  "pending: the outer loop injects it",
	trace.RoutePendKick: "pending, and the vCPU was kicked",
	trace.RouteLost:     "lost: LVTT masked or APIC disabled",
}

// msrNames names the MSRs that timer guests use. Intel SDM vol. 4, "Model-Specific
// Registers"; the x2APIC range is vol. 3A, 10.12.1.2 "x2APIC Register Address
// Space".
var msrNames = map[uint64]string{
	0x10: "TSC", 0x1b: "APIC_BASE", 0x3b: "TSC_ADJUST", 0x6e0: "TSC_DEADLINE", 0x802: "x2APIC ID", 0x803: "x2APIC VERSION",
	0x808: "x2APIC TPR", 0x80a: "x2APIC PPR", 0x80b: "x2APIC EOI", 0x80d: "x2APIC LDR", 0x80f: "x2APIC SVR",
	0x828: "x2APIC ESR", 0x830: "x2APIC ICR", 0x832: "x2APIC LVTT", 0x835: "x2APIC LVT0", 0x836: "x2APIC LVT1",
	0x838: "x2APIC TMICT", 0x839: "x2APIC TMCCT", 0x83e: "x2APIC TDCR", 0x83f: "x2APIC SELF_IPI",
	0x1a0: "MISC_ENABLE", 0x277: "PAT", 0xc0000080: "EFER", 0xc0000081: "STAR", 0xc0000082: "LSTAR",
	0xc0000084: "FMASK", 0xc0000100: "FS_BASE", 0xc0000101: "GS_BASE", 0xc0000102: "KERNEL_GS_BASE", 0xc0000103: "TSC_AUX",
}

// apicRegNames names LAPIC registers by xAPIC offset. Intel SDM vol. 3A, 10.4.1
// "The Local APIC Block Diagram".
var apicRegNames = map[uint64]string{
	0x20: "ID", 0x30: "VERSION", 0x80: "TPR", 0xa0: "PPR", 0xb0: "EOI", 0xd0: "LDR", 0xe0: "DFR", 0xf0: "SPIV",
	0x280: "ESR", 0x300: "ICR", 0x310: "ICR2", 0x320: "LVTT", 0x330: "LVTTHMR", 0x340: "LVTPC", 0x350: "LVT0",
	0x360: "LVT1", 0x370: "LVTERR", 0x380: "TMICT", 0x390: "TMCCT", 0x3e0: "TDCR", 0x3f0: "SELF_IPI",
}

func msrName(i uint64) string {
	if n, ok := msrNames[i]; ok {
		return n
	}
	return hex(i)
}

// exitInfo says what an exit was about in few words.
func exitInfo(x *trace.ExitRecord) string {
	if x.Info1 == 0 && x.Info2 == 0 {
		return "" // not known: a trace of the kernel's does not always say it
	}
	switch x.Reason {
	case trace.ExitMSRWrite:
		return msrName(x.Info1) + "=" + msrValue(x.Info1, x.Info2)
	case trace.ExitMSRRead:
		return msrName(x.Info1)
	case trace.ExitIO:
		return "port " + hex(x.Info1)
	case trace.ExitCPUID:
		return "leaf " + hex(x.Info1)
	case trace.ExitExternalInterrupt:
		return "vector " + hex(x.Info2) + hostVector(x.Info2)
	case trace.ExitAPICAccess, trace.ExitAPICWrite, trace.ExitMMIO, trace.ExitEPTViolation:
		if n, ok := apicRegNames[x.Info1&0xff0]; ok && x.Info1&^0xfff == 0xfee00000 {
			return "APIC " + n
		}
		return "gpa " + hex(x.Info1)
	case trace.ExitEOIInduced:
		return "vector " + hex(x.Info1)
	case trace.ExitPreemptionTimer, trace.ExitHLT, trace.ExitPause, trace.ExitInterruptWindow, trace.ExitNMIWindow:
		return ""
	}
	if x.Info1 != 0 {
		return hex(x.Info1)
	}
	return ""
}

// exitBrief is exitInfo for fewer columns: MSRs by number.
func exitBrief(x *trace.ExitRecord, w int) string {
	s := exitInfo(x)
	if textWidth(s) > w && x.Reason == trace.ExitMSRWrite {
		return hex(x.Info1) + "=" + msrValue(x.Info1, x.Info2)
	}
	return s
}

// msrValue writes a value as the MSR's users know it.
func msrValue(msr, v uint64) string {
	switch msr {
	case 0x6e0, 0x10:
		return group3(v)
	case 0x830, 0x83f, 0x832:
		return hex(v)
	}
	return hex(v)
}

// lvttWords decodes an LVTT value. Intel SDM vol. 3A, 10.5.1 "Local Vector
// Table".
func lvttWords(v uint32) string {
	mode := trace.TimerMode(v>>17&3 + 1)
	mask := "unmasked"
	if v>>16&1 != 0 {
		mask = "masked"
	}
	return mode.String() + " · vector " + hex(uint64(v&0xff)) + " · " + mask
}

// icrWords decodes an ICR value. Intel SDM vol. 3A, 10.6.1 "Interrupt Command
// Register".
func icrWords(v uint64) string {
	modes := [8]string{"fixed", "lowest priority", "SMI", "reserved", "NMI", "INIT", "start-up", "ExtINT"}
	short := [4]string{"", "self", "all including self", "all but self"}
	s := modes[v>>8&7] + " · vector " + hex(v&0xff)
	if sh := short[v>>18&3]; sh != "" {
		return s + " · to " + sh
	}
	dest := "physical"
	if v>>11&1 != 0 {
		dest = "logical"
	}
	return s + " · " + dest + " " + hex(v>>32)
}

// vectorList writes a set of vectors in few columns.
func vectorList(s *trace.Vectors) string {
	if s.Empty() {
		return "–"
	}
	var buf [256]uint8
	vs := s.List(buf[:0])
	var out []string
	for i := len(vs) - 1; i >= 0; i-- { // highest priority first
		if len(out) == 4 && i > 0 {
			out = append(out, "+"+strconv.Itoa(i+1))
			break
		}
		out = append(out, strconv.FormatUint(uint64(vs[i]), 16))
	}
	return strings.Join(out, " ")
}

// maskWords writes the names of bits.
func maskWords(v uint64, names []string) string {
	if v == 0 {
		return "none"
	}
	var out []string
	for i, n := range names {
		if v>>i&1 != 0 {
			out = append(out, n)
		}
	}
	if rest := v >> len(names); rest != 0 {
		out = append(out, hex(rest<<len(names)))
	}
	return strings.Join(out, "|")
}

// endWords says how the guest stopped.
func endWords(st *vmm.Status) string {
	if st.End == trace.BadEnd { // a trace of a host does not tell how its guest stops
		return "the end of the trace"
	}
	s := trace.EndNames[min(int(st.End), len(trace.EndNames)-1)]
	if st.End == trace.EndExit || st.End == trace.EndShutdown {
		s += ", status " + strconv.FormatUint(uint64(st.EndCode), 10)
	}
	return s
}
