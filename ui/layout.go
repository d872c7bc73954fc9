package ui

// The least terminal that the screen works in.
const (
	MinWidth  = 64
	MinHeight = 18
)

// From this size on all panes are shown side by side; below it the focused pane
// is open and the others are lines.
const (
	gridWidth  = 110
	gridHeight = 34
)

const (
	headerRows = 2
	footerRows = 2
)

// rect is a place on the screen.
type rect struct{ x, y, w, h int }

func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// slot is where a pane is drawn: open with a frame, or as a line.
type slot struct {
	rect
	open bool
}

// arrangement is the place of every pane; a pane with an empty rect is hidden.
type arrangement [numPanes]slot

// arrange places the panes on a screen of w × h. It is a pure function, so a
// click can be resolved without drawing. h is without the seek bar; vcpus sizes
// the Timer pane.
func arrange(w, h int, focus paneID, zoom bool, vcpus int) (arr arrangement) {
	body := rect{0, headerRows, w, h - headerRows - footerRows}
	switch {
	case zoom:
		arr[focus] = slot{body, true}
	case w >= gridWidth && h >= gridHeight:
		arrangeGrid(&arr, body, vcpus)
	default:
		arrangeStack(&arr, body, focus)
	}
	return arr
}

// arrangeStack opens the focused pane between the lines of the others.
func arrangeStack(arr *arrangement, body rect, focus paneID) {
	open := body.h - (int(numPanes) - 1)
	y := body.y
	for p := range numPanes {
		n := 1
		if p == focus {
			n = open
		}
		arr[p] = slot{rect{body.x, y, body.w, n}, p == focus}
		y += n
	}
}

// arrangeGrid shows all panes: wide ones left, narrow ones right.
func arrangeGrid(arr *arrangement, body rect, vcpus int) {
	right := min(max(body.w*37/100, 46), 84)
	left := body.w - right
	lefts := shares(body.h, []share{
		{paneTimer, timerRows(vcpus, left-2) + 2, 6, 0},
		{paneDeadlines, 12, 10, 60},
		{paneExits, 7, 6, 26},
	})
	knobs := 14
	if body.h >= 52 { // room for what the selected one is, too
		knobs = 22
	}
	rights := shares(body.h, []share{
		{paneKnobs, knobs, 9, 0},
		{paneFastpath, 8, 6, 30},
		{paneKicks, 7, 6, 36},
		{paneConsole, 5, 4, 14},
	})
	placeColumn(arr, rect{body.x, body.y, left, body.h}, lefts)
	placeColumn(arr, rect{body.x + left, body.y, right, body.h}, rights)
}

// share is a pane's claim on a column: what it wants at least, what it can live
// with, and its weight in what is left.
type share struct {
	pane              paneID
	want, need, extra int
}

// shares turns claims into heights that add up to h.
func shares(h int, cs []share) []share {
	sum, weight := 0, 0
	for _, c := range cs {
		sum += c.want
		weight += c.extra
	}
	for i := 0; sum > h && i < 200; i++ { // take a row from whoever has most to spare
		most := 0
		for j, c := range cs {
			if c.want-c.need > cs[most].want-cs[most].need {
				most = j
			}
		}
		cs[most].want--
		sum--
	}
	spare := h - sum
	for i := range cs {
		if weight > 0 && cs[i].extra > 0 {
			n := spare * cs[i].extra / weight
			spare, weight = spare-n, weight-cs[i].extra
			cs[i].want += n
		}
	}
	return cs
}

func placeColumn(arr *arrangement, col rect, cs []share) {
	y := col.y
	for _, c := range cs {
		arr[c.pane] = slot{rect{col.x, y, col.w, c.want}, true}
		y += c.want
	}
}
