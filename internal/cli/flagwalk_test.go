package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// acts shows for every flag of every command an effect: the command line without
// the flag, and the flag with its value. Both are run, and what is printed, or
// the exit code, or a file that is written must differ. F stands for a recording,
// G for another, T for a trace, BAD for one with a line that cannot be read, C for
// a guest that prints, S for a suite whose base is F, D for the directory of files that are written.
var acts = map[string]string{
	"check --live":        "check | --live --engine=model --deadlines 20",
	"check --as":          "check F | --as 6.1",
	"check --json":        "check F | --json",
	"explain --reboot":    "explain --live --engine=model --deadlines 50 --checks 0 | --reboot nosuch",
	"sweep --reboot":      "sweep --deadlines 20 --vary apicv=on,off | --reboot nosuch",
	"run --reboot":        "run --headless --deadlines 20 --engine=model | --reboot nosuch",
	"run --fps":           "run --headless --deadlines 20 --engine=model | --fps 5",
	"replay --fps":        "replay --verify F | --fps 5",
	"kernel --json":       "kernel 6.12 | --json",
	"kernel --vendor":     "kernel 6.12 | --vendor amd",
	"check --append":      "check --live --engine=model --deadlines 50 | --append mode=spin",
	"check --at":          "check --live --engine=model --deadlines 50 | --at 5:apicv=off",
	"check --deadlines":   "check --live --engine=model --deadlines 50 | --deadlines 30",
	"check --engine":      "check --live --engine=model --deadlines 50 | --engine nosuch",
	"check --exits":       "check --live --engine=model --deadlines 50 | --exits 40",
	"check --for":         "check --live --engine=model --deadlines 50 | --for 300us",
	"check --guest":       "check --live --engine=model --deadlines 50 | --guest periodic",
	"check --hide":        "check --live --engine=model --deadlines 50 | --hide nosuch",
	"check --initrd":      "check --live --engine=model --deadlines 50 | --initrd /nonexistent",
	"check --input":       "check --live --engine=model --deadlines 50 | --input x",
	"check --knob":        "check --live --engine=model --deadlines 50 | --knob fastpath=off",
	"check --lapic":       "check --live --engine=model --deadlines 50 | --lapic kernel",
	"check --mem":         "check --live --engine=model --deadlines 50 | --mem 1",
	"check --pcpus":       "check --live --engine=model --deadlines 50 | --pcpus 0",
	"check --profile":     "check --live --engine=model --deadlines 50 | --profile nosuch",
	"check --reboot":      "check --live --engine=model --deadlines 50 | --reboot nosuch",
	"check --seed":        "check --live --engine=model --deadlines 50 | --seed x",
	"check --timeout":     "check --live --engine=model --deadlines 50 | --timeout -1s",
	"check --vcpus":       "check --live --engine=model --deadlines 50 | --vcpus 0",
	"check --no-skip":     "check F | --no-skip",
	"run --append":        "run --headless --deadlines 20 --engine=model | --append mode=spin",
	"run --at":            "run --headless --deadlines 20 --engine=model | --at 5:apicv=off",
	"run --assert":        "run --headless --deadlines 20 --engine=model | --assert p99(late)<1ns",
	"run --deadlines":     "run --headless --engine=model | --deadlines 20",
	"run --engine":        "run --headless --deadlines 5 --engine=model | --engine=nosuch",
	"run --exits":         "run --headless --deadlines 500 --engine=model | --exits 100",
	"run --for":           "run --headless --deadlines 500 --engine=model | --for 1ms",
	"run --guest":         "run --headless --deadlines 20 --engine=model | --guest periodic",
	"run --headless":      "run --engine=model --deadlines 20 | --headless",
	"run --hide":          "run --headless --engine=model oneshot | --hide x2apic",
	"run --input":         "run --headless --deadlines 20 --engine=model | --input x",
	"run --initrd":        "run --headless --deadlines 20 --engine=model | --initrd /nonexistent",
	"run --json":          "run --headless --deadlines 20 --engine=model | --json",
	"run --knob":          "run --headless --deadlines 20 --engine=model | --knob apicv=off",
	"run --lapic":         "run --headless --deadlines 20 --engine=model | --lapic kernel",
	"run --kernel":        "run --headless --engine=model oneshot | --kernel 4.9",
	"run --mem":           "run --headless --deadlines 20 --engine=model | --mem 1",
	"run --no-skip":       "run --headless --deadlines 20 --engine=kvm | --no-skip",
	"run --pcpus":         "run --headless --engine=model --exits 500 ping-pong | --pcpus 1",
	"run --profile":       "run --headless --deadlines 20 --engine=model | --profile generic",
	"run --quiet":         "run --headless --engine=model C | --quiet",
	"run --record":        "run --headless --deadlines 20 --engine=model | --record D/new.tt",
	"run --repaired":      "run --headless --scenario zero-deadline | --repaired",
	"run --scenario":      "run --headless | --scenario zero-deadline",
	"run --seed":          "run --headless --deadlines 50 --engine=model | --seed 7",
	"run --strict":        "run --headless --deadlines 5 --engine=model --at 9:apicv=off | --strict",
	"run --symbols":       "run --headless --deadlines 5 --engine=model | --symbols /nonexistent",
	"run --timeout":       "run --headless --deadlines 5 --engine=model | --timeout -1s",
	"run --untraced":      "run --headless --deadlines 5 --engine=model | --untraced",
	"run --vcpus":         "run --headless --deadlines 5 --engine=model | --vcpus 2",
	"run --cast":          "run --headless --deadlines 5 --engine=model | --cast D/x.cast",
	"run --speed":         "run --headless --deadlines 5 --engine=model | --speed 1",
	"run --paused":        "run --headless --deadlines 5 --engine=model | --paused",
	"check-file --json":   "check-file F | --json",
	"fuzz --invariant":    "fuzz --cases 1 | --invariant latte",
	"fuzz --guests":       "fuzz --cases 1 | --guests hostile",
	"fuzz --cases":        "fuzz --cases 1 | --cases 2",
	"fuzz --seed":         "fuzz --cases 1 | --seed 2",
	"fuzz --from":         "fuzz --cases 1 | --from 1",
	"fuzz --finds":        "fuzz --cases 1 | --finds 0",
	"fuzz --for":          "fuzz --cases 1 | --for -1s",
	"fuzz --timeout":      "fuzz --cases 1 | --timeout -1s",
	"fuzz --output":       "fuzz --cases 1 --invariant max(late)<1ns --output D/one | --output D/two",
	"replay --verify":     "replay F | --verify",
	"replay --speed":      "replay --verify F | --speed 1",
	"replay --paused":     "replay --verify F | --paused",
	"replay --compare":    "replay --verify F | --compare G",
	"replay --cast":       "replay --verify F | --cast D/y.cast",
	"report --json":       "report F | --json",
	"report --assert":     "report F | --assert p99(late)<1ns",
	"report --where":      "report F | --where exit==HLT",
	"export --format":     "export F | --format csv-deadlines",
	"export --output":     "export F | --output D/o.jsonl",
	"export --where":      "export F --format csv-exits | --where exit==HLT",
	"export --force":      "export F --output D/there | --force",
	"export --quiet":      "",
	"explain --live":      "explain | --live",
	"explain --deadline":  "explain F --checks 0 | --deadline 7",
	"explain --worst":     "explain F --earliest | --worst",
	"explain --earliest":  "explain F --checks 0 | --earliest",
	"explain --checks":    "explain F | --checks 0",
	"explain --lost":      "explain F --checks 0 | --lost",
	"explain --json":      "explain F --checks 0 | --json",
	"explain --guest":     "explain --live --engine=model --deadlines 50 --checks 0 | --guest periodic",
	"explain --append":    "explain --live --engine=model --deadlines 50 --checks 0 | --append mode=spin",
	"explain --vcpus":     "explain --live --engine=model --deadlines 50 --checks 0 | --vcpus 0",
	"explain --input":     "explain --live --engine=model --deadlines 50 --checks 0 | --input x",
	"explain --initrd":    "explain --live --engine=model --deadlines 50 --checks 0 | --initrd /nonexistent",
	"explain --mem":       "explain --live --engine=model --deadlines 50 --checks 0 | --mem 1",
	"explain --hide":      "explain --live --engine=model --guest oneshot --checks 0 | --hide nosuch",
	"explain --engine":    "explain --live --engine=model --deadlines 50 --checks 0 | --engine nosuch",
	"explain --lapic":     "explain --live --engine=model --deadlines 50 --checks 0 | --lapic kernel",
	"explain --pcpus":     "explain --live --engine=model --deadlines 50 --checks 0 | --pcpus 0",
	"explain --seed":      "explain --live --engine=model --deadlines 50 --checks 0 | --seed 7",
	"explain --profile":   "explain --live --engine=model --deadlines 50 --checks 0 | --profile generic",
	"explain --kernel":    "explain --live --engine=model --guest oneshot --checks 0 | --kernel nosuch",
	"explain --no-skip":   "explain F --checks 0 | --no-skip",
	"explain --knob":      "explain --live --engine=model --deadlines 50 --checks 0 | --knob apicv=off",
	"explain --at":        "explain --live --engine=model --deadlines 50 --checks 0 | --at 2:apicv=off",
	"explain --deadlines": "explain --live --engine=model --deadlines 50 --checks 0 --deadline 40 | --deadlines 3",
	"explain --exits":     "explain --live --engine=model --deadlines 50 --checks 0 --deadline 40 | --exits 20",
	"explain --for":       "explain --live --engine=model --deadlines 50 --checks 0 --deadline 40 | --for 300us",
	"explain --timeout":   "explain --live --engine=model --deadlines 50 --checks 0 | --timeout -1s",
	"explain --scenario":  "explain --live --checks 0 --deadlines 50 | --scenario pit-reinject",
	"explain --repaired":  "explain --live --checks 0 --scenario pit-reinject | --repaired",
	"diff --json":         "diff F G | --json",
	"diff --lkml":         "diff F G | --lkml",
	"diff --format":       "diff F G | --format markdown",
	"diff --fail-on":      "diff F G | --fail-on delta(p99)>-99%",
	"diff --junit":        "diff F G --fail-on delta(p99)>99% | --junit D/d.xml",
	"gate --update":       "gate S | --update",
	"gate --junit":        "gate S | --junit D/g.xml",
	"gate --json":         "gate S | --json",
	"gate --seed":         "gate S | --seed 9",
	"diff --level":        "diff F G | --level 60",
	"diff --draws":        "diff F G | --draws 101",
	"sweep --vary":        "sweep --deadlines 20 --vary apicv=on,off | --vary timer-advance=0,500",
	"sweep --goal":        "sweep --deadlines 20 --vary apicv=on,off | --goal p50",
	"sweep --resume":      "sweep --deadlines 20 --vary apicv=on,off | --resume D/r.jsonl",
	"sweep --jobs":        "sweep --deadlines 20 --vary apicv=on,off | --jobs 0",
	"sweep --json":        "sweep --deadlines 20 --vary apicv=on,off | --json",
	"sweep --guest":       "sweep --deadlines 20 --vary apicv=on,off | --guest periodic",
	"sweep --append":      "sweep --deadlines 20 --vary apicv=on,off | --append mode=spin",
	"sweep --vcpus":       "sweep --deadlines 20 --vary apicv=on,off | --vcpus 0",
	"sweep --input":       "sweep --deadlines 20 --vary apicv=on,off | --input x",
	"sweep --initrd":      "sweep --deadlines 20 --vary apicv=on,off | --initrd /nonexistent",
	"sweep --mem":         "sweep --deadlines 20 --vary apicv=on,off | --mem 1",
	"sweep --hide":        "sweep --deadlines 20 --vary apicv=on,off | --hide nosuch",
	"sweep --pcpus":       "sweep --deadlines 20 --vary apicv=on,off | --pcpus 0",
	"sweep --seed":        "sweep --deadlines 20 --vary apicv=on,off | --seed 9",
	"sweep --profile":     "sweep --deadlines 20 --vary apicv=on,off | --profile generic",
	"sweep --kernel":      "sweep --deadlines 20 --vary apicv=on,off | --kernel nosuch",
	"sweep --no-skip":     "",
	"sweep --knob":        "sweep --deadlines 20 --vary apicv=on,off | --knob fastpath=off",
	"sweep --deadlines":   "sweep --deadlines 20 --vary apicv=on,off | --deadlines 30",
	"sweep --exits":       "sweep --deadlines 20 --vary apicv=on,off | --exits 40",
	"sweep --for":         "sweep --deadlines 20 --vary apicv=on,off | --for 500us",
	"bench --profile":     "bench --only nosuch | --profile nosuch",
	"bench --guest":       "bench --only nosuch | --guest nosuch",
	"bench --only":        "bench --goal 1 | --only nosuch --goal 65536",
	"bench --json":        "bench --only immed --seeds 1 --goal 65536 | --json",
	"bench --goal":        "bench --only nosuch | --goal 1",
	"bench --seeds":       "bench --only nosuch | --seeds 0",
	"bench --strict":      "",
	"import --output":     "import T --tsc-khz 100000 --output D/i.tt | --output D/j.tt",
	"import --tsc-khz":    "import T --output D/k.tt | --tsc-khz 100000",
	"import --advance":    "",
	"import --tsc-offset": "import T --tsc-khz 100000 --output D/o1.tt | --tsc-offset 0x1000",
	"import --vm":         "import T --output D/o2.tt | --vm 77",
	"import --quiet":      "",
	"triage --json":       "triage T | --json",
	"triage --markdown":   "triage T | --markdown",
	"triage --top":        "",
	"triage --tsc-khz":    "triage T | --tsc-khz 100000",
	"triage --tsc-offset": "",
	"triage --advance":    "",
	"triage --strict":     "triage BAD | --strict",
	"triage --quiet":      "",
	"recipe --seconds":    "recipe late | --seconds 60",
	"recipe --tool":       "recipe late | --tool perf",
	"import --strict":     "import BAD --tsc-khz 100000 --output D/l.tt | --strict",
	"doctor --json":       "doctor | --json",
	"guests --json":       "guests | --json",
	"scenarios --json":    "scenarios | --json",
	"licenses --json":     "licenses | --json",
	"config --default":    "config | --default",
}

// actsElsewhere are the flags whose row above is empty: what shows their effect.
var actsElsewhere = map[string]string{
	"export --quiet":      "the progress line appears after a second of work on a terminal",
	"sweep --no-skip":     "the result is the same by definition: the interpreter's tests compare both",
	"bench --strict":      "it decides the exit code where a calibrated row misses: TestBenchStrict",
	"import --quiet":      "progress appears after a second of work, on a terminal",
	"triage --quiet":      "as import's",
	"triage --top":        "a script cuts a table of two",
	"triage --tsc-offset": "as import's",
	"triage --advance":    "as import's",
	"import --advance":    "it is the host's advance where a trace tells none: the importer's tests",
}

func TestEveryFlagActs(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs for each flag")
	}
	dir := t.TempDir()
	rec, other := filepath.Join(dir, "f.tt"), filepath.Join(dir, "g.tt")
	for seed, name := range []string{rec, other} {
		if out, code := invoke(t, "run", "--engine=model", "--headless", "--quiet", "--deadlines", "60", "--seed", fmt.Sprint(seed+1), "--record", name); code != 0 {
			t.Fatalf("recording ended with %d: %s", code, out)
		}
	}
	text, err := filepath.Abs("../../trace/ftrace/testdata/trace-vmx-6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, append(good, "     x-1 [000] 9999999999: kvm_exit: nonsense\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	// mov dx,0x3f8; mov al,'x'; out; mov al,LF; out; mov dx,0xf4; xor al,al; out; hlt
	prints := filepath.Join(dir, "prints.bin")
	for name, data := range map[string]string{prints: "\x66\xba\xf8\x03\xb0x\xee\xb0\n\xee\x66\xba\xf4\x00\x30\xc0\xee\xf4",
		filepath.Join(dir, "there"): ""} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suite := filepath.Join(dir, "suite.toml")
	if err := os.WriteFile(suite, []byte("base = \".\"\ndeadlines = 60\nfail-on = [\"delta(lost) > 0\"]\n[[run]]\nname = \"f\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"S": suite, "F": rec, "G": other, "T": text, "BAD": bad, "C": prints}
	expand := func(w string) string {
		switch {
		case names[w] != "":
			return names[w]
		case strings.HasPrefix(w, "D/"):
			return filepath.Join(dir, w[2:])
		}
		return w
	}
	seen := map[string]bool{}
	root := newRoot(&Env{})
	for _, c := range root.Commands() {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			key := c.Name() + " --" + f.Name
			if f.Hidden || f.Name == "help" || generated(c) {
				return
			}
			seen[key] = true
			line, ok := acts[key]
			if !ok {
				t.Errorf("%s: no row says what it changes", key)
				return
			}
			if line == "" {
				if actsElsewhere[key] == "" {
					t.Errorf("%s: an empty row without a reason", key)
				}
				return
			}
			base, with, _ := strings.Cut(line, "|")
			var a, b []string
			for _, w := range strings.Fields(base) {
				a = append(a, expand(w))
			}
			b = slices.Clone(a)
			for _, w := range strings.Fields(with) {
				b = append(b, expand(w))
			}
			before := listing(t, dir)
			outA, codeA := invoke(t, a...)
			wroteA := listing(t, dir) != before
			before = listing(t, dir)
			outB, codeB := invoke(t, b...)
			if outA == outB && codeA == codeB && wroteA == (listing(t, dir) != before) {
				t.Errorf("%s changes nothing:\nticktrap %s\n%s", key, strings.Join(b, " "), outB)
			}
		})
	}
	for key := range acts {
		if !seen[key] {
			t.Errorf("%s: there is no such flag", key)
		}
	}
}

// generated are the commands that the library makes.
func generated(c *cobra.Command) bool { return c.Name() == "completion" || c.Name() == "help" }

// invoke runs the program without a terminal and returns all it printed.
func invoke(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var b bytes.Buffer
	env := &Env{In: strings.NewReader(""), Out: &b, Err: &b, Getenv: func(string) string { return "" }}
	code = Main(args, env)
	return b.String(), code
}

// listing names the files of a directory with their sizes.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&b, "%s %d\n", e.Name(), info.Size())
		}
	}
	return b.String()
}
