package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

func TestBookmarksArePersistedBesideTheRecording(t *testing.T) {
	rec := recorded(t, "deadline", "", 1, 20)
	path := session.MarksPath(filepath.Join(t.TempDir(), "run.tt"))
	play := func() (*session.Replay, *vmm.Frame) {
		p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true, Marks: path})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		var f vmm.Frame
		p.Frame(&f)
		return p, &f
	}
	p, _ := play()
	var want []vmm.Mark
	for _, name := range []string{"one", "two words"} {
		if err := p.Do(vmm.Command{Verb: vmm.DoStepDeadline, N: 5}); err != nil {
			t.Fatal(err)
		}
		if err := p.Do(vmm.Command{Verb: vmm.DoMark, Text: name}); err != nil {
			t.Fatal(err)
		}
		var f vmm.Frame
		p.Frame(&f)
		want = append(want, vmm.Mark{At: f.Status.Now, Name: name})
		if !slices.Equal(f.Marks, want) {
			t.Errorf("the frame has marks %v, want %v", f.Marks, want)
		}
	}
	if _, f := play(); !slices.Equal(f.Marks, want) {
		t.Errorf("opened again the marks are %v, want %v", f.Marks, want)
	}
}

func TestAFileOfBookmarksThatCannotBeReadIsNotTouched(t *testing.T) {
	for _, bad := range []string{"12 a\nx y\n", "12\n", "-1 a\n", "12 \x1b[31m\n", "12 a\x00\n", strings.Repeat("9", 30) + " a\n", "12  a\n"} {
		path := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := session.LoadMarks(path)
		if err == nil || !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one sentence with the line", bad, err)
		}
		if err := m.Add(5, "new"); err == nil || !strings.Contains(err.Error(), "for this session only") {
			t.Errorf("%q: adding says %v, want that it is not saved", bad, err)
		}
		if got, _ := os.ReadFile(path); string(got) != bad {
			t.Errorf("the file was %q, is %q", bad, got)
		}
		if l := m.List(); len(l) != 1 || l[0] != (vmm.Mark{At: 5, Name: "new"}) {
			t.Errorf("%q: the session has marks %v, want the new one", bad, l)
		}
	}
}

func TestAddingKeepsWhatOthersWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(path, []byte("# mine\n\n30 c"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := session.LoadMarks(path)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := session.LoadMarks(path)
	if err := a.Add(20, "b"); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(10, "a"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if want := "# mine\n\n30 c\n20 b\n10 a\n"; string(got) != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	m, err := session.LoadMarks(path)
	want := []vmm.Mark{{At: 10, Name: "a"}, {At: 20, Name: "b"}, {At: 30, Name: "c"}}
	if err != nil || !slices.Equal(m.List(), want) {
		t.Errorf("read back %v, %v, want %v", m.List(), err, want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".m*")); len(left) != 0 {
		t.Errorf("files are left: %q", left)
	}
}

func TestBookmarksOfUnusablePlacesAndNames(t *testing.T) {
	dir := t.TempDir()
	if _, err := session.LoadMarks(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	m, err := session.LoadMarks(filepath.Join(dir, "none", "m"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(1, "a"); err == nil || len(m.List()) != 1 {
		t.Errorf("in a directory that is not there: error %v, marks %v, want both", err, m.List())
	}
	m, _ = session.LoadMarks("")
	for _, name := range []string{"", " a", "a\nb", "\x1b[2J", "\xff", strings.Repeat("x", 201)} {
		if err := m.Add(1, name); err == nil {
			t.Errorf("a bookmark may be called %q", name)
		}
	}
	if err := m.Add(1, "a"); err != nil || len(m.List()) != 1 {
		t.Errorf("without a file: %v, %v", m.List(), err)
	}
}

func FuzzParseMarks(f *testing.F) {
	f.Add([]byte("# x\n1 a\n\n18446744073709551615 two words\r\n"))
	f.Add([]byte("1 \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		marks, err := session.ParseMarks(data)
		if err != nil {
			return
		}
		var out bytes.Buffer
		last := clock.TSC(0)
		for _, m := range marks {
			if m.At < last {
				t.Fatalf("marks are not in order: %v", marks)
			}
			last = m.At
			fmt.Fprintf(&out, "%d %s\n", m.At, m.Name)
		}
		again, err := session.ParseMarks(out.Bytes())
		if err != nil || !slices.Equal(again, marks) {
			t.Errorf("%v written and read back is %v, %v", marks, again, err)
		}
	})
}
