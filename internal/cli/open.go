package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// openRecording opens a recording; "-" is standard input, which is kept in a
// temporary file without a name, since a recording is read from its end.
func openRecording(env *Env, name string) (*trace.Recording, io.Closer, error) {
	if name != "-" {
		rec, f, err := trace.OpenFile(name)
		return rec, f, with(ExitInput, err)
	}
	f, err := spool(env.In)
	if err != nil {
		return nil, nil, with(ExitHost, err)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, with(ExitHost, errors.Join(err, f.Close()))
	}
	rec, err := trace.Open(f, size)
	if err != nil {
		return nil, nil, with(ExitInput, errors.Join(fmt.Errorf("standard input: %w", err), f.Close()))
	}
	return rec, f, nil
}

// spool copies r to a file that is gone when it is closed.
func spool(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "ticktrap-*")
	if err != nil {
		return nil, fmt.Errorf("keeping standard input: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, fmt.Errorf("keeping standard input: %w", errors.Join(err, f.Close()))
	}
	if _, err := io.Copy(f, r); err != nil {
		return nil, fmt.Errorf("reading standard input: %w", errors.Join(err, f.Close()))
	}
	return f, nil
}
