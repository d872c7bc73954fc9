package session

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/trace/query"
	"ticktrap/vmm"
)

// Wall is the wall clock, which paces a virtual run.
type Wall interface {
	Now() time.Time
	// After is time.After.
	After(time.Duration) <-chan time.Time
}

// Live is a run in its own goroutine, behind vmm.Session.
type Live struct {
	cmds  chan vmm.Command
	wish  chan struct{} // a new frame is wanted
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	frame vmm.Frame   // guarded by mu: the last frame published
	asked vmm.Command // guarded by mu: a host-wide turn that wants confirming
	err   error       // guarded by mu: of Close

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
	l := &Live{cmds: make(chan vmm.Command, 64), wish: make(chan struct{}, 1), quit: make(chan struct{}),
		done: make(chan struct{}), r: r, wall: wall, running: !o.Paused, speed: o.Speed}
	if l.realTime() {
		l.speed = 0
	}
	if o.Record != "" {
		if err := l.record(o.Record); err != nil {
			return nil, err
		}
	}
	l.pace.restart(r.eng.Now(), wall.Now())
	l.meter.restart(r.eng.Now(), wall.Now())
	l.publish()
	go l.loop()
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

// Frame implements vmm.Session.
func (l *Live) Frame(f *vmm.Frame) {
	l.mu.Lock()
	copyFrame(f, &l.frame)
	l.mu.Unlock()
	select {
	case l.wish <- struct{}{}:
	default:
	}
}

func copyFrame(dst, src *vmm.Frame) {
	dst.Header, dst.Status = src.Header, src.Status
	src.State.CopyTo(&dst.State)
	dst.Knobs = append(dst.Knobs[:0], src.Knobs...)
	dst.CPUs = append(dst.CPUs[:0], src.CPUs...)
	if dst.OtherName != src.OtherName {
		src.Other.CopyTo(&dst.Other)
		dst.OtherName = src.OtherName
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

// refuse says why a command is not possible, as far as the last frame tells.
func (l *Live) refuse(c *vmm.Command) error {
	ended := l.frame.Status.Run == vmm.Ended
	switch c.Verb {
	case vmm.DoRun, vmm.DoStepExit, vmm.DoStepDeadline:
		if ended {
			return errors.New("the guest has ended")
		}
	case vmm.DoBackExit, vmm.DoBackDeadline:
		if !l.frame.Status.CanBack {
			return errors.New("stepping back is not possible in this run")
		}
	case vmm.DoKnob:
		for _, k := range l.frame.Knobs {
			if k.Knob != c.Knob {
				continue
			}
			switch k.Tag {
			case vmm.TagLive, vmm.TagRebuild:
			case vmm.TagHostWide:
				if l.asked.Knob != c.Knob || l.asked.Value != c.Value {
					l.asked = *c
					return fmt.Errorf("%s is host-wide: %s. Turn it once more to go ahead", k.Knob, k.Why)
				}
				l.asked = vmm.Command{}
			default:
				return fmt.Errorf("%s is %s: %s", k.Knob, vmm.TagNames[k.Tag], k.Why)
			}
		}
		k := vmm.DefaultKnobs()
		if err := k.Set(c.Knob, c.Value); err != nil {
			return err
		}
	case vmm.DoSpeed:
		if l.frame.Header.Provenance == trace.Measured {
			return errors.New("the guest runs in real time: its speed cannot be set")
		}
		if c.Speed < 0 || c.Speed > 1e6 {
			return fmt.Errorf("speed %g: want 0 (as fast as possible) to 1000000", c.Speed)
		}
	case vmm.DoRecord:
		if c.Path != "" && l.frame.Status.Recording != "" {
			return fmt.Errorf("already recording to %s", l.frame.Status.Recording)
		}
		if c.Path == "" && l.frame.Status.Recording == "" {
			return errors.New("nothing is being recorded")
		}
	case vmm.DoBreak, vmm.DoRunTo, vmm.DoBackTo:
		if c.Text == "" && c.Verb == vmm.DoBreak {
			return nil
		}
		if c.Verb == vmm.DoBackTo && !l.frame.Status.CanBack {
			return errors.New("going back is not possible in this run")
		}
		_, err := query.ParseCondition(c.Text)
		return err
	case vmm.DoSeek:
		if !l.frame.Status.CanBack {
			return errors.New("going to another time is not possible in this run")
		}
	}
	return nil
}

// Close implements vmm.Session.
func (l *Live) Close() error {
	l.once.Do(func() { close(l.quit) })
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// loop is the goroutine that owns the runner.
func (l *Live) loop() {
	defer close(l.done)
	defer l.finish()
	for {
		if !l.wait() {
			return
		}
		if l.running {
			l.advance()
		}
		l.meter.update(l.r.eng.Now(), l.wall.Now())
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

// obey carries out a command.
func (l *Live) obey(c vmm.Command) {
	l.notice = ""
	switch c.Verb {
	case vmm.DoRun:
		l.r.NoGoal()
		l.exact(false)
		l.resume()
	case vmm.DoPause:
		l.r.NoGoal()
		l.running = false
	case vmm.DoStepExit:
		l.r.StepExits(c.N)
		l.exact(true)
		l.step()
	case vmm.DoStepDeadline:
		l.r.StepDeadlines(c.N)
		l.exact(true)
		l.step()
	case vmm.DoBackExit:
		l.back(l.r.BackExits(c.N))
	case vmm.DoBackDeadline:
		l.back(l.r.BackDeadlines(c.N))
	case vmm.DoBreak:
		l.breakAt(c.Text)
	case vmm.DoRunTo:
		l.runTo(c.Text)
	case vmm.DoBackTo:
		l.backTo(c.Text)
	case vmm.DoSeek:
		l.back(l.r.Seek(c.At))
	case vmm.DoKnob:
		l.turn(c.Knob, c.Value)
	case vmm.DoSpeed:
		l.speed = c.Speed
		l.pace.restart(l.r.eng.Now(), l.wall.Now())
		l.meter.restart(l.r.eng.Now(), l.wall.Now())
	case vmm.DoRecord:
		l.toggleRecord(c.Path)
	case vmm.DoMark:
		l.r.Mark(c.Text)
	}
	l.publish()
}

// turn turns a knob. If that begins a new branch the recording ends: its file
// holds the old one.
func (l *Live) turn(k trace.Knob, v uint64) {
	branched, err := l.r.SetKnob(k, v)
	switch {
	case err != nil:
		l.notice = err.Error()
	case branched && l.rec != nil:
		path := l.rec.path
		l.notice = "a new branch begins here; the recording " + path + " ends with the old one"
		if err := l.stopRecord(); err != nil {
			l.notice = err.Error()
		}
	case branched:
		l.notice = "a new branch of the run begins here"
	}
}

// breakAt sets or removes the break condition; refuse has checked it.
func (l *Live) breakAt(text string) {
	l.breakText = text
	l.toGoal = false
	l.arm(text)
}

// arm gives the runner the condition to stop at.
func (l *Live) arm(text string) {
	if text == "" {
		l.r.BreakAt(nil)
		return
	}
	c, err := query.ParseCondition(text)
	if err != nil {
		l.notice = err.Error()
		return
	}
	l.r.BreakAt(c)
}

// runTo runs until a condition holds once.
func (l *Live) runTo(text string) {
	l.arm(text)
	l.toGoal = true
	l.goal = text
	l.r.NoGoal()
	l.step()
}

// backTo goes back to the last moment at which a condition held.
func (l *Live) backTo(text string) {
	c, err := query.ParseCondition(text)
	if err != nil {
		l.notice = err.Error()
		return
	}
	found, err := l.r.BackTo(c)
	l.back(err)
	if err == nil && !found {
		l.notice = "nowhere before: " + text
	}
}

// stopped ends a stretch that ran into a condition.
func (l *Live) stopped() {
	if l.r.Hit() {
		text := l.breakText
		if l.toGoal {
			text = l.goal
		}
		l.notice = "stopped at " + text
	}
	if l.toGoal {
		l.toGoal = false
		l.arm(l.breakText)
	}
}

// back goes back and stays there.
func (l *Live) back(err error) {
	l.running = false
	if err != nil {
		l.notice = err.Error()
	}
}

func (l *Live) resume() {
	l.running = !l.r.Done()
	l.pace.restart(l.r.eng.Now(), l.wall.Now())
	l.meter.restart(l.r.eng.Now(), l.wall.Now())
}

// step runs to the goal at full speed.
func (l *Live) step() {
	l.running = false
	end := l.wall.Now().Add(100 * time.Millisecond)
	reached, err := l.r.RunTo(clock.Never, func() bool { return l.wall.Now().After(end) })
	switch {
	case err != nil:
		l.notice = err.Error()
	case !reached:
		l.resume() // a long way: go on in the background
	default:
		l.stopped()
	}
}

// publish makes a new frame.
func (l *Live) publish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.frame
	f.Header = l.r.header
	l.r.st.CopyTo(&f.State)
	f.CPUs = l.r.eng.CPUs(f.CPUs[:0])
	f.Knobs = append(f.Knobs[:0], l.r.eng.Knobs()...)
	f.Status = l.status()
	if b := l.r.Other(); b != nil {
		if f.OtherName != b.Name {
			b.State.CopyTo(&f.Other)
		}
		f.OtherName = b.Name
	}
}

func (l *Live) status() vmm.Status {
	s := vmm.Status{Run: vmm.Paused, Now: l.r.eng.Now(), Speed: l.speed, Rate: l.meter.rate(l.r.header.Hz),
		CanBack: l.r.CanBack(), Break: l.breakText, Notice: l.notice}
	if l.running {
		s.Run = vmm.Running
	} else {
		s.Rate = 0
	}
	if how, code, ended := l.r.eng.Ended(); ended {
		s.Run, s.End, s.EndCode = vmm.Ended, how, code
	}
	s.Branch, s.Replaying, s.Head = l.r.Where()
	if l.rec != nil {
		s.Recording, s.RecBytes = l.rec.path, l.rec.n
	}
	return s
}

func (l *Live) record(path string) error {
	rec, err := NewRecorder(path, l.r)
	if err == nil {
		l.rec = rec
	}
	return err
}

func (l *Live) toggleRecord(path string) {
	if path != "" {
		if err := l.record(path); err != nil {
			l.notice = err.Error()
			return
		}
		l.notice = "recording to " + path
		return
	}
	done := l.rec.path
	if err := l.stopRecord(); err != nil {
		l.notice = err.Error()
		return
	}
	l.notice = "recorded " + done
}

func (l *Live) stopRecord() error {
	if l.rec == nil {
		return nil
	}
	rec := l.rec
	l.rec = nil
	return rec.Close()
}

// finish ends the run.
func (l *Live) finish() {
	err := errors.Join(l.stopRecord(), l.r.eng.Close())
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
}
