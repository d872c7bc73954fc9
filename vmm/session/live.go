package session

import (
	"errors"
	"sync"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/crash"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Wall is the wall clock, which paces a virtual run.
type Wall interface {
	Now() time.Time
	// After is time.After.
	After(time.Duration) <-chan time.Time
}

// Live is a run in its own goroutine, behind vmm.Session.
type Live struct {
	cmds chan vmm.Command
	wish chan struct{} // a new frame is wanted
	quit chan struct{}
	done chan struct{}
	// failed is closed when a bug has ended the loop.
	failed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	frame  vmm.Frame   // guarded by mu: the last frame published
	asked  vmm.Command // guarded by mu: a host-wide turn that wants confirming
	err    error       // guarded by mu: of Close
	turns  []Made      // guarded by mu: of the last frame

	// The rest belongs to the goroutine.
	r       *Runner
	wall    Wall
	running bool
	speed   float64
	pace    pace
	rec     *Recorder
	notice  string
	meter   meter
	// breakText is the break condition; with toGoal the runner has goal instead,
	// for one stop.
	breakText, goal string
	toGoal          bool
	past            *Replay // what is shown instead of the run, nil if it is shown itself
	marks           Marks   // bookmarks in the past
}

// slice is how long the model runs between two looks at the commands. A look
// costs a guest in real time an exit of each vCPU: realSlice is longer.
const (
	slice     = 3 * time.Millisecond
	realSlice = 30 * time.Millisecond
)

// Options of a live run.
type Options struct {
	Speed  float64 // guest time per wall time, 0: as fast as possible
	Paused bool
	Record string // path, empty: not recorded
	// Marks is the file of a recording's bookmarks, see MarksPath; with an empty
	// one they are kept for the session only.
	Marks string
}

// NewLive starts a run.
func NewLive(r *Runner, wall Wall, o Options) (*Live, error) {
	l, err := newLive(r, wall, o)
	if err == nil {
		go l.loop()
	}
	return l, err
}

// newLive makes a Live whose loop does not run yet.
func newLive(r *Runner, wall Wall, o Options) (*Live, error) {
	l := &Live{cmds: make(chan vmm.Command, 64), wish: make(chan struct{}, 1), quit: make(chan struct{}),
		done: make(chan struct{}), failed: make(chan struct{}), r: r, wall: wall, running: !o.Paused, speed: o.Speed}
	if l.realTime() {
		l.speed = 0
	}
	if n, ok := r.eng.(interface{ Notice() string }); ok {
		l.notice = n.Notice()
	}
	if o.Record != "" {
		if err := l.record(o.Record); err != nil {
			return nil, err
		}
	}
	l.pace.restart(r.eng.Now(), wall.Now())
	l.meter.restart(r.eng.Now(), wall.Now())
	l.publish()
	return l, nil
}

// realTime reports whether the guest's time is the wall clock's.
func (l *Live) realTime() bool { return l.r.header.Provenance == trace.Measured }

// exact asks an engine in real time to stop to the step; see vmm.Exacter.
func (l *Live) exact(on bool) {
	if x, ok := l.r.eng.(vmm.Exacter); ok {
		x.Exact(on)
	}
}

// Do implements vmm.Session.
func (l *Live) Do(c vmm.Command) error {
	select {
	case <-l.done:
		return errors.New("the session is closed")
	default:
	}
	l.mu.Lock()
	err := l.refuse(&c)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case l.cmds <- c:
		return nil
	default:
		return errors.New("too many commands at once: the last one was dropped")
	}
}

// Close implements vmm.Session.
func (l *Live) Close() error {
	l.once.Do(func() { close(l.quit) })
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Failed is closed when the session has ended by itself, because of a bug. Close tells of
// it.
func (l *Live) Failed() <-chan struct{} { return l.failed }

// loop is the goroutine that owns the runner.
func (l *Live) loop() {
	defer close(l.done)
	var bug error
	defer func() { l.finish(bug) }()
	defer crash.Catch(&bug)
	for {
		if !l.wait() {
			return
		}
		if l.running {
			l.advance()
		}
		if l.meter.update(l.r.eng.Now(), l.wall.Now()) && l.rec != nil {
			l.rec.Flush()
		}
		select {
		case <-l.wish:
			l.publish()
		default:
		}
	}
}

// wait takes the commands that are there, and sleeps while there is nothing to
// do. It returns false when the session is over.
func (l *Live) wait() bool {
	for {
		var timer <-chan time.Time
		if l.running {
			d := l.pace.ahead(l.r.eng.Now(), l.wall.Now(), l.speed, l.r.header.Hz)
			if d <= 0 {
				select {
				case <-l.quit:
					return false
				case c := <-l.cmds:
					l.obey(c)
					continue
				default:
					return true
				}
			}
			timer = l.wall.After(d)
		}
		select {
		case <-l.quit:
			return false
		case c := <-l.cmds:
			l.obey(c)
		case <-timer:
		case <-l.wish:
			l.publish()
		}
	}
}

// advance runs the guest for a slice of wall time, and not beyond its pace.
func (l *Live) advance() {
	until := l.pace.until(l.wall.Now(), l.speed, l.r.header.Hz)
	d := slice
	if l.realTime() {
		d = realSlice
	}
	end := l.wall.Now().Add(d)
	n := 0
	reached, err := l.r.RunTo(until, func() bool {
		n++
		return n&63 == 0 && l.wall.Now().After(end)
	})
	if err != nil {
		l.notice = err.Error()
	}
	if reached || err != nil {
		l.running = false
		l.stopped()
		l.publish()
	}
}

// finish ends the run. bug is why it could not go on, nil if the user left it.
func (l *Live) finish(bug error) {
	if bug != nil {
		close(l.failed)
	}
	err := errors.Join(bug, l.stopRecord(), l.r.eng.Close())
	if l.past != nil {
		err = errors.Join(err, l.past.Close())
	}
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
}
