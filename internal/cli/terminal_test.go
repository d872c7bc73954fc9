//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// start starts cmd in a pseudo-terminal and returns the other end. The terminal is
// raw from the beginning: it echoes nothing that is typed before the screen opens
// or after it has closed.
func start(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer theirs.Close()
	if _, err := term.MakeRaw(int(theirs.Fd())); err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return ours
}

// inTerminal runs the program in a pseudo-terminal of 100×30, types keys whenever
// it has written something, and returns what it wrote. The program is the test
// binary under the name that TestMain knows.
func inTerminal(t *testing.T, dir, keys string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "ticktrap")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	// A terminal of tmux is not asked for its colours at the start: this one
	// would not answer.
	cmd.Env = []string{"TERM=tmux-256color", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	tty := start(t, cmd)
	defer tty.Close()
	var out bytes.Buffer
	for buf := make([]byte, 4096); ; {
		n, err := tty.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			break // the program has closed its end
		}
		// The keys before its first frame are lost, so they are typed again.
		if _, err := io.WriteString(tty, keys); err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v ended with %v\n%s", args, err, out.String())
	}
	return out.String()
}

func TestCastOfAReplayIsWhatTheTerminalGot(t *testing.T) {
	dir := t.TempDir()
	rec, file := filepath.Join(dir, "s.tt"), filepath.Join(dir, "s.cast")
	var errs bytes.Buffer
	env := &Env{In: strings.NewReader(""), Out: io.Discard, Err: &errs}
	if code := Main([]string{"run", "--engine=model", "--headless", "--quiet", "--deadlines", "50", "--record", rec}, env); code != 0 {
		t.Fatalf("recording ended with %d: %s", code, errs.String())
	}
	got := inTerminal(t, dir, "q", "replay", "--paused", rec, "--cast", file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var header struct{ Version, Width, Height int }
	var written strings.Builder
	last := -1.0
	for n := 0; lines.Scan(); n++ {
		if n == 0 {
			if err := json.Unmarshal(lines.Bytes(), &header); err != nil || header.Version != 2 || header.Width != 100 || header.Height != 30 {
				t.Errorf("header %s (%v), want version 2 and 100×30", lines.Text(), err)
			}
			continue
		}
		var e [3]any
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if at := e[0].(float64); at < last {
			t.Errorf("time goes back to %g from %g", at, last)
		} else {
			last = at
		}
		if e[1] == "o" {
			written.WriteString(e[2].(string))
		}
	}
	if written.String() != got {
		t.Errorf("the cast holds %d bytes, the terminal got %d others", written.Len(), len(got))
	}
	if !strings.Contains(got, "\x1b[?1049h") {
		t.Error("the screen was never opened")
	}
}
