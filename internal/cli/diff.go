package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	json, lkml bool
	level      float64
	draws      int
}

func newDiff(env *Env) *cobra.Command {
	o := &diffOptions{level: diff.DefaultOptions.Level * 100, draws: diff.DefaultOptions.Draws}
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "compare two runs: lateness, exits, kicks, causes",
		Long: `diff compares two recordings, or two reports in JSON, A being before and B after.
The verdict rests on one statistic, the typical lateness (the mean without the
lowest and highest 5 %), with a block-bootstrap interval of its difference; "no
significant change" is an answer. The other rows say where a difference comes from.

Reports hold no single deadlines, so they get no interval and no verdict.`,
		Example: `  ticktrap diff before.tt after.tt
  ticktrap diff --lkml before.tt after.tt
  ticktrap diff --json a.json b.json`,
		Args:         cobra.ExactArgs(2),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"lkml"}, o.json, "--json prints another form; choose one"},
			}); err != nil {
				return err
			}
			return o.run(env, args[0], args[1])
		},
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.BoolVar(&o.lkml, "lkml", false, "print the before/after table for a patch description")
	f.Float64Var(&o.level, "level", o.level, "level of the intervals, percent")
	f.IntVar(&o.draws, "draws", o.draws, "bootstrap draws")
	return c
}

func (o *diffOptions) run(env *Env, a, b string) error {
	if o.level <= 50 || o.level >= 100 {
		return fail(ExitUsage, "--level: want more than 50 and less than 100 percent, have %g", o.level)
	}
	if o.draws < 100 || o.draws > 1_000_000 {
		return fail(ExitUsage, "--draws: want 100 to 1000000, have %d", o.draws)
	}
	sa, err := readSide(env, a)
	if err != nil {
		return err
	}
	sb, err := readSide(env, b)
	if err != nil {
		return err
	}
	d := diff.Compare(sa, sb, diff.Options{Level: o.level / 100, Draws: o.draws, Seed: diff.DefaultOptions.Seed})
	if o.json {
		return document(env.Out, "ticktrap.diff", d)
	}
	out := d.Text()
	if o.lkml {
		out = d.LKML()
	}
	_, err = io.WriteString(env.Out, out)
	return err
}

// readSide reads a recording or a report.
func readSide(env *Env, name string) (*diff.Side, error) {
	if data, ok := readJSON(name); ok {
		s, err := diff.ReadReport(name, data)
		return s, with(ExitInput, err)
	}
	rec, closer, err := openRecording(env, name)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	if w := rec.Warning(); w != "" {
		fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(name+": "+w))
	}
	var st trace.State
	st.Reset(rec.Header())
	col := diff.NewCollector(rec.Header())
	cur := rec.Cursor()
	for {
		e, err := cur.Next()
		if err == io.EOF {
			return col.Side(name, &st), nil
		}
		if err != nil {
			return nil, with(ExitDamaged, fmt.Errorf("%s: %w", name, err))
		}
		st.Apply(&e)
		col.Look(&st)
	}
}

// readJSON reads a file that begins like a JSON object.
func readJSON(name string) ([]byte, bool) {
	if name == "-" {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.Read(head)
	if !bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n"), []byte("{")) {
		return nil, false
	}
	data, err := os.ReadFile(name)
	return data, err == nil
}
