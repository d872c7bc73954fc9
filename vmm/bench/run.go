package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// Options say what a Run measures.
type Options struct {
	// Profile runs the rows of one machine only, or, for a profile without rows,
	// all rows on its costs. Empty: every row on its own machine's profile.
	Profile string
	// Only keeps the rows whose ID contains it.
	Only    string
	Size    Size
	Workers int
	// Image is the user's vmexit.flat, measured beside the twin; nil for none.
	Image *Image
	// Progress, which may be nil, is told after each row; calls do not overlap.
	Progress func(done, all int)
}

// ErrNoRows is returned by Run if nothing is left to measure.
var ErrNoRows = errors.New("no row")

// Run measures rows in parallel and judges them, in the order of Rows. When ctx
// ends it returns ErrStopped.
func Run(ctx context.Context, o Options) ([]Result, error) {
	results, profs, err := plan(o.Profile, o.Only)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%w with %q in its id", ErrNoRows, o.Only)
	}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // guards done, first
		done  int
		first error
	)
	work := make(chan int)
	stop := func() bool { return ctx.Err() != nil }
	for range max(1, o.Workers) {
		wg.Go(func() {
			for i := range work {
				err := results[i].measure(profs[results[i].Profile], &o, stop)
				mu.Lock()
				if done++; first == nil {
					first = err
				}
				if o.Progress != nil {
					o.Progress(done, len(results))
				}
				mu.Unlock()
			}
		})
	}
	for i := range results {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ErrStopped
	}
	return results, first
}

// plan is the rows to measure, unmeasured, and their profiles by name.
func plan(profile, only string) ([]Result, map[string]*model.Profile, error) {
	rows := Rows()
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Profile == profile }) {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Profile != profile })
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !strings.Contains(r.ID, only) })
	profs := map[string]*model.Profile{}
	var out []Result
	for _, r := range rows {
		name := r.Profile
		if profile != "" {
			name = profile
		}
		p := profs[name]
		if p == nil {
			var err error
			if p, err = model.LoadProfile(name); err != nil {
				return nil, nil, err
			}
			profs[name] = p
		}
		calibrates := slices.ContainsFunc(p.Calibrates, func(c model.RowRef) bool { return c.ID == r.ID })
		out = append(out, Result{Row: r, Profile: name, Calibrated: calibrates})
	}
	return out, profs, nil
}

// measure fills in what the model makes of the row.
func (r *Result) measure(prof *model.Profile, o *Options, stop func() bool) error {
	for side := range r.Ours {
		if side == 0 && r.Row.Form == Level {
			continue
		}
		f, err := Measure(&r.Row, side, prof, o.Size, stop)
		if err != nil {
			return err
		}
		r.Ours[side] = f
	}
	r.judge()
	if o.Image == nil || r.Row.Kind != VMExit {
		return nil
	}
	scores, err := o.Image.measure(&r.Row, prof, o.Size, stop)
	if err != nil {
		return fmt.Errorf("row %s: %w", r.Row.ID, err)
	}
	r.Image = scores
	return nil
}
