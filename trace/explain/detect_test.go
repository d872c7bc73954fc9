package explain_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// found folds events in text form at 1 GHz and returns what the watcher finds.
func found(t *testing.T, text string) map[string]explain.Finding {
	t.Helper()
	h := &trace.Header{Engine: "import", Provenance: trace.Measured, VCPUs: 1, Hz: 1_000_000_000, Knobs: trace.UnknownKnobs()}
	var s trace.State
	s.Reset(h)
	w := &explain.Watcher{}
	r := trace.NewTextReader(strings.NewReader(text))
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(&e)
		w.Look(&e, &s)
	}
	all := map[string]explain.Finding{}
	for _, f := range w.Findings(&s) {
		all[f.ID] = f
	}
	return all
}

// arms writes n ordinary deadlines, 1 ms apart, and returns the time after them.
func arms(b *strings.Builder, n int) int {
	at := 1000
	for range n {
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=1 period=0\n", at, at+1_000_000)
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 backing backing=hv clause=none fire=%d advance=0\n", at+10, at+1_000_000)
		at += 1_000_100
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 host_fire backing=hv programmed=%d\n", at, at-100)
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 expire target=%d route=direct clause=none callback=0\n", at+10, at-100)
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 deliver vector=236 route=pir clause=none source=timer\n", at+20)
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 guest_irq vector=236 virtual=1 rip=0x0\n", at+30)
		fmt.Fprintf(b, "%d vcpu=0 pcpu=5 eoi vector=236 virtual=1\n", at+40)
		at += 1000
	}
	return at
}

func TestPatternsAreFoundInAnyTrace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tail  func(b *strings.Builder, at int)
		id    string // "" for none
		words string
		count uint64
	}{
		{"nothing is wrong", func(*strings.Builder, int) {}, "", "", 0},
		{"a preemption timer that fires too early", func(b *strings.Builder, at int) {
			for range 2 {
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=1 period=0\n", at, at+171_790_000_000)
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 host_fire backing=hv programmed=0\n", at+58_000)
				at += 100_000
			}
		}, "host-timer-early", "171.79 s before deadline 11", 2},
		{"a deadline an hour ahead", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=1 period=0\n", at, at+3_600_000_000_000)
		}, "deadline-far-ahead", "deadline 11 lies 3600.00 s ahead", 1},
		{"an hour ahead, and replaced", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=1 period=0\n", at, at+3_600_000_000_000)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=1 period=0\n", at+10, at+1000)
		}, "", "", 0},
		{"a limited period", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=periodic value=20000 period=20000\n", at, at+20_000)
			for range 8 {
				at += 200_000
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 host_fire backing=sw programmed=%d\n", at, at-7)
			}
		}, "period-limited", "asked for a period of 20000 ns; the host timer comes every 200.0 us", 1},
		{"a period as asked", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 arm target=%d mode=periodic value=20000 period=200000\n", at, at+200_000)
			for range 8 {
				at += 200_000
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 host_fire backing=sw programmed=%d\n", at, at-7)
			}
		}, "", "", 0},
		{"a timer on another CPU", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 entry rip=0x0 vector=0 hv=0 reentry=0\n", at)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=0 host_fire backing=sw programmed=%d\n", at+10, at)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 exit reason=CPUID rip=0x0 info1=0x0 info2=0x0\n", at+3_000_010)
		}, "timer-on-other-cpu", "on CPU 0 while the vCPU was in the guest on CPU 5; nothing made it exit, and it saw the expiry 3.00 ms", 1},
		{"a timer on another CPU that kicks", func(b *strings.Builder, at int) {
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 entry rip=0x0 vector=0 hv=0 reentry=0\n", at)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=0 host_fire backing=sw programmed=%d\n", at+10, at)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=0 kick decision=ipi mode=in-guest steps=ipi from=255\n", at+20)
			fmt.Fprintf(b, "%d vcpu=0 pcpu=5 exit reason=EXTERNAL_INTERRUPT rip=0x0 info1=0x0 info2=0x0\n", at+3_000_010)
		}, "", "", 0},
		{"an inhibit that flaps", func(b *strings.Builder, at int) {
			for range 12 {
				fmt.Fprintf(b, "%d vcpu=- pcpu=- inhibit reason=irqwin set=1 others=irqwin\n", at)
				fmt.Fprintf(b, "%d vcpu=- pcpu=- inhibit reason=irqwin set=0 others=0\n", at+500)
				at += 1000
			}
		}, "inhibit-flapping", "inhibit irqwin was set again and again, and was in force 52 %", 12},
		{"steal", func(b *strings.Builder, at int) {
			for range 12 {
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 sched in=0 pcpu=5 task=88 state=runnable\n", at)
				fmt.Fprintf(b, "%d vcpu=0 pcpu=5 sched in=1 pcpu=5 task=88\n", at+500_000)
				at += 600_000
			}
		}, "steal", "runnable without a CPU for 6.00 ms", 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			tt.tail(&b, arms(&b, 10))
			all := found(t, b.String())
			f, ok := all[tt.id]
			if tt.id == "" && len(all) != 0 || tt.id != "" && (!ok || len(all) != 1) {
				t.Fatalf("found %+v, want %q", all, tt.id)
			}
			if !strings.Contains(f.Words, tt.words) || f.Count != tt.count {
				t.Errorf("%d times: %s; want %d times: %s", f.Count, f.Words, tt.count, tt.words)
			}
		})
	}
}

func TestWhyNothingComes(t *testing.T) {
	const armed = `
100 vcpu=0 pcpu=5 apic reg=0xf0 value=0x1ff write=1 virtual=0
110 vcpu=0 pcpu=5 apic reg=0x320 value=0x400ec write=1 virtual=0
200 vcpu=0 pcpu=5 arm target=5000 mode=tsc-deadline value=1 period=0
`
	const expired = "5010 vcpu=0 pcpu=5 expire target=5000 route=pending clause=none callback=0\n"
	const delivered = expired + "5020 vcpu=0 pcpu=5 deliver vector=236 route=irr+request clause=none source=timer\n"
	const end = "900000 vcpu=- pcpu=- mark name=\"\"\n"
	for _, tt := range []struct{ name, events, id, words string }{
		{"it ran", armed + delivered + "5030 vcpu=0 pcpu=5 guest_irq vector=236 virtual=0 rip=0x0\n" + end, "", ""},
		{"masked", armed + "210 vcpu=0 pcpu=5 apic reg=0x320 value=0x500ec write=1 virtual=0\n" + expired + end, "lvtt-masked",
			"LVTT is 0x500ec: bit 16 (mask) is set"},
		{"software-disabled", armed + "210 vcpu=0 pcpu=5 apic reg=0xf0 value=0xff write=1 virtual=0\n" + expired + end,
			"apic-software-disabled", "SVR is 0xff: bit 8"},
		{"globally disabled", armed + "210 vcpu=0 pcpu=5 msr index=0x1b value=0xfee00000 write=1 gp=0\n" + expired + end, "apic-off",
			"IA32_APIC_BASE is 0xfee00000: bit 11"},
		{"no EOI", armed + delivered + `5030 vcpu=0 pcpu=5 inject vector=236 reinjected=0 window=0
5040 vcpu=0 pcpu=5 guest_irq vector=236 virtual=0 rip=0x0
5050 vcpu=0 pcpu=5 arm target=6000 mode=tsc-deadline value=1 period=0
6010 vcpu=0 pcpu=5 expire target=6000 route=pending clause=none callback=0
6020 vcpu=0 pcpu=5 deliver vector=236 route=irr+request clause=none source=timer
` + end, "no-eoi", "vector 236 is still in ISR since the handler of deadline 1 began at 5040 (PPR 0xe0)"},
		{"TPR", armed + "210 vcpu=0 pcpu=5 apic reg=0x80 value=0xf0 write=1 virtual=0\n" + delivered + end, "tpr", "TPR is 0xf0"},
		{"halted with interrupts off", armed + delivered + "5030 vcpu=0 pcpu=5 halt step=blocked poll=0\n" + end, "halted-if-0",
			"RFLAGS.IF is 0"},
		{"written in the wrong mode", "110 vcpu=0 pcpu=5 apic reg=0x320 value=0xec write=1 virtual=0\n" +
			"200 vcpu=0 pcpu=5 msr index=0x6e0 value=0x5000 write=1 gp=0\n" + end, "deadline-ignored", "LVTT (0xec) is in one-shot mode"},
		{"its mode is not known", "200 vcpu=0 pcpu=5 msr index=0x6e0 value=0x5000 write=1 gp=0\n" + end, "", ""},
		{"not for long", armed + "210 vcpu=0 pcpu=5 apic reg=0x320 value=0x500ec write=1 virtual=0\n" + expired, "", ""},
	} {
		all := found(t, tt.events)
		f, ok := all[tt.id]
		if tt.id == "" && len(all) != 0 || tt.id != "" && (!ok || len(all) != 1) || !strings.Contains(f.Words, tt.words) {
			t.Errorf("%s: found %+v, want %s: %s", tt.name, all, tt.id, tt.words)
		}
	}
}
