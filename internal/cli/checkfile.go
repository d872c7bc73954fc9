package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// damaged is the error at the end of a command that used all that is whole of a
// recording.
func damaged(name string, rec *trace.Recording, what string) error {
	if n := rec.Missing(); n > 0 {
		return fail(ExitDamaged, "%s: %s lacks %d of %d events", name, what, n, rec.Events()-rec.First())
	}
	return fail(ExitDamaged, "%s: %s covers the %d events that are whole", name, what, rec.Events()-rec.First())
}

func newCheckFile(env *Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check-file FILE",
		Short: "verify a recording: what is intact, what is damaged",
		Long: `check-file reads every block of a recording, verifies its checksum, decodes
every event and checks that each vCPU's events are in order. It says which bytes
are damaged and which events are missing as a result. The other commands use
everything that is intact.

It exits with 0 if the whole file is as written, with 9 if not.`,
		Example:      `  ticktrap check-file session.tt`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(_ *cobra.Command, args []string) error {
			rec, f, err := trace.OpenFile(args[0])
			if err != nil {
				return with(ExitInput, err)
			}
			defer f.Close()
			r := newCheckReport(args[0], rec)
			if err := r.print(env.Out, asJSON); err != nil {
				return err
			}
			if !r.Whole {
				return fail(ExitDamaged, "%s: the recording is not whole", args[0])
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// checkReport is what check-file finds.
type checkReport struct {
	Format  int             `json:"format"` // of this document
	File    string          `json:"file"`
	Version int             `json:"version"` // of the recording's format
	Whole   bool            `json:"whole"`
	First   trace.Seq       `json:"first_event"`
	Events  trace.Seq       `json:"events"` // proven whole
	Missing trace.Seq       `json:"missing_events"`
	Blocks  trace.BlockSums `json:"blocks"`
	Damage  []checkDamage   `json:"damage"`
	Order   string          `json:"order_error,omitempty"`
	Remark  string          `json:"remark,omitempty"`
}

type checkDamage struct {
	From   int64     `json:"from_byte"`
	To     int64     `json:"to_byte"` // the first that is whole again
	Why    string    `json:"why"`
	First  trace.Seq `json:"first_missing_event"`
	Events trace.Seq `json:"missing_events"`
	Tail   bool      `json:"rest_of_file"`
}

func newCheckReport(name string, rec *trace.Recording) *checkReport {
	r := &checkReport{Format: 1, File: name, Version: rec.Version(), First: rec.First(), Missing: rec.Missing(),
		Events: rec.Events() - rec.First() - rec.Missing(), Blocks: rec.Blocks(), Remark: rec.Warning(), Damage: []checkDamage{}}
	for _, d := range rec.Damage() {
		r.Damage = append(r.Damage, checkDamage(d))
	}
	if err := rec.Verify(); err != nil {
		r.Order = err.Error()
	}
	r.Whole = r.Remark == "" && r.Order == ""
	return r
}

func (r *checkReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var b strings.Builder
	row := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", key, printable(fmt.Sprintf(format, args...)))
	}
	row("file", "%s, format %d", r.File, r.Version)
	row("blocks", "%d of events, %d states, %d actions: every checksum is right", r.Blocks.Events, r.Blocks.States, r.Blocks.Actions)
	row("events", "%d whole, from event %d on; %d missing", r.Events, r.First, r.Missing)
	for i := range r.Damage {
		d := trace.Damage(r.Damage[i])
		row("damage", "%s", d.String())
	}
	if len(r.Damage) == 0 && r.Remark != "" {
		row("remark", "%s", r.Remark)
	}
	switch {
	case r.Order != "":
		row("order", "%s", r.Order)
	default:
		row("order", "the events of each vCPU are in order")
	}
	if r.Whole {
		row("verdict", "whole: this is what was written")
	} else {
		row("verdict", "not whole: what is missing is named above")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
