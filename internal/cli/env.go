package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Env is what the program sees of the world. Tests supply their own.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal reports whether input and output are a terminal.
	Terminal bool
	Getenv   func(string) string
	Wall     wall

	config string // file of --config; empty: the one in the XDG place
}

// OS is the real world.
func OS() *Env {
	return &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))}
}

// wall is the wall clock.
type wall struct{}

func (wall) Now() time.Time                         { return time.Now() }
func (wall) After(d time.Duration) <-chan time.Time { return time.After(d) }
