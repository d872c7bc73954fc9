package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/export"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// exportOptions are the flags of export.
type exportOptions struct {
	format, out, where string
	force, quiet       bool
}

func newExport(env *Env) *cobra.Command {
	o := &exportOptions{}
	c := &cobra.Command{
		Use:   "export FILE",
		Short: "write a recording for other programs",
		Long: `export converts a recording for other programs. Without --output it writes to
standard output. FILE may be - for standard input.

Formats:
` + formatHelp() + `
--where takes a condition, as break does, and applies to formats with rows: a row
is written if the condition holds at the event that completes it.`,
		Example: `  ticktrap export session.tt --format perfetto -o session.pftrace
  ticktrap export session.tt --format csv-deadlines --where 'late > 20us'
  ticktrap export session.tt --format jsonl | jq 'select(.kind == "kick")'`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"force"}, o.out == "-", "it requires --output: there is no file to overwrite"},
			}); err != nil {
				return err
			}
			return o.run(env, args[0])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&o.format, "format", "f", "jsonl", "one of the formats above")
	f.StringVarP(&o.out, "output", "o", "-", "the file to write; - is standard output")
	f.StringVar(&o.where, "where", "", "write only rows that meet this condition, such as 'late > 20us && vcpu == 1'")
	f.BoolVar(&o.force, "force", false, "overwrite the output file if it exists")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	return c
}

func formatHelp() string {
	var b strings.Builder
	for _, f := range export.Formats {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

func formatNames() string {
	var names []string
	for _, f := range export.Formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func (o *exportOptions) run(env *Env, name string) error {
	f, ok := export.Find(o.format)
	if !ok {
		return fail(ExitUsage, "--format: want one of %s, have %q", formatNames(), o.format)
	}
	rec, closer, err := openRecording(env, name)
	if err != nil {
		return err
	}
	defer closer.Close()
	keep, err := o.keep(f, rec.Header())
	if err != nil {
		return err
	}
	if w := rec.Warning(); w != "" {
		fmt.Fprintf(env.Err, "ticktrap: warning: %s\n", printable(name+": "+w))
	}
	progress := &progress{w: env.Err, wall: env.Wall, what: "exporting " + filepath.Base(name), quiet: o.quiet}
	notes, err := o.write(env, f, rec, export.Options{Keep: keep, Progress: progress.show})
	progress.end()
	if err != nil {
		var damage *trace.DamageError
		if errors.As(err, &damage) {
			return with(ExitDamaged, fmt.Errorf("%s: %w", name, err))
		}
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(env.Err, "ticktrap: note: %s\n", printable(n))
	}
	if rec.Warning() != "" {
		return damaged(name, rec, "the export")
	}
	return nil
}

// keep compiles --where.
func (o *exportOptions) keep(f *export.Format, h *trace.Header) (export.Keep, error) {
	if o.where == "" {
		return nil, nil
	}
	if f.Whole {
		return nil, fail(ExitUsage, "--where: format %s needs every event, so it cannot be filtered", f.Name)
	}
	c, err := query.ParseCondition(o.where)
	if err != nil {
		return nil, with(ExitUsage, pointed("--where", o.where, err))
	}
	return func(e *trace.Event, s *trace.State) bool { return c.Eval(query.MomentOf(e, s), h.Hz) }, nil
}

// write exports to standard output, or to a file that appears only when it is
// complete.
func (o *exportOptions) write(env *Env, f *export.Format, rec *trace.Recording, eo export.Options) ([]string, error) {
	if o.out == "-" {
		notes, err := f.Write(env.Out, rec, eo)
		return notes, err
	}
	var notes []string
	err := writeFile(o.out, o.force, func(w io.Writer) (err error) {
		notes, err = f.Write(w, rec, eo)
		return err
	})
	return notes, err
}

// writeFile makes a file of what f writes. It is written under another name and
// renamed, so that there is never half a file; an existing one is kept unless
// force is set.
func writeFile(name string, force bool, f func(io.Writer) error) (err error) {
	if _, err := os.Lstat(name); err == nil && !force {
		return fail(ExitInput, "%s exists: choose another name, or overwrite it with --force", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return with(ExitInput, fmt.Errorf("writing %s: %w", name, err))
	}
	defer func() {
		if err != nil {
			err = with(ExitHost, errors.Join(fmt.Errorf("writing %s: %w", name, err), os.Remove(tmp.Name())))
		}
	}()
	b := bufio.NewWriter(tmp)
	err = errors.Join(f(b), b.Flush(), tmp.Chmod(0o644), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// progress shows on standard error how far long work has come, not before it has
// taken a second.
type progress struct {
	w     io.Writer
	wall  wall
	what  string
	quiet bool
	begun time.Time
	last  time.Time
	shown bool
	bytes bool // what is counted: events or bytes
}

const progressPeriod = 500 * time.Millisecond

func (p *progress) show(done, total uint64) {
	if p.quiet || total == 0 {
		return
	}
	now := p.wall.Now()
	if p.begun.IsZero() {
		p.begun, p.last = now, now
	}
	if now.Sub(p.begun) < 2*progressPeriod || now.Sub(p.last) < progressPeriod {
		return
	}
	p.last, p.shown = now, true
	if p.bytes {
		rate := float64(done) / now.Sub(p.begun).Seconds() / 1e6
		fmt.Fprintf(p.w, "\rticktrap: %s: %d %% of %.1f MB, %.0f MB/s\x1b[K", p.what, done*100/total, float64(total)/1e6, rate)
		return
	}
	fmt.Fprintf(p.w, "\rticktrap: %s: %d %% of %d events", p.what, done*100/total, total)
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprintf(p.w, "\r\x1b[K")
	}
}
