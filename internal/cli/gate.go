package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// gateOptions are the flags of gate.
type gateOptions struct {
	update, json bool
	junit        string
	seed         uint64
}

func newGate(env *Env) *cobra.Command {
	o := &gateOptions{}
	c := &cobra.Command{
		Use:   "gate SUITE.toml",
		Short: "run a suite and fail if it got worse than its stored base",
		Long: `gate executes a suite's runs, compares each with its recording in the suite's base
folder, and checks the suite's limits: diff --fail-on for many runs. It prints one
table.

  base = "base"                  # folder of recordings, beside the file
  deadlines = 2000               # length of each run
  fail-on = ["delta(p99) > 5%", "delta(host cycles) > 3%", "delta(lost) > 0"]

  [[run]]
  name = "deadline-halted"
  guest = "deadline"             # a built-in guest or an image
  append = "mode=hlt"
  engine = "model"               # or kvm, with lapic = "vmm" or "kernel"
  settings = ["", "apicv=off"]   # a run for each

--update writes the base. An exceeded limit gives exit code 6, an undecided one 11.
On the model the same source gives the same bytes, so any difference comes from a
change of the program; another --seed shows what chance alone does.`,
		Example: `  ticktrap gate suite.toml --update       on the kernel, or the commit, before
  ticktrap gate suite.toml --junit r.xml  after the change`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"json", "junit"}, o.update, "--update compares nothing"},
			}); err != nil {
				return err
			}
			return o.main(env, args[0])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&o.update, "update", false, "write the base instead of comparing with it")
	f.StringVar(&o.junit, "junit", "", "write the results to this file, for CI systems")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.Uint64Var(&o.seed, "seed", model.DefaultSeed, "seed of the model's noise")
	return c
}

// gateResult is what came of one run.
type gateResult struct {
	Name   string       `json:"name"`
	Err    string       `json:"error,omitempty"`
	Diff   *diff.Diff   `json:"diff,omitempty"`
	Checks []diff.Check `json:"checks"`
}

func (o *gateOptions) main(env *Env, file string) error {
	s, err := readSuite(file)
	if err != nil {
		return err
	}
	runs, err := s.plan(file, o.seed)
	if err != nil {
		return err
	}
	if o.update {
		return o.writeBase(env, s, runs)
	}
	opt, err := (&diffOptions{level: s.Level, draws: diff.DefaultOptions.Draws}).options()
	if err != nil {
		return fail(ExitInput, "%s: %w", file, err)
	}
	var results []gateResult
	for i := range runs {
		r, err := o.compare(env, s, &runs[i], opt)
		if err != nil {
			return fail(ExitSignal, "stopped by a signal after %d of %d runs", i, len(runs))
		}
		results = append(results, r)
	}
	if o.junit != "" {
		if err := writeFile(o.junit, true, func(w io.Writer) error { return diff.JUnit(w, suites(results)) }); err != nil {
			return err
		}
	}
	if err := o.print(env.Out, results); err != nil {
		return err
	}
	return gateError(results)
}

// path is the recording of a run in the base.
func (s *suite) path(r *gateRun) string { return filepath.Join(s.Base, r.name+".tt") }

// writeBase records every run.
func (o *gateOptions) writeBase(env *Env, s *suite, runs []gateRun) error {
	if err := os.MkdirAll(s.Base, 0o755); err != nil {
		return with(ExitHost, err)
	}
	for i := range runs {
		r := &runs[i]
		// Under another name first, so that a stopped update leaves the old base.
		r.opt.record = s.path(r) + ".new"
		if err := os.Remove(r.opt.record); err != nil && !errors.Is(err, os.ErrNotExist) {
			return with(ExitHost, err)
		}
		if _, err := r.run(); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if err := os.Rename(r.opt.record, s.path(r)); err != nil {
			return with(ExitHost, err)
		}
		fmt.Fprintf(env.Out, "wrote %s\n", printable(s.path(r)))
	}
	return nil
}

// compare carries out a run and compares it with its base. The error is that of a
// signal; all others are results.
func (o *gateOptions) compare(env *Env, s *suite, r *gateRun, opt diff.Options) (gateResult, error) {
	res := gateResult{Name: r.name, Checks: []diff.Check{}}
	base, err := readSide(env, s.path(r))
	if err == nil && base.warning != "" {
		err = fmt.Errorf("%s: %s", s.path(r), base.warning)
	}
	if err != nil {
		res.Err = "no base: " + err.Error() + "; write it with --update"
		return res, nil
	}
	now, err := r.run()
	if codeOf(err) == ExitSignal {
		return res, err
	}
	if err != nil {
		res.Err = err.Error()
		return res, nil
	}
	res.Diff = diff.Compare(base.Side, now, opt)
	res.Checks = res.Diff.Check(r.limits)
	return res, nil
}

// run carries the run out.
func (r *gateRun) run() (_ *diff.Side, err error) {
	o := r.opt
	run, err := o.runner()
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := run.Engine().Close(); err == nil {
			err = with(ExitHost, cerr)
		}
	}()
	col := diff.NewCollector(run.Header())
	run.Tee(trace.SinkFunc(func(trace.Event) { col.Look(run.State()) }))
	rec, err := o.startRecord(run)
	if err != nil {
		return nil, err
	}
	end, err := o.drive(run, rec)
	if err = errors.Join(err, rec.Close(), end); err != nil {
		return nil, err
	}
	return col.Side(r.name, run.State()), o.ended(run)
}

func suites(results []gateResult) (out []diff.Suite) {
	for _, r := range results {
		out = append(out, diff.Suite{Name: r.Name, Checks: r.Checks, Err: r.Err})
	}
	return out
}

func (o *gateOptions) print(w io.Writer, results []gateResult) error {
	if o.json {
		return document(w, "ticktrap.gate", struct {
			Runs []gateResult `json:"runs"`
		}{results})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %-10s %10s %10s %8s   %s\n", "run", "verdict", "p99 before", "after", "change", "host cycles per deadline")
	for _, r := range results {
		verdict := diff.Worst(r.Checks).String()
		if r.Err != "" {
			fmt.Fprintf(&b, "%-34s %-10s %s\n", r.Name, "error", printable(r.Err))
			continue
		}
		p99, cost := r.Diff.Figure("p99"), r.Diff.Figure(diff.HostCycles.String())
		fmt.Fprintf(&b, "%-34s %-10s %10s %10s %8s   %s\n", r.Name, verdict, p99.Before, p99.After, p99.Change,
			strings.TrimSpace(cost.Before+" "+cost.After+" "+cost.Change))
		for _, c := range r.Checks {
			if c.Outcome != diff.Holds {
				fmt.Fprintf(&b, "  %s %s: %s\n", c.Outcome, c.Limit, c.Words)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gateError is the end of the command: exceeded goes before what could not be
// compared.
func gateError(results []gateResult) error {
	var all []diff.Check
	bad, broken := 0, 0
	for _, r := range results {
		all = append(all, r.Checks...)
		if diff.Worst(r.Checks) == diff.Exceeded {
			bad++
		}
		if r.Err != "" {
			broken++
		}
	}
	switch worst := diff.Worst(all); {
	case worst == diff.Exceeded:
		return fail(ExitAssert, "%d of %d runs exceed a limit", bad, len(results))
	case broken > 0:
		return fail(ExitInput, "%d of %d runs could not be compared", broken, len(results))
	case worst != diff.Holds:
		return fail(ExitUndecided, "there is too little data for a verdict: give the runs more deadlines")
	}
	return nil
}
