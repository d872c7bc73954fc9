package session

import (
	"errors"
	"fmt"
	"io"
	"os"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Recorder writes the events of a run to a file from the moment it is made.
type Recorder struct {
	path string
	f    *os.File
	w    *trace.Writer
	r    *Runner
	n    int64
}

// NewRecorder starts a recording of r in a new file; an existing one is not
// touched. In the middle of a run the recording begins with the state so far.
func NewRecorder(path string, r *Runner) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	rec := &Recorder{path: path, f: f, r: r}
	if rec.w, err = r.beginRecording(rec); err != nil {
		return nil, errors.Join(fmt.Errorf("recording to %s: %w", path, err), f.Close())
	}
	r.Tee(rec.w)
	r.rec = rec
	return rec, nil
}

// beginRecording begins a recording of r with the state so far.
func (r *Runner) beginRecording(to io.Writer) (*trace.Writer, error) {
	if r.st.Events > trace.Seq(len(r.early)) {
		return trace.NewWriterAt(to, &r.header, &r.st)
	}
	w, err := trace.NewWriter(to, &r.header)
	if err == nil {
		for _, e := range r.early {
			w.Emit(e)
		}
	}
	return w, err
}

// turned notes a knob turn that is about to be made, with its position.
func (r *Recorder) turned(eng vmm.Engine, k trace.Knob, value uint64) {
	if rew, ok := eng.(vmm.Rewinder); ok {
		r.w.Act(actionTurn, recordedTurn{rew.Position(), k, value}.String())
	}
}

// Flush writes what has come so far, so that a killed program loses little.
func (r *Recorder) Flush() { r.w.Flush() }

// Write implements io.Writer for the recording's bytes.
func (r *Recorder) Write(p []byte) (int, error) {
	n, err := r.f.Write(p)
	r.n += int64(n)
	return n, err
}

// Close finishes the recording.
func (r *Recorder) Close() error {
	r.r.rec = nil
	r.r.Untee(r.w)
	if err := errors.Join(r.w.Close(), r.f.Close()); err != nil {
		return fmt.Errorf("finishing recording %s: %w", r.path, err)
	}
	return nil
}
