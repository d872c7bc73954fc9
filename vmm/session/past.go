package session

import (
	"errors"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// A run that cannot be repeated goes back in what it has shown: Live puts a
// Replay of that in front. The run itself is paused meanwhile; it is in front
// again once the end of the recording, its present, is reached.

// pastVerbs are the commands that a view into the past takes itself.
var pastVerbs = [...]bool{vmm.DoRun: true, vmm.DoPause: true, vmm.DoStepExit: true, vmm.DoStepDeadline: true,
	vmm.DoBackExit: true, vmm.DoBackDeadline: true, vmm.DoSeek: true, vmm.DoSpeed: true, vmm.DoRunTo: true, vmm.DoBackTo: true,
	vmm.DoMark: true}

func forPast(v vmm.Verb) bool { return int(v) < len(pastVerbs) && pastVerbs[v] }

// pastSpeed is that of real time: the recorded one.
const pastSpeed = 1

// lookBack puts a view of the past in front, at its end, and gives it the
// command.
func (l *Live) lookBack(c vmm.Command) {
	l.running = false
	l.r.NoGoal()
	p, err := l.openPast()
	if err != nil {
		l.notice = err.Error()
		return
	}
	l.past = p
	l.inPast(c)
}

func (l *Live) openPast() (*Replay, error) {
	rec, err := l.r.seen.open()
	if err != nil {
		return nil, err
	}
	if w := rec.Warning(); w != "" {
		panic("BUG: what was kept of the run cannot be read: " + w)
	}
	p, err := NewReplay("", rec, l.wall, Options{Speed: pastSpeed, Paused: true})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.r.st.CopyTo(&p.st)
	p.marks = &l.marks
	p.start = "this is the start of the run"
	if rec.First() > 0 {
		p.start = "what happened before this is kept no more"
	}
	if l.breakText != "" {
		return p, p.setBreak(l.breakText)
	}
	return p, nil
}

// inPast gives a command to the view of the past. What the past does not hold is
// looked for in the run itself.
func (l *Live) inPast(c vmm.Command) {
	err := l.past.Do(c)
	if err != nil {
		l.notice = err.Error()
	}
	if l.present(); err != nil && c.Verb == vmm.DoRunTo && l.past == nil && !l.r.Done() {
		l.notice = ""
		l.runTo(c.Text) // it is not in the past: on with the guest
	}
}

// present puts the run itself in front again if the view of the past has reached
// its end. A view that was playing plays on: the guest runs.
func (l *Live) present() {
	p := l.past
	p.mu.Lock()
	end, playing, notice := p.st.Events >= p.rec.Events(), p.playedOut, p.notice
	p.mu.Unlock()
	if !end {
		return
	}
	l.past = nil
	_ = p.Close() // it only waits
	if l.notice == "" {
		l.notice = notice
	}
	if playing {
		l.notice = ""
		l.exact(false)
		l.resume()
	} else if l.notice == "" {
		l.notice = "this is the present: to go on runs the guest"
	}
}

// framePast fills f with the view of the past.
func (l *Live) framePast(f *vmm.Frame) {
	l.past.Frame(f)
	s := &f.Status
	if w, ok := l.r.eng.(vmm.Witness); ok {
		f.Known = w.Figures().Past()
	}
	s.Past, s.File, s.Branch, s.End, s.EndCode = true, "", 0, trace.BadEnd, 0
	if s.Run == vmm.Ended {
		s.Run = vmm.Paused
	}
	if l.notice != "" {
		s.Notice = l.notice
	}
	if l.rec != nil {
		s.Recording, s.RecBytes = l.rec.path, l.rec.n
	}
	for i := range f.Knobs {
		f.Knobs[i].Why = errPast.Error()
	}
}

var errPast = errors.New("the past of a run in real time cannot be changed; at the end of the time line is the present")
