//go:build linux && amd64

package kvm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// tracefsRoots are where tracefs is mounted.
var tracefsRoots = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// observedEvents are the tracepoints that a run with the LAPIC in the kernel
// enables, by group. Missing ones are left out: older kernels have fewer.
var observedEvents = []string{"kvm/kvm_entry", "kvm/kvm_exit", "kvm/kvm_msr", "kvm/kvm_apic", "kvm/kvm_apic_accept_irq",
	"kvm/kvm_apicv_accept_irq", "kvm/kvm_apic_ipi", "kvm/kvm_eoi", "kvm/kvm_inj_virq", "kvm/kvm_wait_lapic_expire",
	"kvm/kvm_hv_timer_state", "kvm/kvm_vcpu_wakeup", "kvm/kvm_halt_poll_ns", "kvm/kvm_write_tsc_offset",
	"kvm/kvm_apicv_inhibit_changed", "kvm/kvm_apicv_update_request"}

// bufferKB is the size of the instance's ring buffer on each CPU: some 10^5
// events, a quarter of a second of a storm.
const bufferKB = 8192

// observer is a private tracefs instance with kprobe events of its own.
type observer struct {
	root, dir string
	group     string // of the kprobe events
	probes    []string
	pipe      *os.File
	buf       []byte
	have      int // bytes of a line not complete yet
	dec       *ftrace.Decoder
	// Missing says what could not be observed, a sentence each.
	Missing []string
}

// findTracefs returns tracefs' root, or what would make it available.
func findTracefs() (string, error) {
	for _, root := range tracefsRoots {
		if _, err := os.Stat(filepath.Join(root, "instances")); err == nil {
			return root, nil
		} else if errors.Is(err, os.ErrPermission) {
			return "", &UnavailableError{What: "no permission to read tracefs", Cure: "run as root", Err: err}
		}
	}
	return "", &UnavailableError{What: "tracefs is not mounted",
		Cure: "mount -t tracefs tracefs /sys/kernel/tracing (as root)"}
}

// newObserver makes the instance, its probes and events, off at first.
func newObserver() (*observer, error) {
	root, err := findTracefs()
	if err != nil {
		return nil, err
	}
	id, err := ownID()
	if err != nil {
		return nil, err
	}
	o := &observer{root: root, dir: filepath.Join(root, "instances", instancePrefix+id), group: groupPrefix + groupID(id),
		buf: make([]byte, 1<<16)}
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return nil, &UnavailableError{What: "no permission to make a tracefs instance", Cure: "run as root", Err: err}
	}
	if err := o.setUp(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *observer) setUp() error {
	for _, w := range []struct{ file, value string }{
		{"tracing_on", "0"}, {"trace_clock", "x86-tsc"}, {"buffer_size_kb", strconv.Itoa(bufferKB)},
	} {
		if err := o.write(w.file, w.value); err != nil {
			return fmt.Errorf("setting up tracing: %w", err)
		}
	}
	for _, e := range observedEvents {
		if err := o.write("events/"+e+"/enable", "1"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("enabling %s: %w", e, err)
		}
	}
	o.addProbes()
	pipe, err := os.OpenFile(filepath.Join(o.dir, "trace_pipe"), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("opening the trace: %w", err)
	}
	o.pipe = pipe
	return nil
}

// addProbes makes the kprobe events that this kernel allows. What fails is only
// missing.
func (o *observer) addProbes() {
	for i := range ftrace.Probes {
		p := &ftrace.Probes[i]
		var err error
		for _, symbol := range p.Symbols {
			if err = appendTo(filepath.Join(o.root, "kprobe_events"), p.Definition(o.group, symbol)); err == nil {
				break
			}
		}
		if err == nil {
			o.probes = append(o.probes, p.Name)
			err = o.write("events/"+o.group+"/"+p.Name+"/enable", "1")
		}
		if err != nil {
			o.Missing = append(o.Missing, fmt.Sprintf("no probe on %s (%v): %s stays unknown", p.Symbols[0], plain(err), p.Tells))
		}
	}
	if !o.has("timer_fn") { // the tracepoints say it too, at the cost of every hrtimer of the host
		for _, e := range []string{"timer/hrtimer_start", "timer/hrtimer_expire_entry"} {
			_ = o.write("events/"+e+"/enable", "1")
		}
	}
}

func (o *observer) has(probe string) bool {
	for _, p := range o.probes {
		if p == probe {
			return true
		}
	}
	return false
}

// ownEvents are the events and probes that a vCPU's own thread alone causes.
// Those of other VMs on the host need not be traced.
var ownEvents = []string{"kvm/kvm_entry", "kvm/kvm_exit", "kvm/kvm_msr", "kvm/kvm_apic", "kvm/kvm_apic_ipi",
	"kvm/kvm_eoi", "kvm/kvm_inj_virq", "kvm/kvm_vcpu_wakeup", "kvm/kvm_halt_poll_ns"}
var ownProbes = []string{"vrun", "exit_in", "set_dl", "restart", "halt", "block", "to_sw"}

// watchThreads adds sched_switch of the vCPU threads, and leaves out what those
// of other VMs do. A filter that the kernel refuses costs time only.
func (o *observer) watchThreads(tids []int) {
	var terms, own []string
	for _, t := range tids {
		terms = append(terms, fmt.Sprintf("prev_pid==%d||next_pid==%d", t, t))
		own = append(own, fmt.Sprintf("common_pid==%d", t))
	}
	for _, e := range ownEvents {
		_ = o.write("events/"+e+"/filter", strings.Join(own, "||"))
	}
	for _, p := range ownProbes {
		filter := "(" + strings.Join(own, "||") + ")"
		if p == "vrun" && o.has("exit_in") {
			filter += "&&ret!=0" // that an exit was not fast, exit_in tells too
		}
		if o.has(p) {
			_ = o.write("events/"+o.group+"/"+p+"/filter", filter)
		}
	}
	if err := o.write("events/sched/sched_switch/filter", strings.Join(terms, "||")); err != nil {
		o.Missing = append(o.Missing, "no filter on sched_switch: preemption of vCPU threads stays unknown")
		return
	}
	_ = o.write("events/sched/sched_switch/enable", "1")
}

func (o *observer) on(on bool) error { return o.write("tracing_on", strconv.Itoa(int(b2u8(on)))) }

// readSize is how much of the trace one read asks for. The kernel prints that
// much without letting go of the CPU, and looks up a symbol for each probe's
// line: on a host with one CPU the vCPU waits for it.
const readSize = 1 << 10

// clear throws away what was traced and not read.
func (o *observer) clear() {
	if f, err := os.OpenFile(filepath.Join(o.dir, "trace"), os.O_WRONLY|os.O_TRUNC, 0); err == nil {
		f.Close()
	}
	o.have = 0
}

// poll decodes what has been traced since the last call, in at most limit reads
// of a page: a guest may make events as fast as they can be read. It reports
// whether that was all. Lines that were cut by the end of a read wait for their
// rest.
func (o *observer) poll(limit int) (all bool, err error) {
	for range limit {
		n, err := unix.Read(int(o.pipe.Fd()), o.buf[o.have:min(o.have+readSize, len(o.buf))])
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN || err == nil && n == 0 {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("reading the trace: %w", err)
		}
		o.have += n
		o.lines()
	}
	return false, nil
}

// The limits of poll: while the guest runs, while it waits for the reader, and
// when tracing is off.
const (
	pollRunning = 256
	pollKeepUp  = 8
	pollStopped = 1 << 30
)

func (o *observer) lines() {
	b := o.buf[:o.have]
	at := 0
	for {
		n := indexNewline(b[at:])
		if n < 0 {
			break
		}
		_ = o.dec.Line(b[at : at+n]) // not strict: what cannot be read is in the report
		at += n + 1
	}
	if at == 0 && o.have == len(o.buf) {
		at = o.have // no line is that long
	}
	o.have = copy(o.buf, b[at:])
}

func indexNewline(b []byte) int {
	for i, c := range b {
		if c == '\n' {
			return i
		}
	}
	return -1
}

// close removes the probes and the instance.
func (o *observer) close() error {
	var errs []error
	if o.pipe != nil {
		errs = append(errs, o.pipe.Close())
		o.pipe = nil
	}
	errs = append(errs, removeInstance(o.dir))
	errs = append(errs, removeProbes(o.root, o.group))
	return errors.Join(errs...)
}

func (o *observer) write(file, value string) error {
	return writeFile(filepath.Join(o.dir, file), value)
}

// writeFile writes to a file of the kernel's: no creation, no truncation.
func writeFile(path, value string) error { return openWrite(path, value, os.O_WRONLY) }

func appendTo(path, line string) error { return openWrite(path, line+"\n", os.O_WRONLY|os.O_APPEND) }

func openWrite(path, value string, flags int) error {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, value)
	return errors.Join(err, f.Close())
}

// plain strips the path from an error of the file system.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
