package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm/bench"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// benchOptions are the flags of bench.
type benchOptions struct {
	profile, image, only string
	json                 bool
	goal, seeds          uint64
	strict               bool
}

func newBench(env *Env) *cobra.Command {
	o := &benchOptions{}
	c := &cobra.Command{
		Use:   "bench",
		Short: "reproduce the published tables on the model",
		Long: `bench repeats, on the model, the measurements published with four patch series to
KVM's timer code: each row before and after its change, done as the original benchmark did
(vmexit.flat's loop and rounding, tscdeadline_latency.flat's handler, cyclictest's
wake-up latency).

Rows are compared by their change. The machine's cost profile was fitted to the
"calibrated" rows; the "predicted" rows were not used. A row that misses is
printed as a miss, with the reason. Every figure is modelled; docs/model.md says
how, and where the model is known to be wrong.

With --guest the vmexit rows are measured with your build of the unit test as
well, at its own length of 2^30 cycles a round, and compared with the twin.`,
		Example: `  ticktrap bench
  ticktrap bench --profile skylake-server --json
  ticktrap bench --only tscdeadline --guest x86/vmexit.flat`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := refuse(c.Flags(), nil); err != nil {
				return err
			}
			return o.run(env)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.profile, "profile", "", "rows of one machine, or all rows on the costs of generic: "+
		strings.Join(model.Profiles(), ", ")+" (default each row on its own machine)")
	f.StringVar(&o.image, "guest", "", "path of your vmexit.flat, measured next to the built-in twin")
	f.StringVar(&o.only, "only", "", "rows whose id contains this")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.Uint64Var(&o.goal, "goal", uint64(bench.DefaultSize.Goal), "cycles of vmexit's last round; the original's is 1073741824")
	f.Uint64Var(&o.seeds, "seeds", bench.DefaultSize.Seeds, "runs that a figure is the mean of")
	f.BoolVar(&o.strict, "strict", false, "end with exit code 6 if a calibrated row misses")
	return c
}

func (o *benchOptions) run(env *Env) error {
	opt := bench.Options{Profile: o.profile, Only: o.only, Size: bench.DefaultSize, Workers: runtime.GOMAXPROCS(0)}
	if o.goal < 1<<16 || o.goal > 1<<36 || o.seeds < 1 || o.seeds > 1000 {
		return fail(ExitUsage, "--goal: want 2^16 to 2^36 cycles; --seeds: want 1 to 1000")
	}
	opt.Size.Goal, opt.Size.Seeds = clock.Cycles(o.goal), o.seeds
	if o.profile != "" {
		if _, err := model.LoadProfile(o.profile); err != nil {
			return with(ExitUsage, err)
		}
	}
	if o.image != "" {
		img, err := bench.OpenImage(o.image)
		if err != nil {
			return with(ExitInput, err)
		}
		opt.Image = img
	}
	if f, ok := env.Err.(*os.File); ok && env.Terminal {
		opt.Progress = func(done, all int) { fmt.Fprintf(f, "\r%d of %d rows\x1b[K", done, all) }
		defer fmt.Fprint(f, "\r\x1b[K")
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	results, err := bench.Run(ctx, opt)
	switch {
	case errors.Is(err, bench.ErrStopped):
		return fail(ExitSignal, "stopped before all rows were measured")
	case errors.Is(err, bench.ErrNoRows):
		return with(ExitUsage, err)
	case err != nil:
		return with(ExitHost, err)
	}
	return o.print(env, results)
}

func (o *benchOptions) print(env *Env, results []bench.Result) error {
	var err error
	if o.json {
		err = document(env.Out, "ticktrap.bench", struct {
			Rows any `json:"rows"`
		}{bench.JSONRows(results)})
	} else {
		_, err = io.WriteString(env.Out, bench.Text(results, benchWidth))
	}
	if err != nil {
		return err
	}
	if c := bench.Count(results); o.strict && c.CalibratedHits < c.Calibrated {
		return fail(ExitAssert, "%d of %d calibrated rows miss", c.Calibrated-c.CalibratedHits, c.Calibrated)
	}
	return nil
}

// benchWidth is the width of the table.
const benchWidth = 120
