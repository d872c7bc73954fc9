package picture

import "testing"

func TestFramesAreReadWithTheirLooks(t *testing.T) {
	f := Parse("a\x1b[1;38;2;1;2;3mb\x1b[0m\n\x1b[7m世\x1b[0;94mx", 5, 2, Dark)
	if g := f.Rows[0][1]; g.R != 'b' || !g.Bold || g.FG != (rgb(0x010203)) {
		t.Errorf("second cell = %+v", g)
	}
	if g := f.Rows[0][0]; g.R != 'a' || g.FG != Dark.FG || g.Bold {
		t.Errorf("first cell = %+v", g)
	}
	if g := f.Rows[1][0]; g.BG != Dark.FG || g.FG != Dark.BG {
		t.Errorf("reversed cell = %+v", g)
	}
	if g := f.Rows[1][2]; g.R != 'x' || g.FG != Dark.ANSI[12] {
		t.Errorf("the cell after a wide rune = %+v", g)
	}
}
