package cli

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/ui"
	"codeberg.org/ticktrap/ticktrap/vmm/rerun"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// trier tries knobs on a deadline of a run on the screen, by repeating its branch
// on a second engine; nil where the run cannot be repeated.
func (o *runOptions) trier(live *session.Live, h *trace.Header) ui.TryFunc {
	if h.Provenance != trace.Modelled {
		return nil
	}
	knobs, err := o.startKnobs()
	if err != nil {
		return nil
	}
	again := (&explainOptions{run: *o}).again(knobs)
	if again == nil {
		return nil
	}
	return trierOf(again, func() (turns []rerun.Turn) {
		for _, m := range live.Turns() {
			turns = append(turns, rerun.Turn{Pos: m.Pos, Knob: m.Knob, Value: m.Value})
		}
		return turns
	})
}

// recordingTrier is trier for a recording of the model.
func recordingTrier(rec *trace.Recording) ui.TryFunc {
	o := &explainOptions{}
	again := o.fromHeader(rec.Header(), recordedTurns(rec))
	if again == nil {
		return nil
	}
	return trierOf(again, func() []rerun.Turn { return again.Turns })
}

func trierOf(again *rerun.Run, turns func() []rerun.Turn) ui.TryFunc {
	return func(c *trace.Chain, from clock.TSC, want []explain.Setting, watch func(now, goal clock.TSC) bool) ([]explain.Check, error) {
		run := &rerun.Run{Make: again.Make, Turns: turns(), Watch: watch}
		return tryKnobs(run, c, from, int64(c.Late), want)
	}
}
