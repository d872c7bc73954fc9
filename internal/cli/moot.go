package cli

import (
	"github.com/spf13/pflag"
)

// moot is a flag that has no effect in some company.
type moot struct {
	flags []string
	when  bool
	// why is the rest of a sentence that begins with the flag.
	why string
}

// refuse fails for the first flag that was given and has no effect. A flag that
// acts on nothing is a mistake of its user, never a matter of course.
func refuse(given *pflag.FlagSet, table []moot) error {
	for _, m := range table {
		if !m.when {
			continue
		}
		for _, name := range m.flags {
			if given.Changed(name) {
				return fail(ExitUsage, "--%s: %s", name, m.why)
			}
		}
	}
	return refuseEmpty(given)
}

// mayBeEmpty are the flags whose empty value says something: no arguments for the
// guest.
var mayBeEmpty = map[string]bool{"append": true}

// refuseEmpty fails for a flag whose value was given as an empty string.
func refuseEmpty(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && !mayBeEmpty[f.Name] && err == nil {
			err = fail(ExitUsage, "--%s: want a value, have an empty one", f.Name)
		}
	})
	return err
}
