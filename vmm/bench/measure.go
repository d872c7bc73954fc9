package bench

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// Size says how long measurements are.
type Size struct {
	// Goal is the length of vmexit's last round in cycles; the original's is
	// 2^30.
	Goal clock.Cycles
	// Samples is the number of latencies of tscdeadline_latency (10000 in the
	// original) and of wake-ups of cyclictest.
	Samples, Wakeups uint64
	// Seeds is over how many runs a figure is averaged: the published quarters
	// are means of four.
	Seeds uint64
}

// DefaultSize gives the scores of the original's size within 0.1 %.
var DefaultSize = Size{Goal: 1 << 21, Samples: 2000, Wakeups: 100, Seeds: 4}

// Figure is one measured side of a row.
type Figure struct {
	// Value is in the unit of the row's kind.
	Value float64
	// Exact is Value before the benchmark's rounding.
	Exact float64
	// Phases is host work by phase, cycles per iteration or deadline.
	Phases [trace.NumPhases]float64
	// WaitEnd is where the wait ends, cycles after the deadline (negative: before);
	// ToGuest what passes from there to the guest. Means over all timers that were
	// taken up at an entry; 0 if none was.
	WaitEnd, ToGuest float64
}

// probe collects what the mechanics need from a run's events.
type probe struct {
	phases  [trace.NumPhases]uint64
	wait    trace.Event // the last wait, not yet followed by an entry
	entries uint64      // entries after a wait
	gap     uint64      // cycles from the end of those waits to the guest
	end     int64       // cycles from the deadline to there
	text    []byte      // the guest's serial output
}

// Emit implements trace.Sink.
func (p *probe) Emit(e trace.Event) {
	switch e.Kind {
	case trace.KindCost:
		for _, w := range [4]uint64{e.A, e.B, e.C, e.D} {
			a, b := trace.UnpackCosts(w)
			p.phases[a.Phase] += uint64(a.Cycles)
			p.phases[b.Phase] += uint64(b.Cycles)
		}
	case trace.KindWait:
		p.wait = e
	case trace.KindEntry:
		if p.wait.Kind == trace.KindWait {
			p.entries++
			p.gap += uint64(e.TSC.Sub(p.wait.TSC)) - p.wait.B
			p.end += int64(p.wait.A) + int64(p.wait.B)
		}
		p.wait = trace.Event{}
	case trace.KindConsole:
		for i, w := range [3]uint64{e.A, e.B, e.C} {
			for j := range 8 {
				if uint64(i*8+j) < e.D {
					p.text = append(p.text, byte(w>>(8*j)))
				}
			}
		}
	}
}

// figure is a value with what the events say about n operations.
func (p *probe) figure(value, n float64, m *Machine, prof *model.Profile) Figure {
	f := Figure{Value: value, Exact: value}
	for i, c := range p.phases {
		f.Phases[i] = float64(c) / max(n, 1)
	}
	if p.entries > 0 {
		early := float64(m.Knobs.VMEntryAdvance) * float64(prof.Hz) / 1e9
		f.WaitEnd = float64(p.end)/float64(p.entries) - early
		f.ToGuest = float64(p.gap) / float64(p.entries)
	}
	return f
}

// execute runs a guest to its end.
func execute(m *Machine, prof *model.Profile, img *guest.Image, seed uint64, p trace.Sink, stop func() bool) (*model.Engine, error) {
	eng, err := model.New(model.Config{Guest: img, VCPUs: 1, RAM: ram, Seed: seed, Profile: prof, Knobs: m.Knobs,
		Kernel: m.Rules, TestDevice: true}, p)
	if err != nil {
		return nil, err
	}
	eng.Run(clock.Never-1, stop)
	how, code, ended := eng.Ended()
	switch {
	case !ended:
		return nil, ErrStopped
	case how != trace.EndExit:
		return nil, fmt.Errorf("guest %s ended by %s", img.Name, how)
	case code != 0:
		return nil, fmt.Errorf("guest %s exited with status %d", img.Name, code)
	}
	return eng, nil
}

// ram is the guest's memory: enough for the unit tests.
const ram = 32 << 20

// mechanics are the benchmarks: one run of one side.
var mechanics = [numKinds]func(r *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error){
	VMExit: runVMExit, Latency: runLatency, Cyclic: runCyclic, WaitGap: runGap, AfterWait: runAfterWait,
}

// Measure returns one side (0 before, 1 after) of a row, the mean over the seeds.
// stop, which may be nil, is asked often whether to give up with ErrStopped.
func Measure(r *Row, side int, prof *model.Profile, sz Size, stop func() bool) (Figure, error) {
	if stop == nil {
		stop = func() bool { return false }
	}
	var sum Figure
	for seed := uint64(1); seed <= sz.Seeds; seed++ {
		f, err := mechanics[r.Kind](r, &r.Machines[side], prof, sz, seed, stop)
		if err != nil {
			return Figure{}, fmt.Errorf("row %s: %w", r.ID, err)
		}
		sum.Value += f.Value
		sum.Exact += f.Exact
		sum.WaitEnd += f.WaitEnd
		sum.ToGuest += f.ToGuest
		for i := range f.Phases {
			sum.Phases[i] += f.Phases[i]
		}
	}
	n := float64(sz.Seeds)
	sum.Value /= n
	sum.Exact /= n
	sum.WaitEnd /= n
	sum.ToGuest /= n
	for i := range sum.Phases {
		sum.Phases[i] /= n
	}
	return sum, nil
}
