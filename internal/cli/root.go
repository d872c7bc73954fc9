package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/crash"
)

// Version is the version of the source; a program that was installed by a version
// says that one.
const Version = "0.2.0-dev"

// Main runs the command line and returns the exit code.
func Main(args []string, env *Env) int {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	err := execute(root)
	if err != nil {
		fmt.Fprintf(env.Err, "ticktrap: %s\n", printable(err.Error()))
	}
	if bug := (*crash.Error)(nil); errors.As(err, &bug) {
		fmt.Fprint(env.Err, howToReport(args, bug))
		return int(ExitInternal)
	}
	return int(codeOf(err))
}

// execute runs the command; a panic in it is an error.
func execute(root *cobra.Command) (err error) {
	defer crash.Catch(&err)
	return root.Execute()
}

// howToReport asks for what is needed to find a bug.
func howToReport(args []string, bug *crash.Error) string {
	return printable(fmt.Sprintf("This is a bug in ticktrap %s. What was recorded is saved. Please report it at\n"+
		"https://codeberg.org/ticktrap/ticktrap/issues with the guest, the recording if there is one, and these lines:\n"+
		"ticktrap %q\n%s", Version, args, bug.Stack))
}

func newRoot(env *Env) *cobra.Command {
	run := newRun(env)
	root := &cobra.Command{
		Use:   "ticktrap [GUEST]",
		Short: "an interactive debugger for vCPU timers",
		Long: `ticktrap runs a guest and shows what its local APIC timer does: deadlines and
how late they were, fastpath hits with the reason of every bail-out, kicks,
posted interrupts. The rules can be changed while the guest runs.

Without a command it is "ticktrap run": the screen, on a built-in guest.

` + exitHelp(),
		Example: `  ticktrap                                        the screen, on guest "deadline"
  ticktrap run vmexit.flat --append tscdeadline   a unit test of your own
  ticktrap run --headless --json --deadlines 1000 one JSON report
  ticktrap run --headless --at 500:apicv=off      turn a knob mid-run
  ticktrap report session.tt                      the report of a recording`,
		Version:       version(),
		Args:          cobra.MaximumNArgs(1),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if err := strayWord(root, args[0]); err != nil {
				return err
			}
		}
		return run.RunE(c, args)
	}
	root.Flags().AddFlagSet(run.Flags())
	root.PersistentFlags().StringVar(&env.config, "config", "", "configuration file (default ticktrap/config.toml in $XDG_CONFIG_HOME or ~/.config)")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(run, newReplay(env), newReport(env), newExport(env), newImport(env), newTriage(env), newRecipe(env), newBench(env), newGuests(env), newKernel(env), newExplain(env), newDiff(env), newGate(env),
		newSweep(env), newScenarios(env), newDoctor(env), newConfig(env), newLicenses(env))
	root.AddCommand(newCheck(env))
	root.AddCommand(newCheckFile(env), newFuzz(env))
	root.AddCommand(newTopics()...)
	completeValues(root)
	usageErrors(root)
	return root
}

// parsing is what the standard library says around the fault of a number.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

// plainFlagError leaves out which function refused a flag's value.
func plainFlagError(err error) string { return parsing.ReplaceAllString(err.Error(), "") }

// usageErrors gives errors about arguments the exit code for usage.
func usageErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return with(ExitUsage, check(c, args)) }
	}
	for _, sub := range c.Commands() {
		usageErrors(sub)
	}
}

func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", c.code, c.text)
	}
	return b.String()
}
