package ui

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/ui/uitest"
)

// inTerminal tells the test binary to be the program in the terminal: it holds
// the pane's number, width and height.
const inTerminal = "UI_TEST_IN_TERMINAL"

func TestMain(m *testing.M) {
	if v := os.Getenv(inTerminal); v != "" {
		if err := showOnce(v); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// once is a screen that ends after its first full frame; what it drew stays.
type once struct{ *Model }

func (o once) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := o.Model.Update(msg)
	if o.frame != nil && o.w > 0 {
		return o, tea.Quit
	}
	return o, cmd
}

func terminalModel(pane, zoom int) *Model {
	s := uitest.New(uitest.Header(), events400())
	s.CPUs = uitest.CPUs()
	s.Play(11_500)
	m := New(s, Options{Theme: "dark"})
	m.focus, m.zoom = paneID(pane), zoom != 0
	return m
}

func showOnce(v string) error {
	var pane, zoom int
	if _, err := fmt.Sscan(v, &pane, &zoom); err != nil {
		return err
	}
	_, err := tea.NewProgram(once{terminalModel(pane, zoom)}).Run()
	return err
}

// TestTerminalShowsWhatTheCanvasHolds runs the screen in a real terminal and
// compares what is on it with the canvas: every rune takes the columns that the
// screen believes.
func TestTerminalShowsWhatTheCanvasHolds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts a terminal for each pane")
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux here")
	}
	sock := fmt.Sprintf("ticktrap-ui-%d", os.Getpid())
	run := func(args ...string) string {
		out, err := exec.Command(tmux, append([]string{"-L", sock, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("new-session", "-d", "-s", "base", "exec cat") // keeps the server
	t.Cleanup(func() { _ = exec.Command(tmux, "-L", sock, "kill-server").Run() })
	for _, sz := range []struct{ w, h, zoom int }{{80, 24, 0}, {200, 60, 1}} {
		for p := range numPanes {
			name := fmt.Sprintf("s%d-%d", sz.w, p)
			run("new-session", "-d", "-s", name, "-x", fmt.Sprint(sz.w), "-y", fmt.Sprint(sz.h), "-e",
				fmt.Sprintf("%s=%d %d", inTerminal, p, sz.zoom), "-e", "TERM=tmux-256color", "-e", "LC_ALL=C.UTF-8",
				fmt.Sprintf("%s; %s -L %s wait-for -S %s; exec cat", os.Args[0], tmux, sock, name))
			run("wait-for", name)
			got := run("capture-pane", "-p", "-S", "-1", "-t", name)
			m := terminalModel(int(p), sz.zoom)
			m.Update(m.Init()())
			m.Update(tea.WindowSizeMsg{Width: sz.w, Height: sz.h})
			m.View()
			want := m.canvas.text()
			want = want[:strings.LastIndex(strings.TrimRight(want, "\n"), "\n")] // bubbletea clears the last line at its end
			if !strings.Contains(trimLines(got), trimLines(want)) {
				t.Errorf("%s at %d×%d: the terminal shows\n%s\nwant\n%s", paneTitles[p], sz.w, sz.h, got, want)
			}
		}
	}
}

// trimLines removes blanks at the ends of lines and empty lines at the end.
func trimLines(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		out = append(out, strings.TrimRight(l, " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}
