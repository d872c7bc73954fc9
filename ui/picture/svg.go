package picture

import (
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"
)

// The size of a cell and of the margin in pixels.
const (
	CellW, CellH = 10, 20
	Margin       = 12
)

// SVG draws the frame: runs of text of one look, and shapes for what is drawn.
func (f Frame) SVG() []byte {
	var b strings.Builder
	w, h := f.W*CellW+2*Margin, f.H*CellH+2*Margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", hexColor(f.Palette.BG))
	b.WriteString(`<g font-family="'Go Mono','DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="16" xml:space="preserve">` + "\n")
	for y, row := range f.Rows {
		svgBackground(&b, row, y, f.Palette)
		svgShapes(&b, row, y)
		svgText(&b, row, y)
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

func hexColor(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func svgBackground(b *strings.Builder, row []Glyph, y int, p Palette) {
	for x := 0; x < len(row); {
		e := x + 1
		for e < len(row) && row[e].BG == row[x].BG {
			e++
		}
		if row[x].BG != p.BG {
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", Margin+x*CellW, Margin+y*CellH,
				(e-x)*CellW, CellH, hexColor(row[x].BG))
		}
		x = e
	}
}

// svgShapes writes the drawn runes of a row, one path per colour and opacity.
func svgShapes(b *strings.Builder, row []Glyph, y int) {
	type ink struct {
		c color.RGBA
		a float64
	}
	var order []ink
	paths := map[ink]*strings.Builder{}
	for x, g := range row {
		for _, s := range ShapesOf(g.R) {
			k := ink{g.FG, s.Alpha}
			if paths[k] == nil {
				paths[k] = &strings.Builder{}
				order = append(order, k)
			}
			svgPath(paths[k], s, Margin+x*CellW, Margin+y*CellH)
		}
	}
	for _, k := range order {
		op := ""
		if k.a < 1 {
			op = ` opacity="` + strconv.FormatFloat(k.a, 'g', 3, 64) + `"`
		}
		fmt.Fprintf(b, `<path fill="%s"%s d="%s"/>`+"\n", hexColor(k.c), op, paths[k].String())
	}
}

func svgPath(b *strings.Builder, s Shape, x0, y0 int) {
	for i, p := range s.Pts {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(float64(x0)+p.X*CellW, 'f', 1, 64) + " " +
			strconv.FormatFloat(float64(y0)+p.Y*CellH, 'f', 1, 64))
	}
	b.WriteByte('Z')
}

// svgText writes runs of written runes; every run is stretched to its columns so
// that other fonts keep the grid.
func svgText(b *strings.Builder, row []Glyph, y int) {
	written := func(g Glyph) bool { return g.R != 0 && g.R != ' ' && ShapesOf(g.R) == nil }
	for x := 0; x < len(row); {
		if !written(row[x]) {
			x++
			continue
		}
		e := x
		var run strings.Builder
		for e < len(row) && row[e].FG == row[x].FG && row[e].Bold == row[x].Bold && written(row[e]) {
			run.WriteRune(row[e].R)
			e++
		}
		weight := ""
		if row[x].Bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" fill="%s"%s>%s</text>`+"\n", Margin+x*CellW, Margin+y*CellH+15,
			(e-x)*CellW, hexColor(row[x].FG), weight, html.EscapeString(run.String()))
		x = e
	}
}
