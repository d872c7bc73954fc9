//go:build linux && amd64

package vmmtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ticktrap/vmm/vmmtest/l1"
)

// insideEnv is set for tests that run inside an emulated machine, so that they
// do not boot another one.
const insideEnv = "TICKTRAP_INSIDE"

// emulatorEnv names the emulated machine's vendor to the tests inside it.
const emulatorEnv = "TICKTRAP_EMULATOR"

// testedPackages are the packages whose tests run inside the machines.
var testedPackages = []string{"ticktrap/vmm/kvm", "ticktrap/vmm/vmmtest"}

// excluded are tests that an emulator's own fault breaks, or its speed.
var excluded = map[l1.Vendor][]exclusion{
	l1.VMX: {{"^TestBuiltInGuestsComplete$", "the conformance suite runs the same guests, and Bochs is slow"}},
	l1.SVM: {{"TestProbesAnswerAlikeOnEveryEngine/kvm/STI_holds_interrupts_back",
		"QEMU's TCG loses the interrupt shadow of STI when a host interrupt exits between STI and the next instruction"}},
}

// exclusion is a test, by a pattern of -test.skip, with the reason.
type exclusion struct{ pattern, why string }

func TestOnSVM(t *testing.T) {
	if os.Getenv("TICKTRAP_SVM") == "" && os.Getenv("TICKTRAP_REQUIRE_KVM") == "" {
		t.Skip("booting emulated machines takes minutes: set TICKTRAP_SVM=1")
	}
	for _, tt := range []struct {
		kernel string
		cpus   int
	}{{"6.12", 1}, {"6.1", 1}, {"6.12", 2}} {
		t.Run(tt.kernel+"/"+map[int]string{1: "up", 2: "smp"}[tt.cpus], func(t *testing.T) {
			onMachine(t, l1.Machine{Vendor: l1.SVM, CPUs: tt.cpus, Timeout: 8 * time.Minute}, tt.kernel)
		})
	}
}

func TestOnVMX(t *testing.T) {
	if os.Getenv("TICKTRAP_VMX") == "" {
		t.Skip("booting emulated machines takes minutes: set TICKTRAP_VMX=1")
	}
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run(kernel, func(t *testing.T) {
			onMachine(t, l1.Machine{Vendor: l1.VMX, CPUs: 1, Timeout: 15 * time.Minute}, kernel)
		})
	}
}

// onMachine boots a machine, runs the tested packages' tests in it and reports
// each of them as a subtest here.
func onMachine(t *testing.T, m l1.Machine, series string) {
	if os.Getenv(insideEnv) != "" {
		t.Skip("runs inside an emulated machine already")
	}
	if testing.Short() {
		t.Skip("boots a machine: not with -short")
	}
	kernel, err := l1.FindKernel(series)
	skipUnavailable(t, err)
	m.Kernel = kernel

	ctx := context.Background()
	dir := t.TempDir()
	initBinary := filepath.Join(dir, "init")
	if err := l1.BuildInit(ctx, initBinary); err != nil {
		t.Fatal(err)
	}
	job := l1.Job{Files: map[string]string{}}
	skip := "^TestOn" // they boot machines
	for _, x := range excluded[m.Vendor] {
		t.Logf("excluded: %s: %s", x.pattern, x.why)
		skip += "|" + x.pattern
	}
	for i, pkg := range testedPackages {
		bin := filepath.Join(dir, string(rune('a'+i)))
		if err := l1.BuildTest(ctx, bin, pkg); err != nil {
			t.Fatal(err)
		}
		inside := "/test/" + filepath.Base(pkg)
		job.Files[inside] = bin
		job.Commands = append(job.Commands, l1.Command{
			Argv: []string{inside, "-test.v", "-test.timeout=14m", "-test.skip", skip},
			Env:  []string{insideEnv + "=1", emulatorEnv + "=" + m.Vendor.String()},
		})
	}
	r, err := runUntilSound(t, m, initBinary, job)
	skipUnavailable(t, err)
	for i, pkg := range testedPackages {
		t.Run(filepath.Base(pkg), func(t *testing.T) {
			report(t, r.Outputs[i])
			if r.Codes[i] != 0 {
				t.Errorf("exit code %d; output:\n%s", r.Codes[i], strings.Join(r.Outputs[i], "\n"))
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attempts is how often a machine is booted until all its tests pass. TCG now and
// then delivers an injected interrupt twice or loses the shadow of STI, in any
// test that takes interrupts; what fails each time is a failure. Bochs is sound.
var attempts = map[l1.Vendor]int{l1.SVM: 3, l1.VMX: 1}

// runUntilSound runs the job, again where the emulator's faults may have been at
// work, and reports what failed in the runs before the last.
func runUntilSound(t *testing.T, m l1.Machine, initBinary string, job l1.Job) (r l1.Result, err error) {
	t.Helper()
	for n := attempts[m.Vendor]; ; n-- {
		r, err = m.Run(context.Background(), initBinary, job)
		if n <= 1 || errors.Is(err, l1.ErrUnavailable) || err == nil && !slices.ContainsFunc(r.Codes, func(c int) bool { return c != 0 }) {
			return r, err
		}
		t.Logf("booting again: %v, exit codes %v", err, r.Codes)
		for _, out := range r.Outputs {
			for _, line := range out {
				if strings.Contains(line, "--- FAIL") {
					t.Log(line)
				}
			}
		}
	}
}

func skipUnavailable(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, l1.ErrUnavailable) {
		if os.Getenv("TICKTRAP_REQUIRE_KVM") != "" {
			t.Fatalf("TICKTRAP_REQUIRE_KVM is set, but: %v", err)
		}
		t.Skip(err)
	}
}

var resultLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)

// report turns the result lines of a test binary into subtests.
func report(t *testing.T, output []string) {
	for _, line := range output {
		m := resultLine.FindStringSubmatch(line)
		if m == nil || strings.Contains(m[2], "/") {
			continue
		}
		t.Run(m[2], func(t *testing.T) {
			switch m[1] {
			case "FAIL":
				t.Error("failed inside the machine")
			case "SKIP":
				t.Skip("skipped inside the machine")
			}
		})
	}
}
