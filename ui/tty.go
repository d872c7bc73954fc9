package ui

import (
	"fmt"
	"os"
	"os/signal"

	tea "github.com/charmbracelet/bubbletea"
	xterm "github.com/charmbracelet/x/term"
)

// tty is the terminal that the screen is shown on. Bubble Tea leaves it alone when
// it does not render.
type tty struct {
	in    uintptr
	out   uintptr
	state *xterm.State
}

// newTTY puts the terminal of standard input into raw mode. The size is that of
// out, which must have a file descriptor.
func newTTY(out any) (*tty, error) {
	f, ok := out.(interface{ Fd() uintptr })
	if !ok {
		return nil, fmt.Errorf("starting the screen: the output is no terminal")
	}
	t := &tty{in: os.Stdin.Fd(), out: f.Fd()}
	state, err := xterm.MakeRaw(t.in)
	if err != nil {
		return nil, fmt.Errorf("putting the terminal into raw mode: %w", err)
	}
	t.state = state
	return t, nil
}

func (t *tty) restore() { _ = xterm.Restore(t.in, t.state) }

// watch sends the size of the terminal, now and whenever it changes, until stop is
// called.
func (t *tty) watch(send func(tea.Msg)) (stop func()) {
	changed := make(chan os.Signal, 1)
	changed <- os.Interrupt // once at the beginning, whatever the signal
	if resized != nil {
		signal.Notify(changed, resized)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-changed:
				if w, h, err := xterm.GetSize(t.out); err == nil {
					send(tea.WindowSizeMsg{Width: w, Height: h})
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(done)
	}
}
