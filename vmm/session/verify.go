package session

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/vmm"
)

// actionTurn is the action that a recorder adds before each knob turn: its text
// is the engine's position, which no event carries.
const actionTurn = "turn"

// Difference is the first event in which an execution departs from a recording.
type Difference struct {
	Seq                trace.Seq
	Recorded, Executed trace.Event
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("event %d differs: recorded %s, executed %s", d.Seq, d.Recorded, d.Executed)
}

// Verify executes a recorded run again, with its knob turns at their positions,
// and compares every event. The error is a *Difference for the first that
// differs.
func Verify(rec *trace.Recording, make Factory) error {
	if rec.First() != 0 {
		return errors.New("the recording was started in the middle of a run, so it cannot be executed again")
	}
	v := &verifier{rec: rec, cur: rec.Cursor()}
	for _, a := range rec.Actions() {
		if a.Verb == actionTurn {
			pos, err := strconv.ParseUint(a.Text, 10, 64)
			if err != nil {
				return fmt.Errorf("action %q at event %d: %w", a.Text, a.Seq, err)
			}
			v.turns = append(v.turns, pos)
		}
	}
	eng, err := make(v)
	if err != nil {
		return err
	}
	rew, ok := eng.(vmm.Rewinder)
	if !ok {
		return errors.Join(errors.New("this engine cannot repeat a run"), eng.Close())
	}
	return errors.Join(v.run(rew), eng.Close())
}

// verifier is the sink that compares.
type verifier struct {
	rec   *trace.Recording
	cur   *trace.Cursor
	turns []uint64 // positions of the knob turns still to come
	done  bool
	err   error
}

// Emit implements trace.Sink.
func (v *verifier) Emit(e trace.Event) {
	if v.done || v.err != nil {
		return
	}
	want, err := v.next()
	if err != nil {
		v.err = err
		return
	}
	if !v.done && want != e {
		v.err = &Difference{v.cur.Seq() - 1, want, e}
	}
}

// next is the next recorded event that an execution must produce. Bookmarks are
// the user's; an end that the user or a limit brought about is not repeated.
func (v *verifier) next() (trace.Event, error) {
	for {
		e, err := v.cur.Next()
		if errors.Is(err, io.EOF) {
			v.done = true
			return e, nil
		}
		if err != nil {
			return e, err
		}
		if e.Kind == trace.KindEnd && (trace.EndKind(e.A) == trace.EndLimit || trace.EndKind(e.A) == trace.EndStopped ||
			trace.EndKind(e.A) == trace.EndTimeout) {
			v.done = true
			return e, nil
		}
		if e.Kind != trace.KindMark {
			return e, nil
		}
	}
}

// run executes until the recording is through.
func (v *verifier) run(eng vmm.Rewinder) error {
	if v.rec.Events() == 0 {
		return nil
	}
	for !v.done && v.err == nil && v.cur.Seq() < v.rec.Events() {
		if err := v.turn(eng); err != nil {
			return err
		}
		eng.Run(clock.Never, func() bool { return v.done || v.err != nil || v.turnDue(eng) || v.cur.Seq() >= v.rec.Events() })
		if _, _, ended := eng.Ended(); ended {
			break
		}
	}
	if v.err == nil && !v.done && v.cur.Seq() < v.rec.Events() {
		want, err := v.next()
		if err != nil {
			return err
		}
		if !v.done {
			return &Difference{Seq: v.cur.Seq() - 1, Recorded: want}
		}
	}
	return v.err
}

func (v *verifier) turnDue(eng vmm.Rewinder) bool {
	return len(v.turns) > 0 && eng.Position() >= v.turns[0]
}

// turn carries out the knob turns that are due: what they are say the recorded
// events that follow.
func (v *verifier) turn(eng vmm.Rewinder) error {
	for v.turnDue(eng) {
		v.turns = v.turns[1:]
		seq := v.cur.Seq()
		e, err := v.next()
		if err != nil {
			return err
		}
		if e.Kind != trace.KindKnob {
			return fmt.Errorf("event %d: a knob turn was noted here, but the event is %s", seq, e.Kind)
		}
		if err := v.cur.SeekSeq(seq); err != nil {
			return err
		}
		if err := eng.SetKnob(trace.Knob(e.A), e.B); err != nil {
			return err
		}
	}
	return nil
}
