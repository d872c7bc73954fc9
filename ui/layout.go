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
// the Timer pane; timers is false if the guest seems to use no timer. A focused pane that the layout does not show is alone while it
// has the focus.
func arrange(w, h int, focus paneID, zoom bool, vcpus int, timers bool, lay *layout) (arr arrangement) {
	body := rect{0, headerRows, w, h - headerRows - footerRows}
	grid := w >= gridWidth && h >= gridHeight
	switch {
	case zoom, grid && !lay.shows(focus):
		arr[focus] = slot{body, true}
	case grid:
		arrangeGrid(&arr, body, vcpus, timers, lay)
	default:
		arrangeStack(&arr, body, focus, lay)
	}
	return arr
}

// arrangeStack opens the focused pane between the lines of the others.
func arrangeStack(arr *arrangement, body rect, focus paneID, lay *layout) {
	var shown []paneID
	for p := range numPanes {
		if p == focus || lay.shows(p) {
			shown = append(shown, p)
		}
	}
	open := body.h - (len(shown) - 1)
	y := body.y
	for _, p := range shown {
		n := 1
		if p == focus {
			n = open
		}
		arr[p] = slot{rect{body.x, y, body.w, n}, p == focus}
		y += n
	}
}

// leastColumn is the least width of a column.
const leastColumn = 40

// arrangeGrid shows the panes of the layout in two columns, or in one if the other
// is empty.
func arrangeGrid(arr *arrangement, body rect, vcpus int, timers bool, lay *layout) {
	right := min(max(body.w*37/100, 46), 84)
	if lay.split != 0 {
		right = body.w - body.w*lay.split/100
	}
	right = min(max(right, leastColumn), body.w-leastColumn)
	switch {
	case len(lay.right) == 0:
		right = 0
	case len(lay.left) == 0:
		right = body.w
	}
	column := func(x, w int, ps []paneID) {
		var claims []share
		for _, p := range ps {
			c := rooms[p].claim(claiming{body.h, w, vcpus, timers})
			c.pane = p
			claims = append(claims, c)
		}
		placeColumn(arr, rect{body.x + x, body.y, w, body.h}, shares(body.h, claims))
	}
	column(0, body.w-right, lay.left)
	column(body.w-right, right, lay.right)
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
	if weight == 0 && len(cs) > 0 { // nobody asks for more: the last one gets it
		cs[len(cs)-1].want += spare
	}
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
