package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeScreen is a clock and a terminal's size that the test sets.
type fakeScreen struct {
	t    time.Time
	w, h int
}

func (f *fakeScreen) now() time.Time     { return f.t }
func (f *fakeScreen) size() (w, h int)   { return f.w, f.h }
func (f *fakeScreen) pass(seconds int64) { f.t = f.t.Add(time.Duration(seconds) * time.Second) }

func TestCastHoldsWhatWasWrittenWithTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.cast")
	s := &fakeScreen{time.Unix(1000, 0), 80, 24}
	c, err := newCast(path, "a title", "xterm", s.now, s.size)
	if err != nil {
		t.Fatal(err)
	}
	euro := []byte("€")
	c.write([]byte("\x1b[2J\"a\\\r\n"))
	s.pass(2)
	c.write(append([]byte("b"), euro[:2]...))
	s.pass(1)
	s.w, s.h = 100, 30
	c.write(euro[2:])
	c.write([]byte{0xff, 'z'}) // no text: kept readable
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	var h struct {
		Version, Width, Height int
		Timestamp              int64
		Env                    map[string]string
	}
	if err := json.Unmarshal([]byte(lines[0]), &h); err != nil {
		t.Fatal(err)
	}
	if h.Version != 2 || h.Width != 80 || h.Height != 24 || h.Timestamp != 1000 || h.Env["TERM"] != "xterm" {
		t.Errorf("header %s", lines[0])
	}
	want := []string{`[0.000000,"o","\u001b[2J\"a\\\r\n"]`, `[2.000000,"o","b"]`, `[3.000000,"r","100x30"]`, `[3.000000,"o","€"]`,
		`[3.000000,"o","\ufffdz"]`}
	if got := lines[1:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCastTerminalWritesAndRecordsTheSame(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "tty"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &fakeScreen{time.Unix(1, 0), 80, 24}
	c, err := newCast(filepath.Join(dir, "s.cast"), "", "", s.now, s.size)
	if err != nil {
		t.Fatal(err)
	}
	tty := castTerminal{f, c}
	if _, err := tty.Write([]byte("one ")); err != nil {
		t.Fatal(err)
	}
	if _, err := tty.WriteString("two"); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	screen, _ := os.ReadFile(f.Name())
	recorded, _ := os.ReadFile(c.path)
	if string(screen) != "one two" || !bytes.Contains(recorded, []byte(`"one "`)) || !bytes.Contains(recorded, []byte(`"two"`)) {
		t.Errorf("the terminal got %q, the cast %q", screen, recorded)
	}
}

func TestCastDoesNotOverwriteAndReportsErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.cast")
	s := &fakeScreen{time.Unix(1, 0), 80, 24}
	c, err := newCast(path, "", "", s.now, s.size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newCast(path, "", "", s.now, s.size); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second cast to the same file: %v, want that it exists", err)
	}
	c.f.Close()
	c.write([]byte("x")) // the screen goes on
	if err := c.close(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("closing says %v, want an error that names the file", err)
	}
}
