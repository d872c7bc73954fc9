package bench

import (
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// ErrStopped is returned by a measurement that was told to give up.
var ErrStopped = errors.New("stopped")

// runVMExit is one subtest of vmexit: the score of the last round, rounded down
// to whole cycles as the tool prints it.
func runVMExit(r *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error) {
	img, err := builtin("vmexit", fmt.Sprintf("test=%s distance=%d", r.Subtest, sz.Goal), prof)
	if err != nil {
		return Figure{}, err
	}
	res, p, err := collect(m, prof, img, seed, stop)
	if err != nil {
		return Figure{}, err
	}
	score, _, _, ok := res.Score()
	if !ok {
		return Figure{}, errors.New("no round of vmexit was finished")
	}
	n := float64(0)
	for _, s := range res.Samples {
		n += float64(s.Due)
	}
	f := p.figure(float64(score), n, m, prof)
	last := res.Samples[len(res.Samples)-1]
	f.Exact = float64(last.Seen) / float64(last.Due)
	return f, nil
}

// runLatency is tscdeadline_latency: the mean of the recorded latencies.
func runLatency(r *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error) {
	mode := "spin"
	if r.Halt {
		mode = "hlt"
	}
	return late("latency", fmt.Sprintf("mode=%s count=%d", mode, sz.Samples), m, prof, seed, stop)
}

// cyclicInterval is cyclictest's default interval in ns.
const cyclicInterval clock.Nanos = 1_000_000

// runCyclic is cyclictest: the mean wake-up latency in ns. The handler programs
// one more event before the thread goes on, as hrtimer_interrupt does.
func runCyclic(r *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error) {
	mode := "poll"
	if r.Halt {
		mode = "hlt"
	}
	d, _ := prof.Hz.ToCycles(cyclicInterval)
	f, err := late("cyclic", fmt.Sprintf("mode=%s count=%d distance=%d rearms=1", mode, sz.Wakeups, d), m, prof, seed, stop)
	f.Value = f.Value * 1e9 / float64(prof.Hz)
	return f, err
}

// late runs a guest that records latencies and returns the mean of the second half
// in cycles: the first half is where tuning still moves, which in the originals'
// much longer runs carries no weight.
func late(name, params string, m *Machine, prof *model.Profile, seed uint64, stop func() bool) (Figure, error) {
	img, err := builtin(name, params, prof)
	if err != nil {
		return Figure{}, err
	}
	res, p, err := collect(m, prof, img, seed, stop)
	if err != nil {
		return Figure{}, err
	}
	var sum float64
	tail := res.Samples[len(res.Samples)/2:]
	for _, s := range tail {
		sum += float64(s.Lateness())
	}
	return p.figure(sum/float64(max(1, len(tail))), float64(len(res.Samples)), m, prof), nil
}

// runAfterWait is the time from the end of the wait to the first TSC read in the
// guest: up to the entry, and the read itself.
func runAfterWait(_ *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error) {
	p, err := waits(m, prof, sz, seed, stop)
	if err != nil {
		return Figure{}, err
	}
	return p.figure(p.afterWait(m, prof)+float64(prof.Guest["rdtsc"]), float64(sz.Samples), m, prof), nil
}

// runGap is the time from the end of the wait to the world switch: VM-entry
// itself does not count.
func runGap(_ *Row, m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (Figure, error) {
	p, err := waits(m, prof, sz, seed, stop)
	if err != nil {
		return Figure{}, err
	}
	return p.figure(p.afterWait(m, prof)-prof.Phases[trace.PhaseEntry].Mean(), float64(sz.Samples), m, prof), nil
}

// afterWait is the mean time from the end of the wait to the guest. Without
// TuneFirst the wait's function tunes after waiting; it ends only then.
func (p *probe) afterWait(m *Machine, prof *model.Profile) float64 {
	t := float64(p.gap) / float64(p.entries)
	if !m.Rules.LAPIC.TuneFirst {
		t -= prof.Phases[trace.PhaseWaitCheck].Mean()
	}
	return t
}

// waits runs timers that are waited for.
func waits(m *Machine, prof *model.Profile, sz Size, seed uint64, stop func() bool) (*probe, error) {
	img, err := builtin("latency", fmt.Sprintf("mode=spin count=%d", sz.Samples), prof)
	if err != nil {
		return nil, err
	}
	_, p, err := collect(m, prof, img, seed, stop)
	if err != nil {
		return nil, err
	}
	if p.entries == 0 {
		return nil, errors.New("no deadline was waited for")
	}
	return p, nil
}

func builtin(name, params string, prof *model.Profile) (*guest.Image, error) {
	p, err := guest.ParseParams(name, params, prof.Hz)
	if err != nil {
		return nil, err
	}
	return guest.Builtin(name, p)
}

// collect runs a built-in guest and reads its results.
func collect(m *Machine, prof *model.Profile, img *guest.Image, seed uint64, stop func() bool) (*guest.Results, *probe, error) {
	p := &probe{}
	eng, err := execute(m, prof, img, seed, p, stop)
	if err != nil {
		return nil, nil, err
	}
	defer eng.Close()
	res, err := guest.ReadResults(eng.Memory())
	return res, p, err
}
