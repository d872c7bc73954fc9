package ftrace

import (
	"fmt"
	"sort"
	"strings"
)

// Report says what a trace is, what it lacks and what follows from that.
type Report struct {
	File    string
	Printer Printer
	// Kernel are the releases that print such lines. Contradicts is true if no
	// one release prints them all, as with back-ported changes.
	Kernel      Era
	Contradicts bool
	vendor      vendor
	Unit        Unit
	Time        TimeBase
	// TimeFrom says where the tie between time stamps and guest TSC comes from;
	// empty if there is none.
	TimeFrom string
	VCPUs    []VCPUThread
	// Lines are the lines read, Events the events made of them, Inferred those
	// of them that were deduced.
	Lines, Events, Inferred uint64
	First, Last             uint64 // time stamps
	Lost, Gaps              uint64
	OtherVM                 uint64 // lines of vCPUs that belong to another VM
	NoGuestTSC              uint64 // deadlines that could not be placed in time
	// Bad counts the lines that could not be read; Problems are the first.
	Bad      uint64
	Problems []*ParseError
	// Unknown counts lines by events that are not known.
	Unknown map[string]*uint64
	// Missing are events that the trace does not hold, each with what cannot be
	// concluded without it.
	Missing []Gap
}

// VCPUThread is a vCPU with its thread.
type VCPUThread struct {
	VCPU int
	PID  int32
	Comm string
}

// Gap is an event that a trace lacks.
type Gap struct{ Event, Withheld string }

const (
	maxProblems = 10
	maxUnknown  = 1000
)

func (r *Report) bad(e *ParseError) {
	r.Bad++
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, e)
	}
}

func (r *Report) unknown(name []byte) {
	if n := r.Unknown[string(name)]; n != nil {
		*n++
		return
	}
	if r.Unknown == nil {
		r.Unknown = map[string]*uint64{}
	}
	if len(r.Unknown) < maxUnknown {
		n := uint64(1)
		r.Unknown[string(name)] = &n
	}
}

func (r *Report) addVCPU(l *rawLine, id uint64) {
	r.VCPUs = append(r.VCPUs, VCPUThread{int(id), l.pid, string(l.comm)})
	sort.Slice(r.VCPUs, func(i, j int) bool { return r.VCPUs[i].VCPU < r.VCPUs[j].VCPU })
}

// needed are the events on which conclusions rest: one of each row must be in
// the trace.
var needed = []struct {
	events   []string
	withheld string
}{
	{[]string{"kvm_exit"}, "exit counts and costs"},
	{[]string{"kvm_entry"}, "when the guest ran, and so lateness"},
	{[]string{"kvm_msr", "set_dl"}, "TSC-deadline arms, and so deadlines"},
	{[]string{"kvm_apic"}, "timer modes and counts, the LVTT vector"},
	{[]string{"kvm_apic_accept_irq"}, "deliveries"},
	{[]string{"kvm_inj_virq"}, "injections; with APICv off, when handlers began"},
	{[]string{"kvm_eoi"}, "ends of interrupts"},
	{[]string{"kvm_hv_timer_state"}, "preemption timer or hrtimer"},
	{[]string{"kvm_wait_lapic_expire"}, "how early timers were programmed (absent also where the advance is off)"},
	{[]string{"kvm_vcpu_wakeup"}, "halts"},
	{[]string{"hrtimer_expire_entry", "timer_fn"}, "when hrtimers fired"},
	{[]string{"sched_switch"}, "preemption of vCPU threads"},
	{[]string{"vrun", "exit_in"}, "fastpath results (no tracepoint tells; needs kprobes)"},
	{[]string{"kick"}, "kicks and their decisions (no tracepoint tells; needs kprobes)"},
}

func (r *Report) finish(d *Decoder) {
	if d.time.Guest && r.TimeFrom == "" {
		r.TimeFrom = "the caller"
	}
	r.Missing = nil
	for _, n := range needed {
		found := false
		for _, name := range n.events {
			found = found || d.seen(name)
		}
		if !found {
			r.Missing = append(r.Missing, Gap{n.events[0], n.withheld})
		}
	}
}

// seen reports whether an event or an alias of a probe occurred.
func (d *Decoder) seen(name string) bool {
	if e := d.table[name]; e != nil && e.count > 0 {
		return true
	}
	for alias, of := range aliases {
		if of == name && d.table[alias].count > 0 {
			return true
		}
	}
	return false
}

// Vendor is "Intel", "AMD" or "unknown", by the names of exit reasons.
func (r *Report) Vendor() string { return [...]string{"unknown", "Intel", "AMD"}[r.vendor] }

// Text is the report for people, lines of at most 100 columns but for names.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "format    printed by %s, kernel %s, vendor %s, clock in %s\n", r.Printer, r.Kernel, r.Vendor(),
		[...]string{"no unit", "seconds", "TSC cycles"}[r.Unit])
	if r.Contradicts {
		b.WriteString("          no one release prints all of these forms: a kernel with back-ports\n")
	}
	fmt.Fprintf(&b, "read      %d lines, %d events (%d inferred), %d not readable, %d of another VM\n", r.Lines, r.Events,
		r.Inferred, r.Bad, r.OtherVM)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "          %s\n", p)
	}
	if r.Gaps > 0 {
		fmt.Fprintf(&b, "lost      %d events in %d gaps\n", r.Lost, r.Gaps)
	}
	for _, v := range r.VCPUs {
		fmt.Fprintf(&b, "vcpu %-4d thread %d %s\n", v.VCPU, v.PID, v.Comm)
	}
	if r.TimeFrom != "" {
		fmt.Fprintf(&b, "time      tied to the guest's TSC by %s\n", r.TimeFrom)
	} else {
		b.WriteString("time      not tied to the guest's TSC: TSC-deadline lateness withheld; record with the x86-tsc\n" +
			"          clock and kvm_write_tsc_offset from before the VM starts\n")
	}
	for _, g := range r.Missing {
		fmt.Fprintf(&b, "missing   %s: withheld: %s\n", g.Event, g.Withheld)
	}
	return b.String()
}
