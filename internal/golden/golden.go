// Package golden compares what a test produced with a file under testdata, and
// rewrites the file when the test runs with -update. Read the difference before
// you commit one.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Updating reports whether the test runs with -update.
func Updating() bool { return *update }

// Equal fails the test if got is not what file holds.
func Equal(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		write(t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if d := Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (- file, + now; -update rewrites it):\n%s", file, d)
	}
}

func write(t testing.TB, file string, got []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, got, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Diff returns the differences between two texts by line, empty if there are
// none.
func Diff(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}
