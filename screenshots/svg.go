package screenshots

import (
	"fmt"
	"html"
	"image/color"
	"strconv"
	"strings"
)

// renderSVG draws a frame: runs of text of one look, and shapes for what is
// drawn.
func renderSVG(f frame, p palette) []byte {
	var b strings.Builder
	w, h := f.w*cellW+2*margin, f.h*cellH+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", hexColor(p.bg))
	b.WriteString(`<g font-family="'Go Mono','DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="16" xml:space="preserve">` + "\n")
	for y, row := range f.rows {
		svgBackground(&b, row, y, p)
		svgShapes(&b, row, y)
		svgText(&b, row, y)
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

func hexColor(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func svgBackground(b *strings.Builder, row []glyph, y int, p palette) {
	for x := 0; x < len(row); {
		e := x + 1
		for e < len(row) && row[e].bg == row[x].bg {
			e++
		}
		if row[x].bg != p.bg {
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", margin+x*cellW, margin+y*cellH,
				(e-x)*cellW, cellH, hexColor(row[x].bg))
		}
		x = e
	}
}

// svgShapes writes the drawn runes of a row, one path per colour and opacity.
func svgShapes(b *strings.Builder, row []glyph, y int) {
	type ink struct {
		c color.RGBA
		a float64
	}
	var order []ink
	paths := map[ink]*strings.Builder{}
	for x, g := range row {
		for _, s := range shapesOf(g.r) {
			k := ink{g.fg, s.alpha}
			if paths[k] == nil {
				paths[k] = &strings.Builder{}
				order = append(order, k)
			}
			svgPath(paths[k], s, margin+x*cellW, margin+y*cellH)
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

func svgPath(b *strings.Builder, s shape, x0, y0 int) {
	for i, p := range s.pts {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(float64(x0)+p.x*cellW, 'f', 1, 64) + " " +
			strconv.FormatFloat(float64(y0)+p.y*cellH, 'f', 1, 64))
	}
	b.WriteByte('Z')
}

// svgText writes runs of written runes; every run is stretched to its columns so
// that other fonts keep the grid.
func svgText(b *strings.Builder, row []glyph, y int) {
	written := func(g glyph) bool { return g.r != 0 && g.r != ' ' && shapesOf(g.r) == nil }
	for x := 0; x < len(row); {
		if !written(row[x]) {
			x++
			continue
		}
		e := x
		var run strings.Builder
		for e < len(row) && row[e].fg == row[x].fg && row[e].bold == row[x].bold && written(row[e]) {
			run.WriteRune(row[e].r)
			e++
		}
		weight := ""
		if row[x].bold {
			weight = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" fill="%s"%s>%s</text>`+"\n", margin+x*cellW, margin+y*cellH+15,
			(e-x)*cellW, hexColor(row[x].fg), weight, html.EscapeString(run.String()))
		x = e
	}
}
