package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// importOptions are the flags of import.
type importOptions struct {
	out     string
	khz     uint64
	advance time.Duration
	strict  bool
}

func newImport(env *Env) *cobra.Command {
	o := &importOptions{}
	c := &cobra.Command{
		Use:   "import TRACE",
		Short: "make a recording of a trace from any host",
		Long: `import reads a KVM trace as text (the kernel's trace file, trace-cmd report, perf
script; kernels from 4.9 on) and writes a recording, for report, replay, explain,
diff and export. TRACE is a file, or - for standard input.

It prints what the trace is, what had to be deduced, and what cannot be
concluded because an event is missing. Figures that were deduced are marked
inferred.`,
		Example: `  trace-cmd record -e kvm -e timer -C x86-tsc …; trace-cmd report -N > trace.txt
  ticktrap import trace.txt --tsc-khz 2500000 -o trace.tt
  ticktrap explain trace.tt --worst`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE:         func(_ *cobra.Command, args []string) error { return o.run(env, args[0]) },
	}
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "", "recording to write (default the trace's name with .tt)")
	f.Uint64Var(&o.khz, "tsc-khz", 0, "the guest's TSC frequency in kHz, where the trace does not tell")
	f.DurationVar(&o.advance, "advance", 0, "timer_advance_ns of the host, if known")
	f.BoolVar(&o.strict, "strict", false, "refuse a trace with a line that cannot be read")
	return c
}

func (o *importOptions) run(env *Env, name string) error {
	text, err := o.open(env, name)
	if err != nil {
		return with(ExitInput, err)
	}
	defer text.Close()
	opt := ftrace.Options{File: name, Strict: o.strict, Advance: clock.Nanos(o.advance)}
	if o.khz != 0 {
		opt.Time.Hz = clock.Hz(o.khz * 1000)
	}
	// The header comes first in a recording and is known last, so the trace is
	// read once for it and once for the events.
	rep, err := ftrace.Read(text, opt, trace.SinkFunc(func(trace.Event) {}))
	if err != nil {
		return with(ExitInput, err)
	}
	h, err := o.header(name, &rep)
	if err != nil {
		return err
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return with(ExitInput, fmt.Errorf("%s: %w", name, err))
	}
	out := o.out
	if out == "" {
		out = filepath.Base(name) + ".tt"
	}
	if err := o.write(out, text, opt, h); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s\nwrote %s\n", printable(rep.Text()), printable(out))
	return err
}

// open makes the trace seekable: standard input is read whole.
func (o *importOptions) open(env *Env, name string) (io.ReadSeekCloser, error) {
	if name != "-" {
		return os.Open(name)
	}
	b, err := io.ReadAll(env.In)
	return seekable{bytes.NewReader(b)}, err
}

type seekable struct{ *bytes.Reader }

// Close implements io.Closer.
func (seekable) Close() error { return nil }

// header describes an imported trace as a run.
func (o *importOptions) header(name string, rep *ftrace.Report) (*trace.Header, error) {
	h := &trace.Header{Engine: "import", LAPIC: "kernel", Provenance: trace.Measured, Guest: filepath.Base(name),
		Hz: rep.Time.Hz, Knobs: trace.UnknownKnobs(), Host: fmt.Sprintf("%s trace, kernel %s, %s", rep.Vendor(), rep.Kernel, rep.Printer)}
	if h.Hz == 0 {
		h.Hz = clock.Hz(o.khz * 1000)
	}
	if h.Hz == 0 {
		return nil, fail(ExitUsage, "%s: the trace does not tell the TSC frequency: give --tsc-khz", name)
	}
	for _, v := range rep.VCPUs {
		h.VCPUs = max(h.VCPUs, v.VCPU+1)
	}
	return h, nil
}

// write decodes the trace into a new recording; a failed one is removed.
func (o *importOptions) write(path string, text io.Reader, opt ftrace.Options, h *trace.Header) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return with(ExitInput, fmt.Errorf("recording: %w", err))
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = with(ExitHost, cerr)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	w, err := trace.NewWriter(f, h)
	if err != nil {
		return with(ExitHost, err)
	}
	if _, err := ftrace.Read(text, opt, w); err != nil {
		return with(ExitInput, err)
	}
	return with(ExitHost, w.Close())
}
