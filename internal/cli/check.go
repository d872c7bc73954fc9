package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/check"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm/kvm"
)

// checkOptions are the flags of check, those of run included.
type checkOptions struct {
	run  runOptions
	live bool
	as   string
}

func newCheck(env *Env) *cobra.Command {
	o := &checkOptions{}
	c := &cobra.Command{
		Use:   "check [FILE | --live [GUEST]]",
		Short: "compare what a kernel did with its release's rules",
		Long: `check takes a recording, or a headless run (--live, with the flags of run), and
compares each decision of the kernel's timer path with what the rules of its
release say: fastpath, host timer, expiry, kick, wait and delivery. A decision
agrees, disagrees, or is not decidable, because the trace lacks an input or the
outcome; the disagreements are listed, with the exit and the clause.

--as compares with another release: what a patched kernel does otherwise, or what
an update would change.`,
		Example: `  ticktrap check --live --engine=kvm --lapic=kernel --deadlines 500 deadline
  ticktrap check session.tt
  ticktrap check session.tt --as 6.1
  ticktrap check --json session.tt --as 6.12,amd`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE:         func(c *cobra.Command, args []string) error { return o.main(env, c.Flags(), args) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&o.live, "live", false, "run a guest headless, with the flags of run, and check that")
	f.StringVar(&o.as, "as", "", "compare with this release, or RELEASE,VENDOR (default the kernel that ran)")
	f.BoolVar(&o.run.json, "json", false, "print one JSON document")
	o.run.guestFlags(f)
	o.run.engineFlags(f)
	o.run.modelFlags(f)
	o.run.knobFlag(f)
	f.StringArrayVar(&o.run.at, "at", nil, "turn a knob mid-run: DEADLINE:NAME=VALUE (repeatable)")
	o.run.limitFlags(f)
	o.run.timeoutFlag(f)
	return c
}

func (o *checkOptions) main(env *Env, given *pflag.FlagSet, args []string) error {
	o.run.headless = true
	if !o.live {
		if len(args) == 0 {
			return fail(ExitUsage, "nothing to check: want the file of a recording, or --live")
		}
		if err := refuse(given, []moot{{liveOnly, true, "it requires --live: a recording already holds what it ran"}}); err != nil {
			return err
		}
		return o.checkFile(env, args[0])
	}
	if err := o.run.takeGuest(given, args); err != nil {
		return err
	}
	if err := o.run.checkFlags(given); err != nil {
		return err
	}
	return o.checkLive(env)
}

func (o *checkOptions) checkLive(env *Env) error {
	r, err := o.run.runner()
	if err != nil {
		return err
	}
	defer r.Engine().Close()
	k, err := o.kernel(r.Header())
	if err != nil {
		return err
	}
	c := o.checker(r.Header(), k)
	r.Tee(c)
	if end, err := o.run.drive(r, &recording{}); err != nil || codeOf(end) == ExitSignal {
		return errors.Join(err, end)
	}
	noteEngine(env.Err, r.Engine())
	return o.print(env.Out, c.Result(r.Header()))
}

func (o *checkOptions) checkFile(env *Env, name string) error {
	rec, closer, err := openRecording(env, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	if w := rec.Warning(); w != "" {
		fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(name+": "+w))
	}
	k, err := o.kernel(rec.Header())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c := o.checker(rec.Header(), k)
	cur := rec.Cursor()
	for {
		e, err := cur.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return with(ExitDamaged, fmt.Errorf("%s: %w", name, err))
		}
		c.Emit(e)
	}
	return o.print(env.Out, c.Result(rec.Header()))
}

// checker makes the comparison, with what the header's sentence about the host
// tells of the CPU.
func (o *checkOptions) checker(h *trace.Header, k kernel.Kernel) *check.Checker {
	c := check.New(h, k)
	if strings.Contains(h.Host, kvm.WithoutNextRIP) {
		c.WithoutNextRIP()
	}
	return c
}

func (o *checkOptions) print(w io.Writer, r *check.Result) error {
	if o.run.json {
		if err := document(w, "ticktrap.check", r); err != nil {
			return err
		}
	} else if _, err := io.WriteString(w, r.Text()); err != nil {
		return err
	}
	if n := r.Disagreed(); n != 0 {
		return fail(ExitAssert, "%d decisions differ from the rules of Linux %s", n, r.Kernel)
	}
	return nil
}

// hostKernel finds the release in a header's sentence about the machine, and
// hostVendor the vendor.
var (
	hostKernel = regexp.MustCompile(`^Linux (\S+)(?: \(([0-9.]+)\))?,`)
	hostVendor = map[string]kernel.Vendor{", kvm_intel": kernel.Intel, ", kvm_amd": kernel.AMD,
		"Intel trace,": kernel.Intel, "AMD trace,": kernel.AMD}
)

// kernel is the kernel whose rules count: --as, or the one that ran.
func (o *checkOptions) kernel(h *trace.Header) (kernel.Kernel, error) {
	vendor := kernel.Both
	for word, v := range hostVendor {
		if strings.Contains(h.Host, word) {
			vendor = v
		}
	}
	name, vendorName, given := strings.Cut(o.as, ",")
	if given {
		if vendor = parseVendor(vendorName); vendor == kernel.Both {
			return kernel.Kernel{}, fail(ExitUsage, "--as %s: want intel or amd after the comma", o.as)
		}
	}
	if m := hostKernel.FindStringSubmatch(h.Host); name == "" && m != nil {
		if name = m[2]; name == "" {
			name = m[1]
		}
	}
	if name == "" {
		name = h.Kernel // what a model followed
	}
	switch {
	case name == "":
		return kernel.Kernel{}, fail(ExitUsage, "unknown kernel: give its release with --as")
	case vendor == kernel.Both && h.Engine != "model":
		return kernel.Kernel{}, fail(ExitUsage, "unknown CPU vendor: give --as %s,intel or --as %[1]s,amd", name)
	}
	n, err := kernel.Parse(name)
	if err != nil {
		return kernel.Kernel{}, with(ExitUsage, err)
	}
	return kernel.At(n.Release, vendor), nil
}

func parseVendor(s string) kernel.Vendor {
	switch s {
	case kernel.Intel.String():
		return kernel.Intel
	case kernel.AMD.String():
		return kernel.AMD
	}
	return kernel.Both
}
