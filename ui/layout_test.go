package ui

import (
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/keymap"
	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestPanesFillTheBodyWithoutOverlap(t *testing.T) {
	sizes := []struct{ w, h int }{{64, 18}, {80, 24}, {109, 60}, {110, 34}, {120, 40}, {200, 60}, {320, 100}, {110, 200}}
	for _, sz := range sizes {
		for focus := range numPanes {
			for _, vcpus := range []int{0, 1, 2, 64} {
				checkArrangement(t, sz.w, sz.h, arrange(sz.w, sz.h, focus, false, vcpus, true, &layouts[0]), focus)
			}
		}
	}
}

func checkArrangement(t *testing.T, w, h int, arr arrangement, focus paneID) {
	t.Helper()
	seen := make([]int, w*h)
	for p, s := range arr {
		if s.rect == (rect{}) && (!layouts[0].shows(paneID(p)) || !layouts[0].shows(focus)) {
			continue
		}
		if s.w <= 0 || s.h <= 0 || s.x < 0 || s.y < headerRows || s.x+s.w > w || s.y+s.h > h-footerRows {
			t.Fatalf("%d×%d: pane %d lies at %+v", w, h, p, s.rect)
		}
		if s.open && s.h < 4 {
			t.Errorf("%d×%d: pane %d is open in %d rows", w, h, p, s.h)
		}
		for y := s.y; y < s.y+s.h; y++ {
			for x := s.x; x < s.x+s.w; x++ {
				seen[y*w+x]++
			}
		}
	}
	for y := headerRows; y < h-footerRows; y++ {
		for x := range w {
			if n := seen[y*w+x]; n != 1 {
				t.Fatalf("%d×%d, focus %d: cell %d,%d belongs to %d panes", w, h, focus, x, y, n)
			}
		}
	}
}

func TestZoomGivesTheBodyToTheFocusedPane(t *testing.T) {
	arr := arrange(80, 24, paneKicks, true, 2, true, &layouts[0])
	for p, s := range arr {
		if paneID(p) == paneKicks {
			if want := (rect{0, 2, 80, 20}); s.rect != want || !s.open {
				t.Errorf("zoomed pane lies at %+v, want %+v", s.rect, want)
			}
		} else if s.w != 0 {
			t.Errorf("pane %d is shown at %+v beside the zoomed one", p, s.rect)
		}
	}
}

func TestSharesAddUpAndKeepNeeds(t *testing.T) {
	for h := 24; h < 120; h++ {
		sum := 0
		for _, c := range shares(h, []share{{paneTimer, 14, 6, 0}, {paneDeadlines, 12, 10, 60}, {paneExits, 7, 6, 26}}) {
			sum += c.want
			if c.want < c.need {
				t.Errorf("height %d: pane %d gets %d rows, needs %d", h, c.pane, c.want, c.need)
			}
		}
		if sum != h {
			t.Errorf("shares of %d rows add up to %d", h, sum)
		}
	}
}

func TestLayoutsFillTheBodyWithTheirPanes(t *testing.T) {
	own := chosenLayouts(&Options{Layout: "exits", Left: []string{"Console", "Exits"}, Split: 30})[0]
	one := layout{name: "one column", left: []paneID{paneExits, paneTimer}}
	for _, l := range append(slices.Clone(layouts), own, one, layout{name: "right", right: []paneID{paneKicks}}) {
		for _, sz := range []struct{ w, h int }{{64, 18}, {110, 34}, {200, 60}} {
			for focus := range numPanes {
				arr := arrange(sz.w, sz.h, focus, false, 2, focus%2 == 0, &l)
				area := 0
				for p, s := range arr {
					area += s.w * s.h
					grid := sz.w >= gridWidth && sz.h >= gridHeight
					want := paneID(p) == focus || l.shows(paneID(p)) && (!grid || l.shows(focus))
					if (s.w > 0) != want {
						t.Errorf("%s at %d×%d, focus on %s: is %s there: %v, want %v", l.name, sz.w, sz.h, paneTitles[focus], paneTitles[p], s.w > 0, want)
					}
				}
				if body := sz.w * (sz.h - headerRows - footerRows); area != body {
					t.Errorf("%s at %d×%d, focus on %s: the panes have %d cells, the body %d", l.name, sz.w, sz.h, paneTitles[focus], area, body)
				}
			}
		}
	}
	if arr := arrange(200, 60, paneExits, false, 1, true, &own); arr[paneExits].w != 60 || arr[paneConsole].y != headerRows || arr[paneFastpath].x != 60 {
		t.Errorf("30 %% for Console and Exits gives %+v", arr)
	}
}

func TestOwnLayoutGivesAPaneOnePlace(t *testing.T) {
	tests := []struct {
		name        string
		o           Options
		left, right string
	}{
		{"nothing chosen", Options{}, "Timer, Deadlines, Exits", "Knobs, Fastpath, Kicks, Console"},
		{"a named one", Options{Layout: "exits"}, "Timer, Exits", "Knobs, Fastpath, Console"},
		{"left", Options{Left: []string{"Knobs", "Timer"}}, "Knobs, Timer", "Fastpath, Kicks, Console"},
		{"right", Options{Right: []string{"Timer"}}, "Deadlines, Exits", "Timer"},
		{"both", Options{Left: []string{"Exits"}, Right: []string{"Kicks"}}, "Exits", "Kicks"},
	}
	for _, tt := range tests {
		l := chosenLayouts(&tt.o)[0]
		if got, want := l.words(), tt.left+" | "+tt.right; got != want {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
}

func TestLayoutKeyGoesThroughTheLayouts(t *testing.T) {
	r := newRig(t, 200, 60, 3000)
	r.press("7") // Console, which "deadlines" does not show
	var seen []string
	for range layouts {
		r.press("L")
		seen = append(seen, r.m.layout().name)
		if !r.m.layout().shows(r.m.focus) {
			t.Errorf("layout %s leaves the focus on %s", r.m.layout().name, paneTitles[r.m.focus])
		}
	}
	if want := append(slices.Clone(LayoutNames()[1:]), LayoutNames()[0]); !slices.Equal(seen, want) {
		t.Errorf("L goes through %q, want %q", seen, want)
	}
	r.press("L")
	r.wants("layout deadlines: Timer, Deadlines | Knobs, Fastpath")
	for _, key := range []string{"tab", "tab", "tab", "shift+tab"} {
		if r.press(key); !r.m.layout().shows(r.m.focus) {
			t.Errorf("%s leads to %s, which the layout does not show", key, paneTitles[r.m.focus])
		}
	}
	r.press("6") // still reached by its key
	if s := r.screen(); !strings.Contains(s, "6 Exits ◂") || strings.Contains(s, "5 Knobs") {
		t.Errorf("a pane outside of the layout is not alone on the screen:\n%s", s)
	}
	if b := r.m.keys.Binding(keymap.Layout); b.Name != "layout" {
		t.Errorf("the action is called %q", b.Name)
	}
}

func TestGuestWithoutTimersLeavesRoomToOthers(t *testing.T) {
	with, without := arrange(200, 60, paneExits, false, 2, true, &layouts[0]), arrange(200, 60, paneExits, false, 2, false, &layouts[0])
	if without[paneDeadlines].h >= 10 || without[paneExits].h <= with[paneExits].h {
		t.Errorf("Deadlines has %d rows and Exits %d, with timers %d and %d", without[paneDeadlines].h, without[paneExits].h,
			with[paneDeadlines].h, with[paneExits].h)
	}
}

func TestTimerPaneUsesTheRowsOfOneVCPU(t *testing.T) {
	r := newRig(t, 80, 24, 11_500)
	r.m.frame.State.VCPUs = r.m.frame.State.VCPUs[:1]
	r.m.dirty = true
	r.wants("host side, whole run")
	r.wants("expiries")
	r.wants("1 vCPU ─")
}

func TestEveryVCPUOfManyIsReached(t *testing.T) {
	r := newRig(t, 80, 24, 500)
	for len(r.m.frame.State.VCPUs) < 30 {
		r.m.frame.State.VCPUs = append(r.m.frame.State.VCPUs, trace.VCPU{})
	}
	r.m.dirty = true
	r.wants(" more vCPUs")
	p := r.m.panes[paneTimer]
	for range 40 {
		p.act(r.m.scene(), keymap.Down, 11)
	}
	r.m.dirty = true
	if r.wants("│29   "); strings.Contains(r.screen(), "more vCPU") {
		t.Error("at the end there are more below")
	}
}
