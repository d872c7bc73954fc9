package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
	"codeberg.org/ticktrap/ticktrap/vmm/sweep"
)

// sweepOptions are the flags of sweep, those of run included.
type sweepOptions struct {
	run    runOptions
	vary   []string
	goal   string
	resume string
	jobs   int
}

func newSweep(env *Env) *cobra.Command {
	o := &sweepOptions{}
	c := &cobra.Command{
		Use:   "sweep --vary KNOB=VALUES … [GUEST]",
		Short: "run a grid of knob settings and say which one is worth it",
		Long: `sweep runs one guest on the model with every combination of the given knob values,
several at a time, and prints a table with a chart of the goal, the knee of each
time-valued knob, and a verdict. The verdict compares the best point with the
unchanged run on another seed, and may be "not worth it".

VALUES are a list, or FROM:TO:STEP for knobs that are times. With --resume FILE
every finished point is appended to FILE; the same command with the same file
resumes where it stopped.`,
		Example: `  ticktrap sweep --vary timer-advance=0:5000:250
  ticktrap sweep --vary vmentry-advance=0:400:50 --vary apicv=on,off --deadlines 2000
  ticktrap sweep --vary halt-poll=0:200000:20000 --append mode=hlt --resume poll.jsonl`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.run.takeGuest(c.Flags(), args); err != nil {
				return err
			}
			if err := o.checkFlags(c.Flags()); err != nil {
				return err
			}
			return o.main(env)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	o.run.engine = "model"
	o.run.guestFlags(f)
	o.run.modelFlags(f)
	o.run.kernelFlag(f)
	o.run.knobFlag(f)
	o.run.limitFlags(f)
	f.StringArrayVar(&o.vary, "vary", nil, "vary a knob: NAME=VALUE,VALUE or NAME=FROM:TO:STEP (repeatable)")
	f.StringVar(&o.goal, "goal", "p99", "what to minimize: "+strings.Join(sweep.Goals, ", "))
	f.StringVar(&o.resume, "resume", "", "keep finished points in this file, and resume from it")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "points at a time")
	f.BoolVar(&o.run.json, "json", false, "print one JSON document")
	f.Lookup("jobs").DefValue = "one for each CPU"
	return c
}

// checkFlags refuses values and flags that have no effect.
func (o *sweepOptions) checkFlags(given *pflag.FlagSet) error {
	r := &o.run
	return refuse(given, []moot{
		{[]string{"deadlines"}, r.deadlines == 0, "want 1 or more"},
		{[]string{"exits"}, r.exits == 0, "want 1 or more"},
		{[]string{"for"}, r.guestTime <= 0, "want a positive time"},
		{[]string{"vcpus"}, r.vcpus < 1 || r.vcpus > vmm.MaxVCPUs, vcpuRange},
		{[]string{"pcpus"}, r.pcpus < 1 || r.pcpus > vmm.MaxVCPUs, vcpuRange},
		{[]string{"jobs"}, o.jobs < 1, "want 1 or more"},
	})
}

func (o *sweepOptions) main(env *Env) error {
	o.run.headless = true
	if len(o.vary) == 0 {
		return fail(ExitUsage, "nothing to vary: want --vary NAME=VALUES")
	}
	if !slices.Contains(sweep.Goals, o.goal) {
		return fail(ExitUsage, "--goal: want one of %s, have %q", strings.Join(sweep.Goals, ", "), o.goal)
	}
	var g sweep.Grid
	for _, s := range o.vary {
		a, err := sweep.ParseAxis(s)
		if err != nil {
			return fail(ExitUsage, "--vary: %w", err)
		}
		g = append(g, a)
	}
	if err := g.Check(); err != nil {
		return fail(ExitUsage, "--vary: %w", err)
	}
	r, about, err := o.plan(g)
	if err != nil {
		return err
	}
	keep, done, closeFile, err := o.openResume(about, g)
	if err != nil {
		return err
	}
	res, err := o.sweep(env, g, r, done, keep)
	if cerr := closeFile(); err == nil {
		err = with(ExitHost, cerr)
	}
	if err != nil {
		return err
	}
	res.Sweep = about
	return o.print(env.Out, g, res)
}

// plan is the run whose knobs are varied, and what it is in words.
func (o *sweepOptions) plan(g sweep.Grid) (*sweep.Run, string, error) {
	base, err := o.run.startKnobs()
	if err != nil {
		return nil, "", err
	}
	cfg, err := o.run.modelConfig(base)
	if err != nil {
		return nil, "", err
	}
	r := &sweep.Run{Kernel: &cfg.Kernel, Base: base, Seed: o.run.seed, Limits: o.run.limits}
	r.Make = func(k vmm.Knobs, seed uint64) session.Factory {
		c := cfg
		c.Knobs, c.Seed = k, seed
		return func(sink trace.Sink) (vmm.Engine, error) { return model.New(c, sink) }
	}
	about := fmt.Sprintf("%s %s, %x, profile %s, seed %d, %d vCPUs, %d deadlines, %d exits, %s, %s", cfg.Guest.Name,
		strings.TrimSpace(cfg.Guest.Args), cfg.Guest.SHA256[:4], cfg.Profile.Name, cfg.Seed, cfg.VCPUs, o.run.deadlines,
		o.run.exits, o.run.guestTime, o.machine()+strings.Join(append(slices.Clone(o.run.knobs), o.vary...), " "))
	return r, about, nil
}

// machine is what was chosen of the machine beside its size and knobs.
func (o *sweepOptions) machine() (words string) {
	words = fmt.Sprintf("kernel %s, %d host CPUs, %d MiB, reset: %s, ", cmp.Or(o.run.kernel, vmm.DefaultKernel().Release.String()), o.run.pcpus,
		o.run.memMiB, o.run.reboot)
	if len(o.run.hide) > 0 {
		words += "without " + strings.Join(o.run.hide, " ") + ", "
	}
	return words
}

// openResume opens the results file, if one is asked for.
func (o *sweepOptions) openResume(about string, g sweep.Grid) (keep func(*sweep.Point) error, done map[string]*sweep.Point,
	closeFile func() error, err error) {
	if o.resume == "" {
		return nil, nil, func() error { return nil }, nil
	}
	f, err := os.OpenFile(o.resume, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, nil, with(ExitInput, err)
	}
	file, done, err := sweep.Resume(f, about, g)
	if err != nil {
		return nil, nil, nil, with(ExitInput, errors.Join(fmt.Errorf("%s: %w", o.resume, err), f.Close()))
	}
	return file.Keep, done, f.Close, nil
}

// sweep measures the grid and judges it.
func (o *sweepOptions) sweep(env *Env, g sweep.Grid, r *sweep.Run, done map[string]*sweep.Point,
	keep func(*sweep.Point) error) (*sweep.Result, error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(done) > 0 {
		fmt.Fprintf(env.Err, "ticktrap: %d of %d points are in %s\n", len(done), g.Size(), printable(o.resume))
	}
	bar := progressBar(env)
	points, err := sweep.Go(ctx, g, r, o.jobs, done, keep, bar)
	if g.Size() > len(done) {
		fmt.Fprintln(env.Err)
	}
	if ctx.Err() != nil {
		return nil, o.stopped(points)
	}
	if err != nil {
		return nil, with(ExitInput, err)
	}
	res, err := sweep.Judge(g, r, points, o.goal, func() bool { return ctx.Err() != nil })
	if ctx.Err() != nil {
		return nil, o.stopped(points)
	}
	return res, with(ExitInput, err)
}

// stopped is the error of an interrupted sweep: it says how to go on.
func (o *sweepOptions) stopped(points []*sweep.Point) error {
	n := 0
	for _, p := range points {
		if p != nil {
			n++
		}
	}
	if o.resume == "" {
		return fail(ExitSignal, "stopped by a signal after %d of %d points; --resume FILE would have kept them", n,
			len(points))
	}
	return fail(ExitSignal, "stopped by a signal after %d of %d points; the same command resumes from %s", n, len(points), o.resume)
}

// progressBar writes to the error output: one line that is rewritten on a terminal,
// a line for each tenth elsewhere.
func progressBar(env *Env) sweep.Progress {
	const width = 40
	last := -1
	return func(done, total int) {
		if env.Terminal {
			n := width * done / total
			fmt.Fprintf(env.Err, "\r[%s%s] %d/%d", strings.Repeat("#", n), strings.Repeat(".", width-n), done, total)
			return
		}
		if tenth := 10 * done / total; tenth != last {
			last = tenth
			fmt.Fprintf(env.Err, "ticktrap: %d of %d points\n", done, total)
		}
	}
}

func (o *sweepOptions) print(w io.Writer, g sweep.Grid, res *sweep.Result) error {
	if o.run.json {
		return document(w, "ticktrap.sweep", res)
	}
	_, err := io.WriteString(w, res.Text(g))
	return err
}
