package cli

import (
	"io"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/vmm/kvm"
)

func newDoctor(env *Env) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say what this host can do, and what it would take to do the rest",
		Long: `doctor looks at the CPU, the kernel, /dev/kvm with its capabilities and module
parameters, tracing, and says for each knob and each pane what a run on KVM can
do here. For what is not possible it gives the reason and, if there is one, the
fix. It also cleans up what killed runs left behind on the host.

It exits with 0 where guests can run on KVM, else with 4.`,
		Example: `  ticktrap doctor
  ticktrap doctor --json`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			r := kvm.Doctor()
			if err := printDoctor(env.Out, r, asJSON); err != nil {
				return err
			}
			if !r.Usable {
				return fail(ExitHost, "guests cannot run on KVM on this host")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func printDoctor(w io.Writer, r *kvm.Report, asJSON bool) error {
	if asJSON {
		return document(w, "ticktrap.doctor", r)
	}
	_, err := io.WriteString(w, r.Text())
	return err
}
