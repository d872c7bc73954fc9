package main

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/bench"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// The fit: rounds of Gauss–Newton on the logarithms of the costs.
const (
	rounds = 5
	// rowWeight is what a row's relative error counts against the logarithm of a
	// cost's change: 1 % of a row as much as a factor of e of one cost.
	rowWeight = 1e4
	// nudge is the relative step of the differences that the slopes are taken
	// from.
	nudge = 0.1
)

// size is that of the fit's measurements.
var size = bench.Size{Goal: 1 << 20, Samples: 400, Wakeups: 50, Seeds: 1}

// param is one cost that may move.
type param struct {
	name  string
	phase trace.Phase // BadPhase for a cost of guest code
	prior float64
}

func params(s *spec, base *model.Profile) ([]param, error) {
	var ps []param
	for _, n := range s.free {
		g, isGuest := strings.CutPrefix(n, "guest/")
		p := param{name: n}
		if isGuest {
			p.name, p.prior = g, float64(base.Guest[g])
		} else {
			for i, name := range trace.PhaseNames {
				if name == n {
					p.phase = trace.Phase(i)
				}
			}
			p.prior = float64(base.Phases[p.phase].Base)
		}
		if p.prior == 0 {
			return nil, fmt.Errorf("profile %s: %s has no cost to start from in %s", s.name, n, base.Name)
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// apply returns base with the costs times e^theta, rounded if whole is set. The
// jitter keeps its share of a phase.
func apply(base *model.Profile, ps []param, theta []float64) *model.Profile {
	p := *base
	p.Guest = map[string]clock.Cycles{}
	for k, v := range base.Guest {
		p.Guest[k] = v
	}
	for i, x := range ps {
		c := clock.Cycles(max(1, math.Round(x.prior*math.Exp(theta[i]))))
		if x.phase == trace.BadPhase {
			p.Guest[x.name] = c
			continue
		}
		ph := &p.Phases[x.phase]
		ph.Jitter = clock.Cycles(math.Round(float64(ph.Jitter) * float64(c) / x.prior))
		ph.Base = c
	}
	return &p
}

// residuals are the calibrating rows' relative errors.
func residuals(rows []bench.Row, p *model.Profile) ([]float64, error) {
	var out []float64
	for i := range rows {
		r := &rows[i]
		var f [2]float64
		for side := range f {
			if r.Form == bench.Level && side == 0 {
				continue
			}
			fig, err := bench.Measure(r, side, p, size, nil)
			if err != nil {
				return nil, err
			}
			f[side] = fig.Exact
		}
		switch r.Form {
		case bench.Level:
			out = append(out, f[1]/r.After-1)
		case bench.Pair:
			out = append(out, f[0]/r.Before-1, f[1]/r.After-1)
		case bench.Change:
			out = append(out, (f[1]-f[0])/r.After-1)
		}
	}
	return out, nil
}

// slopes are the derivatives of the residuals by each theta, at theta.
func slopes(rows []bench.Row, base *model.Profile, ps []param, theta, at []float64) ([][]float64, error) {
	j := make([][]float64, len(ps))
	errs := make([]error, len(ps))
	var wg sync.WaitGroup
	work := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range work {
				j[i], errs[i] = slope(rows, base, ps, theta, at, i)
			}
		})
	}
	for i := range ps {
		work <- i
	}
	close(work)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return j, nil
}

const workers = 2

func slope(rows []bench.Row, base *model.Profile, ps []param, theta, at []float64, i int) ([]float64, error) {
	t := append([]float64(nil), theta...)
	// Whole cycles only: the step is what rounding leaves of it.
	cost := func(th float64) float64 { return max(1, math.Round(ps[i].prior*math.Exp(th))) }
	t[i] = math.Log((math.Ceil(cost(theta[i])*(1+nudge)) + 1) / ps[i].prior)
	step := math.Log(cost(t[i]) / cost(theta[i]))
	r, err := residuals(rows, apply(base, ps, t))
	if err != nil {
		return nil, err
	}
	for k := range r {
		r[k] = (r[k] - at[k]) / step
	}
	return r, nil
}

// fit returns the profile of a spec.
func fit(s *spec, base *model.Profile) (*model.Profile, error) {
	ps, err := params(s, base)
	if err != nil {
		return nil, err
	}
	b := *base
	b.Name, b.Text, b.Hz = s.name, s.about, s.hz
	b.Calibrates, b.Predicts = s.calibrates, s.predicts
	var rows []bench.Row
	for _, c := range s.calibrates {
		r, ok := bench.Find(c.ID)
		if !ok || r.Profile != s.name {
			return nil, fmt.Errorf("profile %s: %q is not a row of its machine", s.name, c.ID)
		}
		rows = append(rows, r)
	}
	theta := make([]float64, len(ps))
	best, bestTheta := math.Inf(1), theta
	for range rounds {
		r, err := residuals(rows, apply(&b, ps, theta))
		if err != nil {
			return nil, err
		}
		if c := cost(r, theta); c < best {
			best, bestTheta = c, append([]float64(nil), theta...)
		}
		j, err := slopes(rows, &b, ps, theta, r)
		if err != nil {
			return nil, err
		}
		theta = step(j, r, theta)
	}
	return apply(&b, ps, bestTheta), nil
}

// cost is what the fit makes least.
func cost(r, theta []float64) (c float64) {
	for _, x := range r {
		c += rowWeight * x * x
	}
	for _, t := range theta {
		c += t * t
	}
	return c
}

// step solves the normal equations of one round and returns the next theta:
//
//	(w JᵀJ + 1) d = −(w Jᵀr + theta)
func step(j [][]float64, r, theta []float64) []float64 {
	n := len(theta)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for k := range n {
			for m := range r {
				a[i][k] += rowWeight * j[i][m] * j[k][m]
			}
		}
		a[i][i]++
		a[i][n] = -theta[i]
		for m := range r {
			a[i][n] -= rowWeight * j[i][m] * r[m]
		}
	}
	d := solve(a)
	next := make([]float64, n)
	for i := range next {
		// At most a factor of 2.7 at a time: the slopes hold near theta.
		next[i] = theta[i] + min(1, max(-1, d[i]))
	}
	return next
}

// solve is Gaussian elimination with pivoting of n equations, each with its right
// side behind it.
func solve(a [][]float64) []float64 {
	n := len(a)
	for c := range n {
		p := c
		for i := c + 1; i < n; i++ {
			if math.Abs(a[i][c]) > math.Abs(a[p][c]) {
				p = i
			}
		}
		a[c], a[p] = a[p], a[c]
		for i := c + 1; i < n; i++ {
			f := a[i][c] / a[c][c]
			for k := c; k <= n; k++ {
				a[i][k] -= f * a[c][k]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}
