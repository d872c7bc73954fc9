package session

import (
	"errors"
	"fmt"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// refuse says why a command is not possible, as far as the last frame tells.
func (l *Live) refuse(c *vmm.Command) error {
	ended := l.frame.Status.Run == vmm.Ended
	if l.frame.Status.Past && c.Verb == vmm.DoKnob {
		return errPast
	}
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
		if l.frame.Header.Provenance == trace.Measured && !l.frame.Status.Past {
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

// obey carries out a command.
func (l *Live) obey(c vmm.Command) {
	l.notice = ""
	switch {
	case l.past != nil && forPast(c.Verb):
		l.inPast(c)
	case l.past == nil && l.r.seen != nil && goesBack(c.Verb):
		l.lookBack(c)
	case l.past != nil && c.Verb == vmm.DoKnob:
		l.notice = errPast.Error()
	default:
		l.carryOut(c)
	}
	l.publish()
}

// goesBack reports whether a command leads to what has been passed.
func goesBack(v vmm.Verb) bool {
	return v == vmm.DoBackExit || v == vmm.DoBackDeadline || v == vmm.DoBackTo || v == vmm.DoSeek
}

// carryOut carries out a command on the run.
func (l *Live) carryOut(c vmm.Command) {
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
	if l.past != nil {
		if err := l.past.Do(vmm.Command{Verb: vmm.DoBreak, Text: text}); err != nil {
			l.notice = err.Error()
		}
	}
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
		l.notice = stoppedAt(text, l.r.hitAt)
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
