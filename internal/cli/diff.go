package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/diff"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	json, lkml bool
	format     string
	level      float64
	draws      int
	failOn     []string
	junit      string
}

// diffFormats are the values of --format.
var diffFormats = []string{"text", "json", "markdown", "lkml", "benchstat"}

func newDiff(env *Env) *cobra.Command {
	o := &diffOptions{level: diff.DefaultOptions.Level * 100, draws: diff.DefaultOptions.Draws}
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "compare two runs: lateness and cost, exits, kicks, causes",
		Long: `diff compares two recordings, or two JSON reports: A is before, B is after.
Lateness and cost each get a verdict. The one on lateness rests on one statistic, the
typical lateness (the mean without the lowest and highest 5 %), with a
block-bootstrap interval for the difference; "no significant change" is an answer.
The other rows say where a difference comes from.

Reports do not hold individual deadlines, so they get no interval and no verdict.

--fail-on sets a limit:

  delta(FIGURE) > NUMBER[%|cycles|ns|us]

FIGURE is one of ` + strings.Join(diff.FigureNames(), ", ") + `.
The limit is exceeded (exit code 6) if the whole interval lies beyond it. If only
the figure itself does, there is too little data to tell: exit code 11. Lost
deadlines and kicks are counted, so they need no interval. A damaged recording
gives exit code 9.`,
		Example: `  ticktrap diff before.tt after.tt
  ticktrap diff --format lkml before.tt after.tt
  ticktrap diff before.tt after.tt --fail-on 'delta(p99) > 5%' --fail-on 'delta(lost) > 0'
  ticktrap diff --format benchstat before.tt after.tt | benchstat -col run /dev/stdin`,
		Args:         cobra.ExactArgs(2),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"lkml"}, o.json, "--json prints another form; choose one"},
				{[]string{"json", "lkml"}, c.Flags().Changed("format"), "--format names another form; choose one"},
				{[]string{"junit"}, len(o.failOn) == 0, "it requires --fail-on"},
			}); err != nil {
				return err
			}
			return o.run(env, args[0], args[1])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "text", "one of "+strings.Join(diffFormats, ", "))
	f.BoolVar(&o.json, "json", false, "short for --format json")
	f.BoolVar(&o.lkml, "lkml", false, "short for --format lkml: the before/after table of a patch description")
	f.StringArrayVar(&o.failOn, "fail-on", nil, "a limit, such as 'delta(p99) > 5%' (repeatable)")
	f.StringVar(&o.junit, "junit", "", "write the results of --fail-on to this file, for CI systems")
	f.Float64Var(&o.level, "level", o.level, "level of the intervals, percent")
	f.IntVar(&o.draws, "draws", o.draws, "bootstrap draws")
	return c
}

// options are those of the comparison.
func (o *diffOptions) options() (diff.Options, error) {
	if !(o.level > 50 && o.level < 100) {
		return diff.Options{}, fail(ExitUsage, "--level: want more than 50 and less than 100 percent, have %g", o.level)
	}
	if o.draws < 100 || o.draws > 1_000_000 {
		return diff.Options{}, fail(ExitUsage, "--draws: want 100 to 1000000, have %d", o.draws)
	}
	return diff.Options{Level: o.level / 100, Draws: o.draws, Seed: diff.DefaultOptions.Seed}, nil
}

// parseLimits reads the values of --fail-on.
func parseLimits(code ExitCode, flag string, texts []string) ([]diff.Limit, error) {
	var limits []diff.Limit
	for _, t := range texts {
		l, err := diff.ParseLimit(t)
		if err != nil {
			return nil, fail(code, "%s: %w", flag, err)
		}
		limits = append(limits, l)
	}
	return limits, nil
}

func (o *diffOptions) run(env *Env, a, b string) error {
	switch {
	case o.json:
		o.format = "json"
	case o.lkml:
		o.format = "lkml"
	}
	if !slices.Contains(diffFormats, o.format) {
		return fail(ExitUsage, "--format: want one of %s, have %q%s", strings.Join(diffFormats, ", "), o.format,
			prose.DidYouMean(o.format, diffFormats))
	}
	opt, err := o.options()
	if err != nil {
		return err
	}
	limits, err := parseLimits(ExitUsage, "--fail-on", o.failOn)
	if err != nil {
		return err
	}
	sa, err := readSide(env, a)
	if err != nil {
		return err
	}
	sb, err := readSide(env, b)
	if err != nil {
		return err
	}
	d := diff.Compare(sa.Side, sb.Side, opt)
	if len(limits) > 0 {
		d.Checks = d.Check(limits)
	}
	if err := o.print(env.Out, d, sa.Side, sb.Side); err != nil {
		return err
	}
	if o.junit != "" {
		suites := []diff.Suite{{Name: filepath.Base(a) + " to " + filepath.Base(b), Checks: d.Checks}}
		if err := writeFile(o.junit, true, func(w io.Writer) error { return diff.JUnit(w, suites) }); err != nil {
			return err
		}
	}
	switch {
	case sa.warning != "" && len(limits) > 0:
		return fail(ExitDamaged, "%s: no verdict on a damaged recording: %s", a, sa.warning)
	case sb.warning != "" && len(limits) > 0:
		return fail(ExitDamaged, "%s: no verdict on a damaged recording: %s", b, sb.warning)
	}
	if err := checksError(d.Checks); err != nil {
		return err
	}
	for name, s := range map[string]*side{a: sa, b: sb} {
		if s.warning != "" {
			return fail(ExitDamaged, "%s: the comparison covers what is whole", name)
		}
	}
	return nil
}

func (o *diffOptions) print(w io.Writer, d *diff.Diff, sides ...*diff.Side) error {
	var text string
	switch o.format {
	case "json":
		return document(w, "ticktrap.diff", d)
	case "benchstat":
		return with(ExitInput, diff.Benchstat(w, sides...))
	case "lkml":
		text = d.LKML()
	case "markdown":
		text = d.Markdown()
	default:
		text = d.Text()
		for _, c := range d.Checks {
			text += fmt.Sprintf("%-10s %s: %s\n", c.Outcome, c.Limit, c.Words)
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// checksError is the end of a command whose limits were checked.
func checksError(checks []diff.Check) error {
	worst := diff.Worst(checks)
	code := map[diff.Outcome]ExitCode{diff.Exceeded: ExitAssert, diff.Undecided: ExitUndecided, diff.Absent: ExitUndecided}[worst]
	if code == ExitOK {
		return nil
	}
	var errs []error
	for _, c := range checks {
		if c.Outcome == worst {
			errs = append(errs, fmt.Errorf("%s is %s: %s", c.Limit, c.Outcome, c.Words))
		}
	}
	return with(code, errors.Join(errs...))
}

// side is one of two runs, and what is wrong with its file.
type side struct {
	*diff.Side
	warning string
}

// readSide reads a recording or a report.
func readSide(env *Env, name string) (*side, error) {
	if data, ok := readJSON(name); ok {
		s, err := diff.ReadReport(name, data)
		return &side{Side: s}, with(ExitInput, err)
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
			return &side{col.Side(name, &st), rec.Warning()}, nil
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
	if fi, err := os.Stat(name); name == "-" || err != nil || !fi.Mode().IsRegular() {
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
