package ftrace

import (
	"fmt"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// ran are the events after a vCPU of thread 7 has entered and left on CPU 1.
func ran(t *testing.T, lines string, o Options) []string {
	t.Helper()
	text := "vm-7 [001] d..1. 1000: kvm_entry: vcpu 0, rip 0x1\n" +
		"vm-7 [001] d..1. 1010: kvm_exit: vcpu 0 reason HLT rip 0x5 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0\n"
	for i, l := range strings.Split(lines, "\n") {
		text += fmt.Sprintf(l+"\n", 1020+10*i)
	}
	events, r := decode(t, text, o)
	if r.Bad != 0 {
		t.Errorf("%d lines not readable: %v", r.Bad, r.Problems)
	}
	var out []string
	for _, e := range interesting(events) {
		if !strings.Contains(e, " entry ") && !strings.Contains(e, " exit ") && !strings.Contains(e, " halt ") {
			out = append(out, e)
		}
	}
	return out
}

func TestHostEventsAreDecoded(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		want        []string
	}{
		{"preempted by a task of higher priority", "vm-7 [001] d..2. %d: sched_switch: prev_comm=CPU 0/KVM prev_pid=7 prev_prio=120 " +
			"prev_state=R+ ==> next_comm=hog next_pid=99 next_prio=-1",
			[]string{"task vcpu=0 pid=7 prio=120", "task pid=99 prio=-1", "sched vcpu=0 in=0 pcpu=1 task=99 state=runnable"}},
		{"trace-cmd's short form", "vm-7 [001] d..2. %d: sched_switch:  CPU 0/KVM:7 [120] S ==> kworker/1:2:55 [49]",
			[]string{"task vcpu=0 pid=7", "task pid=55 prio=49", "sched vcpu=0 in=0 task=55 state=sleeping"}},
		{"switched in", "hog-99 [001] d..2. %d: sched_switch: prev_comm=hog prev_pid=99 prev_prio=98 prev_state=S ==> " +
			"next_comm=vm next_pid=7 next_prio=120",
			[]string{"task pid=99 prio=98", "task vcpu=0 pid=7", "sched vcpu=0 in=1 pcpu=1 task=99"}},
		{"two others on the vCPU's CPU", "hog-99 [001] d..2. %d: sched_switch: prev_comm=hog prev_pid=99 prev_prio=98 prev_state=S ==> " +
			"next_comm=two next_pid=98 next_prio=120",
			[]string{"task pid=99", "task pid=98", "sched in=1 pcpu=1 task=98"}},
		{"two others elsewhere", "hog-99 [003] d..2. %d: sched_switch: prev_comm=hog prev_pid=99 prev_prio=98 prev_state=S ==> " +
			"next_comm=two next_pid=98 next_prio=120", nil},
		{"woken by an interrupt", "<idle>-0 [001] dNh.. %d: sched_waking: comm=vm pid=7 prio=120 target_cpu=003",
			[]string{"task vcpu=0 pid=7", "waking vcpu=0 by=0 target=3"}},
		{"woken, once", "x-5 [002] d.... %d: sched_waking: comm=vm pid=7 prio=120 target_cpu=003\n" +
			"x-5 [002] d.... %d: sched_wakeup: comm=vm pid=7 prio=120 target_cpu=003",
			[]string{"task vcpu=0 pid=7", "waking vcpu=0 by=5 target=3"}},
		{"user space for a port", "vm-7 [001] ..... %d: kvm_pio: pio_write at 0x3f8 size 1 count 1 val 0x41\n" +
			"vm-7 [001] ..... %d: kvm_userspace_exit: reason KVM_EXIT_IO (2)",
			[]string{"user_exit vcpu=0 reason=IO address=0x3f8 write=1"}},
		{"user space for a device", "vm-7 [001] ..... %d: kvm_mmio: mmio read len 4 gpa 0xfe000010 val 0x0\n" +
			"vm-7 [001] ..... %d: kvm_userspace_exit: reason KVM_EXIT_MMIO (6)",
			[]string{"user_exit vcpu=0 reason=MMIO address=0xfe000010 write=0"}},
		{"a signal", "vm-7 [001] ..... %d: kvm_userspace_exit: reason restart (4)",
			[]string{"user_exit vcpu=0 reason=INTR errno=-4"}},
		{"C-states", "<idle>-0 [001] d..1. %d: cpu_idle: state=2 cpu_id=1\n<idle>-0 [001] d..1. %d: cpu_idle: state=4294967295 cpu_id=1\n" +
			"<idle>-0 [003] d..1. %d: cpu_idle: state=2 cpu_id=3",
			[]string{"host_idle pcpu=1 in=1 state=2", "host_idle pcpu=1 in=0"}},
		{"host interrupts", "x-5 [001] d.h.. %d: local_timer_entry: vector=236\nx-5 [001] d.h.. %d: local_timer_exit: vector=236\n" +
			"x-5 [001] d.h.. %d: irq_handler_entry: irq=24 name=nvme0q1\nx-5 [001] d.s.. %d: softirq_entry: vec=1 [action=TIMER]",
			[]string{"host_irq in=1 what=timer number=236", "host_irq in=0 what=timer", "host_irq in=1 what=device number=24",
				"host_irq in=1 what=softirq number=1"}},
		{"PLE window", "vm-7 [001] ..... %d: kvm_ple_window_update: vcpu 0 old 4096 new 8192 (growed)",
			[]string{"ple_window vcpu=0 new=8192 old=4096"}},
	} {
		got := ran(t, tt.lines, Options{})
		if len(got) != len(tt.want) {
			t.Errorf("%s: %d events, want %d:\n%s", tt.name, len(got), len(tt.want), strings.Join(got, "\n"))
			continue
		}
		for i := range got {
			if !holds(got[i], tt.want[i]) {
				t.Errorf("%s: event %d is %s\nwant it to hold %q", tt.name, i, got[i], tt.want[i])
			}
		}
	}
}

// A timer of the host is placed on the guest's line where hrtimer interrupts tell
// both clocks.
func TestHostTimersAreOnTheCommonLine(t *testing.T) {
	events, _ := decode(t, string(caseFile(t, "local-clock.txt")), Options{})
	var target uint64
	started, expired := 0, 0
	for _, e := range events {
		switch {
		case e.Kind == trace.KindArm:
			target = e.A
		case e.Kind == trace.KindHostTimer && trace.HostTimerStep(e.A) == trace.HostTimerStarted:
			started++
			if d := clock.TSC(e.C).Sub(clock.TSC(target)); d < -3000 || d > 3000 {
				t.Fatalf("an hrtimer expires %d cycles from its deadline, want at most 3000 (the stamps count us)", d)
			}
		case e.Kind == trace.KindHostTimer && trace.HostTimerStep(e.A) == trace.HostTimerExpired:
			expired++
			if e.D == 0 || e.D > uint64(e.TSC)+3000 {
				t.Fatalf("an interrupt read %d, but was traced at %d", e.D, e.TSC)
			}
		}
	}
	if started != 40 || expired != 40 {
		t.Errorf("%d hrtimers started, %d expired; want 40 and 40", started, expired)
	}
}

// Synthetic timers of Hyper-V are deadlines; one of the case's is 6 ms late.
func TestSyntheticTimersAreDeadlines(t *testing.T) {
	events, r := decode(t, string(caseFile(t, "stimer.txt")), Options{Time: TimeBase{Hz: 2_500_000_000}})
	s := fold(events)
	arms, expiries := s.Kinds[trace.KindStimerArm], s.Kinds[trace.KindStimerExpire]
	if arms == 0 || arms != expiries || r.Bad != 0 {
		t.Errorf("%d armed, %d expired, %d lines bad", arms, expiries, r.Bad)
	}
	if n := s.Deadlines.Outcomes[trace.OutcomeDone]; n != arms {
		t.Errorf("%d deadlines done of %d", n, arms)
	}
	if late := s.Deadlines.Late.Max; late < 15_000_000 || late > 15_200_000 {
		t.Errorf("the latest is %d cycles late, want 6 ms", late)
	}
	_, r = decode(t, string(caseFile(t, "stimer.txt")), Options{})
	if r.NoRate == 0 {
		t.Error("without a TSC rate nothing says that timers are withheld")
	}
}
