package ftrace

import (
	"bytes"
	"sync"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// exitRow is an exit reason under the names that printers give it.
type exitRow struct {
	reason trace.ExitReason
	vmx    string // VMX_EXIT_REASONS (arch/x86/include/uapi/asm/vmx.h)
	svm    string // SVM_EXIT_REASONS (svm.h)
	plugin string // libtraceevent's table for SVM; VMX is spelled as the kernel does
}

// exitRows maps reasons. Where one name covers two of trace's, the handler
// decides (SVM's msr is a read or a write by info1).
var exitRows = []exitRow{
	{trace.ExitException, "EXCEPTION_NMI", "", ""},
	{trace.ExitExternalInterrupt, "EXTERNAL_INTERRUPT", "interrupt", "EXIT_INTR"},
	{trace.ExitTripleFault, "TRIPLE_FAULT", "shutdown", "EXIT_SHUTDOWN"},
	{trace.ExitInit, "INIT_SIGNAL", "init", "EXIT_INIT"},
	{trace.ExitSIPI, "SIPI_SIGNAL", "", ""},
	{trace.ExitInterruptWindow, "INTERRUPT_WINDOW", "vintr", "EXIT_VINTR"},
	{trace.ExitInterruptWindow, "PENDING_INTERRUPT", "", ""}, // older name, and the plugin's
	{trace.ExitNMIWindow, "NMI_WINDOW", "iret", "EXIT_IRET"},
	{trace.ExitNMI, "", "nmi", "EXIT_NMI"},
	{trace.ExitCPUID, "CPUID", "cpuid", "EXIT_CPUID"},
	{trace.ExitHLT, "HLT", "hlt", "EXIT_HLT"},
	{trace.ExitINVD, "INVD", "invd", "EXIT_INVD"},
	{trace.ExitRDPMC, "RDPMC", "rdpmc", "EXIT_RDPMC"},
	{trace.ExitVMCALL, "VMCALL", "hypercall", "EXIT_VMMCALL"},
	{trace.ExitVMCALL, "", "vmmcall", ""},
	{trace.ExitCRAccess, "CR_ACCESS", "", ""},
	{trace.ExitDRAccess, "DR_ACCESS", "", ""},
	{trace.ExitIO, "IO_INSTRUCTION", "io", "EXIT_IOIO"},
	{trace.ExitMSRRead, "MSR_READ", "", ""},
	{trace.ExitMSRWrite, "MSR_WRITE", "msr", "EXIT_MSR"},
	{trace.ExitMSRRead, "MSR_READ_IMM", "", ""},
	{trace.ExitMSRWrite, "MSR_WRITE_IMM", "", ""},
	{trace.ExitEntryFailure, "INVALID_STATE", "invalid_guest_state", "EXIT_err"},
	{trace.ExitMWAIT, "MWAIT_INSTRUCTION", "mwait", "EXIT_MWAIT"},
	{trace.ExitMONITOR, "MONITOR_INSTRUCTION", "monitor", "EXIT_MONITOR"},
	{trace.ExitPause, "PAUSE_INSTRUCTION", "pause", "EXIT_PAUSE"},
	{trace.ExitAPICAccess, "APIC_ACCESS", "avic_unaccelerated_access", ""},
	{trace.ExitEOIInduced, "EOI_INDUCED", "", ""},
	{trace.ExitEPTViolation, "EPT_VIOLATION", "npf", "EXIT_NPF"},
	{trace.ExitMMIO, "EPT_MISCONFIG", "", ""},
	{trace.ExitPreemptionTimer, "PREEMPTION_TIMER", "", ""},
	{trace.ExitWBINVD, "WBINVD", "wbinvd", "EXIT_WBINVD"},
	{trace.ExitXSETBV, "XSETBV", "xsetbv", "EXIT_XSETBV"},
	{trace.ExitAPICWrite, "APIC_WRITE", "avic_incomplete_ipi", ""},
}

// vendor is whose names a trace uses.
type vendor uint8

const (
	vendorUnknown vendor = iota
	vendorIntel
	vendorAMD
)

// exitName is an entry of the look-up table made of exitRows.
type exitName struct {
	reason trace.ExitReason
	vendor vendor
}

var exitTable = sync.OnceValue(func() map[string]exitName {
	m := map[string]exitName{}
	for _, r := range exitRows {
		for _, n := range []struct {
			name string
			v    vendor
		}{{r.vmx, vendorIntel}, {r.svm, vendorAMD}, {r.plugin, vendorAMD}} {
			if n.name != "" {
				m[n.name] = exitName{r.reason, n.v}
			}
		}
	}
	return m
})

// lookUpExit finds a reason by its printed text, which may carry flags after the
// name (FAILED_VMENTRY) and bcc's prefix before it.
func lookUpExit(text []byte) exitName {
	text = bytes.TrimPrefix(text, []byte("EXIT_REASON_"))
	if n, ok := exitTable()[string(text)]; ok {
		return n
	}
	name := token(text)
	if bytes.Contains(text[len(name):], []byte("FAILED_VMENTRY")) {
		return exitName{trace.ExitEntryFailure, vendorIntel}
	}
	if n, ok := exitTable()[string(name)]; ok {
		return n
	}
	// SVM prints control-register and exception exits as read_cr0, excp_14 or
	// EXIT_READ_CR0 and the like.
	for _, p := range exitPrefixes {
		if bytes.HasPrefix(name, []byte(p.prefix)) {
			return exitName{p.reason, vendorAMD}
		}
	}
	return exitName{trace.ExitOther, vendorUnknown}
}

var exitPrefixes = []struct {
	prefix string
	reason trace.ExitReason
}{
	{"read_cr", trace.ExitCRAccess}, {"write_cr", trace.ExitCRAccess}, {"EXIT_READ_CR", trace.ExitCRAccess},
	{"EXIT_WRITE_CR", trace.ExitCRAccess}, {"read_dr", trace.ExitDRAccess}, {"write_dr", trace.ExitDRAccess},
	{"EXIT_READ_DR", trace.ExitDRAccess}, {"EXIT_WRITE_DR", trace.ExitDRAccess}, {"excp_", trace.ExitException},
	{"EXIT_EXCP", trace.ExitException}, {"DB excp", trace.ExitException},
}
