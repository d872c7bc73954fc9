package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// importOptions are the flags of import.
type importOptions struct {
	traceOptions
	out string
	vm  string
}

// traceOptions are the flags of every command that reads a trace.
type traceOptions struct {
	khz     uint64
	offset  string
	advance time.Duration
	strict  bool
	quiet   bool
}

func (o *traceOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.Uint64Var(&o.khz, "tsc-khz", 0, "the guest's TSC frequency in kHz, where the trace does not record it")
	f.StringVar(&o.offset, "tsc-offset", "", "guest TSC minus host TSC in cycles (kvm/PID-FD/vcpuN/tsc-offset in debugfs)")
	f.DurationVar(&o.advance, "advance", 0, "timer_advance_ns of the host, if known")
	f.BoolVar(&o.strict, "strict", false, "refuse a trace with a line that cannot be read")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
}

func newImport(env *Env) *cobra.Command {
	o := &importOptions{}
	c := &cobra.Command{
		Use:   "import TRACE",
		Short: "turn a trace from any host into a recording",
		Long: `import reads a KVM trace and writes a recording, for report, replay, explain, diff
and export: trace.dat of trace-cmd record (versions 6 and 7), or text (the kernel's
trace file, its latency format and ftrace_dump, trace-cmd report with or without
-R, perf script; kernels from 4.9 on). TRACE is a file, or - for standard input;
gzip, zstd, xz and UTF-16 are unpacked. Its length does not matter: memory does not
grow with it.

Where the guest's TSC is unknown, import derives its rate and offset from the
hrtimers that KVM starts for deadlines, from waits for expired deadlines, or from
the earliest entries; how well they fit is printed. Without a rate there are cycles
only.

It prints what kind of trace this is, what it had to infer, and what it cannot say
because an event is missing. Figures it had to deduce are marked inferred. What
cannot be true (an exit before its entry, times that go back) is withheld and
counted.

From a trace of several VMs it takes the one with the most exits; --vm picks
another, or all of them, each in its own recording. Ctrl-C stops the import: the
recording holds what was read up to then.`,
		Example: `  trace-cmd record -e kvm -e sched -e timer …
  ticktrap import trace.dat -o trace.tt
  perf script --ns | ticktrap import - -o perf.tt
  ticktrap import two-vms.txt --vm 2002
  ticktrap explain trace.tt --worst`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE:         func(_ *cobra.Command, args []string) error { return o.run(env, args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "", "recording to write (default the trace's name with .tt)")
	f.StringVar(&o.vm, "vm", "", "the VM to import: a vCPU's thread number, or all")
	o.traceOptions.flags(c)
	return c
}

// decoderOptions are the flags as the decoder takes them.
func (o *traceOptions) decoderOptions() (ftrace.Options, error) {
	opt := ftrace.Options{Strict: o.strict, Advance: clock.Nanos(o.advance)}
	if o.khz > maxKHz {
		return opt, fail(ExitUsage, "--tsc-khz %d: no TSC runs at more than 100 GHz", o.khz)
	}
	opt.Time.Hz = clock.Hz(o.khz * 1000)
	if o.offset != "" {
		n, err := parseOffset(o.offset)
		if err != nil {
			return opt, fail(ExitUsage, "--tsc-offset %q: want a number of cycles, signed or as unsigned 64 bits", o.offset)
		}
		opt.TSCOffset, opt.HasTSCOffset = n, true
	}
	return opt, nil
}

const maxKHz = 100e6

// parseOffset reads an offset as debugfs prints it, signed, or as the tracepoint
// does, unsigned.
func parseOffset(s string) (uint64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), nil
	}
	return strconv.ParseUint(s, 0, 64)
}

func (o *importOptions) run(env *Env, name string) (err error) {
	opt, err := o.decoderOptions()
	if err != nil {
		return err
	}
	out := o.out
	if out == "" {
		out = filepath.Base(name) + ".tt"
		if name == "-" {
			out = "trace.tt"
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	file, t, err := o.open(ctx, env, name, filepath.Dir(out), opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	picks, err := o.pick(t, name)
	if err != nil {
		return err
	}
	stopped := ctx.Err() != nil
	if stopped { // what was read is decoded; the next signal ends that too
		stop()
		ctx, stop = signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	return o.decode(ctx, env, name, out, t, picks, stopped)
}

// open opens a trace and looks it over.
func (o *traceOptions) open(ctx context.Context, env *Env, name, dir string, opt ftrace.Options) (*traceFile, *ftrace.Trace,
	error) {
	p := &progress{w: env.Err, wall: env.Wall, what: "reading " + filepath.Base(name), quiet: o.quiet, bytes: true}
	file, err := openTrace(ctx, env, name, dir, nil)
	if err != nil {
		return nil, nil, with(ExitInput, err)
	}
	t, err := ftrace.Open(ctx, file.Input, opt, func(done, total int64) { p.show(uint64(done), uint64(total)) })
	p.end()
	if err != nil {
		return nil, nil, errors.Join(with(ExitInput, err), file.Close())
	}
	return file, t, nil
}

// pick chooses the VMs to import.
func (o *importOptions) pick(t *ftrace.Trace, name string) ([]bool, error) {
	picks := make([]bool, len(t.VMs))
	switch o.vm {
	case "":
		picks[0] = true
		return picks, nil
	case "all":
		for i := range picks {
			picks[i] = true
		}
		return picks, nil
	}
	pid, err := strconv.ParseInt(o.vm, 10, 32)
	for i, v := range t.VMs {
		if err == nil && v.Has(int32(pid)) {
			picks[i] = true
			return picks, nil
		}
	}
	return nil, fail(ExitUsage, "%s: --vm %s: no vCPU runs in such a thread; the VMs are:\n%s", name, o.vm,
		strings.TrimSuffix(printable(vmList(t, nil)), "\n"))
}

// vmList is a table of the VMs of a trace, with the worst deadline of each where
// states are given.
func vmList(t *ftrace.Trace, states []*trace.State) string {
	var b strings.Builder
	for i, v := range t.VMs {
		if len(v.Threads) == 0 {
			continue
		}
		var pids []string
		for _, th := range v.Threads {
			pids = append(pids, fmt.Sprint(th.PID))
		}
		fmt.Fprintf(&b, "vm        %q, %s, %s, %d exits", v.Name(), count(v.VCPUs(), "vCPU"), threadWords(pids), v.Exits)
		if states != nil {
			b.WriteString(", " + worst(states[i], v))
		}
		if v.Inferred {
			b.WriteString(" (threads grouped by name and number)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func threadWords(pids []string) string {
	if len(pids) == 1 {
		return "thread " + pids[0]
	}
	return "threads " + shorten(pids)
}

// maxNamed is how many threads of a VM are listed.
const maxNamed = 8

func shorten(words []string) string {
	if len(words) > maxNamed {
		words = append(words[:maxNamed:maxNamed], fmt.Sprintf("and %d more", len(words)-maxNamed))
	}
	return strings.Join(words, ", ")
}

// worst is the latest deadline of a VM, in its best known unit.
func worst(s *trace.State, v *ftrace.VM) string {
	if s.Deadlines.Count() == 0 {
		return "no deadline"
	}
	return "worst deadline " + cyclesIn(s.Deadlines.Late.Max, v.Time.Hz) + " late"
}

// cyclesIn is a distance in cycles, and in time where the rate is known.
func cyclesIn(c clock.Cycles, hz clock.Hz) string {
	if hz == 0 {
		return fmt.Sprintf("%d cycles", c)
	}
	return time.Duration(float64(c) * 1e9 / float64(hz)).Round(10 * time.Nanosecond).String()
}

// decode writes the recordings and prints the reports.
func (o *importOptions) decode(ctx context.Context, env *Env, name, out string, t *ftrace.Trace, picks []bool,
	stopped bool) (err error) {
	sinks := make([]trace.Sink, len(t.VMs))
	states := make([]*trace.State, len(t.VMs))
	var recs []*newRecording
	defer func() {
		for _, r := range recs {
			err = errors.Join(err, r.close(err == nil))
		}
	}()
	for i := range t.VMs {
		h := t.Header(i)
		h.Guest = filepath.Base(name)
		states[i] = &trace.State{}
		states[i].Reset(h)
		fold := trace.SinkFunc(func(e trace.Event) { states[i].Apply(&e) })
		if !picks[i] {
			sinks[i] = fold
			continue
		}
		path := out
		if o.vm == "all" && len(t.VMs) > 1 {
			path = strings.TrimSuffix(out, ".tt") + "." + vmTag(t.VMs[i]) + ".tt"
		}
		r, rerr := createRecording(path, h)
		if rerr != nil {
			return rerr
		}
		recs = append(recs, r)
		sinks[i] = trace.SinkFunc(func(e trace.Event) { fold(e); r.w.Emit(e) })
	}
	if len(t.VMs) == 1 {
		sinks[0] = recs[0].w // nobody needs the state
	}
	p := &progress{w: env.Err, wall: env.Wall, what: "importing " + filepath.Base(name), quiet: o.quiet, bytes: true}
	reps, err := t.Decode(ctx, sinks, func(done, total int64) { p.show(uint64(done), uint64(total)) })
	p.end()
	if errors.Is(err, context.Canceled) {
		stopped, err = true, nil
	}
	if err != nil {
		return with(ExitInput, err)
	}
	n := 0
	for i, pick := range picks {
		if pick {
			fmt.Fprintf(env.Out, "%s", printable(reps[i].Text()))
			fmt.Fprintf(env.Out, "wrote     %s\n", printable(recs[n].path))
			n++
		}
	}
	if len(t.VMs) > 1 {
		fmt.Fprintf(env.Out, "\n%d VMs in this trace:\n%s", len(t.VMs), printable(vmList(t, states)))
		if o.vm == "" {
			fmt.Fprintf(env.Out, "imported the first; --vm THREAD takes another, --vm all each of them\n")
		}
	}
	if stopped {
		fmt.Fprintf(env.Err, "ticktrap: stopped: the recording holds what was read until then\n")
		for _, r := range recs {
			if err := r.close(true); err != nil {
				return err
			}
		}
		return fail(ExitSignal, "%s: stopped before its end", name)
	}
	return nil
}

// vmTag names a VM in a file's name: by the thread of its first vCPU.
func vmTag(v *ftrace.VM) string {
	if len(v.Threads) == 0 {
		return "vm"
	}
	return fmt.Sprint(v.Threads[0].PID)
}

// newRecording is a recording that is being written.
type newRecording struct {
	path string
	f    *os.File
	w    *trace.Writer
	done bool
}

func createRecording(path string, h *trace.Header) (*newRecording, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, with(ExitInput, fmt.Errorf("recording: %w", err))
	}
	w, err := trace.NewWriter(f, h)
	if err != nil {
		return nil, errors.Join(with(ExitHost, err), f.Close(), os.Remove(path))
	}
	return &newRecording{path: path, f: f, w: w}, nil
}

// close ends the recording; one that is not to be kept, or failed, is removed.
func (r *newRecording) close(keep bool) error {
	if r.done {
		return nil
	}
	r.done = true
	err := with(ExitHost, r.w.Close())
	err = errors.Join(err, with(ExitHost, r.f.Close()))
	if err != nil || !keep {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}
