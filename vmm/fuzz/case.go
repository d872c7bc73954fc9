package fuzz

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/crash"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// Turn is a turn of a knob, at the start or once so many deadlines have been handled.
type Turn struct {
	At   uint64 // 0: at the start
	Text string // NAME=VALUE, as on the command line
}

// Case is a guest with everything that its run depends on.
type Case struct {
	Program      *Program
	VCPUs, PCPUs int
	Seed         uint64 // of the model's noise
	Turns        []Turn
}

// settings are the turns that are tried: what decides how a timer is delivered, and the
// rules of other kernels.
var settings = []string{"apicv=off", "apicv=on", "posted-timer=on", "posted-timer=off", "preemption-timer=off", "preemption-timer=on",
	"timer-advance=off", "timer-advance=adaptive", "timer-advance=2000ns", "timer-advance=9000ns", "vmentry-advance=400ns",
	"fastpath=off", "fastpath=5.8", "fastpath=5.15", "fastpath=6.18", "kick=ka", "kick=kb", "kick=kd", "exits-disabled=mwait",
	"exits-disabled=hlt", "exits-disabled=pause", "exits-disabled=mwait,hlt,pause", "halt-poll=0ns", "halt-poll=200000ns",
	"wait-placement=early", "running-shortcut=off", "running-shortcut=always"}

// New makes case number n of a seed, with a guest of gen. Most have few vCPUs.
func New(gen Generator, seed, n uint64) *Case {
	r := rand.New(rand.NewPCG(seed, n))
	c := &Case{Program: gen(r), VCPUs: 1, Seed: 1 + r.Uint64N(1<<32)}
	switch r.IntN(8) {
	case 0:
		c.VCPUs = 1 + r.IntN(vmm.MaxVCPUs)
	case 1, 2:
		c.VCPUs = 2 + r.IntN(3)
	}
	c.PCPUs = 1 + r.IntN(c.VCPUs)
	for range r.IntN(4) {
		c.Turns = append(c.Turns, Turn{At: uint64(r.IntN(2) * r.IntN(20)), Text: settings[r.IntN(len(settings))]})
	}
	return c
}

// Command is the command line that runs the case, with its image in file.
func (c *Case) Command(file string, time string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "ticktrap run --headless --engine model --vcpus %d --pcpus %d --mem 16 --seed %d --for %s", c.VCPUs, c.PCPUs, c.Seed, time)
	for _, t := range c.Turns {
		if t.At == 0 {
			fmt.Fprintf(&s, " --knob %s", t.Text)
		} else {
			fmt.Fprintf(&s, " --at %d:%s", t.At, t.Text)
		}
	}
	return s.String() + " " + file
}

// start are the knobs at the start, and the turns that come later.
func (c *Case) start() (k vmm.Knobs, later []session.Turn, err error) {
	k = vmm.DefaultKnobs()
	for _, t := range c.Turns {
		name, value, _ := strings.Cut(t.Text, "=")
		n, v, err := trace.ParseKnob(name, value)
		if err == nil && t.At == 0 {
			err = k.Set(n, v)
		} else if err == nil {
			later = append(later, session.Turn{At: t.At, Knob: n, Value: v})
		}
		if err != nil {
			return k, nil, fmt.Errorf("%s: %w", t.Text, err)
		}
	}
	return k, later, nil
}

// way is one of the ways to run a case, which must all come to the same.
type way int

const (
	straight way = iota
	stepped      // with steps back on the way
	noSkip       // instruction by instruction
)

var wayNames = [...]string{"straight", "stepped back", "without skipping"}

// outcome is what a run came to.
type outcome struct {
	events uint64 // hash of them
	print  uint64 // fingerprint of the engine
	n      trace.Seq
	record []byte // the recording
	header trace.Header
	state  trace.State
	stuck  bool // it took too long
}

// patience is how many turns of the model a run may take beyond all reason.
const patience = 20_000_000

// run runs the case for so much guest time. stop, which may be nil, is asked after every
// turn; a panic is an error.
func (c *Case) run(h way, until clock.TSC, stop func() bool) (o *outcome, err error) {
	defer crash.Catch(&err)
	make, turns, err := c.factory(h == noSkip)
	if err != nil {
		return nil, err
	}
	var eng *model.Engine
	r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) {
		e, err := make(s)
		if err == nil {
			eng = e.(*model.Engine)
		}
		return e, err
	})
	if err != nil {
		return nil, err
	}
	defer r.Engine().Close()
	r.SetLimits(session.Limits{TSC: until})
	if h == stepped {
		r.KeepHistory()
	}
	o = &outcome{header: *r.Header()}
	sum := fnv.New64a()
	done := func() error { return nil }
	if h != stepped { // steps back are no part of a recording
		r.Tee(trace.SinkFunc(func(e trace.Event) { fmt.Fprintf(sum, "%v", e) }))
		if done, err = record(r, &o.record); err != nil {
			return nil, err
		}
	}
	if err := r.Schedule(turns); err != nil {
		return nil, err
	}
	n := 0
	asked := func() bool {
		n++
		o.stuck = o.stuck || n > patience
		return o.stuck || stop != nil && stop()
	}
	if h == stepped {
		if err := stepAround(r, until, asked); err != nil {
			return nil, err
		}
	}
	if _, err := r.RunTo(clock.Never, asked); err != nil {
		return nil, err
	}
	o.print, o.n = eng.Fingerprint(), r.State().Events
	r.State().CopyTo(&o.state)
	r.Engine().Stop(trace.EndLimit)
	o.events = sum.Sum64()
	return o, done()
}

// record begins a recording of r; done ends it and puts it into out.
func record(r *session.Runner, out *[]byte) (done func() error, err error) {
	dir, err := os.MkdirTemp("", "ticktrap-fuzz")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "run.tt")
	rec, err := session.NewRecorder(file, r)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return func() error {
		err := rec.Close()
		if err == nil {
			*out, err = os.ReadFile(file)
		}
		return errors.Join(err, os.RemoveAll(dir))
	}, nil
}

// stepAround goes forth and back a few times on the way to until.
func stepAround(r *session.Runner, until clock.TSC, stop func() bool) error {
	for i := range clock.TSC(3) {
		if _, err := r.RunTo(until*(i+1)/4, stop); err != nil {
			return err
		}
		r.StepExits(3)
		_, err := r.RunTo(until, stop)
		r.NoGoal()
		if err := errors.Join(err, r.BackExits(5+int(i))); err != nil {
			return err
		}
		if i == 1 {
			if err := r.BackDeadlines(2); err != nil {
				return err
			}
		}
	}
	return nil
}

// Record is the recording of a straight run.
func (c *Case) Record(until clock.TSC) ([]byte, error) {
	o, err := c.run(straight, until, nil)
	if err != nil {
		return nil, err
	}
	return o.record, nil
}

// Profile is the cost profile that cases run with: the default one of ticktrap run.
const Profile = "skylake-server"

// ram of the guests.
const ram = 16 << 20

// factory makes the engine.
func (c *Case) factory(noSkip bool) (session.Factory, []session.Turn, error) {
	knobs, turns, err := c.start()
	if err != nil {
		return nil, nil, err
	}
	img, err := guest.Load("guest.bin", c.Program.Image(), guest.Options{Format: guest.Flat})
	if err != nil {
		return nil, nil, err
	}
	prof, err := model.LoadProfile(Profile)
	if err != nil {
		return nil, nil, err
	}
	cfg := model.Config{Guest: img, VCPUs: c.VCPUs, PCPUs: c.PCPUs, RAM: ram, Seed: c.Seed, Profile: prof, Knobs: knobs,
		TestDevice: true, NoSkip: noSkip}
	return func(s trace.Sink) (vmm.Engine, error) { return model.New(cfg, s) }, turns, nil
}
