package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder stands in for a test, so that a failing comparison can be looked at.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.errors = append(r.errors, format) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.errors = append(r.errors, format)
	panic(r)
}

func run(t *testing.T, f func(testing.TB)) []string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
		}()
		f(r)
	}()
	return r.errors
}

func TestEqualComparesWithTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.golden")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file, got string
		fails           int
	}{
		{"same", file, "one\ntwo\n", 0},
		{"other", file, "one\nthree\n", 1},
		{"no newline at the end", file, "one\ntwo", 1},
		{"no file", file + ".none", "one", 1},
	}
	for _, tt := range tests {
		if got := run(t, func(r testing.TB) { Equal(r, tt.file, []byte(tt.got)) }); len(got) != tt.fails {
			t.Errorf("%s: failures %q, want %d", tt.name, got, tt.fails)
		}
	}
}

func TestUpdateRewritesTheFile(t *testing.T) {
	*update = true
	defer func() { *update = false }()
	file := filepath.Join(t.TempDir(), "new", "x.golden")
	Equal(t, file, []byte("text"))
	if !Updating() {
		t.Error("Updating is false")
	}
	if got, err := os.ReadFile(file); string(got) != "text" || err != nil {
		t.Errorf("file holds %q, %v", got, err)
	}
}

func TestDiffNamesTheLine(t *testing.T) {
	if d := Diff("a\nb", "a\nc"); !strings.Contains(d, `"b"`) || !strings.Contains(d, `"c"`) {
		t.Errorf("diff is %s", d)
	}
	if d := Diff("a", "a"); d != "" {
		t.Errorf("equal texts differ: %s", d)
	}
}
