package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// recipes are the questions that a trace can answer, with the events that it
// needs. The first is the default.
var recipes = []struct {
	question string
	about    string
	events   []string
	note     string
}{
	{"late", "why a guest's timer is late: who held the vCPU, and what fired when",
		[]string{"kvm", "sched:sched_switch", "sched:sched_waking", "timer:hrtimer_start", "timer:hrtimer_cancel",
			"timer:hrtimer_expire_entry", "power:cpu_idle", "irq_vectors:local_timer_entry", "irq_vectors:local_timer_exit",
			"irq:irq_handler_entry", "irq:irq_handler_exit"},
		"hrtimer_start and hrtimer_expire_entry tie the trace to the guest's TSC, whichever clock is used"},
	{"light", "how late timers are, at the least cost",
		[]string{"kvm:kvm_entry", "kvm:kvm_exit", "kvm:kvm_msr", "kvm:kvm_apic_accept_irq", "kvm:kvm_inj_virq",
			"kvm:kvm_wait_lapic_expire", "kvm:kvm_write_tsc_offset", "timer:hrtimer_start", "timer:hrtimer_expire_entry"},
		"no cause outside KVM can be named from it"},
	{"user-space", "how long exits to the VMM take, and for which device",
		[]string{"kvm", "sched:sched_switch", "sched:sched_waking", "timer:hrtimer_start", "timer:hrtimer_expire_entry"},
		"kvm_userspace_exit says the reason; kvm_pio and kvm_mmio the address"},
	{"apicv", "why APICv or AVIC is off, and what sets its inhibits",
		[]string{"kvm:kvm_apicv_inhibit_changed", "kvm:kvm_apicv_update_request", "kvm:kvm_apicv_accept_irq", "kvm:kvm_entry",
			"kvm:kvm_exit", "kvm:kvm_apic_accept_irq", "kvm:kvm_inj_virq", "kvm:kvm_eoi"},
		"start it before the VM: inhibits already set are not printed again"},
	{"stimer", "why a Windows guest's synthetic timer is late",
		[]string{"kvm", "sched:sched_switch", "sched:sched_waking", "timer:hrtimer_start", "timer:hrtimer_expire_entry",
			"power:cpu_idle"},
		"give --tsc-khz at import: synthetic timers count in units of 100 ns"},
}

// recipeOptions are the flags of recipe.
type recipeOptions struct {
	seconds int
	tool    string
}

func newRecipe(env *Env) *cobra.Command {
	o := &recipeOptions{}
	var names []string
	for _, r := range recipes {
		names = append(names, r.question)
	}
	c := &cobra.Command{
		Use:   "recipe [QUESTION]",
		Short: "print the command that records the trace a question needs",
		Long: `recipe prints the recording command, for trace-cmd, perf or plain tracefs, and the
import that follows. Without a question it lists the questions.`,
		Example: `  ticktrap recipe late
  ticktrap recipe light --tool perf --seconds 60`,
		Args:         cobra.MaximumNArgs(1),
		ValidArgs:    names,
		SilenceUsage: true,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := o.text(args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(env.Out, text)
			return err
		},
	}
	f := c.Flags()
	f.IntVar(&o.seconds, "seconds", 10, "how long to record, in seconds")
	f.StringVar(&o.tool, "tool", "trace-cmd", "the tool that records: trace-cmd, perf or tracefs")
	return c
}

func (o *recipeOptions) text(args []string) (string, error) {
	if o.seconds < 1 {
		return "", fail(ExitUsage, "--seconds %d: want at least one second", o.seconds)
	}
	var b strings.Builder
	if len(args) == 0 {
		for _, r := range recipes {
			fmt.Fprintf(&b, "%-12s %s\n", r.question, r.about)
		}
		return b.String(), nil
	}
	for _, r := range recipes {
		if r.question != args[0] {
			continue
		}
		fmt.Fprintf(&b, "# %s\n# %s\n", r.about, r.note)
		if err := o.command(&b, r.events); err != nil {
			return "", err
		}
		return b.String(), nil
	}
	return "", fail(ExitUsage, "no recipe for %q: ticktrap recipe lists them", args[0])
}

// command writes the recording and the import.
func (o *recipeOptions) command(b *strings.Builder, events []string) error {
	switch o.tool {
	case "trace-cmd":
		b.WriteString("trace-cmd record -b 20000")
		for _, e := range events {
			fmt.Fprintf(b, " \\\n  -e %s", e)
		}
		fmt.Fprintf(b, " \\\n  sleep %d\nticktrap import trace.dat -o trace.tt\n", o.seconds)
	case "perf":
		b.WriteString("perf record -a -m 8M")
		for _, e := range events {
			if !strings.Contains(e, ":") {
				e += ":*"
			}
			fmt.Fprintf(b, " \\\n  -e '%s'", e)
		}
		fmt.Fprintf(b, " \\\n  -- sleep %d\nperf script -F comm,pid,tid,cpu,time,event,trace --ns | ticktrap import - -o trace.tt\n",
			o.seconds)
	case "tracefs":
		b.WriteString("cd /sys/kernel/tracing && mkdir instances/ticktrap && cd instances/ticktrap && echo 20000 > buffer_size_kb\nfor e in")
		for _, e := range events {
			fmt.Fprintf(b, " \\\n  %s", strings.Replace(e, ":", "/", 1))
		}
		fmt.Fprintf(b, "; do echo 1 > events/$e/enable; done\nsleep %d; echo 0 > tracing_on; cat trace > /tmp/trace.txt; cd ../.. && rmdir instances/ticktrap\n"+
			"ticktrap import /tmp/trace.txt -o trace.tt\n", o.seconds)
	default:
		return fail(ExitUsage, "--tool %q: want trace-cmd, perf or tracefs", o.tool)
	}
	return nil
}
