package ui

import (
	"slices"
	"strings"
)

// layout says which panes are shown, and where when all are open: in two columns,
// from top to bottom.
type layout struct {
	name        string
	left, right []paneID
	split       int // the left column's share of the width in percent, 0: as suits the right one
}

// layouts are the named layouts in the order of the layout key.
var layouts = []layout{
	{"overview", []paneID{paneTimer, paneDeadlines, paneExits}, []paneID{paneKnobs, paneFastpath, paneKicks, paneConsole}, 0},
	{"deadlines", []paneID{paneTimer, paneDeadlines}, []paneID{paneKnobs, paneFastpath}, 68},
	{"exits", []paneID{paneTimer, paneExits}, []paneID{paneKnobs, paneFastpath, paneConsole}, 62},
	{"kicks", []paneID{paneTimer, paneKicks}, []paneID{paneExits, paneFastpath}, 50},
}

// LayoutNames are the names of the layouts, in the order of the layout key.
func LayoutNames() (names []string) {
	for i := range layouts {
		names = append(names, layouts[i].name)
	}
	return names
}

// shows reports whether a pane is part of the layout.
func (l *layout) shows(p paneID) bool {
	return slices.Contains(l.left, p) || slices.Contains(l.right, p)
}

// words are the layout's columns.
func (l *layout) words() string {
	var cols []string
	for _, ps := range [][]paneID{l.left, l.right} {
		var names []string
		for _, p := range ps {
			names = append(names, paneTitles[p])
		}
		if len(names) > 0 {
			cols = append(cols, strings.Join(names, ", "))
		}
	}
	return strings.Join(cols, " | ")
}

// chosenLayouts are the layouts that the layout key goes through, the one to begin
// with first: the named one, changed as the options say.
func chosenLayouts(o *Options) []layout {
	at := max(slices.IndexFunc(layouts, func(l layout) bool { return l.name == o.Layout }), 0)
	out := append(slices.Clone(layouts[at:]), layouts[:at]...)
	if len(o.Left)+len(o.Right) == 0 && o.Split == 0 {
		return out
	}
	own := out[0]
	own.name = "own"
	left, right := panesNamed(o.Left), panesNamed(o.Right)
	if len(left) > 0 {
		own.left = left
	}
	if len(right) > 0 {
		own.right = right
	}
	in := func(ps []paneID) func(paneID) bool { return func(p paneID) bool { return slices.Contains(ps, p) } }
	switch { // a pane that one column is given leaves the other
	case len(left) > 0 && len(right) == 0:
		own.right = slices.DeleteFunc(slices.Clone(own.right), in(own.left))
	case len(right) > 0:
		own.left = slices.DeleteFunc(slices.Clone(own.left), in(own.right))
	}
	if o.Split != 0 {
		own.split = o.Split
	}
	return append([]layout{own}, out...)
}

func panesNamed(names []string) (ps []paneID) {
	for _, n := range names {
		for p, t := range paneTitles {
			if strings.EqualFold(t, n) && !slices.Contains(ps, paneID(p)) {
				ps = append(ps, paneID(p))
			}
		}
	}
	return ps
}
