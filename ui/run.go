package ui

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/vmm"
)

// Run shows the screen of a session until the user quits or ctx is done. The
// terminal is restored whatever happens. A panic inside the screen comes back
// as a *PanicError.
//
// Preconditions: standard input and output are a terminal, and nothing else
// writes to it.
func Run(ctx context.Context, session vmm.Session, opts Options) error {
	return run(ctx, New(session, opts), tea.WithAltScreen(), tea.WithMouseCellMotion())
}

func run(ctx context.Context, m *Model, opts ...tea.ProgramOption) error {
	opts = append(opts, tea.WithContext(ctx))
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
