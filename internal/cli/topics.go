package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// newTopics are help pages that belong to no command. Each is written from the
// table that the program itself uses.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "conditions", Short: "the language of --where, --assert, breaks and filters", Long: conditionHelp()},
		{Use: "knobs", Short: "the knobs and their values", Long: knobHelp()},
		{Use: "exit-codes", Short: "what the program's exit codes mean", Long: exitHelp()},
		{Use: "formats", Short: "the formats that export writes", Long: "Formats of ticktrap export:\n" + formatHelp()},
	}
}

func conditionHelp() string {
	var b strings.Builder
	b.WriteString(`A condition compares names with values: == != < <= > >=, joined by && and ||,
negated by !, grouped by parentheses. Times take ns, us, ms or s, or count TSC
cycles without a unit; other numbers are decimal or 0x-prefixed.

Conditions on one event, for report --where, export --where, breaks and filters:
`)
	vocabularyHelp(&b, query.Conditions().Docs())
	b.WriteString(`
Conditions on a whole run, for --assert:
`)
	vocabularyHelp(&b, query.RunVocabulary().Docs())
	b.WriteString(`
Examples:
  late > 20us && vcpu == 1
  exit == HLT && fastpath == bail
  knob changed
  p99(late) < 5us && exits.MSR_WRITE < 2000
`)
	return b.String()
}

func vocabularyHelp(b *strings.Builder, names []query.NameDoc) {
	for _, n := range names {
		fmt.Fprintf(b, "  %-22s %s\n", n.Name, n.Doc)
		if len(n.Values) > 0 {
			prose.Indented(b, 25, strings.Join(n.Values, " "))
		}
	}
}
