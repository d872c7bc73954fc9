package ui

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/vmm"
)

// framePeriod is the time between two looks at the session.
const framePeriod = time.Second / 30

// link serializes the commands' calls to the session, whose methods are for one
// goroutine at a time.
type link struct {
	// mu guards session.
	mu      sync.Mutex
	session vmm.Session
}

// frameMsg brings a frame. The frame belongs to the model until it gives it
// back by asking for the next one.
type frameMsg struct{ frame *vmm.Frame }

// doneMsg says what became of an action.
type doneMsg struct {
	cmd vmm.Command
	err error
}

// panicMsg carries a panic out of a command.
type panicMsg struct{ err *PanicError }

// PanicError is a panic inside the screen, returned by Run after the terminal
// has been restored.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value; the stack is for whoever wants it.
func (e *PanicError) Error() string { return fmt.Sprintf("screen: panic: %v", e.Value) }

func newPanicError(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// frameCmd waits for the frame period and fetches a frame into f.
func (l *link) frameCmd(f *vmm.Frame) tea.Cmd {
	tick := tea.Tick(framePeriod, func(time.Time) tea.Msg {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.session.Frame(f)
		return frameMsg{f}
	})
	return guarded(tick)
}

// firstCmd is frameCmd without the wait.
func (l *link) firstCmd(f *vmm.Frame) tea.Cmd {
	return guarded(func() tea.Msg {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.session.Frame(f)
		return frameMsg{f}
	})
}

// doCmd asks the session for an action.
func (l *link) doCmd(c vmm.Command) tea.Cmd {
	return guarded(func() tea.Msg {
		l.mu.Lock()
		defer l.mu.Unlock()
		return doneMsg{c, l.session.Do(c)}
	})
}

// guarded turns a panic of a command into a message.
func guarded(cmd tea.Cmd) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = panicMsg{newPanicError(v)}
			}
		}()
		return cmd()
	}
}
