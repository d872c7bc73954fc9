package session

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Replay is a recording behind vmm.Session: it plays, steps both ways and seeks.
// Its methods may be called from several goroutines.
type Replay struct {
	name string
	rec  *trace.Recording
	wall Wall
	wg   sync.WaitGroup
	quit chan struct{}
	once sync.Once
	// start says why there is no going back from the start.
	start string

	mu        sync.Mutex // guards what follows
	cur       *trace.Cursor
	st        trace.State
	running   bool
	playedOut bool // it was running when it reached the end
	speed     float64
	pace      pace
	notice    string
	breakText string
	breakAt   *query.Condition
	others    []*vmm.OtherRun
	line      vmm.Timeline
	marks     *Marks
}

// timelineBuckets is how finely a timeline divides a recording.
const timelineBuckets = 512

// NewReplay opens a session on a recording, at its start and paused.
func NewReplay(name string, rec *trace.Recording, wall Wall, o Options) (*Replay, error) {
	p := &Replay{name: name, rec: rec, wall: wall, cur: rec.Cursor(), quit: make(chan struct{}), speed: o.Speed,
		notice: rec.Warning(), start: "this is the start of the recording"}
	if err := p.cur.StateAt(rec.First(), &p.st); err != nil {
		return nil, err
	}
	var err error
	if p.marks, err = LoadMarks(o.Marks); err != nil {
		p.notice = err.Error()
	}
	p.running = !o.Paused
	p.pace.restart(p.now(), wall.Now())
	p.wg.Add(1)
	go p.survey()
	return p, nil
}

// Compare adds a second recording to compare with, and the whole of this one.
func (p *Replay) Compare(name string, rec *trace.Recording) error {
	other := &vmm.OtherRun{Name: name, Header: *rec.Header()}
	if err := rec.Cursor().StateAt(rec.Events(), &other.State); err != nil {
		return err
	}
	whole := &vmm.OtherRun{Name: p.name, Header: *p.rec.Header(), Whole: true}
	if err := p.rec.Cursor().StateAt(p.rec.Events(), &whole.State); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others = []*vmm.OtherRun{other, whole}
	return nil
}

// Frame implements vmm.Session: it lets the recording play up to the moment that
// the wall clock allows.
func (p *Replay) Frame(f *vmm.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		p.play()
	}
	f.Header = *p.rec.Header()
	p.st.CopyTo(&f.State)
	f.CPUs = f.CPUs[:0]
	f.Knobs = f.Knobs[:0]
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		f.Knobs = append(f.Knobs, vmm.KnobState{Knob: k, Value: p.st.Knobs[k], Tag: vmm.TagFixed, Why: "this is a recording"})
	}
	f.Status = p.status()
	f.Known = inferences(&p.st)
	f.Others = append(f.Others[:0], p.others...)
	f.Timeline.From, f.Timeline.To, f.Timeline.Complete = p.line.From, p.line.To, p.line.Complete
	f.Timeline.Buckets = append(f.Timeline.Buckets[:0], p.line.Buckets...)
	f.Marks = append(f.Marks[:0], p.marks.List()...)
}

func (p *Replay) status() vmm.Status {
	s := vmm.Status{Run: vmm.Paused, Now: p.now(), Speed: p.speed, CanBack: true, Notice: p.notice, Break: p.breakText,
		Replaying: true, Head: p.rec.Last(), File: p.name}
	switch {
	case p.running:
		s.Run = vmm.Running
	case p.st.Events >= p.rec.Events():
		s.Run, s.End, s.EndCode = vmm.Ended, p.st.End.How, uint32(p.st.End.Code)
	}
	return s
}

// now is the position on the common line.
func (p *Replay) now() clock.TSC { return p.st.Now }

// perFrame is the most events that one frame plays: a frame must not take longer
// than a person notices.
const perFrame = 200_000

// play goes on to where the wall clock says.
func (p *Replay) play() {
	now := p.wall.Now()
	until := p.pace.until(now, p.speed, p.rec.Header().Hz)
	n := 0
	reached, err := p.forward(func(e *trace.Event) bool { n++; return e.TSC > until || n >= perFrame }, true)
	if p.speed > 0 && until.Sub(p.now()) > clock.Cycles(behind.Seconds()*p.speed*float64(p.rec.Header().Hz)) {
		p.pace.restart(p.now(), now)
	}
	if err != nil || reached {
		p.running = false
		p.playedOut = err == nil && p.st.Events >= p.rec.Events() && p.notice == ""
		p.note(err)
	}
}

func (p *Replay) note(err error) {
	if err != nil {
		p.notice = err.Error()
	}
}

// forward applies events until before says that the next one must wait, the end,
// or, with breaks, the break condition. reached is true in the latter two cases.
func (p *Replay) forward(before func(*trace.Event) bool, breaks bool) (reached bool, err error) {
	if err := p.cur.SeekSeq(p.st.Events); err != nil {
		return true, err
	}
	for {
		e, err := p.cur.Next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if before(&e) {
			return false, p.cur.SeekSeq(p.st.Events)
		}
		p.st.Apply(&e)
		if breaks && p.breakAt != nil && p.breakAt.Eval(query.MomentOf(&e, &p.st), p.rec.Header().Hz) {
			p.notice = stoppedAt(p.breakText, placeOf(&e, &p.st))
			return true, nil
		}
	}
}

// Do implements vmm.Session.
func (p *Replay) Do(c vmm.Command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notice = ""
	switch c.Verb {
	case vmm.DoRun:
		if p.st.Events >= p.rec.Events() {
			return errors.New("this is the end of the recording")
		}
		p.running = true
		p.pace.restart(p.now(), p.wall.Now())
	case vmm.DoPause:
		p.running = false
	case vmm.DoStepExit:
		return p.step(byEntries, c.N)
	case vmm.DoStepDeadline:
		return p.step(byDeadlines, c.N)
	case vmm.DoBackExit:
		return p.stepBack(byEntries, c.N)
	case vmm.DoBackDeadline:
		return p.stepBack(byDeadlines, c.N)
	case vmm.DoSeek:
		return p.seek(c.At)
	case vmm.DoSpeed:
		if c.Speed < 0 || c.Speed > 1e6 || math.IsNaN(c.Speed) {
			return fmt.Errorf("speed %g: want 0 (as fast as possible) to 1000000", c.Speed)
		}
		p.speed = c.Speed
		p.pace.restart(p.now(), p.wall.Now())
	case vmm.DoBreak:
		return p.setBreak(c.Text)
	case vmm.DoRunTo:
		return p.runTo(c.Text)
	case vmm.DoBackTo:
		return p.backTo(c.Text)
	case vmm.DoMark:
		err := p.marks.Add(p.now(), c.Text)
		if err == nil {
			p.notice = fmt.Sprintf("bookmark %s at %d", c.Text, p.now())
		}
		return err
	case vmm.DoKnob:
		return errors.New("a recording cannot be changed: knobs turn in live runs")
	default:
		return errors.New("not possible in a recording")
	}
	return nil
}

// step goes n rises of the measure forward.
func (p *Replay) step(m measure, n int) error {
	p.running = false
	goal := m(&p.st) + uint64(max(1, n))
	if p.st.Events >= p.rec.Events() {
		return errors.New("this is the end of the recording")
	}
	_, err := p.forward(func(*trace.Event) bool { return m(&p.st) >= goal }, false)
	return err
}

// stepBack goes to the n-th last moment at which the measure rose, not counting
// the present one.
func (p *Replay) stepBack(m measure, n int) error {
	p.running = false
	here, now := p.st.Events, m(&p.st)
	if here <= p.rec.First() {
		return errors.New(p.start)
	}
	if err := p.goTo(m, now); err != nil {
		return err
	}
	n = max(1, n)
	if p.st.Events >= here {
		n++
	}
	if n == 1 {
		return nil
	}
	if now < uint64(n) {
		return p.cur.StateAt(p.rec.First(), &p.st)
	}
	return p.goTo(m, now-uint64(n)+1)
}

// before is n events before at, or the first that the recording holds.
func (p *Replay) before(at, n trace.Seq) trace.Seq {
	first := p.rec.First()
	return max(first, at-min(at, n))
}

// goTo goes to the first moment at which the measure is at least goal. It looks
// in ever larger stretches before the present position.
func (p *Replay) goTo(m measure, goal uint64) error {
	end := p.st.Events
	for back := trace.Seq(1 << 10); ; back *= 4 {
		from := p.before(end, back)
		if err := p.cur.StateAt(from, &p.st); err != nil {
			return err
		}
		if from == p.rec.First() || m(&p.st) < goal {
			break
		}
	}
	_, err := p.forward(func(*trace.Event) bool { return m(&p.st) >= goal }, false)
	return err
}

// seek goes to the last moment at or before t.
func (p *Replay) seek(t clock.TSC) error {
	if t == clock.Never {
		return p.cur.StateAt(p.rec.Events(), &p.st)
	}
	if err := p.cur.SeekTSC(t + 1); err != nil {
		return err
	}
	err := p.cur.StateAt(p.cur.Seq(), &p.st)
	p.pace.restart(p.now(), p.wall.Now())
	return err
}

func (p *Replay) setBreak(text string) error {
	if text == "" {
		p.breakAt, p.breakText = nil, ""
		return nil
	}
	c, err := query.ParseCondition(text)
	if err == nil {
		p.breakAt, p.breakText = c, text
	}
	return err
}

// runTo goes on to the next moment at which a condition holds.
func (p *Replay) runTo(text string) error {
	c, err := query.ParseCondition(text)
	if err != nil {
		return err
	}
	p.running = false
	hit, place := false, ""
	if err := p.scan(func(e *trace.Event) bool {
		if hit = c.Eval(query.MomentOf(e, &p.st), p.rec.Header().Hz); hit {
			place = placeOf(e, &p.st)
		}
		return hit
	}); err != nil {
		return err
	}
	if !hit {
		return errors.New("nowhere after this: " + text)
	}
	p.notice = stoppedAt(text, place)
	return nil
}

// scan applies events until after returns true, or the end.
func (p *Replay) scan(after func(*trace.Event) bool) error {
	if err := p.cur.SeekSeq(p.st.Events); err != nil {
		return err
	}
	for {
		e, err := p.cur.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.st.Apply(&e)
		if after(&e) {
			return nil
		}
	}
}

// backTo goes back to the last moment before this at which a condition held.
func (p *Replay) backTo(text string) error {
	c, err := query.ParseCondition(text)
	if err != nil {
		return err
	}
	p.running = false
	end, first := p.st.Events, p.rec.First()
	at, place := first, ""
	for back := trace.Seq(1 << 12); at == first && end > first; back *= 2 {
		from := p.before(end, back)
		if err := p.cur.StateAt(from, &p.st); err != nil {
			return err
		}
		if err := p.scan(func(e *trace.Event) bool {
			if p.st.Events < end && c.Eval(query.MomentOf(e, &p.st), p.rec.Header().Hz) {
				at, place = p.st.Events, placeOf(e, &p.st)
			}
			return p.st.Events >= end
		}); err != nil {
			return err
		}
		end = from + 1
		if from == first {
			break
		}
	}
	if err := p.cur.StateAt(at, &p.st); err != nil {
		return err
	}
	if at == first {
		return errors.New("nowhere before this: " + text)
	}
	p.notice = stoppedAt(text, place)
	return nil
}

// Close implements vmm.Session.
func (p *Replay) Close() error {
	p.once.Do(func() { close(p.quit) })
	p.wg.Wait()
	return nil
}

// survey reads the recording through for the timeline, in the background.
func (p *Replay) survey() {
	defer p.wg.Done()
	last := p.rec.Last()
	if p.rec.Events() == p.rec.First() {
		return
	}
	cur := p.rec.Cursor()
	var st trace.State
	if cur.StateAt(p.rec.First(), &st) != nil {
		return
	}
	first, err := cur.Next()
	if err != nil || cur.SeekSeq(p.rec.First()) != nil {
		return
	}
	width := max(1, (last-first.TSC)/timelineBuckets+1)
	buckets := make([]vmm.Bucket, timelineBuckets)
	for n := 0; ; n++ {
		e, err := cur.Next()
		if err != nil {
			p.surveyed(first.TSC, last, buckets, true)
			return
		}
		st.Apply(&e)
		b := &buckets[min(timelineBuckets-1, (max(e.TSC, first.TSC)-first.TSC)/width)]
		switch e.Kind {
		case trace.KindKnob:
			b.Knob = true
		case trace.KindGuestIRQ:
			if m := query.MomentOf(&e, &st); m.Chain != nil {
				b.Add(m.Chain.Late)
			}
		}
		if n&0xffff == 0xffff {
			select {
			case <-p.quit:
				return
			default:
				p.surveyed(first.TSC, last, buckets, false)
			}
		}
	}
}

func (p *Replay) surveyed(from, to clock.TSC, buckets []vmm.Bucket, complete bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = vmm.Timeline{From: from, To: to, Complete: complete, Buckets: append(p.line.Buckets[:0], buckets...)}
}
