package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// Each wrong invocation ends with its code and one sentence that says what to do.
// F stands for a recording.
func TestWrongInvocations(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "f.tt")
	if out, code := invoke(t, "run", "--engine=model", "--headless", "--quiet", "--deadlines", "20", "--record", rec); code != 0 {
		t.Fatalf("recording ended with %d: %s", code, out)
	}
	for _, tt := range []struct {
		line string
		code ExitCode
		says string
	}{
		// flags that a command does not have
		{"sweep --assert x --vary apicv=on,off", ExitUsage, "ticktrap sweep has no flag --assert: it is one of report, run"},
		{"sweep --engine model --vary apicv=on,off", ExitUsage, "has no flag --engine"},
		{"sweep --lapic vmm --vary apicv=on,off", ExitUsage, "has no flag --lapic"},
		{"sweep --at 5:apicv=on --vary apicv=on,off", ExitUsage, "has no flag --at"},
		{"sweep --timeout 1s --vary apicv=on,off", ExitUsage, "has no flag --timeout"},
		{"sweep --record x --vary apicv=on,off", ExitUsage, "has no flag --record: it is one of run"},
		{"explain --live --assert x", ExitUsage, "has no flag --assert"},
		{"explain --live --record x", ExitUsage, "has no flag --record"},
		{"run --headles", ExitUsage, "did you mean --headless?"},
		{"report --jsno F", ExitUsage, "did you mean --json?"},
		{"run -Z", ExitUsage, "unknown shorthand flag"},

		// flags without effect beside others
		{"explain F --seed 3", ExitUsage, "--seed: it requires --live"},
		{"explain F --knob apicv=off", ExitUsage, "--knob: it requires --live"},
		{"explain F --at 5:apicv=off", ExitUsage, "--at: it requires --live"},
		{"explain F --engine model", ExitUsage, "--engine: it requires --live"},
		{"report F --assert p99(late)<1ns --where late>0", ExitUsage, "--assert: an assertion is about the whole report"},
		{"report F --json --where late>0", ExitUsage, "export --format jsonl"},
		{"run --headless --engine=model --lapic foo", ExitUsage, "foo"},
		{"run --headless --engine=model --lapic kernel", ExitUsage, "it requires --engine=kvm"},
		{"run --headless --engine=model --repaired", ExitUsage, "--repaired: it requires --scenario"},
		{"replay F --verify --compare F", ExitUsage, "--compare: it applies only to the screen"},
		{"replay F --verify --cast x.cast", ExitUsage, "--cast: it applies only to the screen"},
		{"replay F --verify --speed 1", ExitUsage, "--speed: it applies only to the screen"},
		{"replay F --verify --paused", ExitUsage, "--paused: it applies only to the screen"},
		{"diff F F --lkml --json", ExitUsage, "choose one"},
		{"run --headless --engine=model --speed 1", ExitUsage, "--speed: it applies only to the screen"},
		{"run --headless --engine=model --paused", ExitUsage, "--paused: it applies only to the screen"},
		{"run --json", ExitUsage, "--json: it requires --headless"},
		{"run --quiet", ExitUsage, "--quiet: it requires --headless"},
		{"run --timeout 1s", ExitUsage, "--timeout: it requires --headless"},
		{"run --assert p99(late)<1us", ExitUsage, "--assert: it requires --headless"},
		{"run --headless --engine=model --strict", ExitUsage, "--strict: it requires --at or --knob"},
		{"run --headless --scenario pit-reinject --guest periodic", ExitUsage, "a scenario brings its own guest"},
		{"run --headless --scenario pit-reinject periodic", ExitUsage, "a scenario brings its own guest"},
		{"run --headless --scenario pit-reinject --vcpus 2", ExitUsage, "a scenario brings its own"},
		{"run --headless --scenario pit-reinject --engine kvm", ExitUsage, "scenarios run on the model"},
		{"run --headless --engine=kvm --seed 3", ExitUsage, "--seed: it applies only to the model"},
		{"run --headless --engine=kvm --profile generic", ExitUsage, "--profile: it applies only to the model"},
		{"run --headless --engine=model --untraced", ExitUsage, "it requires --engine=kvm"},
		{"export F --force", ExitUsage, "it requires --output"},
		{"run deadline --guest periodic", ExitUsage, "given twice"},
		{"sweep deadline --guest periodic --vary apicv=on,off", ExitUsage, "given twice"},
		{"explain --live periodic --guest deadline", ExitUsage, "given twice"},

		// values
		{"run --headless --engine=model --speed NaN", ExitUsage, "want 0 (as fast as possible) to 1000000"},
		{"run --speed NaN", ExitUsage, "want 0 (as fast as possible)"},
		{"replay F --speed NaN", ExitUsage, "want 0 (as fast as possible)"},
		{"run --headless --engine=model --record=", ExitUsage, "--record: want a value, have an empty one"},
		{"run --headless --engine=model --profile=", ExitUsage, "--profile: want a value"},
		{"run --headless --engine=model --deadlines 0", ExitUsage, "--deadlines: want 1 or more"},
		{"run --headless --engine=model --exits 0", ExitUsage, "--exits: want 1 or more"},
		{"run --headless --engine=model --for 0s", ExitUsage, "--for: want a positive time"},
		{"run --headless --engine=model --timeout -1s", ExitUsage, "--timeout: want a positive time"},
		{"run --headless --engine=model --for ten", ExitUsage, "invalid duration"},
		{"run --headless --engine=nosuch", ExitUsage, "want auto, model or kvm"},
		{"run --headless --engine=model --vcpus 0", ExitUsage, "want 1 to 64"},
		{"run --headless --engine=model --pcpus 99", ExitUsage, "want 1 to 64"},
		{"run --headless --engine=model --knob apciv=on", ExitUsage, "did you mean apicv?"},
		{"run --headless --engine=model --hide sse", ExitUsage, "want x2apic or tsc-deadline"},
		{"explain F --deadline 0", ExitUsage, "deadlines are numbered from 1"},
		{"explain F --checks -1", ExitUsage, "want 0 or more"},
		{"sweep --vary apicv=on,off --jobs 0", ExitUsage, "want 1 or more"},
		{"sweep --vary apicv=on,off --resume=", ExitUsage, "want a value"},
		{"diff F F --level 10", ExitUsage, "more than 50"},
		{"diff F F --draws 1", ExitUsage, "want 100 to 1000000"},
		{"export F --format chrome", ExitUsage, "want one of jsonl"},

		// words
		{"reprot", ExitUsage, `"reprot" is no command, no built-in guest and no file; did you mean report?`},
		{"perodic", ExitUsage, "did you mean periodic?"},
		{"run --headless --engine=model perodic", ExitInput, "did you mean periodic?"},
		{"report", ExitUsage, "accepts 1 arg"},
		{"report F F", ExitUsage, "accepts 1 arg"},
		{"explain", ExitUsage, "nothing to explain"},
		{"report ./nosuch.tt", ExitInput, "no such file"},

		// what was asked for and never came
		{"run --headless --quiet --engine=model --deadlines 20 --at 1000:apicv=off --strict", ExitAssert, "--at 1000:apicv=off never came to pass"},
		{"run --headless --quiet --engine=model --deadlines 20 --at 1000:apicv=off", ExitOK, "note: --at 1000:apicv=off never came to pass: the run ended after 20 deadlines"},
	} {
		args := strings.Fields(tt.line)
		for i, a := range args {
			if a == "F" {
				args[i] = rec
			}
		}
		out, code := invoke(t, args...)
		if ExitCode(code) != tt.code || !strings.Contains(out, tt.says) {
			t.Errorf("ticktrap %s: code %d, want %d; want %q in\n%s", tt.line, code, tt.code, tt.says, out)
		}
	}
}
