package screenshots

import (
	"os"
	"testing"

	"ticktrap/keymap"
	"ticktrap/ui/uitest"
	"ticktrap/vmm"
)

// stream opens the synthetic stream after n events.
func stream(n int) func() (vmm.Session, error) {
	return func() (vmm.Session, error) {
		s := uitest.New(uitest.Header(), uitest.Stream(400))
		s.Play(n)
		s.CPUs = uitest.CPUs()
		return s, nil
	}
}

func scenes() []Scene {
	return []Scene{
		{Name: "overview", W: 160, H: 48, Theme: "dark", Open: stream(11_500)},
		{Name: "wide", W: 200, H: 60, Theme: "dark", Open: stream(11_500), Do: []keymap.Action{keymap.PaneDeadlines}},
		{Name: "exit-inspector", W: 140, H: 40, Theme: "dark", Open: stream(11_000), Do: []keymap.Action{keymap.PaneExits, keymap.Open}},
		{Name: "deadlines", W: 140, H: 44, Theme: "dark", Open: stream(11_500), Do: []keymap.Action{keymap.PaneDeadlines, keymap.Zoom}},
		{Name: "mono-80x24", W: 80, H: 24, Theme: "mono", Open: stream(11_500), Do: []keymap.Action{keymap.PaneDeadlines}},
		{Name: "dark-80x24", W: 80, H: 24, Theme: "dark", Open: stream(11_500), Do: []keymap.Action{keymap.PaneTimer}},
		{Name: "help", W: 120, H: 40, Theme: "dark", Open: stream(11_500), Do: []keymap.Action{keymap.PaneKicks, keymap.Help}},
		{Name: "timer-zoom", W: 160, H: 44, Theme: "dark", Open: stream(11_500), Do: []keymap.Action{keymap.PaneTimer, keymap.Zoom}},
		{Name: "light", W: 160, H: 48, Theme: "light", Open: stream(11_500), Do: []keymap.Action{keymap.PaneKicks}},
	}
}

func TestDraft(t *testing.T) {
	dir := os.Getenv("OUT")
	if dir == "" {
		t.Skip()
	}
	for _, sc := range scenes() {
		if err := sc.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
}
