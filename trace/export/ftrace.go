package export

import (
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// ftraceText writes the lines that Linux 6.12 would have printed of the same
// run with the clock x86-tsc: time stamps are the TSC of the recording's line,
// and a kvm_write_tsc_offset of 0 at the start says so. Events that no
// tracepoint of that kernel tells of are left out and counted.
//
// The kernel prints kvm_wait_lapic_expire after the kvm_entry that it belongs
// to, the recording has it before: so a wait is held until its entry.
type ftraceText struct {
	out
	hz      clock.Hz
	begun   bool
	pcpus   int
	vcpus   []ftVCPU
	lines   []ftLine // sorted; not written yet
	left    [trace.NumKinds]uint64
	scratch []byte
	apicvOn bool
}

// ftVCPU is what the lines of a vCPU depend on.
type ftVCPU struct {
	wait    trace.Event // held, of KindWait
	held    bool
	msr     uint64 // of the last exit
	value   uint64
	msrDone bool // the exit has its kvm_msr
	poll    uint64
	halted  bool
	cpu     uint8 // host CPU seen last
}

// ftLine is a line on its way.
type ftLine struct {
	at   clock.TSC
	text string
}

// The window of lines in which order is restored, and its bound while a wait is
// held.
const (
	ftWindow    = 256
	ftMaxWindow = 1 << 14
)

// ftPID is the process of the virtual machine; vCPU n is thread ftPID + 1 + n.
const ftPID = 1000

func newFtrace(j *job) Exporter {
	f := &ftraceText{out: out{w: j.w}, hz: j.h.Hz, pcpus: max(j.h.PCPUs, 1)}
	f.apicvOn = j.start.Knobs[trace.KnobAPICv] != 0
	return f
}

// ftHead is the kernel's header. Source: kernel/trace/trace.c,
// print_func_help_header_irq.
const ftHead = `# tracer: nop
#
# entries-in-buffer/entries-written: 0/0   #P:%d
#
# clock: x86-tsc, guest TSC without offset, %d Hz
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
`

// Event implements Exporter.
func (f *ftraceText) Event(e *trace.Event, s *trace.State) error {
	if !f.begun {
		f.start(e, s)
	}
	f.grow(len(s.VCPUs))
	if e.VCPU != trace.NoCPU && e.PCPU != trace.NoCPU && int(e.VCPU) < len(f.vcpus) {
		f.vcpus[e.VCPU].cpu = e.PCPU
	}
	write := ftWriters[e.Kind]
	if write == nil || !write(f, e) {
		f.left[e.Kind]++
	}
	f.release(ftWindow)
	return f.flushed()
}

func (f *ftraceText) grow(n int) {
	for len(f.vcpus) < n {
		f.vcpus = append(f.vcpus, ftVCPU{})
	}
}

// start writes the header and what a reader must know from the beginning.
func (f *ftraceText) start(e *trace.Event, s *trace.State) {
	f.begun = true
	f.b = fmt.Appendf(f.b, ftHead, f.pcpus, f.hz)
	f.grow(max(len(s.VCPUs), 1))
	at := *e
	at.PCPU = trace.NoCPU
	for i := range f.vcpus {
		at.VCPU = uint8(i)
		f.line(&at, ftOff, "kvm_write_tsc_offset: vcpu=%d prev=0 next=%d", i, offsetOf(s, i, e))
	}
	at.VCPU = 0
	f.inhibit(&at, f.apicvOn)
}

// offsetOf is the TSC offset of a vCPU before e.
func offsetOf(s *trace.State, i int, e *trace.Event) uint64 {
	switch {
	case i >= len(s.VCPUs):
		return 0
	case e.Kind == trace.KindTSCOffset && int(e.VCPU) == i:
		return e.B
	}
	return uint64(s.VCPUs[i].TSCOffset)
}

// Close implements Exporter.
func (f *ftraceText) Close(*trace.State) error {
	if !f.begun {
		f.b = fmt.Appendf(f.b, ftHead, f.pcpus, f.hz)
	}
	for i := range f.vcpus {
		f.flushWait(&f.vcpus[i])
	}
	f.release(0)
	return f.flush()
}

// Notes says what the form cannot hold.
func (f *ftraceText) Notes() []string {
	var what []string
	for k, n := range f.left {
		if n > 0 {
			what = append(what, strconv.FormatUint(n, 10)+" "+trace.Kind(k).String())
		}
	}
	if len(what) == 0 {
		return nil
	}
	return []string{"no tracepoint of Linux 6.12 tells of these events, so they are left out: " + strings.Join(what, ", ")}
}

// release writes the oldest lines until only keep are left. While a wait is held
// nothing later than it is written.
func (f *ftraceText) release(keep int) {
	n := len(f.lines) - keep
	if n <= 0 {
		return
	}
	if len(f.lines) < ftMaxWindow {
		for i := range f.vcpus {
			if v := &f.vcpus[i]; v.held {
				for n > 0 && f.lines[n-1].at > v.wait.TSC {
					n--
				}
			}
		}
	}
	for i := range n {
		f.b = append(append(f.b, f.lines[i].text...), '\n')
	}
	f.lines = append(f.lines[:0], f.lines[n:]...)
}

// Where a line is printed: the flags column. Source: kernel/trace/trace_output.c,
// trace_print_lat_fmt.
type ftContext string

const (
	ftOn  ftContext = "....." // vCPU thread, interrupts on
	ftOff ftContext = "d..1." // vCPU thread, interrupts off
	ftIRQ ftContext = "d.h1." // hard interrupt
)

// line adds "comm-pid [cpu] flags tsc: text" in its place.
func (f *ftraceText) line(e *trace.Event, c ftContext, format string, args ...any) {
	comm, pid, cpu := "<idle>", 0, e.PCPU
	if int(e.VCPU) < len(f.vcpus) && !(c == ftIRQ && f.vcpus[e.VCPU].halted) {
		comm, pid = vcpuComm(e.VCPU), ftPID+1+int(e.VCPU)
	}
	if cpu == trace.NoCPU {
		cpu = 0
		if int(e.VCPU) < len(f.vcpus) {
			cpu = f.vcpus[e.VCPU].cpu
		}
	}
	b := fmt.Appendf(f.scratch[:0], "%16s-%-7d [%03d] %s %12d: ", comm, pid, cpu, c, uint64(e.TSC))
	f.scratch = fmt.Appendf(b, format, args...)
	f.add(e.TSC, string(f.scratch))
}

func (f *ftraceText) add(at clock.TSC, text string) {
	f.lines = append(f.lines, ftLine{at, text})
	for i := len(f.lines) - 1; i > 0 && f.lines[i-1].at > at; i-- {
		f.lines[i-1], f.lines[i] = f.lines[i], f.lines[i-1]
	}
}

func vcpuComm(n uint8) string { return "CPU " + strconv.Itoa(int(n)) + "/KVM" }
