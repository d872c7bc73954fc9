package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// The flags of a run come in groups. A command takes the groups that it obeys and
// no others; what has no effect beside another flag is refused by a table of moot.

// guestFlags say what runs.
func (o *runOptions) guestFlags(f *pflag.FlagSet) {
	f.StringVar(&o.guest, "guest", guest.Default, "built-in guest or path of an image")
	f.StringVar(&o.args, "append", "", "the guest's command line, or a built-in guest's parameters")
	f.IntVar(&o.vcpus, "vcpus", 0, "virtual CPUs, 1 to 64 (default what the guest needs)")
	f.StringVar(&o.initrd, "initrd", "", "initial RAM disk of a Linux kernel")
	f.StringArrayVar(&o.inputs, "input", nil, "type at the serial port when the guest has written a pattern: TEXT@PATTERN, such as 'ls\\n@# ' (repeatable, in order)")
	f.IntVar(&o.memMiB, "mem", 0, "guest memory in MiB, 16 to 3072 (default 128; 512 for Linux)")
	f.StringSliceVar(&o.hide, "hide", nil, "CPU features to hide from the guest: x2apic, tsc-deadline")
}

// modelFlags say which host the model is of.
func (o *runOptions) modelFlags(f *pflag.FlagSet) {
	f.IntVar(&o.pcpus, "pcpus", 0, "host CPUs of the model (default one for each vCPU)")
	f.Uint64Var(&o.seed, "seed", model.DefaultSeed, "seed of the model's noise")
	f.StringVar(&o.profile, "profile", defaultProfile, "cost profile of the model: "+strings.Join(model.Profiles(), ", "))
	f.StringVar(&o.reboot, "reboot", "reset", "what reboots the guest on the model: its own reset, always (a triple fault too), or never")
	f.BoolVar(&o.noSkip, "no-skip", false, "execute busy-waits and loops that fill memory instruction by instruction (same result, slower)")
}

// defaultProfile is the cost profile of a model without --profile.
const defaultProfile = "skylake-server"

// engineFlags choose between the model and KVM.
func (o *runOptions) engineFlags(f *pflag.FlagSet) {
	f.StringVar(&o.engine, "engine", "auto", "model, kvm, or auto: kvm where /dev/kvm works")
	f.StringVar(&o.lapic, "lapic", "vmm", "where the local APIC is, engine kvm: vmm or kernel")
}

func (o *runOptions) kernelFlag(f *pflag.FlagSet) {
	f.StringVar(&o.kernel, "kernel", kernel.Default.String(), "kernel whose rules the host follows: a release from "+kernel.Oldest.String()+" to "+
		kernel.Newest.String()+", or a distribution such as debian12 (see: ticktrap kernel list)")
}

func (o *runOptions) knobFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&o.knobs, "knob", nil, "set a knob at the start: NAME=VALUE (repeatable)")
}

func (o *runOptions) turnFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.at, "at", nil, "turn a knob mid-run: DEADLINE:NAME=VALUE (repeatable)")
	f.BoolVar(&o.strict, "strict", false, "fail if a knob of --at was never turned, or a knob that was asked for can have no effect")
}

func (o *runOptions) limitFlags(f *pflag.FlagSet) {
	f.Uint64Var(&o.deadlines, "deadlines", 0, "stop after so many handled deadlines")
	f.Uint64Var(&o.exits, "exits", 0, "stop after so many VM-exits")
	f.DurationVar(&o.guestTime, "for", 0, "stop after so much guest time, such as 100ms")
}

func (o *runOptions) timeoutFlag(f *pflag.FlagSet) {
	f.DurationVar(&o.timeout, "timeout", 0, "give up after so much wall time, headless only")
}

func (o *runOptions) scenarioFlags(f *pflag.FlagSet) {
	f.StringVar(&o.scenario, "scenario", "", "show a real bug from the library (see: ticktrap scenarios)")
	f.BoolVar(&o.repaired, "repaired", false, "run the scenario without its bug")
}
