package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// triageOptions are the flags of triage.
type triageOptions struct {
	traceOptions
	json, markdown bool
	top            int
}

func newTriage(env *Env) *cobra.Command {
	o := &triageOptions{}
	c := &cobra.Command{
		Use:   "triage FILE|DIR…",
		Short: "rank the vCPUs of traces by their worst deadline",
		Long: `triage reads traces, all VMs in them, and the traces in folders, and ranks the vCPUs
by lost deadlines and by the worst one, each with its first cause. Nothing is
written: use import to make the recording that explain and replay need.

It ranks by time where all TSC rates are known, else by cycles. Files that are not
traces are named and skipped; if no trace is left, the exit code is 3.`,
		Example: `  ticktrap triage trace.dat
  ticktrap triage --markdown traces/ > mail.md`,
		Args:         cobra.MinimumNArgs(1),
		SilenceUsage: true,
		RunE:         func(_ *cobra.Command, args []string) error { return o.run(env, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.BoolVar(&o.markdown, "markdown", false, "print a Markdown table, for email")
	f.IntVar(&o.top, "top", 20, "how many vCPUs to print; 0 prints all")
	o.traceOptions.flags(c)
	return c
}

// triageFormat counts changes of the JSON document that break readers.
const triageFormat = 1

// triageDoc is the document of --json.
type triageDoc struct {
	Format int         `json:"format"`
	Rows   []triageRow `json:"vcpus"`
	// Skipped are the files that are no trace, each with the reason.
	Skipped []string `json:"skipped"`
}

// triageRow is one vCPU.
type triageRow struct {
	File      string `json:"file"`
	VM        string `json:"vm"`
	VCPU      int    `json:"vcpu"`
	Thread    int32  `json:"thread"`
	Deadlines uint64 `json:"deadlines"`
	// Lost is the number of the VM's deadlines whose interrupt was lost.
	Lost uint64 `json:"lost"`
	// Worst is the latest deadline in cycles; null if none ran. WorstNS is null too
	// where the TSC rate is not known.
	Worst   *int64 `json:"worst_cycles"`
	WorstNS *int64 `json:"worst_ns"`
	// Cause is what took the largest part of it, with its share in percent.
	Cause string  `json:"cause"`
	Share float64 `json:"share_percent"`
	Hz    uint64  `json:"hz"`
}

func (o *triageOptions) run(env *Env, names []string) error {
	if o.json && o.markdown {
		return fail(ExitUsage, "--json conflicts with --markdown")
	}
	opt, err := o.decoderOptions()
	if err != nil {
		return err
	}
	files, err := tracesIn(names)
	if err != nil {
		return with(ExitInput, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	doc := triageDoc{Format: triageFormat, Rows: []triageRow{}, Skipped: []string{}}
	read := 0
	for _, name := range files {
		if ctx.Err() != nil {
			break
		}
		rows, err := o.file(ctx, env, name, opt)
		if err != nil {
			doc.Skipped = append(doc.Skipped, err.Error())
			continue
		}
		read++
		doc.Rows = append(doc.Rows, rows...)
	}
	rankRows(doc.Rows)
	if o.top > 0 && len(doc.Rows) > o.top {
		doc.Rows = doc.Rows[:o.top]
	}
	if err := o.print(env.Out, &doc); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return fail(ExitSignal, "stopped: the ranking covers what was read up to then")
	case read == 0:
		return fail(ExitInput, "%s: no trace of a VM: %s", strings.Join(names, ", "), strings.Join(doc.Skipped, "; "))
	}
	return nil
}

// tracesIn lists files, and those in folders.
func tracesIn(names []string) (out []string, err error) {
	for _, name := range names {
		st, err := os.Stat(name)
		if name == "-" || err == nil && !st.IsDir() {
			out = append(out, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// vmWatch folds a VM and keeps the worst deadline of each vCPU, explained.
type vmWatch struct {
	h      *trace.Header
	state  trace.State
	seen   uint64
	worst  map[uint8]clock.Cycles
	causes map[uint8]explain.Cause
}

// Emit implements trace.Sink.
func (w *vmWatch) Emit(e trace.Event) {
	w.state.Apply(&e)
	for ; w.seen < w.state.Chains.N; w.seen++ {
		c := w.state.Chains.Get(w.seen)
		if c == nil || !c.Ran() {
			continue
		}
		if late, ok := w.worst[c.VCPU]; ok && c.Late <= late {
			continue
		}
		w.worst[c.VCPU] = c.Late
		delete(w.causes, c.VCPU)
		if x := explain.Explain(w.h, &w.state, c); len(x.Causes) > 0 {
			w.causes[c.VCPU] = x.Causes[0]
		}
	}
}

// file triages one trace.
func (o *triageOptions) file(ctx context.Context, env *Env, name string, opt ftrace.Options) (rows []triageRow, err error) {
	f, t, err := o.open(ctx, env, name, os.TempDir(), opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	watches := make([]*vmWatch, len(t.VMs))
	sinks := make([]trace.Sink, len(t.VMs))
	for i := range t.VMs {
		w := &vmWatch{h: t.Header(i), worst: map[uint8]clock.Cycles{}, causes: map[uint8]explain.Cause{}}
		w.state.Reset(w.h)
		watches[i], sinks[i] = w, w
	}
	if _, err := t.Decode(ctx, sinks, nil); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	for i, v := range t.VMs {
		w := watches[i]
		for _, th := range v.Threads {
			r := triageRow{File: name, VM: v.Name() + "-" + vmTag(v), VCPU: th.VCPU, Thread: th.PID, Hz: uint64(v.Time.Hz),
				Lost: w.state.Deadlines.Outcomes[trace.OutcomeLost]}
			if th.VCPU < len(w.state.VCPUs) {
				r.Deadlines = w.state.VCPUs[th.VCPU].Late.Count()
			}
			if late, ok := w.worst[uint8(th.VCPU)]; ok {
				n := int64(late)
				r.Worst = &n
				if hz := v.Time.Hz; hz != 0 {
					ns := int64(float64(late) * 1e9 / float64(hz))
					r.WorstNS = &ns
				}
				c := w.causes[uint8(th.VCPU)]
				r.Cause, r.Share = c.Words, float64(c.Tenths)/10
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// rankRows puts lost deadlines first, then the latest: by time if all rates are
// known, else by cycles.
func rankRows(rows []triageRow) {
	timed := !slices.ContainsFunc(rows, func(r triageRow) bool { return r.Worst != nil && r.WorstNS == nil })
	late := func(r *triageRow) int64 {
		switch {
		case r.Worst == nil:
			return -1 << 62
		case timed:
			return *r.WorstNS
		}
		return *r.Worst
	}
	slices.SortStableFunc(rows, func(a, b triageRow) int {
		if a.Lost != b.Lost {
			return cmp.Compare(b.Lost, a.Lost)
		}
		return cmp.Compare(late(&b), late(&a))
	})
}

func (o *triageOptions) print(w io.Writer, doc *triageDoc) error {
	var b strings.Builder
	switch {
	case o.json:
		js, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			return fmt.Errorf("triage: %w", err)
		}
		b.Write(js)
		b.WriteByte('\n')
	case o.markdown:
		b.WriteString("| VM | vCPU | deadlines | lost | worst | first cause | file |\n|---|---|---|---|---|---|---|\n")
		for i := range doc.Rows {
			r := &doc.Rows[i]
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %s |\n", cell(r.VM), r.VCPU, r.Deadlines, r.Lost, r.late(),
				cell(r.cause()), cell(r.File))
		}
	default:
		fmt.Fprintf(&b, "%-24s %5s %9s %6s %16s  %s\n", "vm", "vcpu", "deadlines", "lost", "worst", "first cause")
		for i := range doc.Rows {
			r := &doc.Rows[i]
			fmt.Fprintf(&b, "%-24s %5d %9d %6d %16s  %s\n", printable(r.VM), r.VCPU, r.Deadlines, r.Lost, r.late(),
				printable(r.cause()))
		}
		for _, s := range doc.Skipped {
			fmt.Fprintf(&b, "left out: %s\n", printable(s))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes text safe for a cell of a markdown table.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(printable(s)) }

func (r *triageRow) late() string {
	if r.Worst == nil {
		return "-"
	}
	return cyclesIn(clock.Cycles(*r.Worst), clock.Hz(r.Hz))
}

func (r *triageRow) cause() string {
	if r.Cause == "" {
		return "-"
	}
	return fmt.Sprintf("%s (%.1f %%)", r.Cause, r.Share)
}
