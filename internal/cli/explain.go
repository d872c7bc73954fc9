package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/rerun"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// explainOptions are the flags of explain, those of run included.
type explainOptions struct {
	run      runOptions
	live     bool
	deadline uint64
	worst    bool
	earliest bool
	lost     bool
	checks   int
}

// maxChecks is how many knobs are tried by default.
const maxChecks = 4

func newExplain(env *Env) *cobra.Command {
	o := &explainOptions{}
	c := &cobra.Command{
		Use:   "explain [FILE | --live [GUEST]]",
		Short: "say why one deadline was late or early",
		Long: `explain takes one deadline of a recording, or of a headless run on the model
(--live, with the flags of run), and prints its chain in words, the causes of its
lateness ranked, with the decision behind each and the knob that would change it.
The shares add up to 100 % of the lateness.

Where the run can be repeated (a model run, or a recording of one) explain reruns
the deadline with each suggested knob, turned just before it was armed, and prints
the result.`,
		Example: `  ticktrap explain session.tt
  ticktrap explain session.tt --deadline 812
  ticktrap explain --live --deadlines 500 --knob timer-advance=off`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE:         func(c *cobra.Command, args []string) error { return o.main(env, c.Flags(), args) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&o.live, "live", false, "run the model headless, with the flags of run, and explain that")
	f.Uint64Var(&o.deadline, "deadline", 0, "explain this deadline (its number in the run)")
	f.BoolVar(&o.worst, "worst", false, "explain the latest deadline (the default)")
	f.BoolVar(&o.earliest, "earliest", false, "explain the earliest deadline")
	f.BoolVar(&o.lost, "lost", false, "list the deadlines that came due and whose handler did not run")
	f.IntVar(&o.checks, "checks", maxChecks, "how many suggested knobs to try; 0 tries none")
	f.BoolVar(&o.run.json, "json", false, "print one JSON document")
	o.run.guestFlags(f)
	o.run.engineFlags(f)
	o.run.modelFlags(f)
	o.run.kernelFlag(f)
	o.run.knobFlag(f)
	f.StringArrayVar(&o.run.at, "at", nil, "turn a knob mid-run: DEADLINE:NAME=VALUE (repeatable)")
	o.run.limitFlags(f)
	o.run.timeoutFlag(f)
	o.run.scenarioFlags(f)
	return c
}

// liveOnly are the flags that say what --live runs. A recording's guest may be
// named: its image can have moved.
var liveOnly = []string{"append", "vcpus", "initrd", "input", "mem", "hide", "engine", "lapic", "pcpus", "seed", "profile", "kernel", "reboot", "no-skip", "knob",
	"at", "deadlines", "exits", "for", "timeout", "scenario", "repaired"}

// checkFlags refuses values and flags that have no effect.
func (o *explainOptions) checkFlags(given *pflag.FlagSet) error {
	if err := refuse(given, []moot{
		{liveOnly, !o.live, "it requires --live: a recording already holds what it ran"},
		{[]string{"deadline"}, o.deadline == 0, "deadlines are numbered from 1"},
		{[]string{"checks"}, o.checks < 0, "want 0 or more"},
	}); err != nil || !o.live {
		return err
	}
	return o.run.checkFlags(given)
}

func (o *explainOptions) main(env *Env, given *pflag.FlagSet, args []string) error {
	o.run.headless = true
	if !o.live && len(args) == 0 {
		return fail(ExitUsage, "nothing to explain: want the file of a recording, or --live")
	}
	if o.live {
		if err := o.run.takeGuest(given, args); err != nil {
			return err
		}
	}
	if err := o.checkFlags(given); err != nil {
		return err
	}
	pick := explain.Pick{Deadline: trace.Num(o.deadline), Earliest: o.earliest}
	switch {
	case o.lost && (o.worst || o.earliest || o.deadline != 0 || o.live):
		return fail(ExitUsage, "--lost lists the deadlines of a recording: --deadline, --worst, --earliest and --live have no effect on it")
	case o.worst && o.earliest || o.deadline != 0 && (o.worst || o.earliest):
		return fail(ExitUsage, "give only one of --deadline, --worst and --earliest")
	case o.live:
		return o.explainLive(env, pick)
	}
	return o.explainFile(env, args[0], pick)
}

func (o *explainOptions) explainLive(env *Env, pick explain.Pick) error {
	r, err := o.run.runner()
	if err != nil {
		return err
	}
	defer r.Engine().Close()
	f := explain.NewFinder(pick)
	r.Tee(trace.SinkFunc(func(trace.Event) { f.Look(r.State()) }))
	bugs := watch(r)
	if end, err := o.run.drive(r, &recording{}); err != nil || codeOf(end) == ExitSignal {
		return errors.Join(err, end)
	}
	f.Finish(r.State())
	var again *rerun.Run
	if knobs, err := o.run.startKnobs(); err == nil && r.Header().Provenance == trace.Modelled {
		again = o.again(knobs)
	}
	return o.print(env.Out, r.Header(), f, bugs.Findings(r.State()), again)
}

// again is the live run to be repeated: without the flags of where it ended.
func (o *explainOptions) again(knobs vmm.Knobs) *rerun.Run {
	if o.run.scenario != "" {
		return o.scenarioOf(&o.run)
	}
	cfg, err := o.run.modelConfig(knobs)
	if err != nil {
		return nil
	}
	return &rerun.Run{Make: modelMaker(cfg), Turns: o.run.liveTurns()}
}

// scenarioOf is the run of a scenario to be repeated; its own turns of knobs come
// with it.
func (o *explainOptions) scenarioOf(run *runOptions) *rerun.Run {
	s, cfg, err := run.scenarioRun()
	if err != nil {
		return nil
	}
	return &rerun.Run{Make: func(sink trace.Sink) (vmm.Rewinder, error) { return s.Engine(cfg, sink) }}
}

func modelMaker(cfg model.Config) func(trace.Sink) (vmm.Rewinder, error) {
	return func(sink trace.Sink) (vmm.Rewinder, error) { return model.New(cfg, sink) }
}

// liveTurns are the turns that --at asks for.
func (o *runOptions) liveTurns() []rerun.Turn {
	turns, err := parseTurns(o.at)
	if err != nil {
		return nil
	}
	slices.SortStableFunc(turns, func(a, b session.Turn) int { return cmp.Compare(a.At, b.At) })
	var out []rerun.Turn
	for _, t := range turns {
		out = append(out, rerun.Turn{Deadlines: t.At, Knob: t.Knob, Value: t.Value})
	}
	return out
}

// recordedTurns are the turns that a recording's actions tell of.
func recordedTurns(rec *trace.Recording) []rerun.Turn {
	var out []rerun.Turn
	for _, a := range rec.Actions() {
		var t rerun.Turn
		if _, err := fmt.Sscanf(a.Text, "%d %d %d", &t.Pos, &t.Knob, &t.Value); err == nil && a.Verb == "turn" {
			out = append(out, t)
		}
	}
	return out
}

func (o *explainOptions) explainFile(env *Env, name string, pick explain.Pick) error {
	rec, closer, err := openRecording(env, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	if w := rec.Warning(); w != "" {
		fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(name+": "+w))
	}
	var st trace.State
	if o.lost {
		lost := &explain.LostFinder{}
		if err := fold(rec, name, &st, func(*trace.Event) { lost.Look(&st) }); err != nil {
			return err
		}
		l := lost.Finish(rec.Header(), &st)
		if o.run.json {
			return document(env.Out, "ticktrap.lost", l)
		}
		_, err := io.WriteString(env.Out, l.Text())
		return err
	}
	f, bugs := explain.NewFinder(pick), &explain.Watcher{}
	if err := fold(rec, name, &st, func(e *trace.Event) {
		f.Look(&st)
		bugs.Look(e, &st)
	}); err != nil {
		return err
	}
	f.Finish(&st)
	return o.print(env.Out, rec.Header(), f, bugs.Findings(&st), o.fromHeader(rec.Header(), recordedTurns(rec)))
}

// fold applies the events of a recording to st and calls look after each.
func fold(rec *trace.Recording, name string, st *trace.State, look func(*trace.Event)) error {
	st.Reset(rec.Header())
	cur := rec.Cursor()
	for {
		e, err := cur.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return with(ExitDamaged, fmt.Errorf("%s: %w", name, err))
		}
		st.Apply(&e)
		look(&e)
	}
}

// fromHeader is the run that a recording of the model tells of; nil if it does
// not tell enough to repeat it.
func (o *explainOptions) fromHeader(h *trace.Header, turns []rerun.Turn) *rerun.Run {
	if h.Engine != "model" {
		return nil
	}
	if s, ok := scenario.Of(h); ok {
		make, err := s.Again(h)
		if err != nil {
			return nil
		}
		return &rerun.Run{Make: func(sink trace.Sink) (vmm.Rewinder, error) { return make(sink) }, Turns: turns}
	}
	var knobs vmm.Knobs
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		if knobs.Set(k, h.Knobs[k]) != nil {
			return nil
		}
	}
	again := o.run
	again.headless = false // the recorded arguments are all there are
	if _, builtin := guest.Describe(h.Guest); builtin || again.guest == guest.Default {
		again.guest = h.Guest // an image elsewhere is given by --guest
	}
	again.initrd, again.inputs = h.Initrd, typed(h)
	again.args, again.seed, again.profile, again.vcpus, again.pcpus = h.Args, h.Seed, h.Profile, h.VCPUs, h.PCPUs
	again.kernel, again.hide, again.reboot = ranOn(h), hidden(h), h.Reboot
	if h.MemMiB != 0 {
		again.memMiB = h.MemMiB
	}
	cfg, err := again.modelConfig(knobs)
	if err != nil {
		return nil
	}
	return &rerun.Run{Make: modelMaker(cfg), Turns: turns}
}

// print explains the deadline that was found.
func (o *explainOptions) print(w io.Writer, h *trace.Header, f *explain.Finder, bugs []explain.Finding,
	again *rerun.Run) error {
	c, st, ok := f.Found()
	if !ok {
		if o.deadline != 0 {
			return fail(ExitInput, "no deadline %d in this run, or it closed before the first event kept", o.deadline)
		}
		if len(bugs) == 0 {
			return fail(ExitInput, "no deadline of this run reached its handler")
		}
		return o.write(w, explain.Nothing(h, bugs))
	}
	x := explain.Explain(h, st, c)
	x.Findings = bugs
	o.check(x, c, st, again)
	x.Withheld = append(x.Withheld, cannot(h, x.Settings())...)
	return o.write(w, x)
}

// write prints an explanation in the form asked for.
func (o *explainOptions) write(w io.Writer, x *explain.Explanation) error {
	if o.run.json {
		return document(w, "ticktrap.explain", x)
	}
	_, err := io.WriteString(w, x.Text())
	return err
}

// check tries the proposed knobs on the same deadline.
func (o *explainOptions) check(x *explain.Explanation, c *trace.Chain, st *trace.State, again *rerun.Run) {
	want := x.Settings()
	want = want[:min(len(want), max(0, o.checks))]
	switch {
	case len(want) == 0:
		return
	case again == nil:
		x.Withheld = append(x.Withheld, "The run cannot be repeated here, so the proposed knobs were not tried.")
		return
	}
	var err error
	if x.Checks, err = tryKnobs(again, c, explain.ArmedIn(st, c), x.Late, want); err != nil {
		x.Withheld = append(x.Withheld, "The proposed knobs were not tried: "+err.Error()+".")
	}
}

// tryKnobs runs deadline c again with each setting, which is turned at from.
func tryKnobs(again *rerun.Run, c *trace.Chain, from clock.TSC, late int64, want []explain.Setting) ([]explain.Check, error) {
	var try []rerun.Setting
	for _, s := range want {
		try = append(try, rerun.Setting(s))
	}
	outs, err := again.Deadline(c, from, try)
	checks := []explain.Check{}
	for i := range outs {
		checks = append(checks, explain.NewCheck(want[i], c, late, &outs[i].Chain, outs[i].Ran))
	}
	return checks, err
}

// cannot says of each proposed setting why the kernel of the run cannot have it.
func cannot(h *trace.Header, settings []explain.Setting) (words []string) {
	n, err := kernel.Parse(h.Kernel)
	if err != nil {
		return nil // which kernel ran is not known
	}
	k := kernel.At(n.Release, kernel.Both)
	for _, s := range settings {
		if why := vmm.Cannot(&k, s.Knob, s.Value); why != "" {
			words = append(words, strings.ToUpper(why[:1])+why[1:]+".")
		}
	}
	return words
}
