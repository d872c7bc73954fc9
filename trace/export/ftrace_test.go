package export

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// readBack imports an exported text.
func readBack(t *testing.T, text []byte, rec *trace.Recording) (ftrace.Report, *trace.State, []trace.Event) {
	t.Helper()
	var st trace.State
	st.Reset(&trace.Header{Hz: rec.Header().Hz})
	var es []trace.Event
	o := ftrace.Options{File: "export", Strict: true, Time: ftrace.TimeBase{Hz: rec.Header().Hz}}
	rep, err := ftrace.Read(bytes.NewReader(text), o, trace.SinkFunc(func(e trace.Event) {
		es = append(es, e)
		st.Apply(&e)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return rep, &st, es
}

func TestFtraceTextIsReadBackWithTheSameCounts(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		text := write(t, "ftrace", rec, Options{})
		rep, got, events := readBack(t, text, rec)
		switches := uint64(0)
		for _, e := range events {
			if e.Kind == trace.KindSched && e.VCPU != trace.NoCPU {
				switches++
			}
		}
		known := seenThreads(allEvents(t, rec))
		if rep.Contradicts || !rep.Kernel.Has(ftrace.V(6, 12)) || rep.Printer != ftrace.Kernel {
			t.Errorf("read as printed by %v, kernel %v (contradicts: %v), want the kernel 6.12", rep.Printer, rep.Kernel,
				rep.Contradicts)
		}
		if rep.Bad != 0 || len(rep.Unknown) != 0 {
			t.Errorf("%d lines cannot be read, %d events are not known", rep.Bad, len(rep.Unknown))
		}
		for r := range st.ExitStats {
			if got, want := got.ExitStats[r].Count, st.ExitStats[r].Count; got != want {
				t.Errorf("%v: %d exits, want %d", trace.ExitReason(r), got, want)
			}
		}
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"entries", got.Kinds[trace.KindEntry], st.Kinds[trace.KindEntry]},
			{"arms", got.Deadlines.Arms, st.Deadlines.Arms},
			{"preemption timers", got.Backings[trace.BackHV], st.Backings[trace.BackHV]},
			{"hrtimers", got.Backings[trace.BackSW], st.Backings[trace.BackSW]},
			{"hrtimers fired", got.HostFires[trace.BackSW], st.HostFires[trace.BackSW]},
			{"waits", got.Waits.Count, st.Waits.Count},
			{"early waits", got.Waits.Early, st.Waits.Early},
			{"deliveries", got.Kinds[trace.KindDeliver], st.Kinds[trace.KindDeliver] - st.Deliveries[trace.DeliverLost] -
				st.Deliveries[trace.DeliverVirtual]},
			{"injections", got.Injections.Injected, st.Injections.Injected},
			{"EOIs that exit", got.Injections.EOIs, st.Injections.EOIs - st.Injections.VirtualEOIs},
			{"wake-ups", got.Kinds[trace.KindWake], known[trace.KindWake]},
			{"interrupt commands", got.Kinds[trace.KindIPI], st.Kinds[trace.KindIPI]},
			{"context switches", switches, known[trace.KindSched]},
		} {
			if c.got != c.want {
				t.Errorf("%d %s, want %d", c.got, c.name, c.want)
			}
		}
	})
}

// seenThreads counts the events that a reader can tell apart only by thread: it
// knows the threads of the vCPUs that enter at all. Spurious wake-ups are not
// printed.
func seenThreads(es []trace.Event) (n [trace.NumKinds]uint64) {
	known := map[uint8]bool{}
	for _, e := range es {
		if e.Kind == trace.KindEntry {
			known[e.VCPU] = true
		}
	}
	for _, e := range es {
		if known[e.VCPU] && !(e.Kind == trace.KindWake && trace.WakeReason(e.A) == trace.WakeSpurious) {
			n[e.Kind]++
		}
	}
	return n
}

func TestFtraceTextKeepsTimesAndDeltas(t *testing.T) {
	rec, _ := runs[0].record(t)
	_, _, got := readBack(t, write(t, "ftrace", rec, Options{}), rec)
	type at struct {
		kind trace.Kind
		tsc  uint64
		a    uint64
	}
	pick := func(es []trace.Event, kinds ...trace.Kind) (out []at) {
		for _, e := range es {
			if slices.Contains(kinds, e.Kind) && !(e.Kind == trace.KindHostFire && e.A != uint64(trace.BackSW)) {
				out = append(out, at{e.Kind, uint64(e.TSC), e.A})
			}
		}
		return out
	}
	for _, k := range []trace.Kind{trace.KindExit, trace.KindWait, trace.KindWake, trace.KindHostFire} {
		g, w := pick(got, k), pick(allEvents(t, rec), k)
		if !slices.Equal(g, w) {
			t.Errorf("%v: %d events read back, want the %d that were written, at the same times", k, len(g), len(w))
		}
	}
	// An arm is read at the time of its first effect: compare targets.
	target := func(es []trace.Event) (out []uint64) {
		for _, e := range es {
			if e.Kind == trace.KindArm && e.A != 0 {
				out = append(out, e.A)
			}
		}
		return out
	}
	if g, w := target(got), target(allEvents(t, rec)); !slices.Equal(g, w) {
		t.Errorf("targets read back are %d, want %d", g, w)
	}
}

func TestFtraceLinesAreInTheOrderOfTime(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, _ *trace.State) {
		last := ""
		for l := range strings.Lines(string(write(t, "ftrace", rec, Options{}))) {
			if strings.HasPrefix(l, "#") {
				continue
			}
			ts := l[len("       CPU 0/KVM-1001    [000] d..1. "):]
			ts = ts[:strings.IndexByte(ts, ':')]
			if ts < last { // right-aligned: compares as numbers do
				t.Fatalf("%sfollows a line of %s", l, last)
			}
			last = ts
		}
	})
}

func TestFtraceLinesOfKernel612(t *testing.T) {
	ev := func(k trace.Kind, a, b, c, d uint64) trace.Event {
		return trace.Event{TSC: 123456, Kind: k, VCPU: 10, PCPU: 3, A: a, B: b, C: c, D: d}
	}
	tests := []struct {
		name  string
		event trace.Event
		want  string
	}{
		{"entry", ev(trace.KindEntry, 0xffffffff81036706, 0, 0, 0), "d..1.       123456: kvm_entry: vcpu 10, rip 0xffffffff81036706"},
		{"exit of a port", ev(trace.KindExit, uint64(trace.ExitIO), 0x1000, 0x3f8, 0x41),
			"d..1.       123456: kvm_exit: vcpu 10 reason IO_INSTRUCTION rip 0x1000 info1 0x0000000003f80000 info2 0x0000000000000000 intr_info 0x00000000 error_code 0x00000000"},
		{"exit of an interrupt", ev(trace.KindExit, uint64(trace.ExitExternalInterrupt), 0x1000, 0, 0xec),
			"reason EXTERNAL_INTERRUPT rip 0x1000 info1 0x0000000000000000 info2 0x0000000000000000 intr_info 0x800000ec"},
		{"MSR write that faults", ev(trace.KindMSR, 0x6e0, 0xabc, 1, 1), ".....       123456: kvm_msr: msr_write 6e0 = 0xabc (#GP)"},
		{"APIC write", ev(trace.KindAPIC, 0x380, 0xf4240, 1, 0), "kvm_apic: apic_write APIC_TMICT = 0xf4240"},
		{"preemption timer", ev(trace.KindBacking, uint64(trace.BackHV), 0, 5, 0), "d..1.       123456: kvm_hv_timer_state: vcpu_id a hv_timer 1"},
		{"hrtimer", ev(trace.KindBacking, uint64(trace.BackSW), 0, 2000, 0),
			"hrtimer_start: hrtimer=00000000a000a000 function=apic_timer_fn [kvm] expires=2000 softexpires=2000 mode=ABS|HARD\n"},
		{"hrtimer fires", ev(trace.KindHostFire, uint64(trace.BackSW), 0, 0, 0),
			"d.h1.       123456: hrtimer_expire_entry: hrtimer=00000000a000a000 function=apic_timer_fn [kvm] now=123456\n"},
		{"early", ev(trace.KindWait, ^uint64(1233), 0, 0, uint64(trace.WaitLate)), "kvm_wait_lapic_expire: vcpu 10: delta -1234 (early)"},
		{"exactly in time is late", ev(trace.KindWait, 0, 0, 0, uint64(trace.WaitLate)), "delta 0 (late)"},
		{"wait in a callback", ev(trace.KindWait, 57, 0, 0, uint64(trace.WaitCallback)), "d.h1.       123456: kvm_wait_lapic_expire: vcpu 10: delta 57 (late)"},
		{"delivery", ev(trace.KindDeliver, 236, uint64(trace.DeliverRequest), 0, uint64(trace.SourceTimer)), "kvm_apic_accept_irq: apicid a vec 236 (Fixed|edge)"},
		{"posted delivery", ev(trace.KindDeliver, 236, uint64(trace.DeliverNotify), 0, uint64(trace.SourceTimer)), "kvm_apicv_accept_irq: apicid a vec 236 (Fixed|edge)"},
		{"reinjection", ev(trace.KindInject, 0xec, 1, 0, 0), "kvm_inj_virq: IRQ 0xec [reinjected]"},
		{"EOI of nothing", ev(trace.KindEOI, ^uint64(0), 0, 0, 0), "kvm_eoi: apicid a vector -1"},
		{"interrupt command", ev(trace.KindIPI, 1<<32|1<<14|0xf0, 2, 0, 0), "kvm_apic_ipi: dst 1 vec 240 (Fixed|physical|assert|edge|dst)"},
		{"wake-up", ev(trace.KindWake, uint64(trace.WakeTimer), 812, 1, 0), "kvm_vcpu_wakeup: poll time 812 ns, polling valid"},
		{"polling time", ev(trace.KindWake, uint64(trace.WakeTimer), 812, 0, 20000), "kvm_halt_poll_ns: vcpu 10: halt_poll_ns 20000 (grow 0)"},
		{"APICv", ev(trace.KindKnob, uint64(trace.KnobAPICv), 0, 1, 0), "kvm_apicv_inhibit_changed: set reason=0, inhibits=0x1 DISABLED"},
		{"another knob", ev(trace.KindKnob, uint64(trace.KnobAdvance), 0, 1000, 0), "tracing_mark_write: knob timer-advance=off"},
		{"lost events", ev(trace.KindLost, 128, 0, 0, 0), "\nCPU:3 [LOST 128 EVENTS]\n"},
		{"switched out", ev(trace.KindSched, 0, 3, 0, 0), "sched_switch: prev_comm=CPU 10/KVM prev_pid=1011 prev_prio=120 prev_state=R ==> next_comm=swapper/3 next_pid=0 next_prio=120"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := synthetic(t, trace.Header{Hz: 1e9, VCPUs: 1, PCPUs: 4}, []trace.Event{tt.event})
			if got := string(write(t, "ftrace", rec, Options{})); !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant it to hold\n%s", got, tt.want)
			}
		})
	}
}

func TestFtraceNotesSayWhatIsLeftOut(t *testing.T) {
	rec, st := runs[0].record(t)
	f, _ := Find("ftrace")
	notes, err := f.Write(&bytes.Buffer{}, rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(notes, "\n")
	if st.Kinds[trace.KindKick] == 0 || !strings.Contains(all, " kick") || strings.Contains(all, " exit") {
		t.Errorf("notes %q, want kicks in them and no exits", all)
	}
}
