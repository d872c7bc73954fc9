package ftrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func caseFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A trace is the same in every form in which it can be had.
func TestFormsOfOneTraceGiveTheSameEvents(t *testing.T) {
	want, r := decode(t, string(caseFile(t, "version6.dat")), Options{File: "version6.dat"})
	if r.Bad != 0 || len(want) < 400 || r.Time.TieFrom == "" || r.Kernel.String() != "since 6.14" {
		t.Fatalf("%d events, %d bad, tied by %q, kernel %s", len(want), r.Bad, r.Time.TieFrom, r.Kernel)
	}
	for _, name := range []string{"version7-zstd.dat", "version6.txt", "version6-raw.txt", "version6-plugins.txt"} {
		got, r := decode(t, string(caseFile(t, name)), Options{File: name})
		if r.Bad != 0 {
			t.Errorf("%s: %d lines not readable: %v", name, r.Bad, r.Problems)
		}
		if name == "version6-plugins.txt" { // the plugin drops fields
			if a, b := fold(want).Deadlines.Outcomes, fold(got).Deadlines.Outcomes; a != b {
				t.Errorf("%s: outcomes %v, want %v", name, b, a)
			}
			continue
		}
		if diff := cmp.Diff(interesting(want), interesting(got)); diff != "" {
			t.Errorf("%s: events differ from the binary file's:\n%.2000s", name, diff)
		}
	}
}

var (
	stampPattern = regexp.MustCompile(`^( *.*)-(\d+) +\[0*(\d+)\] (\S+) (\d+)\.(\d+): (\w+): (.*)$`)
	lateCommon   = "local-clock.txt"
)

// lines takes a case's records apart for printing them in another way.
func linesAs(t *testing.T, print func(i int, us uint64, m []string) string) string {
	t.Helper()
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(caseFile(t, lateCommon))) {
		m := stampPattern.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		var sec, us uint64
		fmt.Sscan(strings.TrimLeft(m[5], "0"), &sec)
		fmt.Sscanf(m[6], "%d", &us)
		b.WriteString(print(n, sec*1e6+us, m))
		n++
	}
	return b.String()
}

func TestTextOfOtherPrintersIsRead(t *testing.T) {
	want, _ := decode(t, string(caseFile(t, lateCommon)), Options{})
	last := uint64(0)
	for name, text := range map[string]string{
		"latency format": linesAs(t, func(_ int, us uint64, m []string) string {
			return fmt.Sprintf("%s-%s %s%s %dus+: %s: %s\n", m[1], m[2], m[3], m[4], us, m[7], m[8])
		}),
		"ftrace_dump in a kernel log": linesAs(t, func(_ int, us uint64, m []string) string {
			return fmt.Sprintf("[   12.345678] %s-%s   %s%s %dus : %s: %s\n", m[1], m[2], m[3], m[4], us, m[7], m[8])
		}),
		"syslog": linesAs(t, func(_ int, us uint64, m []string) string {
			return fmt.Sprintf("Nov 30 12:00:00 host kernel: [   12.345678] %s-%s   %s%s %dus : %s: %s\n", m[1], m[2], m[3],
				m[4], us, m[7], m[8])
		}),
		"perf script --deltatime": linesAs(t, func(i int, us uint64, m []string) string {
			d := us - last
			if i == 0 {
				d = 0
			}
			last = us
			return fmt.Sprintf("%s %s [%s] %d.%06d: kvm:%s: %s\n", m[1], m[2], m[3], d/1e6, d%1e6, m[7], m[8])
		}),
		"perf trace": linesAs(t, func(_ int, us uint64, m []string) string {
			return fmt.Sprintf("%10d.%03d %s/%s kvm:%s(%s)\n", us/1e3, us%1e3, m[1], m[2], m[7], m[8])
		}),
		"a host's and a guest's file merged": linesAs(t, func(_ int, us uint64, m []string) string {
			return fmt.Sprintf(" host.dat:  %s-%s [%s] %d.%06d: %s: %s\n", m[1], m[2], m[3], us/1e6, us%1e6, m[7], m[8]) +
				fmt.Sprintf("guest.dat:  x-21377 [000] %d.%06d: sched_switch: prev_comm=x prev_pid=21377 prev_prio=1 prev_state=S ==> "+
					"next_comm=y next_pid=2 next_prio=1\n", us/1e6, us%1e6)
		}),
		"wrapped and quoted by mail": linesAs(t, func(_ int, us uint64, m []string) string {
			s := fmt.Sprintf("%s-%s [%s] %s %d.%06d: %s: %s", m[1], m[2], m[3], m[4], us/1e6, us%1e6, m[7], m[8])
			if i := strings.LastIndexByte(s[:min(len(s), 76)], ' '); len(s) > 76 && i > 60 {
				s = s[:i] + "\n> " + s[i+1:]
			}
			return "> " + s + "\n"
		}),
	} {
		got, r := decode(t, text, Options{File: name})
		if r.Bad != 0 {
			t.Errorf("%s: %d lines not readable: %v", name, r.Bad, r.Problems)
		}
		if r.Time.Hz < 2_499_000_000 || r.Time.Hz > 2_501_000_000 {
			t.Errorf("%s: rate %d Hz, want 2.5 GHz", name, r.Time.Hz)
		}
		if a, b := fold(want), fold(got); a.Deadlines.Outcomes != b.Deadlines.Outcomes ||
			a.Kinds != b.Kinds && name != "perf trace" { // which prints no CPU, so not what else ran there
			t.Errorf("%s: outcomes %v and kinds %v, want %v and %v", name, b.Deadlines.Outcomes, b.Kinds,
				a.Deadlines.Outcomes, a.Kinds)
		}
	}
}

// Per-CPU files may follow each other, and a capture may be there twice.
func TestPartsAreMergedByTime(t *testing.T) {
	whole := string(caseFile(t, "two-vms.txt"))
	want, _ := decode(t, whole, Options{})
	var cpu2, cpu7 strings.Builder
	for line := range strings.Lines(whole) {
		switch {
		case strings.Contains(line, "[002]"):
			cpu2.WriteString(line)
		case strings.Contains(line, "[007]"):
			cpu7.WriteString(line)
		}
	}
	for _, tt := range []struct {
		name, text        string
		segments, doubles int
	}{
		{"one CPU after the other", cpu2.String() + cpu7.String(), 2, 0},
		{"the other way round", cpu7.String() + cpu2.String(), 2, 0},
		{"the same capture twice", whole + whole, 2, strings.Count(whole, ": ") / 2},
	} {
		got, r := decode(t, tt.text, Options{})
		if r.Segments != tt.segments || (r.Doubles > 0) != (tt.doubles > 0) {
			t.Errorf("%s: %d segments, %d doubles", tt.name, r.Segments, r.Doubles)
		}
		if diff := cmp.Diff(interesting(want), interesting(got)); diff != "" {
			t.Errorf("%s: events differ from those of the whole (-whole +parts):\n%.2000s", tt.name, diff)
		}
	}
}

// Where times go back all the time, lines are sorted as far as they are near.
func TestManyTimesBackAreSorted(t *testing.T) {
	var lines []string
	for i := range 2000 {
		at := 1000 + 10*i
		lines = append(lines, fmt.Sprintf("a-7 [000] d..1. %d: kvm_entry: vcpu 0, rip 0x1\n", at),
			fmt.Sprintf("a-7 [000] d..1. %d: kvm_exit: vcpu 0 reason HLT rip 0x5 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0\n", at+5))
	}
	want, _ := decode(t, strings.Join(lines, ""), Options{})
	for i := 0; i+1 < len(lines); i += 2 {
		lines[i], lines[i+1] = lines[i+1], lines[i]
	}
	got, r := decode(t, strings.Join(lines, ""), Options{})
	if r.BackAt == 0 || r.Segments != 1 || r.TooLate != 0 {
		t.Errorf("back at line %d, %d segments, %d too late", r.BackAt, r.Segments, r.TooLate)
	}
	if diff := cmp.Diff(interesting(want), interesting(got)); diff != "" {
		t.Errorf("events differ from those in order:\n%.2000s", diff)
	}
}

func TestWhatCannotBeTrueIsWithheld(t *testing.T) {
	const text = "a-7 [000] d..1. 1000: kvm_entry: vcpu 0, rip 0x1\n" +
		"a-7 [000] d..1. 1010: kvm_entry: vcpu 0, rip 0x2\n" +
		"a-7 [000] d..1. 1020: kvm_exit: vcpu 0 reason HLT rip 0x5 info1 0x0 info2 0x0 intr_info 0x0 error_code 0x0\n"
	events, r := decode(t, text, Options{})
	if r.Withheld == 0 || len(r.Impossible) == 0 || r.Impossible[0].Line == 0 {
		t.Errorf("withheld %d: %v", r.Withheld, r.Impossible)
	}
	var o trace.Order
	for i := range events {
		if err := o.Check(&events[i]); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
	}
}

func TestStoppedReadingKeepsWhatWasRead(t *testing.T) {
	text := caseFile(t, "two-vms.txt")
	var big []byte
	for i := range 20 { // each copy a second later
		big = append(big, bytes.ReplaceAll(text, []byte(" 50000"), fmt.Appendf(nil, " 50%02d0", i))...)
	}
	ctx, cancel := context.WithCancel(context.Background())
	tr, err := Open(ctx, Input{"x", bytes.NewReader(big), int64(len(big))}, Options{}, func(done, _ int64) {
		if done > 0 {
			cancel()
		}
	})
	if err != nil || !tr.Cut || tr.Lines == 0 || tr.Lines > 10000 {
		t.Fatalf("cut %v after %d lines: %v", tr.Cut, tr.Lines, err)
	}
	n := 0
	sinks := make([]trace.Sink, len(tr.VMs))
	sinks[0] = trace.SinkFunc(func(trace.Event) { n++ })
	if _, err := tr.Decode(context.Background(), sinks, nil); err != nil || n == 0 {
		t.Errorf("%d events of what was read, %v", n, err)
	}
	if _, err := tr.Decode(ctx, sinks, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("decoding under an ended context: %v", err)
	}
}

func TestForeignOutputIsCalledByItsName(t *testing.T) {
	for what, text := range map[string]string{
		"cyclictest's table":     "T: 0 ( 2911) P:95 I:1000 C: 100000 Min:      3 Act:    5 Avg:    5 Max:     142\n",
		"cyclictest's histogram": "# Histogram\n000001 000000\n# Min Latencies: 00003\n# Avg Latencies: 00005\n# Max Latencies: 00142\n",
		"rtla timerlat's table":  "                                     Timer Latency                                              \n  0 00:00:01   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n",
		"perf kvm stat":          "\n\nAnalyze events for all VMs, all VCPUs:\n\n             VM-EXIT    Samples  Samples%     Time%\n",
		"tells the order of":     string(caseFile(t, "clock-counter.txt")),
		"jiffies":                string(caseFile(t, "clock-uptime.txt")),
		"binary data of a form":  "\x00\x01\x02\x03",
		"none of KVM's":          "a-7 [000] d..1. 1.5: sched_waking: comm=x pid=1 prio=1 target_cpu=000\n",
		"kvm_stat's table":       "kvm statistics - summary\n\n Event   Total\n",
		"no line of a KVM trace": "property: a README is no trace\n",
		"osnoise's table":        "                                          Operating System Noise\n",
	} {
		_, err := Read(strings.NewReader(text), Options{File: "x"}, trace.SinkFunc(func(trace.Event) {}))
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want an error with %q, got %v", what, err)
		}
	}
}
