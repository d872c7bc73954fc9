package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Run shows the screen of a session until the user quits or ctx is done. The
// terminal is restored whatever happens. A panic inside the screen comes back
// as a *PanicError.
//
// Preconditions: standard input and output are a terminal, and nothing else
// writes to it.
func Run(ctx context.Context, session vmm.Session, opts Options) error {
	opts = opts.forTerminal(osEnviron{})
	program := []tea.ProgramOption{tea.WithAltScreen(), tea.WithMouseCellMotion(), tea.WithFPS(30)}
	if opts.Output != nil {
		program = append(program, tea.WithOutput(opts.Output))
	}
	return run(ctx, New(session, opts), program...)
}

// osEnviron is the process's environment.
type osEnviron struct{}

func (osEnviron) Environ() []string        { return os.Environ() }
func (osEnviron) Getenv(key string) string { return os.Getenv(key) }

// forTerminal fills in what the options leave open from what the environment
// says about the terminal: how many colours it has, and whether its background
// is light (COLORFGBG).
func (o Options) forTerminal(env termenv.Environ) Options {
	profile := termenv.NewOutput(io.Discard, termenv.WithEnvironment(env), termenv.WithTTY(true)).EnvColorProfile()
	if env.Getenv("NO_COLOR") != "" || profile == termenv.Ascii {
		o.NoColor, profile = true, termenv.ANSI
	}
	o.Profile = profile
	if o.Theme != "" {
		return o
	}
	o.Theme = "dark"
	switch bg := env.Getenv("COLORFGBG"); {
	case profile == termenv.ANSI:
		o.Theme = "16"
	case strings.HasSuffix(bg, ";15"), strings.HasSuffix(bg, ";7"):
		o.Theme = "light"
	}
	return o
}

// run ends with ctx or a signal. bubbletea's own signal handler is left out: on
// a signal that also ends ctx it waits for an event loop that is gone.
func run(ctx context.Context, m *Model, opts ...tea.ProgramOption) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	opts = append(opts, tea.WithContext(ctx), tea.WithoutSignalHandler())
	_, err := tea.NewProgram(m, opts...).Run()
	switch {
	case m.failure != nil:
		return m.failure
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return fmt.Errorf("running the screen: %w", err)
	}
	return nil
}
