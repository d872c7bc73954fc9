package ui

import "testing"

func TestTableOfManyVCPUsCutsNoColumn(t *testing.T) {
	ends := map[int]bool{0: true}
	x := 0
	for _, c := range timerColumns {
		x += c.w
		ends[x] = true
	}
	for w := range 200 {
		if fit := wholeColumns(w); !ends[fit] || fit > w+1 {
			t.Errorf("in %d columns %d are drawn: not the end of a column", w, fit)
		}
	}
}
