package ui

import (
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/ui/uitest"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestOptionsChooseKeysPaneZoomAndLateness(t *testing.T) {
	keys, errs := keymap.With(keymap.Default(), map[string][]string{"step-exit": {"f1"}, "help": {"?"}, "next-late": {"alt+n"}})
	if errs != nil {
		t.Fatal(errs)
	}
	s := uitest.New(uitest.Header(), events400())
	s.Play(100)
	m := New(s, Options{Theme: "mono", Keys: keys, Focus: "exits", Zoom: true, Late: 2500})
	r := &rig{t, m, s}
	r.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	r.frame()
	if m.focus != paneExits || !m.zoom {
		t.Errorf("the screen begins with pane %s, zoom %v, want Exits alone", paneTitles[m.focus], m.zoom)
	}
	r.send(KeyMsg("f1"))
	r.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("n"), Alt: true})
	want := []vmm.Command{{Verb: vmm.DoStepExit, N: 1}, {Verb: vmm.DoRunTo, Text: "late > 2500ns"}}
	if !slices.Equal(s.Done, want) {
		t.Errorf("the actions ask for %+v, want %+v", s.Done, want)
	}
}

func TestPaneTitlesAreACopy(t *testing.T) {
	PaneTitles()[0] = "x"
	if PaneTitles()[0] != "Timer" || len(PaneTitles()) != int(numPanes) {
		t.Errorf("titles %q, want those of the %d panes", PaneTitles(), numPanes)
	}
}
