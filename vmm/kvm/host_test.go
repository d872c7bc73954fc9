//go:build linux && amd64

package kvm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel/rule"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

func TestVendorIsTheLoadedModule(t *testing.T) {
	for _, tt := range []struct {
		module string
		want   Vendor
		usable bool
	}{{"kvm_intel", Intel, true}, {"kvm_amd", AMD, true}, {"kvm_pvm", PVM, false}, {"nvidia", VendorUnknown, false}} {
		got := findVendor(fstest.MapFS{tt.module + "/refcnt": &fstest.MapFile{}})
		if got != tt.want || (got.unusable() == nil) != tt.usable {
			t.Errorf("with %s: %v, usable %v; want %v, %v", tt.module, got, got.unusable() == nil, tt.want, tt.usable)
		}
	}
}

func TestReleaseDecidesWhatTheKernelFixes(t *testing.T) {
	for _, tt := range []struct {
		release string
		rules   vmm.RuleSet
		kick    vmm.KickRules
	}{
		{"6.12.117+deb12-cloud-amd64", rule.FastHalt, vmm.KickKD},
		{"5.4.0-1", vmm.RulesOff, vmm.KickKA},
		{"5.15.85", vmm.Rules515, vmm.KickKB},
		{"6.18.44", vmm.Rules618, vmm.KickKD},
		{"strange", rule.FastHalt, vmm.KickKD},
	} {
		var f kernelFacts
		f.at(tt.release)
		if f.kernel.Fastpath.Set != tt.rules || f.kernel.Kick.Rules != tt.kick {
			t.Errorf("%s: fastpath %s, kick %s; want %s, %s", tt.release, f.kernel.Fastpath.Set, f.kernel.Kick.Rules, tt.rules, tt.kick)
		}
	}
}

func TestCPUInfoIsThatOfTheFirstProcessor(t *testing.T) {
	c := parseCPUInfo(strings.NewReader("processor\t: 0\nmodel name\t: One CPU\nflags\t\t: fpu vmx\n\nprocessor : 1\nmodel name : Other\nflags : svm\n"))
	if c.model != "One CPU" || !c.flags["vmx"] || c.flags["svm"] {
		t.Errorf("got %+v, want One CPU with vmx only", c)
	}
}

func TestIdentitiesOfDeadProcessesAreNotAlive(t *testing.T) {
	own, err := ownID()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id   string
		want bool
	}{
		{own, true}, {groupID(own), true}, {fmt.Sprintf("%d-1", os.Getpid()), false}, // the PID was used again
		{"999999999-5", false}, {"something", true}, // not ours: left alone
		{"999999999-5-" + pidNamespace(), false}, {"999999999-5-1", true}, // of a namespace that cannot be seen
	} {
		if got := alive(tt.id); got != tt.want {
			t.Errorf("alive(%q) = %v, want %v", tt.id, got, tt.want)
		}
	}
}

// newParameter makes the file of a module parameter, below a root of its own.
func newParameter(t *testing.T, value string) string {
	t.Helper()
	old := parametersRoot
	parametersRoot = t.TempDir()
	t.Cleanup(func() { parametersRoot = old })
	path := parameterPath("kvm", "parameter")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(value), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A note is a file that somebody else may have written.
func TestNotesDoNotNameFilesBesideModuleParameters(t *testing.T) {
	param := newParameter(t, "changed")
	other := filepath.Join(filepath.Dir(param), "..", "..", "other")
	if err := os.WriteFile(other, []byte("untouched"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Clean(other), filepath.Dir(param) + "/../../other", "/etc/hostname"} {
		dir := t.TempDir()
		b, _ := json.Marshal(map[string]string{path: "evil"})
		if err := os.WriteFile(filepath.Join(dir, "999999999-5.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if done, err := recoverParameters(dir); err == nil || len(done) != 0 || !strings.Contains(err.Error(), "no module parameter") {
			t.Errorf("%s: %v, %v; want it refused", path, done, err)
		}
	}
	if b, _ := os.ReadFile(other); string(b) != "untouched" {
		t.Errorf("the other file is %q", b)
	}
}

func TestNotedParametersOfKilledRunsAreRestored(t *testing.T) {
	dir := t.TempDir()
	param := newParameter(t, "changed\n")
	own, _ := ownID()
	for id, of := range map[string]string{"999999999-5": param, own: param + "-other"} {
		b, _ := json.Marshal(map[string]string{of: "before!!"})
		if err := os.WriteFile(filepath.Join(dir, id+".json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	done, err := recoverParameters(dir)
	if err != nil || len(done) != 1 {
		t.Fatalf("recoverParameters: %v, %v; want one sentence", done, err)
	}
	if b, _ := os.ReadFile(param); strings.TrimSpace(string(b)) != "before!!" {
		t.Errorf("parameter is %q, want the value noted by the killed run", b)
	}
	if _, err := os.Stat(filepath.Join(dir, own+".json")); err != nil {
		t.Errorf("the note of a living run is gone: %v", err)
	}
}

// A parent process stands in for another living run.
func TestLastOfTwoRunsRestoresAParameter(t *testing.T) {
	dir := t.TempDir()
	param := newParameter(t, "changed")
	start, err := startTime(os.Getppid())
	if err != nil {
		t.Skip(err)
	}
	note := filepath.Join(dir, fmt.Sprintf("%d-%s.json", os.Getppid(), start))
	b, _ := json.Marshal(map[string]string{param: "first!!"})
	if err := os.WriteFile(note, b, 0o644); err != nil {
		t.Fatal(err)
	}
	h := hostChanges{dir: dir, old: map[string]string{param: h0(dir)[param]}}
	if h.old[param] != "first!!" {
		t.Fatalf("the value before any change is %q, want that of the other run", h.old[param])
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if err := h.restore(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(param); string(b) != "changed" {
		t.Errorf("parameter is %q: restored although another run needs it", b)
	}
	h.old = map[string]string{param: "first!!"}
	if err := errors.Join(os.Remove(note), h.save(), h.restore()); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(param); string(b) != "first!!" {
		t.Errorf("parameter is %q after the last run, want the first value", b)
	}
}

// h0 is what other living runs noted in dir.
func h0(dir string) map[string]string { return (&hostChanges{dir: dir}).others() }

func TestDoctorGivesAReasonForWhatIsMissing(t *testing.T) {
	r := Doctor()
	for _, row := range r.Rows {
		if row.Finding == Missing && row.Detail == "" {
			t.Errorf("%s, %s: missing without a reason", row.Section, row.Name)
		}
	}
	b, err := json.Marshal(r)
	var back Report
	if err != nil || json.Unmarshal(b, &back) != nil || len(back.Rows) != len(r.Rows) {
		t.Errorf("JSON: %v, %d rows back, want %d", err, len(back.Rows), len(r.Rows))
	}
	if text := r.Text(); !strings.Contains(text, "/dev/kvm") || r.Usable != strings.Contains(text, "--engine=kvm") {
		t.Errorf("text does not say whether KVM is usable (%v):\n%s", r.Usable, text)
	}
}

func TestFailuresAreOneSentence(t *testing.T) {
	for _, x := range []vmm.Exit{{Reason: vmm.ExitFailEntry, Data: 0x80000021}, {Reason: vmm.ExitInternal, Addr: 1},
		{Reason: vmm.ExitInternal, Addr: internalRunErrno, Data: 14}, {Reason: vmm.ExitInternal, Addr: internalReason | 99},
		{Reason: vmm.ExitInternal, Addr: 77}, {Reason: vmm.ExitTriple}, {Reason: vmm.ExitCPUID}} {
		if s := failure(&x); s == "" || strings.Contains(s, "\n") {
			t.Errorf("%+v: %q", x, s)
		}
	}
}

func TestMemoryRefusesWhatLiesOutside(t *testing.T) {
	m, err := NewMemory(8192)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.WriteAt([]byte("abc"), 8189); err != nil {
		t.Errorf("last bytes: %v", err)
	}
	got := make([]byte, 3)
	if err := m.ReadAt(got, 8189); err != nil || string(got) != "abc" {
		t.Errorf("ReadAt = %q, %v", got, err)
	}
	for _, gpa := range []uint64{8190, 1 << 40, 1<<64 - 1} {
		if m.ReadAt(got, gpa) == nil || m.WriteAt(got, gpa) == nil {
			t.Errorf("access at %#x succeeds", gpa)
		}
	}
	if _, err := NewMemory(100); err == nil {
		t.Error("memory of 100 bytes is accepted")
	}
}

// needTracefs skips where the kernel cannot be traced.
func needTracefs(t *testing.T) string {
	t.Helper()
	needKVM(t)
	root, err := findTracefs()
	if err != nil {
		if os.Getenv(insideEnv) != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return root
}

// leftBehind lists what killed runs left, as Recover would find it.
func leftBehind(root string) []string {
	dirs, _ := filepath.Glob(filepath.Join(root, "instances", instancePrefix+"*"))
	files, _ := filepath.Glob(filepath.Join(stateDir, "*.json"))
	return append(append(dirs, files...), probeGroups(root)...)
}

// childEnv makes the test binary run a guest until it is killed.
const childEnv = "TICKTRAP_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	hz, err := Frequency()
	if err != nil {
		panic(err)
	}
	p, _ := guest.ParseParams("deadline", "distance=2000000", hz)
	img, _ := guest.Builtin("deadline", p)
	e, err := New(Config{Guest: img, Placement: InKernel, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(trace.Event) {}))
	if err != nil {
		panic(err)
	}
	if err := e.SetKnob(trace.KnobPostedTimer, 1); err != nil {
		panic(err)
	}
	fmt.Println("running")
	e.Run(clock.Never, func() bool { return false })
}

func TestKilledRunLeavesNothingAfterRecovery(t *testing.T) {
	root := needTracefs(t)
	before, _ := parameter("kvm", "pi_inject_timer")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "running\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	if got := leftBehind(root); len(got) != 3 {
		t.Errorf("a living run has %v, want an instance, a note and a group of probes", got)
	}
	if _, err := Recover(); err != nil {
		t.Error(err)
	}
	if got := leftBehind(root); len(got) != 3 {
		t.Errorf("after Recover beside a living run: %v, want its three things untouched", got)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	done, err := Recover()
	if err != nil || len(done) != 3 {
		t.Errorf("Recover: %v, %v; want three sentences", done, err)
	}
	if got := leftBehind(root); len(got) != 0 {
		t.Errorf("left after Recover: %v", got)
	}
	if after, _ := parameter("kvm", "pi_inject_timer"); after != before {
		t.Errorf("kvm.pi_inject_timer is %s, was %s", after, before)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	root := needTracefs(t)
	t.Run("run", func(t *testing.T) {
		_, _, e := runGuest(t, InKernel, "deadline", "count=5 distance=2000000 spread=0", 10*time.Second)
		if err := e.SetKnob(trace.KnobPostedTimer, 1); err != nil {
			t.Error(err)
		}
	})
	if got := leftBehind(root); len(got) != 0 {
		t.Errorf("left after Close: %v", got)
	}
}

func TestGuestMovesIntoANewVM(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		t.Run(p.String(), func(t *testing.T) {
			st, r, e := runGuestStep(t, p, "count=60 distance=2000000 spread=0 mode=spin", func(e vmm.Engine, st *trace.State) {
				e.Run(clock.Never, func() bool { return st.Deadlines.Count() >= 20 })
				if err := e.SetKnob(trace.KnobExitsDisabled, uint64(vmm.DisablePause)); err != nil {
					t.Fatal(err)
				}
			})
			if how, code, ended := e.Ended(); !ended || how != trace.EndExit || code != 0 || r.Fault >= 0 {
				t.Errorf("ended %v %v %d, fault %d: want a clean exit", ended, how, code, r.Fault)
			}
			if r.Taken != 60 || st.Deadlines.Count() != 60 {
				t.Errorf("%d samples, %d deadlines in the events; want 60 each", r.Taken, st.Deadlines.Count())
			}
			last := clock.TSC(0)
			for i, s := range r.Samples {
				if s.Seen <= last {
					t.Fatalf("sample %d seen at %d, after %d: the guest's TSC went back", i, s.Seen, last)
				}
				last = s.Seen
			}
		})
	}
}

// runGuestStep runs the deadline guest: first lets act do something with it,
// then runs it to its end.
func runGuestStep(t *testing.T, place Placement, args string, act func(vmm.Engine, *trace.State)) (*trace.State, *guest.Results, vmm.Engine) {
	t.Helper()
	needTracefs(t)
	hz, err := Frequency()
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams("deadline", args, hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	st := &trace.State{}
	st.Reset(&trace.Header{Hz: hz, VCPUs: 1})
	e, err := New(Config{Guest: img, Placement: place, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(e trace.Event) { st.Apply(&e) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	act(e, st)
	until, _ := hz.ToCycles(clock.Nanos(20 * time.Second))
	e.Run(until, func() bool { return false })
	r, err := guest.ReadResults(e.(interface{ Memory() vmm.Memory }).Memory())
	if err != nil {
		t.Fatal(err)
	}
	return st, r, e
}

func TestKnobsThatCannotTurnSayWhy(t *testing.T) {
	for p := InVMM; p <= InKernel; p++ {
		t.Run(p.String(), func(t *testing.T) {
			_, _, e := runGuest(t, p, "deadline", "count=2 distance=2000000 spread=0", 5*time.Second)
			for _, k := range e.Knobs() {
				fixed := k.Tag == vmm.TagFixed || k.Tag == vmm.TagGone
				if fixed && k.Why == "" {
					t.Errorf("%s is %s without a reason", k.Knob, vmm.TagNames[k.Tag])
				}
				if err := e.SetKnob(k.Knob, k.Value); fixed == (err == nil) && k.Tag != vmm.TagRebuild {
					t.Errorf("%s is %s, but setting it gives %v", k.Knob, vmm.TagNames[k.Tag], err)
				}
			}
		})
	}
}

func TestStatisticsCountExits(t *testing.T) {
	code := []byte{0xe6, 0x10, 0xeb, 0xfc} // out 0x10, al; jmp back
	vm, c := boot(t, Options{Placement: InVMM}, code)
	before, err := c.Stats()
	if err != nil {
		t.Skip(err)
	}
	for range 10 {
		c.Run(vm.Now(), clock.Never)
	}
	after, err := c.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if n := after["io_exits"] - before["io_exits"]; n != 10 {
		t.Errorf("io_exits grew by %d over 10 port accesses", n)
	}
}
