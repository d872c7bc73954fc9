package ftrace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// decodeFile decodes a file of testdata strictly.
func decodeFile(t testing.TB, name string, o Options) ([]trace.Event, Report) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	o.File, o.Strict = name, true
	return decode(t, string(b), o)
}

func decode(t testing.TB, text string, o Options) ([]trace.Event, Report) {
	t.Helper()
	var events []trace.Event
	r, err := Read(strings.NewReader(text), o, trace.SinkFunc(func(e trace.Event) { events = append(events, e) }))
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if err := trace.Validate(&events[i]); err != nil {
			t.Errorf("event %d %v: %v", i, events[i], err)
		}
	}
	return events, r
}

func fold(events []trace.Event) *trace.State {
	s := &trace.State{}
	s.Reset(&trace.Header{VCPUs: 1, Hz: 100e6})
	for i := range events {
		s.Apply(&events[i])
	}
	return s
}

// The captured files hold one vCPU whose guest arms TSC-deadline timers in a
// loop. trace-* were taken with the kvm events, ktrace-* with kprobes as well.
func TestCapturedTracesGiveWholeDeadlines(t *testing.T) {
	type counts struct {
		deadlines, exits, fires, waits, switches, kicks, wakes uint64
		reenter, handled                                       uint64
	}
	tests := []struct {
		file, kernel, vendor string
		want                 counts
	}{
		{"trace-svm-6.12.txt", "6.11–6.13", "AMD", counts{30, 106, 0, 30, 0, 0, 28, 0, 0}},
		{"trace-svm-6.12-spin.txt", "6.11–6.13", "AMD", counts{20, 80, 0, 20, 0, 0, 0, 0, 0}},
		{"trace-vmx-6.1.txt", "6.0–6.10", "Intel", counts{30, 104, 0, 30, 30, 0, 30, 0, 0}},
		{"trace-vmx-6.1-spin.txt", "6.0–6.10", "Intel", counts{20, 99, 20, 20, 0, 0, 0, 0, 0}},
		{"ktrace-svm-6.12-hlt.txt", "6.11–6.13", "AMD", counts{20, 77, 20, 20, 0, 40, 20, 0, 0}},
		{"ktrace-svm-6.12-spin.txt", "6.11–6.13", "AMD", counts{20, 78, 20, 20, 0, 40, 0, 0, 0}},
		{"ktrace-vmx-6.1-hlt.txt", "6.0–6.10", "Intel", counts{20, 74, 20, 20, 20, 40, 20, 20, 0}},
		{"ktrace-vmx-6.1-spin.txt", "6.0–6.10", "Intel", counts{20, 94, 20, 20, 0, 20, 0, 20, 20}},
		{"ktrace-vmx-6.12-hlt.txt", "6.11–6.13", "Intel", counts{10, 45, 10, 10, 10, 20, 10, 10, 10}},
		{"ktrace-vmx-6.12-spin.txt", "6.11–6.13", "Intel", counts{10, 60, 10, 10, 0, 10, 0, 10, 10}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			events, r := decodeFile(t, tt.file, Options{})
			s := fold(events)
			got := counts{s.Deadlines.Outcomes[trace.OutcomeDone], s.Kinds[trace.KindExit], s.Kinds[trace.KindHostFire],
				s.Waits.Count, 0, s.Kinds[trace.KindKick], s.Kinds[trace.KindWake], 0, 0}
			for i := range s.Chains.Len() {
				got.switches += uint64(s.Chains.At(i).Switches)
			}
			for _, x := range s.ExitStats {
				got.reenter += x.Results[trace.FastReenter]
				got.handled += x.Results[trace.FastHandled]
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(counts{})); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if s.Kinds[trace.KindEntry] != s.Kinds[trace.KindExit] {
				t.Errorf("%d entries, %d exits: want as many", s.Kinds[trace.KindEntry], s.Kinds[trace.KindExit])
			}
			if r.Kernel.String() != tt.kernel || r.Vendor() != tt.vendor || r.Unit != Cycles || r.Printer != Kernel {
				t.Errorf("read as kernel %s, %s, unit %d, %s; want %s, %s, cycles, the kernel", r.Kernel, r.Vendor(),
					r.Unit, r.Printer, tt.kernel, tt.vendor)
			}
			if !r.Time.Guest || r.Time.TieFrom == "" {
				t.Error("time not tied to the guest's TSC, although the trace has its offset")
			}
		})
	}
}

// In the VMX traces the TSC counts instructions, so that lateness is exact: the
// entry lies a constant distance from the wait, whose delta the kernel printed.
func TestLatenessAgreesWithTheKernelsDelta(t *testing.T) {
	for _, file := range []string{"trace-vmx-6.1.txt", "ktrace-vmx-6.12-hlt.txt"} {
		events, _ := decodeFile(t, file, Options{})
		s := fold(events)
		for i := range s.Chains.Len() {
			c := s.Chains.At(i)
			if c.WaitAt == 0 || c.Delta <= 0 {
				t.Errorf("%s: deadline %d: no late wait: %+v", file, c.Num, c)
				continue
			}
			if diff := c.Late - c.Delta; diff < 0 || diff > 2000 {
				t.Errorf("%s: deadline %d: late by %d, the kernel's delta is %d: want at most 2000 more", file, c.Num,
					c.Late, c.Delta)
			}
		}
	}
}

func TestEstimatedTimeBaseIsNearTheExactOne(t *testing.T) {
	b, err := os.ReadFile("testdata/trace-vmx-6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, exact := decode(t, string(b), Options{})
	var cut, seconds strings.Builder
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "kvm_write_tsc_offset") || strings.HasPrefix(line, "#") {
			continue
		}
		cut.WriteString(line)
		var l rawLine
		if ok, _ := parseLine([]byte(strings.TrimSpace(line)), &l); !ok {
			t.Fatalf("cannot read %q", line)
		}
		// 100 MHz: a cycle is 10 ns.
		fmt.Fprintf(&seconds, "vm-92 [000] d..1. %d.%09d: %s: %s\n", l.ts/1e8, l.ts%1e8*10, l.event, l.body)
	}
	_, r := decode(t, cut.String(), Options{})
	offset := func(b TimeBase) uint64 { return uint64(b.TSC) - b.Stamp }
	if d := int64(offset(r.Time.TimeBase) - offset(exact.Time.TimeBase)); d < -1000 || d > 1000 {
		t.Errorf("estimated offset differs by %d cycles, want at most 1000", d)
	}
	events, r := decode(t, seconds.String(), Options{})
	if hz := r.Time.Hz; hz < 99_900_000 || hz > 100_100_000 {
		t.Errorf("estimated frequency %d Hz, want about 100 MHz", hz)
	}
	if n := fold(events).Deadlines.Outcomes[trace.OutcomeDone]; n != 30 {
		t.Errorf("%d deadlines done, want 30", n)
	}
}

// Rows composed from the format tables, not captured: each printer's head.
func TestHeads(t *testing.T) {
	type head struct {
		Comm    string
		PID     int32
		CPU     int16
		Flags   string
		TS      uint64
		Unit    Unit
		Event   string
		Body    string
		Printer Printer
	}
	tests := []struct {
		name, line string
		want       head
	}{
		{"kernel, five flags", "       CPU 5/KVM-2137779 [010] d.... 798115.331413: kvm_msr: msr_write 6e0 = 0x81",
			head{"CPU 5/KVM", 2137779, 10, "d....", 798115331413000, Nanos, "kvm_msr", "msr_write 6e0 = 0x81", Kernel}},
		{"kernel, four flags, no name", "           <...>-43752   [001] d..2.  3615.602298: kvm_entry: vcpu 0, rip 0x4015c2",
			head{"<...>", 43752, 1, "d..2.", 3615602298000, Nanos, "kvm_entry", "vcpu 0, rip 0x4015c2", Kernel}},
		{"kernel, idle task, interrupt", "          <idle>-0       [003] d.h1.   106.467859: hrtimer_expire_entry: hrtimer=00000000a1b2c3d4 function=apic_timer_fn [kvm] now=106467857000",
			head{"<idle>", 0, 3, "d.h1.", 106467859000, Nanos, "hrtimer_expire_entry",
				"hrtimer=00000000a1b2c3d4 function=apic_timer_fn [kvm] now=106467857000", Kernel}},
		{"kernel, x86-tsc clock", "              vm-143     [000] d..1.  10299793875: kvm_entry: vcpu 0, rip 0x10100",
			head{"vm", 143, 0, "d..1.", 10299793875, Cycles, "kvm_entry", "vcpu 0, rip 0x10100", Kernel}},
		{"trace-cmd, no flags", " <...>-43752 [001]  3615.602298: kvm_exit:             reason EXIT_MSR rip 0x4015c2 info 0 0",
			head{"<...>", 43752, 1, "", 3615602298000, Nanos, "kvm_exit", "reason EXIT_MSR rip 0x4015c2 info 0 0", TraceCmd}},
		{"trace-cmd, flags, nanoseconds", "       CPU 0/KVM-1821 [002] d..1.  512.000100123: kvm_exit:             reason MSR_WRITE rip 0x1 info 0 0",
			head{"CPU 0/KVM", 1821, 2, "d..1.", 512000100123, Nanos, "kvm_exit", "reason MSR_WRITE rip 0x1 info 0 0", TraceCmd}},
		{"trace-cmd -l", "  <idle>-0       0d.h1. 106467.859747: kvm_entry:            vcpu 0",
			head{"<idle>", 0, 0, "d.h1.", 106467859747000, Nanos, "kvm_entry", "vcpu 0", TraceCmd}},
		{"trace-cmd, time differences", " vm-7 [001] d..1. 10.000001: (+3) kvm_entry:            vcpu 0",
			head{"vm", 7, 1, "d..1.", 10000001000, Nanos, "kvm_entry", "vcpu 0", TraceCmd}},
		{"trace-cmd, two files", "trace.dat:        vm-7 [001]  10.000001: kvm_entry:            vcpu 0",
			head{"vm", 7, 1, "", 10000001000, Nanos, "kvm_entry", "vcpu 0", TraceCmd}},
		{"perf", "       CPU 0/KVM 1821753 [015] 4831258.258053: kvm:kvm_msr: msr_write 6e0 = 0x10e8aebe830c9e",
			head{"CPU 0/KVM", 1821753, 15, "", 4831258258053000, Nanos, "kvm_msr", "msr_write 6e0 = 0x10e8aebe830c9e", Perf}},
		{"perf, pid and tid, period", "       fc_vcpu 1  599500/599507 [039] 1377662.550600:    1    kvm:kvm_entry:  vcpu 1 rip 0xffffffff81036706",
			head{"fc_vcpu 1", 599507, 39, "", 1377662550600000, Nanos, "kvm_entry", "vcpu 1 rip 0xffffffff81036706", Perf}},
		{"perf, no CPU", "   preempt_test  20677.199579:      kvm:kvm_exit: reason PREEMPTION_TIMER rip 0x40274d info 0 0 intr 0",
			head{"preempt_test", -1, -1, "", 20677199579000, Nanos, "kvm_exit", "reason PREEMPTION_TIMER rip 0x40274d info 0 0 intr 0", Perf}},
		{"bare, with time", "87162647182125: kvm_halt_poll_ns: vcpu 0: halt_poll_ns 10000 (grow 0)",
			head{"", -1, -1, "", 87162647182125, Cycles, "kvm_halt_poll_ns", "vcpu 0: halt_poll_ns 10000 (grow 0)", Bare}},
		{"bare, without time", "kvm_exit:             reason VMRESUME rip 0x1 info 0 0",
			head{"", -1, -1, "", 0, NoUnit, "kvm_exit", "reason VMRESUME rip 0x1 info 0 0", Bare}},
		{"brackets in the task's name", "  kworker/[k] x-9 [004] d..1. 1.5: kvm_entry: vcpu 0",
			head{"kworker/[k] x", 9, 4, "d..1.", 1500000000, Nanos, "kvm_entry", "vcpu 0", Kernel}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l rawLine
			if ok, col := parseLine([]byte(tt.line), &l); !ok {
				t.Fatalf("not read from column %d on", col)
			}
			got := head{string(l.comm), l.pid, l.cpu, string(l.flags), l.ts, l.unit, string(l.event), string(l.body), l.printer}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Rows composed from the format tables, not captured: one body per form.
func TestBodies(t *testing.T) {
	tests := []struct {
		name, lines string // "; " separates lines of one thread
		kernel      string
		want        []string // events as text, without time and place
	}{
		{"entry 5.9", "kvm_entry: vcpu 0", "up to 5.9", []string{"entry rip=0x0"}},
		{"entry 5.14", "kvm_entry: vcpu 0, rip 0x1234", "5.10–6.13", []string{"entry rip=0x1234"}},
		{"entry 6.9, immediate exit", "kvm_entry: vcpu 0, rip 0x1234[immediate exit]", "6.9–6.13", []string{"entry rip=0x1234"}},
		{"entry 6.14 with a vector", "kvm_entry: vcpu 0, rip 0x12 intr_info 0x800000ec error_code 0x00000000[immediate exit]",
			"since 6.14", []string{"entry rip=0x12 vector=236", "guest_irq vector=236"}},
		{"entry of the plugin", "kvm_entry: vcpu 0 rip 0xffff ktime_get+0x10", "since 5.10", []string{"entry rip=0xffff"}},
		{"exit 4.9", "kvm_entry: vcpu 0; kvm_exit: reason MSR_WRITE rip 0x5 info 0 0", "up to 5.9",
			[]string{"entry", "exit reason=MSR_WRITE rip=0x5"}},
		{"exit 5.4", "kvm_exit: vcpu 0 reason HLT rip 0x5 info 0 0", "5.4–5.9", []string{"exit reason=HLT", "halt step=blocked"}},
		{"exit 5.14", "kvm_exit: vcpu 0 reason EXTERNAL_INTERRUPT rip 0x5 info1 0x0000000000000000 info2 0x0000000000000000 intr_info 0x800000ec error_code 0x00000000",
			"5.10–6.13", []string{"exit reason=EXTERNAL_INTERRUPT rip=0x5 info1=0x0 info2=0xec", "exit_info intr_info=0x800000ec"}},
		{"exit 6.14", "kvm_exit: vcpu 0 reason IO_INSTRUCTION rip 0x5 info1 0x0000000000f40000 info2 0x0000000000000000 intr_info 0x00000000 error_code 0x00000000 requests 0x0000000000000004",
			"since 6.14", []string{"exit reason=IO_INSTRUCTION rip=0x5 info1=0xf4", "exit_info requests=0x4"}},
		{"exit with a flag", "kvm_exit: vcpu 0 reason EPT_VIOLATION FAILED_VMENTRY rip 0x5 info 0 0", "5.4–5.9",
			[]string{"exit reason=ENTRY_FAILURE"}},
		{"exit of perf", "kvm_entry: vcpu 0; kvm_exit: reason PREEMPTION_TIMER rip 0x5 info 0 0 intr 0", "up to 5.9",
			[]string{"entry", "exit reason=PREEMPTION_TIMER", "host_fire backing=hv"}},
		{"exit of the plugin, with a symbol", "kvm_entry: vcpu 0; kvm_exit: reason EXIT_NPF rip 0x5 f+0x1 info 0 1000", "up to 5.9",
			[]string{"entry", "exit reason=EPT_VIOLATION rip=0x5 info1=0x1000"}},
		{"SVM msr read", "kvm_exit: vcpu 0 reason msr rip 0x5 info 0 0", "5.4–5.9", []string{"exit reason=MSR_READ"}},
		{"SVM msr write", "kvm_exit: vcpu 0 reason msr rip 0x5 info 1 0", "5.4–5.9", []string{"exit reason=MSR_WRITE"}},
		{"unknown reason", "kvm_exit: vcpu 0 reason 0x77 rip 0x5 info 0 0", "5.4–5.9", []string{"exit reason=OTHER"}},
		{"faulting msr", "kvm_entry: vcpu 0; kvm_msr: msr_write 123 = 0x7 (#GP)", "up to 5.9",
			[]string{"msr index=0x123 value=0x7 write=1 gp=1", "entry"}},
		{"injection, decimal", "kvm_entry: vcpu 0; kvm_inj_virq: irq 236", "up to 5.9",
			[]string{"inject vector=236", "entry"}},
		{"injection, hexadecimal", "kvm_entry: vcpu 0, rip 0x1; kvm_inj_virq: IRQ 0xec [reinjected]", "6.0–6.13",
			[]string{"inject vector=236 reinjected=1", "entry"}},
		{"two vCPUs by hexadecimal number", "kvm_hv_timer_state: vcpu_id a hv_timer 1", "any", []string{"backing backing=hv"}},
		{"poll", "kvm_entry: vcpu 0; kvm_vcpu_wakeup: poll time 812 ns, polling valid", "up to 5.9",
			[]string{"wake why=interrupt halted=812 polled=1", "entry"}},
		{"IPI", "kvm_entry: vcpu 0; kvm_apic_ipi: dst 1 vec 253 (Fixed|physical|assert|edge|dst)", "up to 5.9",
			[]string{"ipi icr=0x1000040fd targets=0x2", "entry"}},
		{"APICv turned off, 5.14", "kvm_apicv_update_request: activate bit=4; kvm_apicv_update_request: deactivate bit=4", "5.6–5.17",
			[]string{"knob knob=apicv value=0 old=1"}},
		{"APICv turned on, 6.8", "kvm_apicv_inhibit_changed: set reason=8, inhibits=0x120; kvm_apicv_inhibit_changed: cleared reason=8, inhibits=0x0",
			"5.18–6.10", []string{"knob knob=apicv value=1 old=0"}},
		{"APICv with names, 6.14", "kvm_apicv_inhibit_changed: set reason=8, inhibits=0x180 NESTED|IRQWIN", "since 6.11", nil},
		{"sched_switch", "kvm_entry: vcpu 0; sched_switch: prev_comm=CPU 0/KVM prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120",
			"up to 5.9", []string{"task pid=7 prio=120", "sched in=0 pcpu=1 task=0 state=sleeping", "entry"}},
		{"mark", "kvm_entry: vcpu 0; tracing_mark_write: hello", "up to 5.9", []string{"mark", "entry"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text strings.Builder
			for i, l := range strings.Split(tt.lines, "; ") {
				fmt.Fprintf(&text, "vm-7 [001] d..1. %d: %s\n", 1000+i, l)
			}
			events, r := decode(t, text.String(), Options{File: tt.name, Strict: true})
			if r.Kernel.String() != tt.kernel {
				t.Errorf("kernel %s, want %s", r.Kernel, tt.kernel)
			}
			if len(events) != len(tt.want) {
				t.Fatalf("%d events, want %d: %v", len(events), len(tt.want), events)
			}
			for i, e := range events {
				if !holds(e.String(), tt.want[i]) {
					t.Errorf("event %d: %s\nwant it to hold %q", i, e, tt.want[i])
				}
			}
		})
	}
}

// holds reports whether each word of want is a word of text.
func holds(text, want string) bool {
	words := strings.Fields(text)
	for _, w := range strings.Fields(want) {
		found := false
		for _, x := range words {
			found = found || x == w
		}
		if !found {
			return false
		}
	}
	return true
}

func TestHiddenReentryOfOldKernels(t *testing.T) {
	const text = `
vm-7 [001] d..1. 1000: kvm_entry: vcpu 0
vm-7 [001] d..1. 1100: kvm_exit: vcpu 0 reason MSR_WRITE rip 0x5 info 0 0
vm-7 [001] d..1. 1110: kvm_msr: msr_write 6e0 = 0x2000
vm-7 [001] d..1. 1200: kvm_exit: vcpu 0 reason PREEMPTION_TIMER rip 0x6 info 0 0
`
	events, _ := decode(t, text, Options{Strict: true})
	var fast trace.Event
	for _, e := range events {
		if e.Kind == trace.KindFastpath {
			fast = e
		}
	}
	if fast.A != uint64(trace.ExitMSRWrite) || fast.B != uint64(trace.FastReenter) || fast.D != 0x6e0 ||
		fast.Flags&trace.FlagInferred == 0 {
		t.Errorf("fastpath event %v: want an inferred re-entry of the write of 6e0", fast)
	}
}

func TestKickAcrossCPUsIsDecidedByTheNextProbe(t *testing.T) {
	const head = `
a-7 [000] d..1. 1000: kvm_entry: vcpu 0, rip 0x1
b-8 [001] d..1. 1001: kvm_entry: vcpu 1, rip 0x1
b-8 [001] ..... 1002: halt: (kvm_vcpu_halt+0x4/0x410 [kvm]) vcpu=0xffff888000000010
`
	tests := []struct {
		name, lines, want string
	}{
		{"target in the guest", "a-7 [000] ..... 2000: kick: (kvm_vcpu_kick+0x4/0xf0 [kvm]) vcpu=0xffff888000000020\n" +
			"b-8 [001] d..1. 2001: kvm_eoi: apicid 1 vector 64\n" +
			"a-7 [000] ..... 2002: should_kick: (kvm_vcpu_kick+0x4/0x1 [kvm] <- kvm_arch_vcpu_should_kick) ret=1\n",
			"kick vcpu=1 decision=ipi mode=in-guest steps=rcu|cmpxchg|ipi from=0"},
		{"target outside", "a-7 [000] ..... 2000: kick: (kvm_vcpu_kick+0x4/0xf0 [kvm]) vcpu=0xffff888000000020\n" +
			"a-7 [000] ..... 2002: should_kick: (kvm_vcpu_kick+0x4/0x1 [kvm] <- kvm_arch_vcpu_should_kick) ret=0\n",
			"kick vcpu=1 decision=nothing mode=outside steps=rcu|cmpxchg from=0"},
		{"target asleep", "a-7 [000] ..... 2000: kick: (kvm_vcpu_kick+0x4/0xf0 [kvm]) vcpu=0xffff888000000010\n" +
			"a-7 [000] ..... 2002: kvm_eoi: apicid 0 vector 64\n",
			"kick vcpu=1 decision=wake steps=rcu|wake from=0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := head + tt.lines
			if tt.name != "target asleep" { // the probe of the deadline tells vCPU 1's other address
				text = strings.Replace(text, "halt: (kvm_vcpu_halt+0x4/0x410 [kvm]) vcpu=0xffff888000000010",
					"set_dl: (kvm_set_lapic_tscdeadline_msr+0x4/0x90 [kvm]) vcpu=0xffff888000000020 data=0x0", 1)
			}
			events, _ := decode(t, text, Options{Strict: true})
			for _, e := range events {
				if e.Kind == trace.KindKick {
					if !holds(e.String(), tt.want) {
						t.Errorf("%s\nwant it to hold %q", e, tt.want)
					}
					return
				}
			}
			t.Error("no kick event")
		})
	}
}

func TestLossIsReportedAndBreaksPairs(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       uint64
	}{
		{"ftrace", "CPU:3 [LOST 128 EVENTS]", 128},
		{"trace-cmd", "CPU:3 [128 EVENTS DROPPED]", 128},
		{"trace-cmd, unknown number", "CPU:3 [EVENTS DROPPED]", 0},
		{"perf", "Lost events: 9", 9},
		{"overwritten ring", "# entries-in-buffer/entries-written: 100/300   #P:4", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "vm-7 [001] d..1. 1000: kvm_entry: vcpu 0\n" + tt.line + "\n" +
				"vm-7 [001] d..1. 1000: kvm_exit: vcpu 0 reason HLT rip 0x5 info 0 0\n"
			events, r := decode(t, text, Options{})
			var lost []trace.Event
			for _, e := range events {
				if e.Kind == trace.KindLost {
					lost = append(lost, e)
				}
			}
			if len(lost) != 1 || lost[0].A != tt.want || r.Gaps != 1 || r.Lost != tt.want {
				t.Errorf("lost events %v, report %d in %d gaps; want one of %d", lost, r.Lost, r.Gaps, tt.want)
			}
		})
	}
}

func TestBrokenLinesAreNamedByPlace(t *testing.T) {
	const text = "vm-7 [001] d..1. 1000: kvm_entry: vcpu 0\n" +
		"vm-7 [001] d..1. 1001: kvm_exit: vcpu 0 reason HLT rip zzz info 0 0\n"
	_, err := Read(strings.NewReader(text), Options{File: "x.txt", Strict: true}, trace.SinkFunc(func(trace.Event) {}))
	var p *ParseError
	if !errors.As(err, &p) || p.Line != 2 || p.Col != 56 || !strings.HasPrefix(err.Error(), "x.txt:2:56: ") {
		t.Errorf("strict: %v, want x.txt:2:56", err)
	}
	r, err := Read(strings.NewReader(text), Options{File: "x.txt"}, trace.SinkFunc(func(trace.Event) {}))
	if err != nil || r.Bad != 1 || len(r.Problems) != 1 || r.Problems[0].Line != 2 {
		t.Errorf("lenient: %v, %d bad, %v; want one problem in line 2", err, r.Bad, r.Problems)
	}
	_, err = Read(strings.NewReader("hello\nworld\n"), Options{File: "y.txt"}, trace.SinkFunc(func(trace.Event) {}))
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "y.txt:1:1: no line of a KVM trace") {
		t.Errorf("no trace: %v", err)
	}
}

func TestSecondVMIsNotMixedIn(t *testing.T) {
	const text = "a-7 [001] d..1. 1000: kvm_entry: vcpu 0, rip 0x1\n" +
		"b-9 [002] d..1. 1001: kvm_entry: vcpu 0, rip 0x2\n"
	events, r := decode(t, text, Options{Strict: true})
	if len(events) != 1 || r.OtherVM != 1 {
		t.Errorf("%d events, %d lines of another VM; want 1 and 1", len(events), r.OtherVM)
	}
}

func TestReportSaysWhatIsWithheld(t *testing.T) {
	const text = "a-7 [001] d..1. 1.000001: kvm_entry: vcpu 0, rip 0x1\n" +
		"a-7 [001] d..1. 1.000002: kvm_msr: msr_write 6e0 = 0x2000\n"
	_, r := decode(t, text, Options{File: "t", Strict: true})
	out := r.Text()
	for _, want := range []string{"kernel 5.10–6.13", "not tied to the guest's TSC", "missing   kvm_exit: withheld: exit counts",
		"missing   vrun: withheld: fastpath results", "vcpu 0    thread 7 a"} {
		if !strings.Contains(out, want) {
			t.Errorf("report lacks %q:\n%s", want, out)
		}
	}
	if r.NoGuestTSC != 1 {
		t.Errorf("%d deadlines without a place in time, want 1", r.NoGuestTSC)
	}
}

func TestInhibitNamesFollowTheKernel(t *testing.T) {
	for _, tt := range []struct {
		v    Version
		bit  uint
		want string
	}{
		{V(5, 15), 4, "PIT_REINJ"}, {V(6, 1), 8, "PIT_REINJ"}, {V(6, 12), 8, "IRQWIN"}, {V(6, 12), 9, "PIT_REINJ"},
		{V(6, 12), 63, ""}, {0, 8, ""},
	} {
		if got := InhibitName(tt.v, tt.bit); got != tt.want {
			t.Errorf("bit %d of kernel %s: %q, want %q", tt.bit, tt.v, got, tt.want)
		}
	}
}

func TestTimeBaseConvertsBothUnits(t *testing.T) {
	b := TimeBase{Hz: 2_500_000_000, Stamp: 1000, TSC: 500, Set: true}
	for _, tt := range []struct {
		name string
		ts   uint64
		u    Unit
		want clock.TSC
	}{
		{"cycles", 1600, Cycles, 1100}, {"cycles before the zero", 400, Cycles, 0}, {"nanoseconds", 1400, Nanos, 1500},
		{"nanoseconds before", 900, Nanos, 250},
	} {
		if got := b.common(tt.ts, tt.u); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestTablesAreConsistent(t *testing.T) {
	table := events().byName
	for _, name := range counted {
		if e := table[name]; len(e.forms) > 0 || e.probe != nil {
			t.Errorf("%s is both decoded and only counted", name)
		}
	}
	for _, n := range needed {
		for _, name := range n.events {
			if table[name] == nil {
				t.Errorf("the report needs %s, which no row decodes", name)
			}
		}
	}
	for i := range Probes {
		p := &Probes[i]
		if p.handle == nil || len(p.Symbols) == 0 || p.Tells == "" {
			t.Errorf("probe %s lacks a handler, a symbol or a purpose", p.Name)
		}
	}
}

func TestLinesAreDecodedWithoutAllocation(t *testing.T) {
	b, err := os.ReadFile("testdata/ktrace-vmx-6.12-hlt.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(Options{}, trace.SinkFunc(func(trace.Event) {}))
	lines := bytes.Split(b, []byte("\n"))
	all := func() {
		d.order = trace.Order{} // time begins anew
		for _, l := range lines {
			if err := d.Line(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	if got := testing.AllocsPerRun(5, all); got > 0 {
		t.Errorf("%v allocations per pass over %d lines, want 0", got, len(lines))
	}
}

func BenchmarkLine(b *testing.B) {
	text, err := os.ReadFile("testdata/ktrace-vmx-6.12-hlt.txt")
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(text, []byte("\n"))
	d := NewDecoder(Options{}, trace.SinkFunc(func(trace.Event) {}))
	b.SetBytes(int64(len(text)) / int64(len(lines)))
	for i := 0; b.Loop(); i++ {
		_ = d.Line(lines[i%len(lines)])
	}
}

func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"trace-svm-6.12-spin.txt", "ktrace-vmx-6.12-hlt.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(b[:8000]) {
			f.Add(string(line))
		}
	}
	f.Add("kvm_exit: vcpu 0 reason EXIT_NPF rip 0x5 f+0x1 info 0 1000\nCPU:1 [LOST 3 EVENTS]")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = Read(strings.NewReader(text), Options{File: "fuzz"}, trace.SinkFunc(func(e trace.Event) {
			if err := trace.Validate(&e); err != nil {
				t.Errorf("invalid event %v: %v", e, err)
			}
		}))
	})
}
