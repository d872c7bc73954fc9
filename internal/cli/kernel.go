package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// kernelOptions are the flags of kernel.
type kernelOptions struct {
	vendor string
	json   bool
	run    runOptions
}

func newKernel(env *Env) *cobra.Command {
	o := &kernelOptions{}
	c := &cobra.Command{
		Use:   "kernel RELEASE",
		Short: "what a release of Linux does about timers",
		Long: `kernel prints what a release of Linux decides about a guest's timer: each decision
as the ordered list of the clauses that have to hold, with its function, and the
upstream changes behind it with their commits.

RELEASE is a release from ` + kernel.Oldest.String() + ` to ` + kernel.Newest.String() + `, one of the stable series such as 5.15.85, or a
distribution such as debian12.`,
		Example: `  ticktrap kernel 6.12
  ticktrap kernel 6.18 --vendor amd
  ticktrap kernel diff 5.15 6.12
  ticktrap kernel diff 5.15 6.12 deadline --append mode=spin`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(_ *cobra.Command, args []string) error {
			n, x, err := o.parse(args[0])
			if err != nil {
				return err
			}
			k := kernel.At(n.Release, x)
			if o.json {
				return document(env.Out, "ticktrap.kernel", kernelDocument{n.Release.String(), n.Note, x.String(), k.Decisions(), rowsOf(kernel.Changes(n.Release, x)), k.Params})
			}
			_, err = io.WriteString(env.Out, kernelText(n, &k))
			return err
		},
	}
	o.flags(c.Flags())
	c.AddCommand(newKernelDiff(env), newKernelList(env))
	return c
}

func (o *kernelOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.vendor, "vendor", "intel", "the CPU's vendor: intel or amd")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
}

// parse reads a kernel's name and the vendor.
func (o *kernelOptions) parse(name string) (kernel.Name, kernel.Vendor, error) {
	n, err := kernel.Parse(name)
	if err != nil {
		return n, 0, with(ExitUsage, err)
	}
	for _, x := range []kernel.Vendor{kernel.Intel, kernel.AMD} {
		if x.String() == o.vendor {
			return n, x, nil
		}
	}
	return n, 0, fail(ExitUsage, "--vendor: want intel or amd, have %q", o.vendor)
}

// kernelDocument is the JSON of a kernel.
type kernelDocument struct {
	Kernel    string            `json:"kernel"`
	Note      string            `json:"note,omitempty"`
	Vendor    string            `json:"vendor"`
	Decisions []kernel.Decision `json:"decisions"`
	Changes   []changeRow       `json:"changes"`
	Params    []kernel.Param    `json:"parameters"`
}

// changeRow is a row of the history in JSON.
type changeRow struct {
	Topic    string `json:"topic"`
	Releases string `json:"releases"`
	// Since is "at the latest" where releases before it were not read.
	Unread  string `json:"not_read_after,omitempty"`
	Commit  string `json:"commit,omitempty"`
	Where   string `json:"where"`
	Vendor  string `json:"vendor"`
	Subject string `json:"subject"`
}

func rowsOf(cs []*kernel.Change) []changeRow {
	rows := make([]changeRow, 0, len(cs))
	for _, c := range cs {
		r := changeRow{Topic: c.Topic.String(), Releases: c.Releases(), Commit: c.Commit, Where: c.Where, Vendor: c.Vendor.String(), Subject: c.Subject}
		if c.Gap() {
			r.Unread = c.After.String()
		}
		rows = append(rows, r)
	}
	return rows
}

func kernelText(n kernel.Name, k *kernel.Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s on %s\n", n, k.Vendor)
	for _, d := range k.Decisions() {
		fmt.Fprintf(&b, "\n%s  (%s)\n", d.Name, d.Where)
		for i, c := range d.Clauses {
			prose.Write(&b, fmt.Sprintf("  %d. ", i+1), "     ", c)
		}
		prose.Write(&b, "  →  ", "     ", d.Then)
		if d.Else != "" {
			prose.Write(&b, "  ✗  ", "     ", d.Else)
		}
	}
	fmt.Fprintf(&b, "\nparameters\n")
	for _, p := range k.Params {
		w := "read-only"
		if p.Writable {
			w = "writable"
		}
		fmt.Fprintf(&b, "  %-38s %-8s %s\n", p.Module+"."+p.Name, p.Default, w)
	}
	b.WriteString("\nchanges behind it\n")
	writeChanges(&b, kernel.Changes(n.Release, k.Vendor), n.Release)
	unsure(&b, n.Release, k.Vendor)
	return b.String()
}

// writeChanges lists changes under their topics.
func writeChanges(b *strings.Builder, cs []*kernel.Change, at kernel.Release) {
	topic := kernel.BadTopic
	for _, c := range cs {
		if c.Topic != topic {
			topic = c.Topic
			fmt.Fprintf(b, "  %s\n", topic)
		}
		prose.Write(b, "    ", "      ", c.Subject)
		words := c.Where + "; " + c.Came(at)
		if c.Commit != "" {
			words += "; commit " + c.Commit
		} else {
			words += "; release read, commit not known"
		}
		prose.Write(b, "      ", "      ", words)
	}
}

// unsure names the changes of which it is not known whether r has them.
func unsure(b *strings.Builder, r kernel.Release, x kernel.Vendor) {
	cs := kernel.History()
	head := false
	for i := range cs {
		if c := &cs[i]; c.Kind == kernel.Merged && c.Of(x) && c.Unsure(r) {
			if !head {
				fmt.Fprintf(b, "\nnot known of %s, and taken as not there\n", r)
				head = true
			}
			prose.Write(b, "    ", "      ", fmt.Sprintf("%s: not in %s, in %s", c.Subject, c.After, c.Since))
		}
	}
}

func newKernelDiff(env *Env) *cobra.Command {
	o := &kernelOptions{}
	c := &cobra.Command{
		Use:   "diff A B [GUEST]",
		Short: "what changed between two releases, and what it does to a guest",
		Long: `kernel diff lists the changes that B has and A has not, each with its function and
commit. With a guest it runs the guest on the model under both and compares the
two as ticktrap diff does.`,
		Args:         cobra.RangeArgs(2, 3),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			a, x, err := o.parse(args[0])
			if err != nil {
				return err
			}
			b, _, err := o.parse(args[1])
			if err != nil {
				return err
			}
			if len(args) == 3 && x == kernel.AMD {
				return fail(ExitUsage, "--vendor: the model runs guests on Intel's CPUs only")
			}
			came, went := kernel.Between(a.Release, b.Release, x)
			if o.json && len(args) < 3 {
				return document(env.Out, "ticktrap.kernel-diff", struct {
					A    string      `json:"a"`
					B    string      `json:"b"`
					Came []changeRow `json:"came"`
					Went []changeRow `json:"went"`
				}{a.Release.String(), b.Release.String(), rowsOf(came), rowsOf(went)})
			}
			var t strings.Builder
			if !o.json {
				kernelDiffText(&t, a, b, came, went)
			}
			if _, err := io.WriteString(env.Out, t.String()); err != nil || len(args) < 3 {
				return err
			}
			o.run.guest = args[2]
			return o.compare(env, a, b)
		},
	}
	f := c.Flags()
	o.flags(f)
	f.StringVar(&o.run.args, "append", "", "the guest's parameters")
	f.Uint64Var(&o.run.deadlines, "deadlines", 1000, "how many deadlines each side runs")
	return c
}

func kernelDiffText(t *strings.Builder, a, b kernel.Name, came, went []*kernel.Change) {
	fmt.Fprintf(t, "from kernel %s to %s\n", a, b)
	if len(came)+len(went) == 0 {
		t.WriteString("  nothing changed that the history knows\n")
	}
	if len(came) > 0 {
		fmt.Fprintf(t, "\n%d changes in %s that %s has not\n", len(came), b.Release, a.Release)
		writeChanges(t, came, b.Release)
	}
	if len(went) > 0 {
		fmt.Fprintf(t, "\n%d changes in %s that %s has not\n", len(went), a.Release, b.Release)
		writeChanges(t, went, a.Release)
	}
}

// compare runs the guest under both kernels and prints the difference.
func (o *kernelOptions) compare(env *Env, names ...kernel.Name) error {
	var sides []*diff.Side
	for _, n := range names {
		r := o.run
		r.engine, r.headless, r.quiet, r.kernel = "model", true, true, n.Text
		r.memMiB, r.profile, r.seed = 128, defaultProfile, 1
		run, err := r.runner()
		if err != nil {
			return err
		}
		col := diff.NewCollector(run.Header())
		run.Tee(trace.SinkFunc(func(trace.Event) { col.Look(run.State()) }))
		_, err = r.drive(run, nil)
		if err != nil {
			return err
		}
		s := col.Side("kernel "+n.Release.String(), run.State())
		if err := run.Engine().Close(); err != nil {
			return with(ExitHost, err)
		}
		sides = append(sides, s)
	}
	d := diff.Compare(sides[0], sides[1], diff.DefaultOptions)
	if o.json {
		return document(env.Out, "ticktrap.diff", d)
	}
	_, err := fmt.Fprintf(env.Out, "\n%s", d.Text())
	return err
}

func newKernelList(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:          "list",
		Short:        "the releases and distributions that are known",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			for _, r := range kernel.Mainlines(kernel.Oldest, kernel.Newest) {
				k := kernel.At(r, kernel.Intel)
				knobs := vmm.KnobsOf(&k)
				fmt.Fprintf(&b, "%-6s", r)
				for _, n := range []trace.Knob{trace.KnobFastpath, trace.KnobKick, trace.KnobRunningShort, trace.KnobTuning, trace.KnobWaitPlacement} {
					fmt.Fprintf(&b, "  %s=%s", n, trace.FormatKnob(n, knobs.Get(n)))
				}
				b.WriteByte('\n')
			}
			b.WriteByte('\n')
			for _, name := range kernel.Distributions() {
				n, _ := kernel.Parse(name)
				fmt.Fprintf(&b, "%-12s %s, %s\n", name, n.Release, n.Note)
			}
			_, err := io.WriteString(env.Out, b.String())
			return err
		},
	}
}
