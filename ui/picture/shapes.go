package picture

import "math"

// Point is a place in a cell, (0, 0) top left to (1, 1) bottom right.
type Point struct{ X, Y float64 }

// Shape is a filled polygon with an opacity.
type Shape struct {
	Pts   []Point
	Alpha float64
}

// lineWidth and its half are those of box lines, as fractions of the cell's
// width; heights are scaled by aspect.
const (
	aspect = 2.0 // a cell is twice as high as wide
	thin   = 0.12
)

func box(x0, y0, x1, y1 float64) Shape { return boxAlpha(x0, y0, x1, y1, 1) }

func boxAlpha(x0, y0, x1, y1, alpha float64) Shape {
	return Shape{[]Point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, alpha}
}

// arms says which arms a box character has: left, right, up, down.
var arms = map[rune]string{
	'─': "lr", '│': "ud", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '├': "udr", '┤': "udl", '┬': "lrd", '┴': "lru", '┼': "lrud",
}

// corners are the rounded ones: the directions that the curve joins.
var corners = map[rune]Point{'╭': {1, 1}, '╮': {-1, 1}, '╰': {1, -1}, '╯': {-1, -1}}

// ShapesOf returns the shapes of a rune that is drawn rather than written, nil for
// others.
func ShapesOf(r rune) []Shape {
	switch {
	case r >= 0x2800 && r <= 0x28ff:
		return braille(r)
	case r >= '▁' && r <= '█':
		return []Shape{box(0, 1-float64(r-'▁'+1)/8, 1, 1)}
	case r >= '▉' && r <= '▏':
		return []Shape{box(0, 0, 1-float64(r-'▉'+1)/8, 1)}
	}
	if a, ok := arms[r]; ok {
		return armShapes(a)
	}
	if d, ok := corners[r]; ok {
		return []Shape{arc(d)}
	}
	return signs[r]
}

func armShapes(dirs string) (out []Shape) {
	const w, h = thin / 2, thin / 2 / aspect
	for _, d := range dirs {
		switch d {
		case 'l':
			out = append(out, box(0, .5-h, .5+w, .5+h))
		case 'r':
			out = append(out, box(.5-w, .5-h, 1, .5+h))
		case 'u':
			out = append(out, box(.5-w, 0, .5+w, .5+h))
		case 'd':
			out = append(out, box(.5-w, .5-h, .5+w, 1))
		}
	}
	return out
}

// arc joins the middle to the side in direction d.X and to the edge in d.Y by a
// quarter circle.
func arc(d Point) Shape {
	const r = .5 // in widths
	cx, cy := .5+d.X*r, .5+d.Y*r/aspect
	var outer, inner []Point
	for i := 0; i <= 8; i++ {
		t := float64(i) / 8 * math.Pi / 2
		for _, e := range []struct {
			rad float64
			to  *[]Point
		}{{r + thin/2, &outer}, {r - thin/2, &inner}} {
			*e.to = append(*e.to, Point{cx - d.X*e.rad*math.Cos(t), cy - d.Y*e.rad*math.Sin(t)/aspect})
		}
	}
	// straight on to the edge above or below
	end := .5 + d.Y*.5
	outer = append([]Point{{cx - d.X*(r+thin/2), end}}, outer...)
	inner = append([]Point{{cx - d.X*(r-thin/2), end}}, inner...)
	for i := len(inner) - 1; i >= 0; i-- {
		outer = append(outer, inner[i])
	}
	return Shape{outer, 1}
}

// braille draws dots 1 to 8 where the bits of the rune say.
func braille(r rune) (out []Shape) {
	places := [8]Point{{.28, .125}, {.28, .375}, {.28, .625}, {.72, .125}, {.72, .375}, {.72, .625}, {.28, .875}, {.72, .875}}
	for i, p := range places {
		if r>>i&1 != 0 {
			out = append(out, disc(p, .17))
		}
	}
	return out
}

func disc(c Point, r float64) Shape {
	var pts []Point
	for i := range 12 {
		t := float64(i) / 12 * 2 * math.Pi
		pts = append(pts, Point{c.X + r*math.Cos(t), c.Y + r*math.Sin(t)/aspect})
	}
	return Shape{pts, 1}
}

func poly(xy ...float64) Shape {
	var pts []Point
	for i := 0; i+1 < len(xy); i += 2 {
		pts = append(pts, Point{xy[i], xy[i+1]})
	}
	return Shape{pts, 1}
}

// stroke is a line of some width between two points.
func stroke(x0, y0, x1, y1, w float64) Shape {
	dx, dy := x1-x0, (y1-y0)*aspect
	n := math.Hypot(dx, dy)
	ox, oy := -dy/n*w/2, dx/n*w/2/aspect
	return poly(x0+ox, y0+oy, x1+ox, y1+oy, x1-ox, y1-oy, x0-ox, y0-oy)
}

// signs are the other drawn runes.
var signs = map[rune][]Shape{
	'░': {boxAlpha(0, 0, 1, 1, .28)}, '▒': {boxAlpha(0, 0, 1, 1, .5)}, '▓': {boxAlpha(0, 0, 1, 1, .75)},
	'▚': {box(0, 0, .5, .5), box(.5, .5, 1, 1)}, '▞': {box(.5, 0, 1, .5), box(0, .5, .5, 1)},
	'▙': {box(0, 0, .5, 1), box(.5, .5, 1, 1)}, '▟': {box(.5, 0, 1, 1), box(0, .5, .5, 1)},
	'▶': {poly(.1, .22, .95, .5, .1, .78)}, '◂': {poly(.85, .35, .2, .5, .85, .65)},
	'▼': {poly(.05, .35, .95, .35, .5, .8)}, '▲': {poly(.05, .7, .95, .7, .5, .25)},
	'●': {disc(Point{.5, .5}, .42)}, '■': {box(.1, .3, .9, .7)},
	'◆': {poly(.5, .25, .95, .5, .5, .75, .05, .5)}, '┃': {box(.36, 0, .64, 1)},
	'┊': {box(.46, .04, .54, .16), box(.46, .29, .54, .41), box(.46, .54, .54, .66), box(.46, .79, .54, .91)},
	'┆': {box(.45, .05, .55, .25), box(.45, .38, .55, .58), box(.45, .71, .55, .91)},
	'┈': {box(.05, .48, .18, .52), box(.3, .48, .43, .52), box(.55, .48, .68, .52), box(.8, .48, .93, .52)},
	'‖': {box(.22, .3, .38, .74), box(.62, .3, .78, .74)},
	'✓': {stroke(.12, .55, .4, .72, .14), stroke(.36, .72, .88, .28, .14)},
	'✗': {stroke(.15, .3, .85, .72, .14), stroke(.85, .3, .15, .72, .14)},
	'→': {box(.05, .48, .9, .54), stroke(.6, .38, .95, .51, .12), stroke(.6, .64, .95, .51, .12)},
	'←': {box(.1, .48, .95, .54), stroke(.4, .38, .05, .51, .12), stroke(.4, .64, .05, .51, .12)},
	'↑': {box(.45, .25, .55, .78), stroke(.5, .24, .2, .4, .12), stroke(.5, .24, .8, .4, .12)},
	'↓': {box(.45, .25, .55, .78), stroke(.5, .78, .2, .62, .12), stroke(.5, .78, .8, .62, .12)},
	'›': {stroke(.3, .38, .65, .53, .12), stroke(.65, .53, .3, .68, .12)},
	'‹': {stroke(.65, .38, .3, .53, .12), stroke(.3, .53, .65, .68, .12)},
	'≡': {box(.1, .4, .9, .44), box(.1, .5, .9, .54), box(.1, .6, .9, .64)},
}
