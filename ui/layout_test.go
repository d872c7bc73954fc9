package ui

import "testing"

func TestPanesFillTheBodyWithoutOverlap(t *testing.T) {
	sizes := []struct{ w, h int }{{64, 18}, {80, 24}, {109, 60}, {110, 34}, {120, 40}, {200, 60}, {320, 100}, {110, 200}}
	for _, sz := range sizes {
		for focus := range numPanes {
			for _, vcpus := range []int{0, 1, 2, 64} {
				checkArrangement(t, sz.w, sz.h, arrange(sz.w, sz.h, focus, false, vcpus), focus)
			}
		}
	}
}

func checkArrangement(t *testing.T, w, h int, arr arrangement, focus paneID) {
	t.Helper()
	seen := make([]int, w*h)
	for p, s := range arr {
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
	arr := arrange(80, 24, paneKicks, true, 2)
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
