package l1

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Vendor is the kind of KVM in the emulated machine.
type Vendor uint8

// The vendors. BadVendor is the invalid zero value.
const (
	BadVendor Vendor = iota
	SVM              // kvm-amd under QEMU's TCG
	VMX              // kvm-intel under Bochs, without APICv
	VMXAPICv         // kvm-intel under the Bochs of bochs.sh, with APICv
)

// vendorNames are the names of machines, by Vendor.
var vendorNames = [...]string{BadVendor: "bad", SVM: "svm", VMX: "vmx", VMXAPICv: "vmx-apicv"}

// String returns "svm", "vmx" or "vmx-apicv".
func (v Vendor) String() string { return vendorNames[v] }

// ParseVendor reads a name of String's.
func ParseVendor(s string) (Vendor, error) {
	for v := SVM; v <= VMXAPICv; v++ {
		if v.String() == s {
			return v, nil
		}
	}
	return BadVendor, fmt.Errorf("machine %q: want svm, vmx or vmx-apicv", s)
}

// Intel reports whether the machine's KVM is kvm-intel.
func (v Vendor) Intel() bool { return v == VMX || v == VMXAPICv }

// Machine describes an emulated machine.
type Machine struct {
	Vendor Vendor
	Kernel Kernel
	CPUs   int // 1 or 2
	// ModuleParams are parameters by module name.
	ModuleParams map[string]string
	// Timeout ends the emulator if the plan has not ended by then.
	Timeout time.Duration
}

// Job is what a Machine does.
type Job struct {
	// Files are packed: path in the machine to path here.
	Files    map[string]string
	Commands []Command
	// Console receives everything that the machine prints, as it comes.
	Console    io.Writer
	Rows, Cols uint16
	// Stdin is connected to the serial console, if not nil.
	Stdin io.Reader
}

// Result is what a run of a Machine left.
type Result struct {
	// Outputs are the console lines of each command, Codes their exit codes, −1
	// for a command that did not end.
	Outputs [][]string
	Codes   []int
	// Files are the files that commands sent, by path.
	Files map[string][]byte
}

var modulesOf = map[Vendor][]string{
	SVM:      {"irqbypass", "kvm", "kvm-amd", "msr"},
	VMX:      {"irqbypass", "kvm", "kvm-intel", "msr"},
	VMXAPICv: {"irqbypass", "kvm", "kvm-intel", "msr"},
}

// Run boots the machine, executes the job's commands one after the other and
// powers off. initBinary is the compiled l1init, a static program.
func (m Machine) Run(ctx context.Context, initBinary string, job Job) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "ticktrap-l1-")
	if err != nil {
		return Result{}, fmt.Errorf("making a work directory: %w", err)
	}
	defer os.RemoveAll(dir)

	plan := Plan{Commands: job.Commands, HoldVM: m.Vendor == SVM && m.CPUs > 1, Rows: job.Rows, Cols: job.Cols}
	if m.Vendor.Intel() {
		plan.Settle = 500
	}
	files := map[string]string{"/init": initBinary}
	for k, v := range job.Files {
		files[k] = v
	}
	initrd := filepath.Join(dir, "initrd")
	if err := pack(initrd, m.Kernel, plan, m.params(), modulesOf[m.Vendor], files); err != nil {
		return Result{}, err
	}

	e, err := m.emulator(ctx, dir, initrd, job)
	if err != nil {
		return Result{}, err
	}
	r := newResult(len(job.Commands))
	runErr := e.run(ctx, func(console io.Reader) error { return r.follow(console, job.Console) })
	if err := r.readFiles(e.files); err != nil && runErr == nil {
		runErr = err
	}
	if ctx.Err() != nil {
		return r, fmt.Errorf("the %s machine did not finish within %v", m.Vendor, m.Timeout)
	}
	return r, runErr
}

// params are the parameters of the modules: the machine vmx is the one without
// APICv, whatever its CPU can do.
func (m Machine) params() map[string]string {
	p := maps.Clone(m.ModuleParams)
	if m.Vendor == VMX {
		if p == nil {
			p = map[string]string{}
		}
		p["kvm-intel"] = strings.TrimSpace("enable_apicv=0 " + p["kvm-intel"])
	}
	return p
}

func (m Machine) emulator(ctx context.Context, dir, initrd string, job Job) (*emulator, error) {
	switch m.Vendor {
	case SVM:
		return m.qemu(ctx, dir, initrd, job)
	case VMX, VMXAPICv:
		return m.bochs(ctx, dir, initrd, job)
	}
	return nil, fmt.Errorf("no emulator for vendor %d", m.Vendor)
}

func newResult(n int) Result {
	r := Result{Outputs: make([][]string, n), Codes: make([]int, n), Files: map[string][]byte{}}
	for i := range r.Codes {
		r.Codes[i] = -1
	}
	return r
}

// follow reads the console up to the last mark, sorting lines to commands.
func (r *Result) follow(console io.Reader, tee io.Writer) error {
	if tee != nil {
		console = io.TeeReader(console, tee)
	}
	s := bufio.NewScanner(console)
	s.Buffer(nil, 1<<20)
	at := -1
	for s.Scan() {
		line := strings.TrimRight(s.Text(), "\r")
		switch i := strings.Index(line, "L1-"); {
		case i >= 0 && strings.HasPrefix(line[i:], MarkDone):
			return nil
		case i >= 0 && strings.HasPrefix(line[i:], MarkFail):
			return fmt.Errorf("the machine's first program failed: %s", line[i+len(MarkFail):])
		case i >= 0 && strings.HasPrefix(line[i:], MarkRun):
			at = r.command(line[i+len(MarkRun):])
		case i >= 0 && strings.HasPrefix(line[i:], MarkExit):
			num, code, _ := strings.Cut(line[i+len(MarkExit):], " ")
			if n := r.command(num); n >= 0 {
				r.Codes[n], _ = strconv.Atoi(strings.TrimSpace(code))
			}
			at = -1
		case strings.Contains(line, "Kernel panic"):
			return fmt.Errorf("the machine's kernel panicked: %s", line)
		case at >= 0:
			r.Outputs[at] = append(r.Outputs[at], line)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("reading the console: %w", err)
	}
	return fmt.Errorf("the console ended before the commands did")
}

// command parses the number of a command; −1 if there is none such.
func (r *Result) command(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n >= len(r.Codes) {
		return -1
	}
	return n
}
