package export

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// ftWriters is the table of what becomes a line. A writer returns false if this
// event has none. The formats are those of TP_printk in arch/x86/kvm/trace.h,
// include/trace/events/kvm.h, timer.h and sched.h of Linux 6.12.
var ftWriters = [trace.NumKinds]func(*ftraceText, *trace.Event) bool{
	trace.KindExit: (*ftraceText).exit, trace.KindEntry: (*ftraceText).entry, trace.KindFastpath: (*ftraceText).fastpath,
	trace.KindMSR: (*ftraceText).msr, trace.KindAPIC: (*ftraceText).apic, trace.KindBacking: (*ftraceText).backing,
	trace.KindHostFire: (*ftraceText).hostFire, trace.KindWait: (*ftraceText).wait, trace.KindDeliver: (*ftraceText).deliver,
	trace.KindInject: (*ftraceText).inject, trace.KindEOI: (*ftraceText).eoi, trace.KindIPI: (*ftraceText).ipi,
	trace.KindWake: (*ftraceText).wake, trace.KindSched: (*ftraceText).sched, trace.KindTSCOffset: (*ftraceText).tscOffset,
	trace.KindKnob: (*ftraceText).knob, trace.KindMark: (*ftraceText).mark, trace.KindLost: (*ftraceText).lost,
}

// ftReasons are the reasons whose kernel spelling differs from trace.ExitNames:
// an NMI is an EXCEPTION_NMI, and a reason without a name is printed as its
// number.
var ftReasons = map[trace.ExitReason]string{trace.ExitNMI: "EXCEPTION_NMI", trace.ExitEntryFailure: "INVALID_STATE",
	trace.ExitUnknownInstruction: "0xffff", trace.ExitInternalError: "0xffff", trace.ExitOther: "0xffff"}

// of returns the vCPU of an event, nil if it has none.
func (f *ftraceText) of(e *trace.Event) *ftVCPU {
	if int(e.VCPU) >= len(f.vcpus) {
		return nil
	}
	return &f.vcpus[e.VCPU]
}

func (f *ftraceText) exit(e *trace.Event) bool {
	v := f.of(e)
	if v == nil {
		return false
	}
	f.flushWait(v)
	r := trace.ExitReason(e.A)
	v.msr, v.value, v.msrDone = e.C, e.D, false
	v.halted = r == trace.ExitHLT
	name, ok := ftReasons[r]
	if !ok {
		name = r.String()
	}
	info1, intr := exitFields(r, e)
	f.line(e, ftOff, "kvm_exit: vcpu %d reason %s rip 0x%x info1 0x%016x info2 0x%016x intr_info 0x%08x error_code 0x%08x",
		e.VCPU, name, e.B, info1, 0, intr, 0)
	return true
}

// exitFields are the exit qualification and the interruption information.
// Intel SDM vol. 3C, 28.2.1 "Basic VM-Exit Information" and 28.2.2 "Information
// for VM Exits Due to Vectored Events".
func exitFields(r trace.ExitReason, e *trace.Event) (info1 uint64, intr uint32) {
	const valid, nmi = 1 << 31, 2 << 8
	switch r {
	case trace.ExitIO:
		return e.C & 0xffff << 16, 0
	case trace.ExitAPICAccess, trace.ExitAPICWrite:
		return e.C & 0xfff, 0
	case trace.ExitEOIInduced:
		return e.C & 0xff, 0
	case trace.ExitExternalInterrupt:
		if e.D != 0 {
			return 0, valid | uint32(e.D&0xff)
		}
	case trace.ExitNMI:
		return 0, valid | nmi | 2
	}
	return 0, 0
}

// entry writes the entry, and before it in time the wait that it held.
func (f *ftraceText) entry(e *trace.Event) bool {
	v := f.of(e)
	if v == nil {
		return false
	}
	v.halted = false
	at := *e
	if v.held {
		at.TSC = min(e.TSC, v.wait.TSC)
	}
	f.line(&at, ftOff, "kvm_entry: vcpu %d, rip 0x%x", e.VCPU, e.A)
	f.flushWait(v)
	return true
}

func (f *ftraceText) wait(e *trace.Event) bool {
	v := f.of(e)
	if v == nil {
		return false
	}
	f.flushWait(v)
	if trace.Placement(e.D) == trace.WaitCallback {
		f.waitLine(e, ftIRQ)
		return true
	}
	v.wait, v.held = *e, true
	return true
}

func (f *ftraceText) flushWait(v *ftVCPU) {
	if v.held {
		v.held = false
		f.waitLine(&v.wait, ftOff)
	}
}

func (f *ftraceText) waitLine(e *trace.Event, c ftContext) {
	word := "late"
	if int64(e.A) < 0 {
		word = "early"
	}
	f.line(e, c, "kvm_wait_lapic_expire: vcpu %d: delta %d (%s)", e.VCPU, int64(e.A), word)
}

// fastpath writes the MSR access of an exit that no handler reports.
func (f *ftraceText) fastpath(e *trace.Event) bool {
	v := f.of(e)
	if v == nil || trace.ExitReason(e.A) != trace.ExitMSRWrite || trace.FastpathResult(e.B) == trace.FastNone || v.msrDone ||
		e.D == 0 || e.D != v.msr {
		return false
	}
	v.msrDone = true
	f.line(e, ftOff, "kvm_msr: msr_write %x = 0x%x", v.msr, v.value)
	return true
}

func (f *ftraceText) msr(e *trace.Event) bool {
	if v := f.of(e); v != nil {
		if v.msrDone {
			return false
		}
		v.msrDone = true
	}
	word, fault := "read", ""
	if e.C != 0 {
		word = "write"
	}
	if e.D != 0 {
		fault = " (#GP)"
	}
	f.line(e, ftOn, "kvm_msr: msr_%s %x = 0x%x%s", word, e.A, e.B, fault)
	return true
}

// apic writes a register access that exited.
func (f *ftraceText) apic(e *trace.Event) bool {
	if e.D != 0 {
		return false
	}
	word := "read"
	if e.C != 0 {
		word = "write"
	}
	f.line(e, ftOn, "kvm_apic: apic_%s %s = 0x%x", word, apicName(e.A), e.B)
	return true
}

func (f *ftraceText) backing(e *trace.Event) bool {
	if f.of(e) == nil {
		return false
	}
	switch trace.Backing(e.A) {
	case trace.BackHV:
		f.line(e, ftOff, "kvm_hv_timer_state: vcpu_id %x hv_timer 1", e.VCPU)
	case trace.BackSW:
		ns := nanosOf(f.hz, clock.TSC(e.C))
		f.line(e, ftOff, "hrtimer_start: hrtimer=%016x function=apic_timer_fn [kvm] expires=%d softexpires=%d mode=ABS|HARD",
			timerOf(e.VCPU), ns, ns)
		f.line(e, ftOff, "kvm_hv_timer_state: vcpu_id %x hv_timer 0", e.VCPU)
	default:
		return false // cancelling has no tracepoint that names the vCPU
	}
	return true
}

// timerOf is a made-up address of a vCPU's hrtimer: the kernel prints a hash.
func timerOf(n uint8) uint64 { return 0xa0000000 + uint64(n)<<12 }

// hostFire: the preemption timer has its own exit, the hrtimer its callback.
func (f *ftraceText) hostFire(e *trace.Event) bool {
	if trace.Backing(e.A) == trace.BackHV {
		return true
	}
	f.line(e, ftIRQ, "hrtimer_expire_entry: hrtimer=%016x function=apic_timer_fn [kvm] now=%d", timerOf(e.VCPU),
		nanosOf(f.hz, e.TSC))
	f.line(e, ftIRQ, "hrtimer_expire_exit: hrtimer=%016x", timerOf(e.VCPU))
	return true
}

// deliver: __apic_accept_irq reports every vector that it is given; what the
// APIC refused, or virtualized, never comes there.
func (f *ftraceText) deliver(e *trace.Event) bool {
	mode := "Fixed"
	route := trace.DeliverRoute(e.B)
	switch route {
	case trace.DeliverLost, trace.DeliverVirtual, trace.BadDeliver:
		return false
	case trace.DeliverEvent:
		mode = "NMI"
		if trace.Source(e.D) == trace.SourcePIC {
			mode = "ExtINT"
		}
	}
	f.line(e, ftOn, "kvm_apic_accept_irq: apicid %x vec %d (%s|edge)", e.VCPU, e.A, mode)
	switch route {
	case trace.DeliverNotify, trace.DeliverSelf, trace.DeliverWake, trace.DeliverPIRKick:
		f.line(e, ftOn, "kvm_apicv_accept_irq: apicid %x vec %d (%s|edge)", e.VCPU, e.A, mode)
	}
	return true
}

func (f *ftraceText) inject(e *trace.Event) bool {
	if e.C != 0 {
		return false // an interrupt window is asked for
	}
	again := ""
	if e.B != 0 {
		again = " [reinjected]"
	}
	f.line(e, ftOn, "kvm_inj_virq: IRQ 0x%x%s", e.A, again)
	return true
}

func (f *ftraceText) eoi(e *trace.Event) bool {
	if e.B != 0 {
		return false
	}
	f.line(e, ftOn, "kvm_eoi: apicid %x vector %d", e.VCPU, int64(e.A))
	return true
}

// The words of kvm_apic_ipi. Intel SDM vol. 3A, 11.6.1 "Interrupt Command
// Register (ICR)".
var (
	icrModes  = [8]string{"Fixed", "LowPrio", "SMI", "Res3", "NMI", "INIT", "SIPI", "ExtINT"}
	icrShorts = [4]string{"dst", "self", "all", "all-but-self"}
)

func (f *ftraceText) ipi(e *trace.Event) bool {
	pick := func(bit uint, one, zero string) string {
		if e.A>>bit&1 != 0 {
			return one
		}
		return zero
	}
	f.line(e, ftOn, "kvm_apic_ipi: dst %x vec %d (%s|%s|%s|%s|%s)", e.A>>32, e.A&0xff, icrModes[e.A>>8&7],
		pick(11, "logical", "physical"), pick(14, "assert", "de-assert"), pick(15, "level", "edge"), icrShorts[e.A>>18&3])
	return true
}

// wake: the kernel reports the end of a halt, and a change of the polling time.
func (f *ftraceText) wake(e *trace.Event) bool {
	v := f.of(e)
	if v == nil || trace.WakeReason(e.A) == trace.WakeSpurious {
		return false
	}
	v.halted = false
	word := "wait"
	if e.C != 0 {
		word = "poll"
	}
	f.line(e, ftOn, "kvm_vcpu_wakeup: %s time %d ns, polling valid", word, e.B)
	if e.D != v.poll {
		word := "grow"
		if e.D < v.poll {
			word = "shrink"
		}
		f.line(e, ftOn, "kvm_halt_poll_ns: vcpu %d: halt_poll_ns %d (%s %d)", e.VCPU, e.D, word, v.poll)
		v.poll = e.D
	}
	return true
}

func (f *ftraceText) sched(e *trace.Event) bool {
	v := f.of(e)
	if v == nil {
		return false
	}
	at := *e
	at.PCPU = uint8(e.B)
	name, pid := vcpuComm(e.VCPU), ftPID+1+int(e.VCPU)
	if e.A != 0 {
		at.VCPU = trace.NoCPU
		f.line(&at, ftOff, "sched_switch: prev_comm=swapper/%d prev_pid=0 prev_prio=120 prev_state=R ==> "+
			"next_comm=%s next_pid=%d next_prio=120", e.B, name, pid)
		return true
	}
	state := "R"
	if v.halted {
		state = "S"
	}
	f.line(&at, ftOff, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "+
		"next_comm=swapper/%d next_pid=0 next_prio=120", name, pid, state, e.B)
	return true
}

func (f *ftraceText) tscOffset(e *trace.Event) bool {
	f.line(e, ftOff, "kvm_write_tsc_offset: vcpu=%d prev=%d next=%d", e.VCPU, e.B, e.A)
	return true
}

// knob: APICv has a tracepoint of its own, other knobs become marks.
func (f *ftraceText) knob(e *trace.Event) bool {
	if trace.Knob(e.A) == trace.KnobAPICv {
		f.inhibit(e, e.B != 0)
		return true
	}
	k := trace.Knob(e.A)
	f.line(e, ftOn, "tracing_mark_write: knob %s=%s", k, trace.FormatKnob(k, e.B))
	return true
}

func (f *ftraceText) inhibit(e *trace.Event, on bool) {
	if on {
		f.line(e, ftOn, "kvm_apicv_inhibit_changed: cleared reason=0, inhibits=0x0")
	} else {
		f.line(e, ftOn, "kvm_apicv_inhibit_changed: set reason=0, inhibits=0x1 DISABLED")
	}
}

func (f *ftraceText) mark(e *trace.Event) bool {
	f.line(e, ftOn, "tracing_mark_write: %s", strings.Map(oneLine, textOf(e.A)))
	return true
}

func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// lost is the line that the ring buffer's reader prints.
func (f *ftraceText) lost(e *trace.Event) bool {
	cpu := e.PCPU
	if cpu == trace.NoCPU {
		cpu = 0
	}
	f.add(e.TSC, "CPU:"+strconv.Itoa(int(cpu))+" [LOST "+strconv.FormatUint(e.A, 10)+" EVENTS]")
	return true
}

// apicName is the kernel's name of a register. Source: kvm_trace_symbol_apic.
func apicName(off uint64) string {
	if n, ok := apicNames[off]; ok {
		return n
	}
	return "0x" + strconv.FormatUint(off, 16)
}

var apicNames = map[uint64]string{
	0x20: "APIC_ID", 0x30: "APIC_LVR", 0x80: "APIC_TASKPRI", 0x90: "APIC_ARBPRI", 0xa0: "APIC_PROCPRI", 0xb0: "APIC_EOI",
	0xc0: "APIC_RRR", 0xd0: "APIC_LDR", 0xe0: "APIC_DFR", 0xf0: "APIC_SPIV", 0x100: "APIC_ISR", 0x180: "APIC_TMR",
	0x200: "APIC_IRR", 0x280: "APIC_ESR", 0x300: "APIC_ICR", 0x310: "APIC_ICR2", 0x320: "APIC_LVTT",
	0x330: "APIC_LVTTHMR", 0x340: "APIC_LVTPC", 0x350: "APIC_LVT0", 0x360: "APIC_LVT1", 0x370: "APIC_LVTERR",
	0x380: "APIC_TMICT", 0x390: "APIC_TMCCT", 0x3e0: "APIC_TDCR", 0x3f0: "APIC_SELF_IPI", 0x400: "APIC_EFEAT",
	0x410: "APIC_ECTRL",
}
