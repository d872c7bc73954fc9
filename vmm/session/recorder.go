package session

import (
	"errors"
	"fmt"
	"os"

	"ticktrap/trace"
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
// touched.
func NewRecorder(path string, r *Runner) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	rec := &Recorder{path: path, f: f, r: r}
	if rec.w, err = trace.NewWriter(rec, &r.header); err != nil {
		return nil, errors.Join(fmt.Errorf("recording to %s: %w", path, err), f.Close())
	}
	for _, e := range r.early {
		rec.w.Emit(e)
	}
	r.Tee(rec.w)
	return rec, nil
}

// Write implements io.Writer for the recording's bytes.
func (r *Recorder) Write(p []byte) (int, error) {
	n, err := r.f.Write(p)
	r.n += int64(n)
	return n, err
}

// Close finishes the recording.
func (r *Recorder) Close() error {
	r.r.Untee(r.w)
	if err := errors.Join(r.w.Close(), r.f.Close()); err != nil {
		return fmt.Errorf("finishing recording %s: %w", r.path, err)
	}
	return nil
}
