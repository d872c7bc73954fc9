package session

import (
	"errors"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// actionTurn is the action that a recorder adds before each knob turn. Its text
// is the engine's position, which no event carries, the knob and its value.
const actionTurn = "turn"

// recordedTurn is such an action.
type recordedTurn struct {
	pos   uint64
	knob  trace.Knob
	value uint64
}

func (t recordedTurn) String() string { return fmt.Sprintf("%d %d %d", t.pos, t.knob, t.value) }

func parseTurn(a trace.Action) (t recordedTurn, err error) {
	if _, err = fmt.Sscanf(a.Text, "%d %d %d", &t.pos, &t.knob, &t.value); err != nil {
		err = fmt.Errorf("action %q at event %d: want a position, a knob and a value", a.Text, a.Seq)
	}
	return t, err
}

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
// and compares every event, up to the first that is missing. The error is a *Difference for the first that
// differs.
func Verify(rec *trace.Recording, make Factory) error {
	if rec.First() != 0 {
		return errors.New("the recording was started in the middle of a run, so it cannot be executed again")
	}
	v := &verifier{rec: rec, cur: rec.Cursor()}
	for _, a := range rec.Actions() {
		if a.Verb == actionTurn {
			t, err := parseTurn(a)
			if err != nil {
				return err
			}
			v.turns = append(v.turns, t)
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
	turns []recordedTurn // still to come
	done  bool
	err   error
	asked int  // how often silent was
	past  bool // the execution is beyond the last recorded time
}

// Emit implements trace.Sink.
func (v *verifier) Emit(e trace.Event) {
	if v.done || v.err != nil || e.Kind == trace.KindMark {
		return
	}
	want, err := v.next()
	if err != nil {
		v.err = err
		return
	}
	if v.done || want == e {
		return
	}
	seq := v.cur.Seq() - 1
	if want.Kind == trace.KindConsole {
		// An end from outside hands on the console's text so far: this execution goes on.
		if _, err := v.next(); err != nil || v.done {
			v.err = err
			return
		}
	}
	v.err = &Difference{seq, want, e}
}

// next is the next recorded event that an execution must produce, but for
// bookmarks: they are the user's, or a scenario's words. An end that the user or a limit brought about is not repeated.
func (v *verifier) next() (trace.Event, error) {
	for {
		e, err := v.cur.Next()
		if errors.Is(err, io.EOF) || e.Flags&trace.FlagGap != 0 {
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

// silentEvery is how many turns and events of the model pass between two looks at the
// clock.
const silentEvery = 64

// silent reports whether the execution has passed the last recorded time. What is left of
// the recording then did not happen: the end that a limit brought about, or a difference.
func (v *verifier) silent(eng vmm.Rewinder) bool {
	if v.asked++; v.asked%silentEvery == 0 {
		v.past = eng.Now() > v.rec.Last()
	}
	return v.past
}

// run executes until the recording is through.
func (v *verifier) run(eng vmm.Rewinder) error {
	if v.rec.Whole() == 0 {
		return nil
	}
	for !v.done && v.err == nil && v.cur.Seq() < v.rec.Whole() {
		if err := v.turn(eng); err != nil {
			return err
		}
		eng.Run(clock.Never, func() bool {
			return v.done || v.err != nil || v.turnDue(eng) || v.cur.Seq() >= v.rec.Whole() || v.silent(eng)
		})
		if _, _, ended := eng.Ended(); ended || v.past {
			break
		}
	}
	if v.err == nil && !v.done && v.cur.Seq() < v.rec.Whole() {
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
	return len(v.turns) > 0 && eng.Position() >= v.turns[0].pos
}

// turn carries out the knob turns that are due.
func (v *verifier) turn(eng vmm.Rewinder) error {
	for v.turnDue(eng) {
		t := v.turns[0]
		v.turns = v.turns[1:]
		if err := eng.SetKnob(t.knob, t.value); err != nil {
			return err
		}
	}
	return nil
}
