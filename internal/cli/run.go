package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// runOptions are the flags of run.
type runOptions struct {
	engine, lapic         string
	guest, args           string
	vcpus, pcpus          int
	memMiB                int
	seed                  uint64
	profile               string
	hide                  []string
	era                   string // of the LAPIC
	knobs, at             []string
	deadlines, exits      uint64
	guestTime, timeout    time.Duration
	headless, json        bool
	record                string
	asserts               []string
	speed                 float64
	paused, noSkip, quiet bool
	untraced              bool
	scenario              string
	screen                screenSetup
	repaired              bool
	scenarioTime          clock.Nanos
}

func newRun(env *Env) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run [GUEST]",
		Short: "run a guest and watch its timers",
		Long: `run starts a guest under the debugger. GUEST is a built-in guest (see "ticktrap
guests") or the path of a multiboot image, an ELF64 file or a flat binary.

With a terminal it opens the screen. With --headless it runs to a limit, or to
the guest's own end, and prints a report; the guest's serial output goes to
standard output, or to standard error with --json.

Knobs are turned with --knob NAME=VALUE at the start and with --at
DEADLINE:NAME=VALUE after so many handled deadlines:

` + knobHelp(),
		Example: `  ticktrap run deadline --append 'mode=hlt distance=100000'
  ticktrap run --headless --deadlines 1000 --at 500:timer-advance=off
  ticktrap run --headless tscdeadline_latency.flat
  ticktrap run --headless --assert 'p99(late) < 5us'`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if c.Flags().Changed("guest") {
					return fail(ExitUsage, "the guest is given twice: %q and --guest %q", args[0], o.guest)
				}
				o.guest = args[0]
			}
			if err := o.configure(env, c.Flags(), len(args) == 1); err != nil {
				return err
			}
			if c.Flags().Changed("vcpus") && o.vcpus < 1 || c.Flags().Changed("pcpus") && o.pcpus < 1 {
				return fail(ExitUsage, "--vcpus and --pcpus: want 1 to %d", vmm.MaxVCPUs)
			}
			return o.run(env)
		},
	}
	o.flags(c)
	return c
}

func (o *runOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.guest, "guest", guest.Default, "built-in guest or path of an image")
	f.StringVar(&o.args, "append", "", "the guest's command line, or a built-in guest's parameters")
	f.StringVar(&o.engine, "engine", "auto", "model, kvm, or auto: kvm where /dev/kvm works")
	f.StringVar(&o.lapic, "lapic", "vmm", "where the local APIC is, engine kvm: vmm or kernel")
	f.IntVar(&o.vcpus, "vcpus", 0, "virtual CPUs, 1 to 64 (default what the guest needs)")
	f.IntVar(&o.pcpus, "pcpus", 0, "host CPUs of the model (default one for each vCPU)")
	f.IntVar(&o.memMiB, "mem", 128, "guest memory in MiB")
	f.StringArrayVar(&o.knobs, "knob", nil, "set a knob at the start: NAME=VALUE (repeatable)")
	f.StringArrayVar(&o.at, "at", nil, "turn a knob mid-run: DEADLINE:NAME=VALUE (repeatable)")
	f.Uint64Var(&o.deadlines, "deadlines", 0, "stop after so many handled deadlines")
	f.Uint64Var(&o.exits, "exits", 0, "stop after so many VM-exits")
	f.DurationVar(&o.guestTime, "for", 0, "stop after so much guest time, such as 100ms")
	f.DurationVar(&o.timeout, "timeout", 0, "give up after so much wall time, headless only")
	f.BoolVar(&o.headless, "headless", false, "no screen: run and print a report")
	f.BoolVar(&o.json, "json", false, "print the report as one JSON document (with --headless)")
	f.StringArrayVar(&o.asserts, "assert", nil, "check a condition on the report, such as 'p99(late) < 5us' (repeatable)")
	f.StringVar(&o.record, "record", "", "record the session to a new file")
	f.StringVar(&o.screen.cast, "cast", "", "record the screen to a new file, as asciinema does")
	f.Float64Var(&o.speed, "speed", defaultSpeed, "guest time per wall time on the screen; 0 is as fast as possible")
	f.BoolVar(&o.paused, "paused", false, "start paused")
	f.Uint64Var(&o.seed, "seed", model.DefaultSeed, "seed of the model's noise")
	f.StringVar(&o.profile, "profile", "skylake-server", "cost profile of the model: "+strings.Join(model.Profiles(), ", "))
	f.StringVar(&o.era, "lapic-era", "", "first kernel release of the LAPIC's timer code, model only: "+
		strings.Join(lapic.EraNames(), ", ")+" (default \""+model.DefaultEra.First()+"\")")
	f.StringSliceVar(&o.hide, "hide", nil, "CPU features to do without: x2apic, tsc-deadline")
	f.BoolVar(&o.untraced, "untraced", false, "engine kvm only: no events but the console, knobs and the guest's own samples, so exits cost least")
	f.BoolVar(&o.noSkip, "no-skip", false, "execute busy-waits and loops that fill memory instruction by instruction (same result, slower)")
	f.StringVar(&o.scenario, "scenario", "", "show a real bug from the library (see: ticktrap scenarios)")
	f.BoolVar(&o.repaired, "repaired", false, "run the scenario without its bug")
	f.BoolVar(&o.quiet, "quiet", false, "do not print the guest's serial output (with --headless)")
}

// defaultSpeed shows some hundred deadlines a second of the default guest.
const defaultSpeed = 0.01

func (o *runOptions) run(env *Env) error {
	if !o.headless {
		if o.json || len(o.asserts) > 0 {
			return fail(ExitUsage, "--json and --assert need --headless")
		}
		if !env.Terminal {
			return fail(ExitTerminal, "the screen needs a terminal; without one use: ticktrap run --headless")
		}
	}
	if o.headless && o.screen.cast != "" {
		return fail(ExitUsage, "--cast records the screen, and --headless has none")
	}
	r, err := o.runner()
	if err != nil {
		return err
	}
	if o.headless {
		return o.runHeadless(env, r)
	}
	return o.runScreen(env, r)
}

// runner makes the engine that the flags describe.
func (o *runOptions) runner() (*session.Runner, error) {
	knobs, err := o.startKnobs()
	if err != nil {
		return nil, err
	}
	turns, err := parseTurns(o.at)
	if err != nil {
		return nil, err
	}
	if o.vcpus < 0 || o.vcpus > vmm.MaxVCPUs || o.pcpus < 0 || o.pcpus > vmm.MaxVCPUs {
		return nil, fail(ExitUsage, "--vcpus and --pcpus: want 1 to %d", vmm.MaxVCPUs)
	}
	if o.guestTime < 0 || o.timeout < 0 {
		return nil, fail(ExitUsage, "--for and --timeout: want a positive time")
	}
	if o.untraced && (o.deadlines != 0 || o.exits != 0 || len(o.at) > 0) {
		return nil, fail(ExitUsage, "--untraced: --deadlines, --exits and --at count events; use --for, or a guest that ends")
	}
	if o.speed < 0 || o.speed > 1e6 {
		return nil, fail(ExitUsage, "--speed: want 0 (as fast as possible) to 1000000, have %g", o.speed)
	}
	if o.memMiB < 16 || o.memMiB > 3072 {
		return nil, fail(ExitUsage, "--mem: want 16 to 3072 MiB, have %d", o.memMiB)
	}
	make, err := o.engineFactory(knobs)
	if err != nil {
		return nil, err
	}
	r, err := session.NewRunner(make)
	if err != nil {
		return nil, with(ExitInput, err)
	}
	if err := r.Schedule(turns); err != nil {
		return nil, with(ExitUsage, err)
	}
	r.SetLimits(o.limits(r.Header()))
	if !o.headless {
		r.KeepHistory()
	}
	return r, nil
}

// engineFactory chooses the engine.
func (o *runOptions) engineFactory(knobs vmm.Knobs) (session.Factory, error) {
	if o.scenario != "" {
		return o.scenarioFactory()
	}
	switch o.engine {
	case "auto":
		if kvmUsable() && o.era == "" {
			return o.kvmFactory(knobs)
		}
	case "model":
	case "kvm":
		if o.era != "" {
			return nil, fail(ExitUsage, "--lapic-era: only on the model; with engine kvm knobs choose the rules")
		}
		return o.kvmFactory(knobs)
	default:
		return nil, fail(ExitUsage, "--engine: want auto, model or kvm, have %q", o.engine)
	}
	cfg, err := o.modelConfig(knobs)
	if err != nil {
		return nil, err
	}
	return func(sink trace.Sink) (vmm.Engine, error) { return model.New(cfg, sink) }, nil
}

// modelConfig is the model run that the flags describe.
func (o *runOptions) modelConfig(knobs vmm.Knobs) (model.Config, error) {
	if o.untraced {
		return model.Config{}, fail(ExitUsage, "--untraced: only with engine kvm: a model's time does not depend on who looks")
	}
	prof, err := model.LoadProfile(o.profile)
	if err != nil {
		return model.Config{}, with(ExitUsage, err)
	}
	img, err := o.image(prof.Hz)
	if err != nil {
		return model.Config{}, err
	}
	if o.vcpus == 0 {
		o.vcpus = img.MinVCPUs()
	}
	hide, err := parseHide(o.hide)
	if err != nil {
		return model.Config{}, err
	}
	era := model.DefaultEra
	if o.era != "" {
		if era, err = lapic.ParseEra(o.era); err != nil {
			return model.Config{}, fail(ExitUsage, "--lapic-era: %w", err)
		}
	}
	return model.Config{Era: era, Hide: hide, Guest: img, VCPUs: o.vcpus, PCPUs: o.pcpus, RAM: uint64(o.memMiB) << 20, Seed: o.seed,
		Profile: prof, Knobs: knobs, TestDevice: true, NoSkip: o.noSkip}, nil
}

// image loads the guest: a built-in by name, else a file. A name with a slash
// or a dot is always a file.
func (o *runOptions) image(hz clock.Hz) (*guest.Image, error) {
	if _, ok := guest.Describe(o.guest); ok {
		p, err := guest.ParseParams(o.guest, o.args, hz)
		if err == nil && o.headless && p.Count == 0 && o.deadlines == 0 && o.exits == 0 && o.guestTime == 0 {
			o.args = strings.TrimSpace(o.args + " " + headlessCount) // in the report, and in a recording
			p, err = guest.ParseParams(o.guest, o.args, hz)
		}
		if err != nil {
			return nil, with(ExitUsage, err)
		}
		if o.headless && o.deadlines != 0 && p.Count == 0 && noDeadlines[o.guest] {
			return nil, fail(ExitUsage, "--deadlines: guest %s arms no timer: give --exits, --for or --append count=N", o.guest)
		}
		img, err := guest.Builtin(o.guest, p)
		return img, with(ExitInput, err)
	}
	if _, err := os.Stat(o.guest); err != nil && !strings.ContainsAny(o.guest, "./") {
		return nil, fail(ExitInput, "no guest %q: neither a file nor one of %s", o.guest, strings.Join(guest.Names(), ", "))
	}
	img, err := guest.Open(o.guest, guest.Options{Append: o.args})
	return img, with(ExitInput, err)
}

// noDeadlines are the built-in guests without a timer.
var noDeadlines = map[string]bool{"self-ipi": true, "ping-pong": true, "device": true}

// headlessCount is how many samples a built-in guest takes in a headless run
// that would never end otherwise.
const headlessCount = "count=1000"

// limits are those of the flags.
func (o *runOptions) limits(h *trace.Header) session.Limits {
	l := session.Limits{Deadlines: o.deadlines, Exits: o.exits}
	if o.guestTime > 0 {
		l.TSC, _ = h.Hz.ToCycles(clock.Nanos(o.guestTime))
	} else if o.scenarioTime > 0 {
		l.TSC, _ = h.Hz.ToCycles(o.scenarioTime)
	}
	return l
}

// startKnobs are the default knobs with --knob applied.
func (o *runOptions) startKnobs() (vmm.Knobs, error) {
	k := vmm.DefaultKnobs()
	for _, s := range o.knobs {
		n, v, err := parseSetting(s)
		if err == nil {
			err = k.Set(n, v)
		}
		if err != nil {
			return k, fail(ExitUsage, "--knob %s: %w", s, err)
		}
	}
	return k, nil
}

func parseSetting(s string) (trace.Knob, uint64, error) {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return 0, 0, fmt.Errorf("want NAME=VALUE")
	}
	return trace.ParseKnob(strings.TrimSpace(name), strings.TrimSpace(value))
}

// parseTurns reads the values of --at.
func parseTurns(at []string) ([]session.Turn, error) {
	var turns []session.Turn
	for _, s := range at {
		n, setting, ok := strings.Cut(s, ":")
		if !ok {
			return nil, fail(ExitUsage, "--at %s: want DEADLINE:NAME=VALUE", s)
		}
		d, err := strconv.ParseUint(n, 10, 63)
		if err != nil {
			return nil, fail(ExitUsage, "--at %s: want a number of deadlines before the colon, have %q", s, n)
		}
		k, v, err := parseSetting(setting)
		if err != nil {
			return nil, fail(ExitUsage, "--at %s: %w", s, err)
		}
		turns = append(turns, session.Turn{At: d, Knob: k, Value: v})
	}
	return turns, nil
}

// parseHide reads the values of --hide.
func parseHide(names []string) (f vmm.Features, err error) {
	for _, n := range names {
		switch n {
		case "x2apic":
			f.X2APIC = true
		case "tsc-deadline":
			f.TSCDeadline = true
		default:
			return f, fail(ExitUsage, "--hide %s: want x2apic or tsc-deadline", n)
		}
	}
	return f, nil
}
