//go:build linux && amd64

package vmmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1"
)

// insideEnv is set for tests that run inside an emulated machine, so that they
// do not boot another one.
const insideEnv = "TICKTRAP_INSIDE"

// emulatorEnv names the emulated machine's vendor to the tests inside it.
const emulatorEnv = "TICKTRAP_EMULATOR"

// testedPackages are the packages whose tests run inside the machines.
var testedPackages = []string{"codeberg.org/ticktrap/ticktrap/vmm/kvm", "codeberg.org/ticktrap/ticktrap/vmm/vmmtest"}

// excluded are tests that an emulator's own fault breaks, or its speed.
var excluded = map[l1.Vendor][]exclusion{
	l1.VMX:      {{"^TestBuiltInGuestsComplete$", "the conformance suite runs the same guests, and Bochs is slow"}},
	l1.VMXAPICv: {{"^TestBuiltInGuestsComplete$", "the conformance suite runs the same guests, and Bochs is slow"}},
	l1.SVM: {{"TestProbesAnswerAlikeOnEveryEngine/kvm/STI_holds_interrupts_back",
		"QEMU's TCG loses the interrupt shadow of STI when a host interrupt exits between STI and the next instruction"}},
}

// exclusion is a test, by a pattern of -test.skip, with the reason.
type exclusion struct{ pattern, why string }

// machine is a row of the tables of machines.
type machine struct {
	vendor l1.Vendor
	series string
	cpus   int
	// daily machines run always, the others with TICKTRAP_MATRIX.
	daily bool
}

// machines are all that the suite runs on: on kernels from the oldest that is
// packaged to the newest.
var machines = []machine{
	{l1.SVM, "6.12", 1, true}, {l1.SVM, "5.10", 1, false}, {l1.SVM, "7.3", 1, true}, {l1.SVM, "6.12", 2, true},
	{l1.SVM, "6.1", 1, false}, {l1.SVM, "6.16", 1, false}, {l1.SVM, "6.17", 1, false}, {l1.SVM, "6.18", 1, false},
	{l1.SVM, "6.19", 1, false}, {l1.SVM, "7.2", 1, false},
	{l1.VMXAPICv, "6.12", 1, true}, {l1.VMXAPICv, "7.3", 1, false},
	{l1.VMX, "6.12", 1, true}, {l1.VMX, "6.1", 1, false}, {l1.VMX, "7.3", 1, false},
}

// needed reports whether TICKTRAP_REQUIRE_KVM insists on the machine. One whose
// kernel or emulator comes from another release of Debian is skipped, with the
// reason, where that cannot be had.
func (m machine) needed() bool {
	return m.vendor != l1.VMXAPICv && (m.series == "6.1" || m.series == "6.12")
}

func (m machine) name() string {
	if m.cpus > 1 {
		return m.series + "/smp"
	}
	return m.series + "/up"
}

var timeouts = map[l1.Vendor]time.Duration{l1.SVM: 15 * time.Minute, l1.VMX: 30 * time.Minute, l1.VMXAPICv: 30 * time.Minute}

func TestOnSVM(t *testing.T)      { onMachines(t, l1.SVM, "TICKTRAP_SVM", "TICKTRAP_REQUIRE_KVM") }
func TestOnVMX(t *testing.T)      { onMachines(t, l1.VMX, "TICKTRAP_VMX") }
func TestOnVMXAPICv(t *testing.T) { onMachines(t, l1.VMXAPICv, "TICKTRAP_VMX") }

// onMachines runs the suite on a vendor's machines, beside each other as far as
// -parallel allows, if one of the variables is set.
func onMachines(t *testing.T, v l1.Vendor, asked ...string) {
	if !slices.ContainsFunc(asked, func(name string) bool { return os.Getenv(name) != "" }) {
		t.Skipf("booting emulated machines takes minutes: set %s=1", asked[0])
	}
	t.Parallel()
	for _, m := range machines {
		if m.vendor != v || !m.daily && os.Getenv("TICKTRAP_MATRIX") == "" {
			continue
		}
		t.Run(m.name(), func(t *testing.T) {
			t.Parallel()
			onMachine(t, m)
		})
	}
}

// programs are what runs in the machines, built once.
type programs struct {
	dir, init string
	tests     []string // by testedPackages
}

var buildPrograms = sync.OnceValues(func() (p programs, err error) {
	ctx := context.Background()
	if p.dir, err = os.MkdirTemp("", "ticktrap-machines-"); err != nil {
		return p, err
	}
	p.init = filepath.Join(p.dir, "init")
	if err := l1.BuildInit(ctx, p.init); err != nil {
		return p, err
	}
	for i, pkg := range testedPackages {
		bin := filepath.Join(p.dir, string(rune('a'+i)))
		if err := l1.BuildTest(ctx, bin, pkg); err != nil {
			return p, err
		}
		p.tests = append(p.tests, bin)
	}
	return p, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if onMachinesRan.Load() {
		if p, _ := buildPrograms(); p.dir != "" {
			os.RemoveAll(p.dir)
		}
	}
	os.Exit(code)
}

// onMachinesRan says that there may be programs to remove.
var onMachinesRan atomic.Bool

// onMachine boots a machine, runs the tested packages' tests in it and reports
// each of them as a subtest here.
func onMachine(t *testing.T, row machine) {
	if os.Getenv(insideEnv) != "" {
		t.Skip("runs inside an emulated machine already")
	}
	if testing.Short() {
		t.Skip("boots a machine: not with -short")
	}
	kernel, err := l1.FindKernel(row.series)
	skipUnavailable(t, err, row.needed())
	m := l1.Machine{Vendor: row.vendor, Kernel: kernel, CPUs: row.cpus, Timeout: timeouts[row.vendor]}

	ctx := context.Background()
	onMachinesRan.Store(true)
	built, err := buildPrograms()
	if err != nil {
		t.Fatal(err)
	}
	initBinary := built.init
	job := l1.Job{Files: map[string]string{}}
	skip := "^TestOn" // they boot machines
	for _, x := range excluded[m.Vendor] {
		t.Logf("excluded: %s: %s", x.pattern, x.why)
		skip += "|" + x.pattern
	}
	for i, pkg := range testedPackages {
		inside := "/test/" + filepath.Base(pkg)
		job.Files[inside] = built.tests[i]
		job.Commands = append(job.Commands, l1.Command{
			Argv: []string{inside, "-test.v", "-test.timeout=28m", "-test.skip", skip},
			Env:  []string{insideEnv + "=1", emulatorEnv + "=" + m.Vendor.String()},
		})
	}
	r, err := runAll(ctx, m, initBinary, job)
	skipUnavailable(t, err, row.needed())
	n := reruns[m.Vendor]
	for ; err != nil && n > 0; n-- {
		t.Logf("booting again: %v", err)
		r, err = runAll(ctx, m, initBinary, job)
	}
	failed := failedTests(job, r)
	for ; err == nil && len(failed) > 0 && n > 0; n-- {
		failed = runAlone(ctx, t, m, initBinary, job, failed)
	}
	for i, pkg := range testedPackages {
		t.Run(filepath.Base(pkg), func(t *testing.T) { report(t, r.Outputs[i], i, failed) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// reruns is how often the tests that failed are run again, alone, in another
// machine. QEMU's TCG keeps the number of an injected interrupt after its
// delivery, and delivers it a second time when another CPU kicks it before its
// next exit; it also loses the shadow of STI. That hits any test that takes
// interrupts, now and then: what fails each time is a failure. Bochs is sound.
var reruns = map[l1.Vendor]int{l1.SVM: 4, l1.VMX: 0, l1.VMXAPICv: 0}

// mostFaults is how many tests the emulator's faults may hit in one boot: more
// failures than that are the project's own.
const mostFaults = 12

// failedTest is a test that failed in a machine.
type failedTest struct {
	command int
	name    string
}

// runAll runs the job. That a program did not run all its tests is an error.
func runAll(ctx context.Context, m l1.Machine, initBinary string, job l1.Job) (l1.Result, error) {
	r, err := m.Run(ctx, initBinary, job)
	if err != nil {
		return r, err
	}
	for i, code := range r.Codes {
		if code != 0 && code != testsFailed {
			err = errors.Join(err, fmt.Errorf("%s ended with exit code %d:\n%s", job.Commands[i].Argv[0], code, strings.Join(r.Outputs[i], "\n")))
		}
	}
	return r, err
}

// testsFailed is a test binary's exit code if tests failed and all ran.
const testsFailed = 1

// failedTests returns the failed tests that have no failed subtests.
func failedTests(job l1.Job, r l1.Result) []failedTest {
	var all []failedTest
	for i := range job.Commands {
		var names []string
		for _, line := range r.Outputs[i] {
			if m := resultLine.FindStringSubmatch(line); m != nil && m[1] == "FAIL" {
				names = append(names, m[2])
			}
		}
		for _, n := range names {
			if !slices.ContainsFunc(names, func(o string) bool { return strings.HasPrefix(o, n+"/") }) {
				all = append(all, failedTest{i, n})
			}
		}
	}
	return all
}

// runAlone boots a machine that runs each failed test alone, and returns those
// that failed again.
func runAlone(ctx context.Context, t *testing.T, m l1.Machine, initBinary string, job l1.Job, failed []failedTest) []failedTest {
	t.Helper()
	if len(failed) > mostFaults {
		return failed
	}
	alone := job
	alone.Commands = nil
	for _, f := range failed {
		c := job.Commands[f.command]
		c.Argv = append(slices.Clone(c.Argv), "-test.run", exactly(f.name))
		alone.Commands = append(alone.Commands, c)
	}
	r, err := m.Run(ctx, initBinary, alone)
	if err != nil {
		t.Logf("running what failed alone: %v", err)
	}
	var still []failedTest
	for i, f := range failed {
		if r.Codes[i] != 0 {
			still = append(still, f)
		}
		t.Logf("failed, then run alone with exit code %d: %s", r.Codes[i], f.name)
	}
	return still
}

// exactly is a pattern of -test.run for one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

func skipUnavailable(t *testing.T, err error, needed bool) {
	t.Helper()
	if errors.Is(err, l1.ErrUnavailable) {
		if needed && os.Getenv("TICKTRAP_REQUIRE_KVM") != "" {
			t.Fatalf("TICKTRAP_REQUIRE_KVM is set, but: %v", err)
		}
		t.Skip(err)
	}
}

var resultLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)

// report turns the result lines of a test binary into subtests. Those that failed
// at first and passed alone have passed.
func report(t *testing.T, output []string, command int, failed []failedTest) {
	bad := map[string]bool{}
	for _, f := range failed {
		if f.command == command {
			top, _, _ := strings.Cut(f.name, "/")
			bad[top] = true
		}
	}
	if len(bad) > 0 {
		t.Errorf("output:\n%s", strings.Join(output, "\n"))
	}
	for _, line := range output {
		m := resultLine.FindStringSubmatch(line)
		if m == nil || strings.Contains(m[2], "/") {
			continue
		}
		t.Run(m[2], func(t *testing.T) {
			switch {
			case bad[m[2]]:
				t.Error("failed inside the machine, and again alone")
			case m[1] == "SKIP":
				t.Skip("skipped inside the machine")
			}
		})
	}
}
