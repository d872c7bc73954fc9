package ftrace

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

var (
	anyTask    = regexp.MustCompile(`vm-(\d+)`)
	anyAddress = regexp.MustCompile(`\b0xff[0-9a-f]{14}\b`)
	anyStamp   = regexp.MustCompile(` (\d{8,}): `)
	anyOffset  = regexp.MustCompile(`next=(\d+)`)
)

// secondVM is a captured trace as another VM of the same host would have printed
// it a little later: other threads, addresses and TSC offset, the same numbers
// of vCPUs and APIC IDs.
func secondVM(text string, later uint64) string {
	text = anyTask.ReplaceAllString(text, "qemu-9$1")
	text = anyAddress.ReplaceAllStringFunc(text, func(s string) string { return s[:12] + "77" + s[14:] })
	text = anyOffset.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[len("next="):], 10, 64)
		return "next=" + strconv.FormatUint(n-5_000_000, 10)
	})
	return anyStamp.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[1:len(s)-2], 10, 64)
		return " " + strconv.FormatUint(n+later, 10) + ": "
	})
}

// merge orders the lines of two traces by time.
func interleave(texts ...string) string {
	type line struct {
		at   uint64
		text string
	}
	var lines []line
	for _, text := range texts {
		for s := range strings.Lines(text) {
			if m := anyStamp.FindStringSubmatch(s); m != nil {
				n, _ := strconv.ParseUint(m[1], 10, 64)
				lines = append(lines, line{n, s})
			}
		}
	}
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].at < lines[j].at })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// toFirstEntry is the time from the making of a trace's vCPU to its first entry:
// a second VM made later cannot be taken for the first.
func toFirstEntry(t *testing.T, text string) uint64 {
	t.Helper()
	var at [2]uint64
	for i, event := range []string{"kvm_write_tsc_offset: ", "kvm_entry: "} {
		head, _, _ := strings.Cut(text, event)
		m := anyStamp.FindStringSubmatch(head[strings.LastIndexByte(head, '\n')+1:] + " ")
		if m == nil {
			t.Fatalf("no %s in the trace", event)
		}
		at[i], _ = strconv.ParseUint(m[1], 10, 64)
	}
	return at[1] - at[0]
}

// The interrupts, ends of interrupts, TSC offsets, kicks and timers of other VMs
// on the host are not this VM's, whoever's vCPU has the same number.
func TestOtherVMsOfTheHostChangeNothing(t *testing.T) {
	own := func(comm []byte, _ int32) bool { return string(comm) == "vm" }
	for _, file := range []string{"trace-svm-6.12.txt", "ktrace-svm-6.12-hlt.txt", "ktrace-svm-6.12-spin.txt",
		"ktrace-vmx-6.12-hlt.txt", "ktrace-vmx-6.12-spin.txt"} {
		for _, tt := range []struct {
			name string
			o    Options
		}{{"threads known", Options{Mine: own}}, {"threads not known", Options{}}} {
			t.Run(file+"/"+tt.name, func(t *testing.T) {
				b, err := os.ReadFile(filepath.Join("testdata", file))
				if err != nil {
					t.Fatal(err)
				}
				alone, _ := decode(t, string(b), tt.o)
				both, r := decode(t, interleave(string(b), secondVM(string(b), toFirstEntry(t, string(b))+3011)), tt.o)
				if diff := cmp.Diff(interesting(alone), interesting(both)); diff != "" {
					t.Errorf("events without and with another VM on the host (-alone +both):\n%.3000s", diff)
				}
				if r.OtherVM == 0 {
					t.Error("no line counted as another VM's")
				}
			})
		}
	}
}

// interesting are events as text.
func interesting(events []trace.Event) (out []string) {
	for i := range events {
		out = append(out, events[i].String())
	}
	return out
}

// Whoever merges events with others hands on what lies before the time up to
// which the decoder has flushed: no event comes later with an earlier time.
func TestNothingIsReportedBeforeWhatIsFlushed(t *testing.T) {
	for _, file := range []string{"ktrace-vmx-6.12-hlt.txt", "ktrace-svm-6.12-spin.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		flushed, waited := clock.TSC(0), 0
		d := NewDecoder(Options{}, trace.SinkFunc(func(e trace.Event) {
			if e.TSC < flushed {
				t.Errorf("%s: %v after all before %d was flushed", file, e, flushed)
			}
		}))
		for line := range strings.Lines(string(b)) {
			_ = d.Line([]byte(line))
			if strings.Contains(line, "kvm_write_tsc_offset") {
				continue // the line's zero moves
			}
			const slack = 20000
			d.FlushBefore(d.now - slack)
			flushed = d.now - slack
			for _, v := range d.vcpus {
				if v.entry.on {
					waited++
				}
			}
		}
		if waited == 0 {
			t.Errorf("%s: no entry ever waited for its line", file)
		}
	}
}
