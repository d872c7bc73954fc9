package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm/fuzz"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	invariants     []string
	kind, out      string
	seed, from     uint64
	cases, finds   uint64
	guestTime      time.Duration
	timeout        time.Duration
	invariantsRead []*fuzz.Invariant
}

func newFuzz(env *Env) *cobra.Command {
	o := &fuzzOptions{}
	c := &cobra.Command{
		Use:   "fuzz",
		Short: "search for guests that break an invariant",
		Long: `fuzz generates guests, knob turns and seeds of the model's noise, runs each on the
model, and checks your invariants. It shrinks each case that breaks one and writes
it to a directory: the guest as assembly (guest.asm) and as an image
(guest.bin), its recording (run.tt), and the command that reproduces it (README).

Invariants are assertions as for "run --assert", and
  same          straight, stepped back, without skipping, and verified: all equal
  no lost       no deadline is lost
  late < 20us   no handler begins later than that
A panic in ticktrap, or a run that does not end, always counts as a break.

Guests: "timer" uses its LAPIC timer as an operating system would, "hostile" does
what no guest should. Case N of a seed is always the same guest.

It ends with 0 if nothing broke, with 6 if something did.`,
		Example: `  ticktrap fuzz --invariant 'late < 20us' --cases 1000
  ticktrap fuzz --guests hostile --invariant same --timeout 10m -o finds`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(*cobra.Command, []string) error { return o.run(env) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.invariants, "invariant", []string{fuzz.Same, "no lost"}, "what must hold (repeatable)")
	f.StringVar(&o.kind, "guests", "timer", "guests to generate: timer or hostile")
	f.Uint64Var(&o.cases, "cases", 200, "how many")
	f.Uint64Var(&o.seed, "seed", 1, "of the cases")
	f.Uint64Var(&o.from, "from", 0, "number of the first case")
	f.Uint64Var(&o.finds, "finds", 1, "stop after so many finds")
	f.DurationVar(&o.guestTime, "for", 500*time.Microsecond, "guest time of each run")
	f.DurationVar(&o.timeout, "timeout", 0, "stop after so much wall time")
	f.StringVarP(&o.out, "output", "o", "fuzz-finds", "directory for findings; each gets its own subdirectory")
	return c
}

func (o *fuzzOptions) run(env *Env) error {
	gen, ok := fuzz.Generators[o.kind]
	if !ok {
		return fail(ExitUsage, "--guests: want timer or hostile, have %q", o.kind)
	}
	for _, s := range o.invariants {
		i, err := fuzz.ParseInvariant(s)
		if err != nil {
			return fail(ExitUsage, "--invariant: %w", err)
		}
		o.invariantsRead = append(o.invariantsRead, i)
	}
	if o.guestTime <= 0 || o.timeout < 0 || o.finds == 0 {
		return fail(ExitUsage, "--for and --finds: want more than 0, --timeout no less")
	}
	prof, err := model.LoadProfile(fuzz.Profile)
	if err != nil {
		return err
	}
	until, ok := prof.Hz.ToCycles(clock.Nanos(o.guestTime))
	if !ok {
		return fail(ExitUsage, "--for: %s is too long", o.guestTime)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signalled := ctx
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	n, found, err := o.search(env, gen, until, func() bool { return ctx.Err() != nil })
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%d %s guests of seed %d, from number %d on: %d broke an invariant\n", n, o.kind, o.seed, o.from, found)
	switch {
	case found > 0:
		return fail(ExitAssert, "%d of %d guests broke an invariant; see %s", found, n, o.out)
	case signalled.Err() != nil:
		return fail(ExitSignal, "stopped by a signal")
	}
	return nil
}

// search checks cases until it is to stop. n is how many were checked to the end.
func (o *fuzzOptions) search(env *Env, gen fuzz.Generator, until clock.TSC, stop func() bool) (n, found uint64, err error) {
	for ; n < o.cases && found < o.finds; n++ {
		c := fuzz.New(gen, o.seed, o.from+n)
		err := c.Check(o.invariantsRead, until, stop)
		var b *fuzz.Broken
		switch {
		case errors.As(err, &b):
		case errors.Is(err, fuzz.ErrStopped):
			return n, found, nil
		case err != nil:
			return n, found, err
		default:
			continue
		}
		found++
		fmt.Fprintf(env.Err, "ticktrap: case %d: %s; making it smaller\n", o.from+n, printable(b.Error()))
		c, b = c.Shrink(b, o.invariantsRead, until, stop)
		dir, err := o.write(c, b, o.from+n, until)
		if err != nil {
			return n, found, with(ExitHost, err)
		}
		fmt.Fprintf(env.Out, "%s\n  %s\n", printable(dir), printable(b.Error()))
	}
	return n, found, nil
}

// write writes a find into a directory of its own.
func (o *fuzzOptions) write(c *fuzz.Case, b *fuzz.Broken, number uint64, until clock.TSC) (dir string, err error) {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return "", err
	}
	dir = filepath.Join(o.out, fmt.Sprintf("%s-%d-%d", o.kind, o.seed, number))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	readme := fmt.Sprintf("%s\n\n%s\n\nFound as case %d of seed %d, guests %s.\n", b.Error(),
		c.Command("guest.bin", o.guestTime.String()), number, o.seed, o.kind)
	files := map[string][]byte{"guest.asm": []byte(c.Program.Assembly()), "guest.bin": c.Program.Image(), "README": []byte(readme)}
	if rec, err := c.Record(until); err == nil { // a run that panics has none
		files["run.tt"] = rec
	}
	for name, data := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return dir, err
}
