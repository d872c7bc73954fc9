package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed licenses.tsv
var licenses string

// licenseRow is one linked module.
type licenseRow struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	License string `json:"license"` // SPDX identifier
}

func newLicenses(env *Env) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "licenses",
		Short: "list the linked modules and their licences",
		Long: `licenses lists the modules linked into the program, with each one's version and
licence as an SPDX identifier. ticktrap itself is under Apache-2.0.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := licenseRows()
			if asJSON {
				return document(env.Out, "ticktrap.licenses", struct {
					Modules []licenseRow `json:"modules"`
				}{rows})
			}
			var b strings.Builder
			for _, r := range rows {
				fmt.Fprintf(&b, "%-13s %s %s\n", r.License, r.Module, r.Version)
			}
			_, err := io.WriteString(env.Out, b.String())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func licenseRows() (rows []licenseRow) {
	for line := range strings.Lines(licenses) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		rows = append(rows, licenseRow{f[0], f[1], f[2]})
	}
	return rows
}
