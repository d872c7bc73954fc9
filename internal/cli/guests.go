package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

func newGuests(env *Env) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "guests",
		Short: "list the built-in guests and their parameters",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return document(env.Out, "ticktrap.guests", guestTable())
			}
			var b strings.Builder
			for _, n := range guest.Names() {
				d, _ := guest.Describe(n)
				fmt.Fprintf(&b, "%-10s %s\n%-10s sample: %s\n", n, d.Text, "", d.Sample)
			}
			b.WriteString("\nParameters, given as --append 'KEY=VALUE …':\n")
			for _, k := range guest.Keys() {
				fmt.Fprintf(&b, "  %-9s %s\n", k.Name, k.Doc)
				if len(k.For) > 0 {
					fmt.Fprintf(&b, "  %-9s for %s\n", "", strings.Join(k.For, ", "))
				}
			}
			_, err := env.Out.Write([]byte(b.String()))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// guestRow and parameterRow are what guests --json says of each.
type (
	guestRow struct {
		Name   string `json:"name"`
		Text   string `json:"text"`
		Sample string `json:"sample"`
	}
	parameterRow struct {
		Name string   `json:"name"`
		Doc  string   `json:"doc"`
		For  []string `json:"for,omitempty"` // empty: every guest
	}
)

func guestTable() any {
	var t struct {
		Guests     []guestRow     `json:"guests"`
		Parameters []parameterRow `json:"parameters"`
	}
	for _, n := range guest.Names() {
		d, _ := guest.Describe(n)
		t.Guests = append(t.Guests, guestRow{n, d.Text, d.Sample})
	}
	for _, k := range guest.Keys() {
		t.Parameters = append(t.Parameters, parameterRow{k.Name, k.Doc, k.For})
	}
	return t
}

// knobHelp is the table of knobs.
func knobHelp() string {
	var b strings.Builder
	b.WriteString("Knobs:\n")
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		fmt.Fprintf(&b, "  %-17s %s\n  %-17s %s\n", k, trace.KnobSpecs[k].Doc, "", trace.KnobValues(k))
	}
	return b.String()
}
