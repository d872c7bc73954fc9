package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSavedPictureSaysWhatItsFiguresAreOf(t *testing.T) {
	for _, sz := range []struct{ w, h int }{{200, 60}, {64, 18}} {
		r := newRig(t, sz.w, sz.h, 11_500)
		r.press("5,W")
		names, err := filepath.Glob(filepath.Join(r.m.opts.Dir, "*.svg"))
		if err != nil || len(names) != 1 {
			t.Fatalf("%d pictures, %v, want 1", len(names), err)
		}
		svg, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"MODELLED", "cyclic", "model"} {
			if !strings.Contains(string(svg), want) {
				t.Errorf("the picture of a pane at %d columns does not say %q", sz.w, want)
			}
		}
	}
}
