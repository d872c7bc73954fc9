package screenshots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"codeberg.org/ticktrap/ticktrap/ui/picture"
)

// The size of a cell and of the margin in pixels, and of the font.
const (
	cellW, cellH = picture.CellW, picture.CellH
	margin       = picture.Margin
	fontSize     = 16
)

// faces are the two weights of the font.
type faces struct{ plain, bold font.Face }

func newFaces() (f faces, err error) {
	if f.plain, err = face(gomono.TTF); err != nil {
		return f, err
	}
	f.bold, err = face(gomonobold.TTF)
	return f, err
}

func face(ttf []byte) (font.Face, error) {
	ft, err := opentype.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("reading Go Mono: %w", err)
	}
	return opentype.NewFace(ft, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
}

// renderPNG draws a frame.
func renderPNG(f picture.Frame) ([]byte, error) {
	fs, err := newFaces()
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, f.W*cellW+2*margin, f.H*cellH+2*margin))
	draw.Draw(img, img.Bounds(), image.NewUniform(f.Palette.BG), image.Point{}, draw.Src)
	for y, row := range f.Rows {
		for x, g := range row {
			r := image.Rect(margin+x*cellW, margin+y*cellH, margin+(x+1)*cellW, margin+(y+1)*cellH)
			if g.BG != f.Palette.BG {
				draw.Draw(img, r, image.NewUniform(g.BG), image.Point{}, draw.Src)
			}
			drawGlyph(img, r, g, fs)
		}
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("writing PNG: %w", err)
	}
	return b.Bytes(), nil
}

func drawGlyph(img *image.RGBA, r image.Rectangle, g picture.Glyph, fs faces) {
	if g.R == ' ' || g.R == 0 {
		return
	}
	if ss := picture.ShapesOf(g.R); ss != nil {
		for _, s := range ss {
			fillShape(img, r, s, g.FG)
		}
		return
	}
	fc := fs.plain
	if g.Bold {
		fc = fs.bold
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(g.FG), Face: fc,
		Dot: fixed.P(r.Min.X, r.Min.Y+15)}
	d.DrawString(string(g.R))
}

func fillShape(img *image.RGBA, r image.Rectangle, s picture.Shape, c color.RGBA) {
	ras := vector.NewRasterizer(r.Dx(), r.Dy())
	for i, p := range s.Pts {
		x, y := float32(p.X*float64(r.Dx())), float32(p.Y*float64(r.Dy()))
		if i == 0 {
			ras.MoveTo(x, y)
		} else {
			ras.LineTo(x, y)
		}
	}
	ras.ClosePath()
	a := uint8(255 * s.Alpha)
	src := color.NRGBA{c.R, c.G, c.B, a}
	ras.Draw(img, r, image.NewUniform(src), image.Point{})
}
