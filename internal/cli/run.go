package cli

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/board"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/kvm"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// runOptions are the flags of run.
type runOptions struct {
	engine, lapic         string
	guest, args           string
	initrd                string
	inputs                []string
	symbols               string
	vcpus, pcpus          int
	memMiB                int
	seed                  uint64
	profile               string
	hide                  []string
	reboot                string
	kernel                string // whose rules the host follows; empty: the default
	knobs, at             []string
	deadlines, exits      uint64
	guestTime, timeout    time.Duration
	headless, json        bool
	record                string
	asserts               []string
	speed                 float64
	paused, noSkip, quiet bool
	untraced, strict      bool
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

` + knobHelp() + `
A turn that never happened, or a knob that cannot have an effect, gives a note;
with --strict it is an error.`,
		Example: `  ticktrap run deadline --append 'mode=hlt distance=100000'
  ticktrap run --headless --deadlines 1000 --at 500:timer-advance=off
  ticktrap run --headless tscdeadline_latency.flat
  ticktrap run --headless --assert 'p99(late) < 5us'`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.takeGuest(c.Flags(), args); err != nil {
				return err
			}
			if err := o.configure(env, c.Flags(), len(args) == 1); err != nil {
				return err
			}
			if err := o.checkFlags(c.Flags()); err != nil {
				return err
			}
			return o.run(env)
		},
	}
	o.flags(c)
	return c
}

// takeGuest takes the guest that is given as an argument.
func (o *runOptions) takeGuest(given *pflag.FlagSet, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case given.Changed("guest"):
		return fail(ExitUsage, "the guest is given twice: %q and --guest %q", args[0], o.guest)
	case o.scenario != "":
		return fail(ExitUsage, "guest %q: a scenario brings its own guest", args[0])
	}
	o.guest = args[0]
	return nil
}

func (o *runOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	o.guestFlags(f)
	o.engineFlags(f)
	f.BoolVar(&o.untraced, "untraced", false, "engine kvm only: no events except the console, knobs and the guest's own samples, so exits cost least")
	o.modelFlags(f)
	o.kernelFlag(f)
	o.knobFlag(f)
	o.turnFlags(f)
	o.limitFlags(f)
	f.BoolVar(&o.headless, "headless", false, "no screen: run and print a report")
	o.timeoutFlag(f)
	f.BoolVar(&o.json, "json", false, "print the report as one JSON document (with --headless)")
	f.BoolVar(&o.quiet, "quiet", false, "do not print the guest's serial output (with --headless)")
	f.StringVar(&o.symbols, "symbols", "", "count exits by guest function (with --headless): a System.map, a vmlinux, or \"kallsyms\" for what a Linux guest has in its memory")
	f.StringArrayVar(&o.asserts, "assert", nil, "check a condition on the report, such as 'p99(late) < 5us' (with --headless, repeatable)")
	f.StringVar(&o.record, "record", "", "record the session to a new file")
	f.IntVar(&o.screen.fps, "fps", 0, "paint at most this many frames per second (default 30, over ssh 8)")
	f.StringVar(&o.screen.cast, "cast", "", "record the screen to a new file, as asciinema does")
	f.Float64Var(&o.speed, "speed", defaultSpeed, "guest time per wall time on the screen; 0 is as fast as possible")
	f.BoolVar(&o.paused, "paused", false, "start the screen paused")
	o.scenarioFlags(f)
}

// defaultSpeed shows some hundred deadlines a second of the default guest.
const defaultSpeed = 0.01

func (o *runOptions) run(env *Env) error {
	if !o.headless && !env.Terminal {
		return fail(ExitTerminal, "the screen needs a terminal; without one use: ticktrap run --headless")
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

// checkFlags refuses flags that have no effect beside the others, and settles which
// engine runs.
func (o *runOptions) checkFlags(given *pflag.FlagSet) error {
	if err := o.settleEngine(); err != nil {
		return err
	}
	model, scenario, screen := o.engine == "model", o.scenario != "", !o.headless
	return refuse(given, []moot{
		{[]string{"deadlines"}, o.deadlines == 0, "want 1 or more"},
		{[]string{"exits"}, o.exits == 0, "want 1 or more"},
		{[]string{"for"}, o.guestTime <= 0, "want a positive time"},
		{[]string{"timeout"}, o.timeout <= 0, "want a positive time"},
		{[]string{"vcpus"}, o.vcpus < 1 || o.vcpus > vmm.MaxVCPUs, vcpuRange},
		{[]string{"mem"}, o.memMiB < 16 || o.memMiB > 3072, fmt.Sprintf("want 16 to 3072 MiB, have %d", o.memMiB)},
		{[]string{"pcpus"}, o.pcpus < 1 || o.pcpus > vmm.MaxVCPUs, vcpuRange},
		{[]string{"speed"}, !(o.speed >= 0 && o.speed <= 1e6), fmt.Sprintf("want 0 (as fast as possible) to 1000000, have %g", o.speed)},
		{[]string{"json", "quiet", "timeout", "assert", "strict", "symbols"}, screen, "it requires --headless: the screen shows the run live"},
		{[]string{"symbols"}, o.json, "functions appear only in the text report, not in --json"},
		{[]string{"cast"}, o.headless, "it records the screen, which --headless does not have"},
		{[]string{"fps"}, o.headless, "it applies only to the screen, which --headless does not have"},
		{[]string{"fps"}, o.screen.fps < 1 || o.screen.fps > 120, "want 1 to 120 frames a second"},
		{[]string{"speed", "paused"}, o.headless, "it applies only to the screen: a headless run goes as fast as it can"},
		{[]string{"repaired"}, !scenario, "it requires --scenario"},
		{[]string{"engine", "lapic"}, scenario, "scenarios run on the model"},
		{[]string{"kernel", "reboot"}, scenario, "a scenario brings its own"},
		{[]string{"guest", "append", "vcpus", "pcpus", "initrd", "input", "mem", "hide", "no-skip"}, scenario, "a scenario brings its own guest and machine"},
		{[]string{"lapic"}, model, "it requires --engine=kvm: on the model the LAPIC is always ticktrap's own"},
		{[]string{"deadlines", "exits", "at"}, o.untraced, "--untraced produces no events to count; use --for, or a guest that ends"},
		{[]string{"untraced"}, model, "it requires --engine=kvm: observing costs no time on the model"},
		{[]string{"pcpus", "seed", "profile", "reboot", "no-skip"}, !model, "it applies only to the model, and this run is on KVM: add --engine=model"},
		{[]string{"kernel"}, o.lapic == "kernel", "with --lapic=kernel the timers are those of this host's kernel"},
		{[]string{"strict"}, len(o.at) == 0 && len(o.knobs) == 0, "it requires --at or --knob"},
	})
}

var vcpuRange = fmt.Sprintf("want 1 to %d", vmm.MaxVCPUs)

// settleEngine turns the engine "auto" into the one that runs.
func (o *runOptions) settleEngine() error {
	switch o.engine {
	case "auto", "":
		o.engine = "model"
		if o.scenario == "" && kvmUsable() {
			o.engine = "kvm"
		}
	case "model", "kvm":
	default:
		return fail(ExitUsage, "--engine: want auto, model or kvm, have %q", o.engine)
	}
	_, err := kvm.ParsePlacement(cmp.Or(o.lapic, "vmm"))
	return with(ExitUsage, err)
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
	if o.memMiB != 0 && (o.memMiB < 16 || o.memMiB > 3072) {
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
	if o.engine == "kvm" {
		return o.kvmFactory(knobs)
	}
	cfg, err := o.modelConfig(knobs)
	if err != nil {
		return nil, err
	}
	return func(sink trace.Sink) (vmm.Engine, error) { return model.New(cfg, sink) }, nil
}

// modelConfig is the model run that the flags describe.
func (o *runOptions) modelConfig(knobs vmm.Knobs) (model.Config, error) {
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
	reboot, err := vmm.ParseReboot(o.reboot)
	if err != nil {
		return model.Config{}, fail(ExitUsage, "--reboot: %w", err)
	}
	host, err := o.host()
	if err != nil {
		return model.Config{}, err
	}
	inputs, err := parseInputs(o.inputs)
	if err != nil {
		return model.Config{}, err
	}
	return model.Config{Kernel: host, Hide: hide, Inputs: inputs, Reboot: reboot, Guest: img, VCPUs: o.vcpus, PCPUs: o.pcpus, RAM: o.ram(img), Seed: o.seed,
		Profile: prof, Knobs: knobs, TestDevice: true, NoSkip: o.noSkip}, nil
}

// image loads the guest: a built-in by name, else a file. A name with a slash
// or a dot is always a file.
func (o *runOptions) image(hz clock.Hz) (*guest.Image, error) {
	if _, ok := guest.Describe(o.guest); ok {
		if o.initrd != "" {
			return nil, fail(ExitUsage, "--initrd: guest %s is built in and takes no initrd", o.guest)
		}
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
		return nil, fail(ExitInput, "no guest %q: neither a file nor one of %s%s", o.guest, strings.Join(guest.Names(), ", "),
			prose.DidYouMean(o.guest, guest.Names()))
	}
	img, err := guest.Open(o.guest, guest.Options{Append: o.args, Initrd: o.initrd})
	return img, with(ExitInput, err)
}

// ram is the size of guest memory in bytes: that of --mem, or what the guest
// needs.
func (o *runOptions) ram(img *guest.Image) uint64 {
	if o.memMiB == 0 {
		return img.DefaultRAM()
	}
	return uint64(o.memMiB) << 20
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

// host is the kernel of --kernel, on Intel's CPUs: the model has no others, and
// with the LAPIC in this program the CPU's vendor does not matter.
func (o *runOptions) host() (kernel.Kernel, error) {
	if o.kernel == "" {
		return vmm.DefaultKernel(), nil
	}
	n, err := kernel.Parse(o.kernel)
	return kernel.At(n.Release, kernel.Intel), with(ExitUsage, err)
}

// startKnobs are the kernel's settings with --knob applied.
func (o *runOptions) startKnobs() (vmm.Knobs, error) {
	host, err := o.host()
	if err != nil {
		return vmm.Knobs{}, err
	}
	k := vmm.KnobsOf(&host)
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

// parseInputs reads the values of --input.
func parseInputs(texts []string) (inputs []board.Input, err error) {
	for _, s := range texts {
		i, err := board.ParseInput(s)
		if err != nil {
			return nil, fail(ExitUsage, "--input: %w", err)
		}
		inputs = append(inputs, i)
	}
	return inputs, nil
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
