package ui

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The time between two looks at the session: while something happens, and when
// nothing has changed for idleFrames looks. An action ends the longer wait.
const (
	framePeriod = time.Second / 30
	idlePeriod  = time.Second
	idleFrames  = 10
)

// link serializes the commands' calls to the session, whose methods are for one
// goroutine at a time.
type link struct {
	// mu guards session.
	mu      sync.Mutex
	session vmm.Session
	// nudge ends the wait for the next frame.
	nudge chan struct{}
}

func newLink(s vmm.Session) link { return link{session: s, nudge: make(chan struct{}, 1)} }

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

// frameCmd waits for a period, or for an action, and fetches a frame into f.
func (l *link) frameCmd(f *vmm.Frame, period time.Duration) tea.Cmd {
	return guarded(func() tea.Msg {
		t := time.NewTimer(period)
		defer t.Stop()
		select {
		case <-t.C:
		case <-l.nudge:
		}
		return l.fetch(f)
	})
}

func (l *link) fetch(f *vmm.Frame) tea.Msg {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session.Frame(f)
	return frameMsg{f}
}

// firstCmd is frameCmd without the wait.
func (l *link) firstCmd(f *vmm.Frame) tea.Cmd {
	return guarded(func() tea.Msg { return l.fetch(f) })
}

// doCmd asks the session for an action.
func (l *link) doCmd(c vmm.Command) tea.Cmd {
	return guarded(func() tea.Msg {
		l.mu.Lock()
		err := l.session.Do(c)
		l.mu.Unlock()
		select {
		case l.nudge <- struct{}{}:
		default:
		}
		return doneMsg{c, err}
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
