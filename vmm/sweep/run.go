package sweep

import (
	"context"
	"sync"
)

// Progress is told after each point, from one goroutine at a time.
type Progress func(done, total int)

// Go measures the points of g that done lacks, jobs at a time, and returns all
// points in the order of the grid. keep is called with each new one, from one
// goroutine at a time, before Progress. When ctx ends, running points are given
// up; the points so far are returned with its error, those not measured nil.
func Go(ctx context.Context, g Grid, r *Run, jobs int, done map[string]*Point, keep func(*Point) error,
	progress Progress) ([]*Point, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	points := make([]*Point, g.Size())
	var todo []int
	for i := range points {
		if points[i] = done[g.Name(g.At(i))]; points[i] == nil {
			todo = append(todo, i)
		}
	}
	c := &collector{points: points, keep: keep, progress: progress, done: len(points) - len(todo)}
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(max(1, jobs), max(1, len(todo))) {
		wg.Go(func() {
			for i := range work {
				p, err := r.point(g, i, func() bool { return ctx.Err() != nil })
				if err == nil && p != nil {
					err = c.take(i, p)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, i := range todo {
		select {
		case work <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return points, context.Cause(ctx)
	}
	return points, nil
}

// collector takes points from several goroutines.
type collector struct {
	mu       sync.Mutex
	points   []*Point // guarded by mu
	done     int      // guarded by mu
	keep     func(*Point) error
	progress Progress
}

func (c *collector) take(i int, p *Point) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.points[i] = p
	c.done++
	if c.keep != nil {
		if err := c.keep(p); err != nil {
			return err
		}
	}
	if c.progress != nil {
		c.progress(c.done, len(c.points))
	}
	return nil
}
