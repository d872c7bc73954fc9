package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// flagError is the sentence about a flag that cannot be parsed. A flag that the
// command lacks is named with the commands that have it, or with the flag that
// was probably meant.
func flagError(c *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return fail(ExitUsage, "%s", plainFlagError(err))
	}
	where := c.CommandPath()
	if others := commandsWith(c.Root(), name); len(others) > 0 {
		return fail(ExitUsage, "%s has no flag --%s: it is one of %s", where, name, strings.Join(others, ", "))
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := ""
	if n, ok := prose.Nearest(name, names); ok {
		hint = "; did you mean --" + n + "?"
	}
	return fail(ExitUsage, "%s has no flag --%s%s", where, name, hint)
}

// commandsWith are the commands that have a flag of this name.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	for _, c := range root.Commands() {
		if f := c.Flags().Lookup(flag); f != nil && !f.Hidden && !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// strayWord refuses a word in the place of a command that is no command, no
// built-in guest and no file.
func strayWord(root *cobra.Command, word string) error {
	if _, ok := guest.Describe(word); ok || strings.ContainsAny(word, "./") || word == "-" {
		return nil
	}
	if _, err := os.Stat(word); err == nil {
		return nil
	}
	names := guest.Names()
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return fail(ExitUsage, "%q is no command, no built-in guest and no file%s", word, prose.DidYouMean(word, names))
}
