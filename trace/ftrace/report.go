package ftrace

import (
	"fmt"
	"sort"
	"strings"
)

// Facts are what reading a trace shows, whichever VM is decoded.
type Facts struct {
	File    string
	Printer Printer
	// Kernel are the releases that print such lines. Contradicts is true if no
	// one release prints them all, as with back-ported changes.
	Kernel      Era
	Contradicts bool
	Unit        Unit
	// Lines are the records read.
	Lines uint64
	// Bad counts the lines that could not be read; Problems are the first.
	Bad      uint64
	Problems []*ParseError
	// Segments is how many parts there are whose times go back to before the part
	// before; they are merged. BackAt is the line where the second begins.
	Segments, BackAt int
	// Doubles counts lines that two segments hold alike, given once; FirstDouble
	// is the first. TooLate counts lines left out since they come too long after
	// later ones.
	Doubles, TooLate uint64
	FirstDouble      int
	FirstTooLate     int
	// OtherFile counts lines of a guest's file in a merged report.
	OtherFile uint64
	// Unknown counts records by events that are not known.
	Unknown map[string]*uint64
}

// Report says what a trace tells of a VM, what it lacks and what follows from
// that.
type Report struct {
	Facts
	vendor vendor
	Time   TimeFit
	VCPUs  []VCPUThread
	// Events are the events made, Inferred those of them that were deduced.
	Events, Inferred uint64
	First, Last      uint64 // time stamps
	Lost, Gaps       uint64
	OtherVM          uint64 // lines of vCPUs that belong to another VM
	NoGuestTSC       uint64 // deadlines that could not be placed in time
	NoRate           uint64 // timers whose length in cycles is not known
	// Withheld counts events that cannot be true; Impossible are the first.
	Withheld   uint64
	Impossible []Impossible
	// Missing are events that the trace does not hold, each with what cannot be
	// concluded without it.
	Missing []Gap
}

// Impossible is an event that contradicts those before it.
type Impossible struct {
	Line int // line or record that led to it
	Why  string
}

func (r *Report) withhold(line int, why string) {
	r.Withheld++
	if len(r.Impossible) < maxProblems {
		r.Impossible = append(r.Impossible, Impossible{line, why})
	}
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

func (f *Facts) double(line int) {
	if f.Doubles++; f.Doubles == 1 {
		f.FirstDouble = line
	}
}

func (f *Facts) late(line int) {
	if f.TooLate++; f.TooLate == 1 {
		f.FirstTooLate = line
	}
}

func (r *Facts) bad(e *ParseError) {
	r.Bad++
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, e)
	}
}

func (r *Facts) unknown(name []byte) {
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
	t := d.table.byName
	if e := t[name]; e != nil && d.counts[e.id] > 0 {
		return true
	}
	for alias, of := range aliases {
		if of == name && d.counts[t[alias].id] > 0 {
			return true
		}
	}
	return false
}

// Vendor is "Intel", "AMD" or "unknown", by the names of exit reasons.
func (r *Report) Vendor() string { return r.vendor.String() }

func (v vendor) String() string { return [...]string{"unknown", "Intel", "AMD"}[v] }

// Text is the report for people, lines of at most 100 columns but for names.
func (r *Report) Text() string {
	var b strings.Builder
	r.Facts.text(&b, r.vendor)
	fmt.Fprintf(&b, "events    %d (%d inferred)", r.Events, r.Inferred)
	if r.OtherVM > 0 {
		fmt.Fprintf(&b, "; %d records of other VMs left out", r.OtherVM)
	}
	b.WriteByte('\n')
	if r.Withheld > 0 {
		fmt.Fprintf(&b, "withheld  %d events that cannot be true after those before them; the first:\n", r.Withheld)
		for _, x := range r.Impossible[:min(3, len(r.Impossible))] {
			fmt.Fprintf(&b, "          line %d: %s\n", x.Line, x.Why)
		}
	}
	if r.Gaps > 0 {
		fmt.Fprintf(&b, "lost      %d events in %d gaps\n", r.Lost, r.Gaps)
	}
	for _, v := range r.VCPUs {
		fmt.Fprintf(&b, "vcpu %-4d thread %d %s\n", v.VCPU, v.PID, v.Comm)
	}
	b.WriteString(r.timeText())
	for _, g := range r.Missing {
		fmt.Fprintf(&b, "missing   %s: withheld: %s\n", g.Event, g.Withheld)
	}
	return b.String()
}

// text is what reading the trace showed.
func (f *Facts) text(b *strings.Builder, v vendor) {
	fmt.Fprintf(b, "format    printed by %s, kernel %s, vendor %s, clock in %s\n", f.Printer, f.Kernel, v,
		[...]string{"no unit", "seconds", "TSC cycles"}[f.Unit])
	if f.Contradicts {
		b.WriteString("          no one release prints all of these forms: a kernel with back-ports\n")
	}
	fmt.Fprintf(b, "read      %d records, %d lines not readable\n", f.Lines, f.Bad)
	for _, p := range f.Problems {
		fmt.Fprintf(b, "          %s\n", p)
	}
	if f.OtherFile > 0 {
		fmt.Fprintf(b, "merged    %d lines of other files than the host's are left out\n", f.OtherFile)
	}
	if f.Segments > 1 {
		fmt.Fprintf(b, "order     %d parts one after the other (times go back at line %d): merged by time\n", f.Segments,
			f.BackAt)
	} else if f.BackAt != 0 {
		fmt.Fprintf(b, "order     times go back often (first at line %d): sorted\n", f.BackAt)
	}
	if f.Doubles > 0 {
		fmt.Fprintf(b, "double    %d lines occur in two parts alike (first at line %d) and count once: the same capture twice\n",
			f.Doubles, f.FirstDouble)
	}
	if f.TooLate > 0 {
		fmt.Fprintf(b, "withheld  %d lines that come too long after later ones to be sorted in (first: line %d)\n", f.TooLate,
			f.FirstTooLate)
	}
}

// timeText says what is known of the clock, and what is withheld for what is not.
func (r *Report) timeText() string {
	var b strings.Builder
	t := &r.Time
	switch {
	case t.RateFrom != "":
		fmt.Fprintf(&b, "rate      %d kHz: %s\n", t.Hz.KHz(), t.RateFrom)
	case r.Unit == Nanos:
		b.WriteString("rate      the TSC rate is not known: a cycle stands for a nanosecond of the trace's clock; --tsc-khz tells it\n")
	default:
		b.WriteString("rate      the TSC rate is not known: cycles only, no times in seconds; --tsc-khz tells it\n")
	}
	switch {
	case t.TieFrom != "":
		fmt.Fprintf(&b, "time      tied to the guest's TSC by %s", t.TieFrom)
		if t.Residual > 0 {
			fmt.Fprintf(&b, ", residual %.0f cycles", t.Residual)
		}
		b.WriteByte('\n')
	default:
		b.WriteString("time      not tied to the guest's TSC: TSC-deadline lateness withheld; record hrtimer_start and\n" +
			"          hrtimer_expire_entry too, or kvm_write_tsc_offset with the x86-tsc clock\n")
	}
	if r.NoGuestTSC > 0 {
		fmt.Fprintf(&b, "withheld  %d deadlines whose place in time is not known\n", r.NoGuestTSC)
	}
	if r.NoRate > 0 {
		fmt.Fprintf(&b, "withheld  %d one-shot or periodic timers: without the TSC rate their length in cycles is not known\n",
			r.NoRate)
	}
	return b.String()
}
