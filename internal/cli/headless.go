package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

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
	funcs, err := o.startFunctions(r.Tee)
	if err != nil {
		return err
	}
	rec, err := o.startRecord(r)
	if err != nil {
		return err
	}
	defer rec.Close() // where a panic passes; it does nothing after the one below
	end, err := o.drive(r, rec)
	text.flush()
	if err == nil {
		err = text.err
	}
	rerr := rec.Close()
	if err != nil {
		return errors.Join(err, rerr)
	}
	if rerr != nil { // the run itself is whole: its report is still true
		end = with(ExitHost, rerr)
	}
	noteEngine(env.Err, r.Engine())
	notes := append(o.idle(r.Engine().Knobs()), neverTurned(r)...)
	for _, n := range notes {
		fmt.Fprintf(env.Err, "ticktrap: note: %s\n", printable(n))
	}
	if err := o.print(env.Out, trace.NewReport(r.Header(), r.State())); err != nil {
		return err
	}
	if err := o.printFunctions(env.Out, funcs, r.Engine()); err != nil {
		return err
	}
	if end != nil {
		return end
	}
	if o.strict && len(notes) > 0 {
		return fail(ExitAssert, "--strict: %s", notes[0])
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
	if e, ok := r.Engine().(interface{ Failure() string }); ok && err != nil && e.Failure() != "" {
		return fail(codeOf(err), "%s", e.Failure())
	}
	return err
}

// flushEvery is how much of a recording a killed program loses at most.
const flushEvery = time.Second

// drive runs the guest. end is how the run ended where that decides the exit
// code before the guest's own status does. A signal or the timeout ends the run after
// the turn that it comes in.
func (o *runOptions) drive(r *session.Runner, rec *recording) (end, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	var over atomic.Bool
	defer context.AfterFunc(ctx, func() { over.Store(true) })()
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	n := 0
	_, err = r.RunTo(clock.Never, func() bool {
		if n++; n&15 == 0 {
			select {
			case <-flush.C:
				rec.Flush()
			default:
			}
		}
		return over.Load()
	})
	if err != nil {
		return nil, with(ExitHost, err)
	}
	how := trace.EndLimit
	switch {
	case !over.Load():
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		end, how = fail(ExitTimeout, "the guest did not end within %s", o.timeout), trace.EndTimeout
	default:
		end, how = fail(ExitSignal, "stopped by a signal"), trace.EndStopped
	}
	r.Engine().Stop(how)
	return end, nil
}

// recording is the recording that the flags ask for, or none: then its methods do
// nothing.
type recording struct{ rec *session.Recorder }

// startRecord begins it.
func (o *runOptions) startRecord(r *session.Runner) (*recording, error) {
	if o.record == "" {
		return &recording{}, nil
	}
	rec, err := session.NewRecorder(o.record, r)
	return &recording{rec}, with(ExitInput, err)
}

// Flush writes what has come so far.
func (r *recording) Flush() {
	if r.rec != nil {
		r.rec.Flush()
	}
}

// Close finishes the recording. A second call does nothing.
func (r *recording) Close() error {
	if r.rec == nil {
		return nil
	}
	rec := r.rec
	r.rec = nil
	return with(ExitHost, rec.Close())
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
