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
	"time"

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
	if opts.Output == nil {
		opts.Output = os.Stdout
	}
	t, err := newTTY(opts.Output)
	if err != nil {
		return err
	}
	defer t.restore()
	m := New(session, opts)
	m.painter = &painter{out: opts.Output, period: time.Second / time.Duration(opts.FPS), ascii: opts.ASCII}
	defer m.painter.leave()
	if err := m.painter.enter(); err != nil {
		return fmt.Errorf("starting the screen: %w", err)
	}
	return run(ctx, m, t, tea.WithOutput(opts.Output), tea.WithoutRenderer())
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
	o.ASCII = o.ASCII || asciiOnly(env.Getenv)
	switch {
	case o.FPS > 0:
	case env.Getenv("SSH_CONNECTION") != "":
		o.FPS = sshFPS
	default:
		o.FPS = localFPS
	}
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

// run runs the program; t is nil where nothing but messages comes. It ends with ctx or a signal. bubbletea's own signal handler is left out: on
// a signal that also ends ctx it waits for an event loop that is gone.
func run(ctx context.Context, m *Model, t *tty, opts ...tea.ProgramOption) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	opts = append(opts, tea.WithContext(ctx), tea.WithoutSignalHandler())
	p := tea.NewProgram(m, opts...)
	if t != nil {
		defer t.watch(p.Send)()
	}
	_, err := p.Run()
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
