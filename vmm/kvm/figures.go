//go:build linux && amd64

package kvm

import "codeberg.org/ticktrap/ticktrap/vmm"

const (
	seen     = vmm.OnMeasure
	inferred = vmm.OnInference
	nothing  = vmm.OnNothing
)

// notTraced is the last row of what only the trace tells.
func notTraced() figureRow { return is(nothing, "only in the trace") }

// kernelFigures says how figures are known with the LAPIC in the kernel: the
// first row whose conditions hold counts, the last has none. Screens, doctor and
// docs/fidelity.md are made from it.
var kernelFigures = [vmm.NumFigures][]figureRow{
	vmm.FigureRegisters: {reading("KVM_GET_REGS and KVM_GET_SREGS, whenever the vCPU threads are parked")},
	vmm.FigureAPIC:      {reading("KVM_GET_LAPIC and MSR 0x6e0 by KVM_GET_MSRS, whenever the vCPU threads are parked")},
	vmm.FigureCount:     {reading("KVM_GET_LAPIC")},
	vmm.FigureSets:      {reading("KVM_GET_LAPIC, which moves PIR into IRR first, as the next entry would")},
	vmm.FigurePIR: {is(nothing, "there is no PIR without APICv", noAPICv),
		is(nothing, "reading the LAPIC moves it into IRR; between reads no event shows it")},
	vmm.FigureDeadline: {is(seen, "MSR 0x6e0; since when, and one-shot and periodic, from kvm_msr and kvm_apic", traced),
		is(seen, "MSR 0x6e0; since when is not known, nor are one-shot and periodic")},
	vmm.FigureBacking: {is(inferred, "kvm_hv_timer_state; the clause follows from the kernel's rules", traced), notTraced()},
	vmm.FigureFire:    {is(inferred, "deadline minus advance", traced), notTraced()},
	vmm.FigureAdvance: {is(seen, "lapic_timer_advance_ns in debugfs, 25 times a second", looked),
		is(inferred, "the module parameter; its tuning is not seen")},
	vmm.FigureDelta:   {is(seen, "kvm_wait_lapic_expire; waited is the lesser of −delta and advance", traced), notTraced()},
	vmm.FigurePending: {is(inferred, "MSR 0x6e0 has passed and its vector is nowhere in the LAPIC")},
	vmm.FigureWhere: {is(seen, "kvm_entry, kvm_exit, kvm_vcpu_wakeup, probes on kvm_vcpu_halt and kvm_vcpu_block", probed("block")),
		is(inferred, "kvm_entry and kvm_exit; a halt from an HLT exit", traced), notTraced()},
	vmm.FigureMode:     {is(nothing, "no event shows vcpu->mode")},
	vmm.FigureMP:       {is(inferred, "IPIs and halts in the trace: KVM_GET_MP_STATE would carry out an INIT or SIPI that waits", traced), notTraced()},
	vmm.FigureRequests: {is(nothing, "no event shows vcpu->requests before Linux "+requests.String()+", and what kvm_exit records since is not read")},
	vmm.FigureHalt:     {is(seen, "kvm_vcpu_wakeup and kvm_halt_poll_ns; what woke it is inferred", traced), notTraced()},
	vmm.FigureOffset:   {is(seen, "kvm_write_tsc_offset", traced), notTraced()},
	vmm.FigureLateness: {is(inferred, "TSC of the VM-entry that carries the vector, or with APICv of the first after it was posted, minus deadline", traced),
		notTraced()},
	vmm.FigureHostFire: {is(seen, "PREEMPTION_TIMER exits and a probe on apic_timer_fn", probed("timer_fn")),
		is(seen, "PREEMPTION_TIMER exits and hrtimer_expire_entry, for which every hrtimer of the host is traced", traced), notTraced()},
	vmm.FigureExpiry: {is(seen, "a probe on apic_timer_expired; the route follows from APICv's state", probed("expired")),
		is(inferred, "the host timer fired, or the vector arrived", traced), notTraced()},
	vmm.FigureDelivery: {is(inferred, "time and vector from kvm_apic_accept_irq; route and source follow from APICv's state and the exit before", traced),
		notTraced()},
	vmm.FigureEOI:   {is(seen, "kvm_eoi", traced, noAPICv), is(seen, "kvm_eoi, but not what APICv completes without an exit", traced), notTraced()},
	vmm.FigureExits: {is(seen, "kvm_exit and kvm_entry", traced), is(seen, "only the exits that reach user space")},
	vmm.FigureExitInfo: {is(seen, "kvm_exit, kvm_msr and kvm_apic; these do not hold the CPUID leaf or the value written to a port", traced),
		is(seen, "port or address of exits that reach user space")},
	vmm.FigureExitCycles: {is(seen, "kvm_exit to kvm_entry, tracing included", traced), notTraced()},
	vmm.FigureCosts:      {is(nothing, "the kernel's loop does not say what each phase took")},
	vmm.FigureFastpath: {is(seen, "return value of svm_vcpu_run: writes of ICR and, from "+haltFast.String()+" on, HLT; timers take no fastpath on AMD before Linux "+amdTimers.String(), probed("vrun"), oldAMD),
		is(seen, "return value of vmx_vcpu_run or svm_vcpu_run, and what the exit handler was given", probed("vrun")),
		is(nothing, "only a probe on vmx_vcpu_run or svm_vcpu_run shows it")},
	vmm.FigureClauses: {is(inferred, "the result and the rules of the kernel's version", probed("vrun")),
		is(nothing, "only a probe on vmx_vcpu_run or svm_vcpu_run shows it")},
	vmm.FigureKicks: {is(seen, "probes on kvm_vcpu_kick and kvm_arch_vcpu_should_kick; without the latter's call the decision is inferred", probed("kick")),
		is(nothing, "only a probe on kvm_vcpu_kick shows them")},
	vmm.FigureKickSteps: {is(inferred, "what such a decision executes; no cost", probed("kick")),
		is(nothing, "only a probe on kvm_vcpu_kick shows it")},
	vmm.FigurePCPU:    {is(seen, "the trace's CPU, and sched_switch of the vCPU threads", traced), notTraced()},
	vmm.FigureConsole: {is(seen, "port writes reach ticktrap")},
	vmm.FigureSamples: {is(seen, "the guest's own, from its memory")},
}

// loopFigures says how figures are known with the LAPIC in user space: the loop
// is this program's, and its clock the TSC.
var loopFigures = [vmm.NumFigures]vmm.Known{
	vmm.FigureRegisters:  {Basis: seen, By: "KVM_GET_REGS and KVM_GET_SREGS, whenever the vCPU threads are parked", Reading: true},
	vmm.FigureAPIC:       {Basis: seen, By: "the LAPIC is ticktrap's: every access reaches it"},
	vmm.FigureCount:      {Basis: nothing, By: "the deadline is shown instead"},
	vmm.FigureSets:       {Basis: seen, By: "the LAPIC is ticktrap's"},
	vmm.FigurePIR:        {Basis: seen, By: "ticktrap's delivery path; the CPU takes no part in it"},
	vmm.FigureDeadline:   {Basis: seen, By: "the LAPIC is ticktrap's"},
	vmm.FigureBacking:    {Basis: seen, By: "a POSIX timer aimed at the vCPU's thread; never the preemption timer, which is the kernel's"},
	vmm.FigureFire:       {Basis: seen, By: "what the POSIX timer was set to"},
	vmm.FigureAdvance:    {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureDelta:      {Basis: seen, By: "TSC at the wait"},
	vmm.FigurePending:    {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureWhere:      {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureMode:       {Basis: seen, By: "the loop's vcpu->mode, not the kernel's"},
	vmm.FigureMP:         {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureRequests:   {Basis: seen, By: "the loop's vcpu->requests, not the kernel's"},
	vmm.FigureHalt:       {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureOffset:     {Basis: seen, By: "writes of the TSC and TSC_ADJUST reach ticktrap"},
	vmm.FigureLateness:   {Basis: inferred, By: "TSC of the KVM_RUN that injects the vector, minus deadline: the VM-entry itself is not included"},
	vmm.FigureHostFire:   {Basis: seen, By: "TSC when the signal of the POSIX timer was taken"},
	vmm.FigureExpiry:     {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureDelivery:   {Basis: seen, By: "ticktrap's loop"},
	vmm.FigureEOI:        {Basis: seen, By: "every EOI reaches the LAPIC"},
	vmm.FigureExits:      {Basis: seen, By: "exits to user space; those that KVM handles itself are not exits here"},
	vmm.FigureExitInfo:   {Basis: seen, By: "struct kvm_run"},
	vmm.FigureExitCycles: {Basis: seen, By: "return of KVM_RUN to the next: the kernel's part of the path counts as guest"},
	vmm.FigureCosts:      {Basis: seen, By: "TSC around each phase of ticktrap's loop"},
	vmm.FigureFastpath:   {Basis: seen, By: "the loop's own fastpath, by the rules of the chosen era"},
	vmm.FigureClauses:    {Basis: seen, By: "the loop's own fastpath"},
	vmm.FigureKicks:      {Basis: seen, By: "the loop's own kicks: a signal to the vCPU's thread"},
	vmm.FigureKickSteps:  {Basis: seen, By: "the loop's own kicks"},
	vmm.FigurePCPU:       {Basis: nothing, By: "threads are not pinned: the number shown is the vCPU's own"},
	vmm.FigureConsole:    {Basis: seen, By: "port writes reach ticktrap"},
	vmm.FigureSamples:    {Basis: seen, By: "the guest's own, from its memory"},
}

// figure is how a figure is known on a host, and what would make it better known;
// empty if nothing would.
func (f *hostFacts) figure(n vmm.Figure) (k vmm.Known, cure string) {
	rows := kernelFigures[n]
	i := first(f, len(rows), func(i int) []condition { return rows[i].where })
	for _, r := range rows[:i] {
		for _, c := range r.where {
			if !c.holds(f) && c.cure != "" && r.known.Basis != nothing {
				return rows[i].known, c.cure
			}
		}
	}
	return rows[i].known, ""
}

// figures says it of all of them.
func (f *hostFacts) figures() (k vmm.KnownFigures) {
	for n := vmm.BadFigure + 1; n < vmm.NumFigures; n++ {
		k[n], _ = f.figure(n)
	}
	return k
}
