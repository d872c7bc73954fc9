package ftrace

import "strconv"

// A bind ties a field of the kernel's record to what it means here. Binary records
// and the raw texts of trace-cmd report -R and perf trace have the kernel's names.
type bind struct {
	kernel string
	f      field
	// hex is true where the raw texts of trace-cmd are hexadecimal without 0x, as the
	// event's own format prints the field.
	hex bool
}

// binding is the binds of one event, and what the kernel's printer makes of the
// fields before it prints them.
type binding struct {
	event  string
	binds  []bind
	finish func(*record)
	// optional is how many of the binds a kernel may lack.
	optional int
}

var vectorBind = []bind{{"vector", fIndex, false}}

// bindings are the events that are understood by their fields. Sources: the
// TP_STRUCT__entry of arch/x86/kvm/trace.h, include/trace/events/kvm.h, timer.h
// and sched.h, 4.9 to 7.3.
var bindings = []binding{
	{"kvm_entry", []bind{{"vcpu_id", fVCPU, false}, {"rip", fRIP, false}, {"intr_info", fIntr, false}, {"error_code", fErr, false}}, nil, 3},
	{"kvm_exit", []bind{{"exit_reason", fReason, false}, {"guest_rip", fRIP, false}, {"isa", fOld, false}, {"info1", fInfo1, false}, {"info2", fInfo2, false},
		{"intr_info", fIntr, false}, {"error_code", fErr, false}, {"vcpu_id", fVCPU, false}, {"requests", fReq, false}}, finishExit, 4},
	{"kvm_msr", []bind{{"write", fOld, false}, {"ecx", fIndex, true}, {"data", fValue, false}, {"exception", fMark, false}}, finishMSR, 1},
	{"kvm_apic", []bind{{"rw", fOld, false}, {"reg", fIndex, false}, {"val", fValue, false}}, finishAPIC, 0},
	{"kvm_apic_accept_irq", []bind{{"apicid", fAPIC, true}, {"dm", fOld, false}, {"vec", fVec, false}}, finishAccept, 0},
	{"kvm_apicv_accept_irq", []bind{{"apicid", fAPIC, true}, {"dm", fOld, false}, {"vec", fVec, false}}, finishAccept, 0},
	{"kvm_apic_ipi", []bind{{"icr_low", fInfo1, false}, {"dest_id", fDest, true}}, finishIPI, 0},
	{"kvm_eoi", []bind{{"apicid", fAPIC, true}, {"vector", fVec, false}}, nil, 0},
	{"kvm_inj_virq", []bind{{"vector", fVec, false}, {"irq", fVec, false}, {"reinjected", fMark, false}}, nil, 2},
	{"kvm_wait_lapic_expire", []bind{{"vcpu_id", fVCPU, false}, {"delta", fDelta, false}}, nil, 0},
	{"kvm_hv_timer_state", []bind{{"vcpu_id", fVCPU, true}, {"hv_timer_in_use", fHV, true}}, nil, 0},
	{"kvm_vcpu_wakeup", []bind{{"ns", fTime, false}, {"waited", fOld, false}}, finishWakeup, 0},
	{"kvm_halt_poll_ns", []bind{{"vcpu_id", fVCPU, false}, {"new", fValue, false}, {"old", fOld, false}}, nil, 0},
	{"kvm_write_tsc_offset", []bind{{"vcpu_id", fVCPU, false}, {"previous_tsc_offset", fOld, false}, {"next_tsc_offset", fValue, false}}, nil, 0},
	{"kvm_apicv_inhibit_changed", []bind{{"reason", fIndex, false}, {"inhibits", fInhibits, true}}, nil, 0},
	{"kvm_apicv_update_request", []bind{{"bit", fIndex, false}, {"activate", fOld, false}}, finishUpdate, 0},
	{"sched_switch", []bind{{"prev_comm", fWord, false}, {"prev_pid", fPID, false}, {"prev_prio", fOld, false},
		{"prev_state", fIndex, false}, {"next_comm", fMode, false}, {"next_pid", fNext, false}, {"next_prio", fValue, false}}, finishSwitch, 0},
	{"sched_waking", []bind{{"comm", fWord, false}, {"pid", fPID, false}, {"prio", fOld, false}, {"target_cpu", fCPU, false}}, nil, 0},
	{"sched_wakeup", []bind{{"comm", fWord, false}, {"pid", fPID, false}, {"prio", fOld, false}, {"target_cpu", fCPU, false}}, nil, 0},
	{"kvm_userspace_exit", []bind{{"reason", fValue, false}, {"errno", fOld, false}}, finishUserExit, 0},
	{"kvm_pio", []bind{{"rw", fOld, false}, {"port", fValue, true}}, finishAccess, 0},
	{"kvm_mmio", []bind{{"type", fOld, false}, {"gpa", fValue, false}}, finishMMIO, 0},
	{"kvm_ple_window_update", []bind{{"vcpu_id", fVCPU, false}, {"new", fValue, false}, {"old", fOld, false}}, nil, 0},
	{"kvm_hv_stimer_start_one_shot", []bind{{"vcpu_id", fVCPU, false}, {"timer_index", fIndex, false}, {"time_now", fNow, false},
		{"count", fValue, false}}, nil, 0},
	{"kvm_hv_stimer_start_periodic", []bind{{"vcpu_id", fVCPU, false}, {"timer_index", fIndex, false}, {"time_now", fNow, false},
		{"exp_time", fTime, false}}, nil, 0},
	{"kvm_hv_stimer_callback", []bind{{"vcpu_id", fVCPU, false}, {"timer_index", fIndex, false}}, nil, 0},
	{"kvm_hv_stimer_expiration", []bind{{"vcpu_id", fVCPU, false}, {"timer_index", fIndex, false}, {"direct", fValue, false},
		{"msg_send_result", fRet, false}}, nil, 0},
	{"cpu_idle", []bind{{"state", fValue, false}, {"cpu_id", fCPU, false}}, nil, 0},
	{"local_timer_entry", vectorBind, nil, 0}, {"local_timer_exit", vectorBind, nil, 0},
	{"reschedule_entry", vectorBind, nil, 0}, {"reschedule_exit", vectorBind, nil, 0},
	{"call_function_entry", vectorBind, nil, 0}, {"call_function_exit", vectorBind, nil, 0},
	{"call_function_single_entry", vectorBind, nil, 0}, {"call_function_single_exit", vectorBind, nil, 0},
	{"irq_work_entry", vectorBind, nil, 0}, {"irq_work_exit", vectorBind, nil, 0},
	{"irq_handler_entry", []bind{{"irq", fIndex, false}, {"name", fWhat, false}}, nil, 0},
	{"irq_handler_exit", []bind{{"irq", fIndex, false}}, nil, 0},
	{"softirq_entry", []bind{{"vec", fIndex, false}}, nil, 0}, {"softirq_exit", []bind{{"vec", fIndex, false}}, nil, 0},
	{"hrtimer_cancel", []bind{{"hrtimer", fPtr, false}}, nil, 0},
	{"hrtimer_start", []bind{{"hrtimer", fPtr, false}, {"function", fWhat, false}, {"expires", fTime, false}, {"softexpires", fValue, false}}, nil, 1},
	{"hrtimer_expire_entry", []bind{{"hrtimer", fPtr, false}, {"now", fNow, false}, {"function", fWhat, false}}, nil, 0},
	{"print", []bind{{"buf", fWhat, false}}, nil, 0},
}

// bound finds the binding of an event, nil if there is none.
func bound(event string) *binding {
	for i := range bindings {
		if bindings[i].event == event {
			return &bindings[i]
		}
	}
	return nil
}

// set takes the value of a field: a number, or text.
func (b bind) set(r *record, n uint64, text []byte) {
	r.num[b.f], r.text[b.f] = n, text
	if b.f != fMark || n != 0 {
		r.has |= 1 << b.f
	}
}

var (
	wordRead, wordWrite = []byte("read"), []byte("write")
	wordPoll, wordWait  = []byte("poll"), []byte("wait")
	wordActivate        = []byte("activate")
	wordDeactivate      = []byte("deactivate")
)

func word(cond bool, yes, no []byte) []byte {
	if cond {
		return yes
	}
	return no
}

func finishMSR(r *record) { r.text[fWord] = word(r.num[fOld] != 0, wordWrite, wordRead) }

func finishWakeup(r *record) { r.text[fWord] = word(r.num[fOld] != 0, wordWait, wordPoll) }

func finishUpdate(r *record) { r.text[fWord] = word(r.num[fOld] != 0, wordActivate, wordDeactivate) }

func finishAPIC(r *record) {
	r.text[fWord] = word(r.num[fOld] != 0, wordWrite, wordRead)
	if name := regName[uint16(r.num[fIndex])]; name != nil {
		r.text[fWhat] = name
	} else {
		r.text[fWhat] = strconv.AppendUint([]byte("0x"), r.num[fIndex], 16)
	}
}

var regName = func() map[uint16][]byte {
	m := map[uint16][]byte{}
	for name, reg := range apicRegs {
		m[reg] = []byte(name)
	}
	return m
}()

// deliveryModes are the words of kvm_deliver_mode, by bits 10:8 of ICR.
var deliveryModes = [8][]byte{[]byte("Fixed"), []byte("LowPrio"), []byte("SMI"), []byte("Res3"), []byte("NMI"), []byte("INIT"),
	[]byte("SIPI"), []byte("ExtINT")}

func finishAccept(r *record) { r.text[fMode] = deliveryModes[r.num[fOld]>>8&7] }

// finishIPI writes the command as kvm_apic_ipi prints it.
func finishIPI(r *record) {
	icr := r.num[fInfo1]
	r.num[fVec] = icr & 0xff
	b := append([]byte{}, deliveryModes[icr>>8&7]...)
	for _, x := range []struct {
		bit  uint
		word string
	}{{11, "|logical"}, {14, "|assert"}, {15, "|level"}} {
		if icr>>x.bit&1 != 0 {
			b = append(b, x.word...)
		}
	}
	r.text[fMode] = append(b, [...]string{"|dst", "|self", "|all", "|all-but-self"}[icr>>18&3]...)
}

// isaSVM is KVM_ISA_SVM (arch/x86/kvm/trace.h).
const isaSVM = 2

func finishExit(r *record) { r.text[fReason] = exitText(r.num[fReason], r.num[fOld] == isaSVM) }

// vmxNames are basic exit reasons. Intel SDM vol. 3D, appendix C "VMX Basic Exit
// Reasons".
var vmxNames = map[uint64]string{0: "EXCEPTION_NMI", 1: "EXTERNAL_INTERRUPT", 2: "TRIPLE_FAULT", 3: "INIT_SIGNAL",
	4: "SIPI_SIGNAL", 7: "INTERRUPT_WINDOW", 8: "NMI_WINDOW", 10: "CPUID", 12: "HLT", 13: "INVD", 15: "RDPMC", 18: "VMCALL",
	28: "CR_ACCESS", 29: "DR_ACCESS", 30: "IO_INSTRUCTION", 31: "MSR_READ", 32: "MSR_WRITE", 33: "INVALID_STATE",
	36: "MWAIT_INSTRUCTION", 39: "MONITOR_INSTRUCTION", 40: "PAUSE_INSTRUCTION", 44: "APIC_ACCESS", 45: "EOI_INDUCED",
	48: "EPT_VIOLATION", 49: "EPT_MISCONFIG", 52: "PREEMPTION_TIMER", 54: "WBINVD", 55: "XSETBV", 56: "APIC_WRITE",
	84: "MSR_READ_IMM", 85: "MSR_WRITE_IMM"}

// svmNames are exit codes. AMD APM vol. 2, appendix C "SVM Intercept Exit Codes".
var svmNames = map[uint64]string{0x60: "interrupt", 0x61: "nmi", 0x63: "init", 0x64: "vintr", 0x6f: "rdpmc", 0x72: "cpuid",
	0x74: "iret", 0x76: "invd", 0x77: "pause", 0x78: "hlt", 0x7b: "io", 0x7c: "msr", 0x7f: "shutdown", 0x81: "vmmcall",
	0x89: "wbinvd", 0x8a: "monitor", 0x8b: "mwait", 0x8d: "xsetbv", 0x400: "npf", 0x401: "avic_incomplete_ipi",
	0x402: "avic_unaccelerated_access", 1<<32 - 1: "invalid_guest_state", 1<<64 - 1: "invalid_guest_state"}

// svmRanges are the exit codes that come by the register.
var svmRanges = []struct {
	from, to uint64
	name     string
}{{0x00, 0x0f, "read_cr"}, {0x10, 0x1f, "write_cr"}, {0x20, 0x2f, "read_dr"}, {0x30, 0x3f, "write_dr"}, {0x40, 0x5f, "excp_"}}

// exitTexts are the names as bytes, which records point to.
var exitTexts = func() (m [2]map[uint64][]byte) {
	m[0], m[1] = map[uint64][]byte{}, map[uint64][]byte{}
	for n, s := range vmxNames {
		m[0][n] = []byte(s)
		m[0][n|1<<31] = []byte(s + " FAILED_VMENTRY")
	}
	for n, s := range svmNames {
		m[1][n] = []byte(s)
	}
	for _, r := range svmRanges {
		for n := r.from; n <= r.to; n++ {
			m[1][n] = []byte(r.name + strconv.FormatUint(n-r.from, 10))
		}
	}
	return m
}()

// exitText is a reason as the kernel prints it.
func exitText(reason uint64, svm bool) []byte {
	i := 0
	if svm {
		i = 1
	} else {
		reason &= 1<<31 | 0xffff // VMX has flags above the basic reason
	}
	if t := exitTexts[i][reason]; t != nil {
		return t
	}
	return strconv.AppendUint([]byte("0x"), reason, 16)
}

// pairs reads "name=value name=value", or "name: value, name: value" of perf
// trace, by the binding of the record's event. Values are decimal, 0x-prefixed, or
// text.
func pairs(body []byte, b *binding, r *record) bool {
	r.has = 0
	found := 0
	for len(body) > 0 {
		i := 0
		for i < len(body) && isNameByte(body[i]) {
			i++
		}
		name, rest, raw := body[:i], body[i:], false
		switch {
		case i == 0:
			body = body[1:]
			continue
		case len(rest) > 0 && rest[0] == '=':
			rest, raw = rest[1:], true
		case len(rest) > 1 && rest[0] == ':' && rest[1] == ' ':
			rest = rest[2:]
		default:
			body = rest
			continue
		}
		value := rest[:valueEnd(rest)]
		body = rest[len(value):]
		for _, x := range b.binds {
			if string(name) == x.kernel {
				found++
				n := uint64(0)
				neg := len(value) > 1 && value[0] == '-'
				digits := value
				if neg {
					digits = value[1:]
				}
				if x.hex && raw || len(digits) > 1 && digits[0] == '0' && digits[1] == 'x' {
					_, _ = readHex(digits, &n)
				} else {
					_, _ = readDec(digits, &n)
				}
				if neg {
					n = -n
				}
				x.set(r, n, value)
			}
		}
	}
	if found+b.optional < len(b.binds) {
		return false
	}
	if b.finish != nil {
		b.finish(r)
	}
	return true
}

// valueEnd is where a value ends: at what looks like the next name, or a comma.
func valueEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ',', ')':
			return i
		case ' ':
			j := i + 1
			for j < len(b) && isNameByte(b[j]) {
				j++
			}
			if j > i+1 && j < len(b) && b[j] == '=' {
				return i
			}
		}
	}
	return len(b)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
