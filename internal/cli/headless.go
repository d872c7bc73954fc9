package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// runHeadless runs to a limit or the guest's end and prints the report.
func (o *runOptions) runHeadless(env *Env, r *session.Runner) (err error) {
	defer func() {
		if cerr := r.Engine().Close(); err == nil {
			err = with(ExitHost, cerr)
		}
	}()
	checks, err := parseAsserts(o.asserts)
	if err != nil {
		return err
	}
	text := &serial{w: env.Out}
	if o.json {
		text.w = env.Err
	}
	if !o.quiet {
		r.Tee(trace.SinkFunc(func(e trace.Event) { copyConsole(text, &e) }))
	}
	var bugs *explain.Watcher
	if o.scenario != "" {
		bugs = watch(r)
	}
	stopRecord, err := o.startRecord(r)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	end, err := o.drive(ctx, env, r)
	text.flush()
	if err == nil {
		err = text.err
	}
	if rerr := stopRecord(); err == nil {
		err = rerr
	}
	if err != nil {
		return err
	}
	noteEngine(env.Err, r.Engine())
	o.noteIdle(env.Err, r.Engine().Knobs())
	if err := o.print(env.Out, trace.NewReport(r.Header(), r.State())); err != nil {
		return err
	}
	if end != nil {
		return end
	}
	if o.scenario != "" {
		return o.scenarioVerdict(text.w, bugs.Findings(r.State()))
	}
	if err := checkAsserts(checks, r.Header(), r.State()); err != nil {
		return err
	}
	return o.ended(r)
}

// ended is the guest's end as an error, with the engine's own sentence if the
// engine could not go on.
func (o *runOptions) ended(r *session.Runner) error {
	err := guestEnd(r.State())
	if e, ok := r.Engine().(interface{ Failure() string }); ok && codeOf(err) == ExitHost && e.Failure() != "" {
		return fail(ExitHost, "%s", e.Failure())
	}
	return err
}

// drive runs the guest. end is how the run ended where that decides the exit
// code before the guest's own status does.
func (o *runOptions) drive(ctx context.Context, env *Env, r *session.Runner) (end, err error) {
	limit := env.Wall.Now().Add(o.timeout)
	n := 0
	_, err = r.RunTo(clock.Never, func() bool {
		if n++; n&1023 != 0 {
			return false
		}
		switch {
		case ctx.Err() != nil:
			end = fail(ExitSignal, "stopped by a signal")
		case o.timeout > 0 && env.Wall.Now().After(limit):
			end = fail(ExitTimeout, "the guest did not end within %s", o.timeout)
		}
		return end != nil
	})
	if err != nil {
		return nil, with(ExitHost, err)
	}
	how := trace.EndLimit
	switch codeOf(end) {
	case ExitSignal:
		how = trace.EndStopped
	case ExitTimeout:
		how = trace.EndTimeout
	}
	r.Engine().Stop(how)
	return end, nil
}

// startRecord begins the recording that the flags ask for.
func (o *runOptions) startRecord(r *session.Runner) (stop func() error, err error) {
	if o.record == "" {
		return func() error { return nil }, nil
	}
	rec, err := session.NewRecorder(o.record, r)
	if err != nil {
		return nil, with(ExitInput, err)
	}
	return func() error { return with(ExitHost, rec.Close()) }, nil
}

// print writes the report in the form that the flags ask for.
func (o *runOptions) print(w io.Writer, rep *trace.Report) error { return printReport(w, rep, o.json) }

func printReport(w io.Writer, rep *trace.Report, asJSON bool) error {
	out := []byte(rep.Text())
	if asJSON {
		var err error
		if out, err = rep.JSON(); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	_, err := w.Write(out)
	return err
}

// copyConsole writes the text of a console event.
func copyConsole(s *serial, e *trace.Event) {
	if e.Kind != trace.KindConsole {
		return
	}
	var b [24]byte
	for i, w := range [3]uint64{e.A, e.B, e.C} {
		for j := range 8 {
			b[i*8+j] = byte(w >> (8 * j))
		}
	}
	s.Write(b[:min(e.D, uint64(len(b)))])
}
