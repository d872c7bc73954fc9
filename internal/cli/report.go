package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func newReport(env *Env) *cobra.Command {
	var asJSON bool
	var asserts []string
	var where string
	c := &cobra.Command{
		Use:   "report FILE",
		Short: "print the report of a recording",
		Long: `report prints the report of a recording, byte for byte the one the live run
printed. From a truncated or damaged file it reports what is intact, with a
warning and exit code 9.

With --where it instead lists the moments at which a condition holds, in the
language of breaks and filters.`,
		Example: `  ticktrap report session.tt
  ticktrap report --json session.tt
  ticktrap report session.tt --where 'late > 2us && vcpu == 0'`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"assert"}, where != "", "an assertion is about the whole report, and --where prints moments instead"},
				{[]string{"json"}, where != "", "--where prints text; for rows use: ticktrap export --format jsonl --where CONDITION"},
			}); err != nil {
				return err
			}
			checks, err := parseAsserts(asserts)
			if err != nil {
				return err
			}
			rec, f, err := openRecording(env, args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			if where != "" {
				if err := printWhere(env.Out, rec, where); err != nil || rec.Warning() == "" {
					return err
				}
				fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(args[0]+": "+rec.Warning()))
				return damaged(args[0], rec, "the list")
			}
			var st trace.State
			if err := rec.Cursor().StateAt(rec.Events(), &st); err != nil {
				return with(ExitInput, fmt.Errorf("%s: %w", args[0], err))
			}
			warning := rec.Warning()
			if warning != "" {
				fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(args[0]+": "+warning))
			}
			if err := printReport(env.Out, trace.NewReport(rec.Header(), &st), asJSON); err != nil {
				return err
			}
			if err := checkAsserts(checks, rec.Header(), &st); err != nil {
				return err
			}
			if warning != "" {
				if n := rec.Missing(); n > 0 && st.Lost.Events == 0 {
					return fail(ExitDamaged, "%s: %d of %d events are missing; the figures are whole all the same: a state that was "+
						"recorded later counts them", args[0], n, rec.Events()-rec.First())
				}
				return damaged(args[0], rec, "the report")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.Flags().StringArrayVar(&asserts, "assert", nil, "check a condition on the report (repeatable)")
	c.Flags().StringVar(&where, "where", "", "list the moments at which a condition holds, instead of the report")
	return c
}
