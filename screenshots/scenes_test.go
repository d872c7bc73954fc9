package screenshots

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

func TestScenesShowWhatTheyAreFor(t *testing.T) {
	names := map[string]bool{}
	for _, sc := range Scenes() {
		t.Run(sc.Name, func(t *testing.T) {
			if names[sc.Name] || sc.Alt == "" {
				t.Errorf("the scene's name is taken, or it has no words: %q", sc.Alt)
			}
			names[sc.Name] = true
			text, err := sc.Text()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range sc.Shows {
				if !strings.Contains(text, want) {
					t.Errorf("the picture does not show %q:\n%s", want, text)
				}
			}
			if strings.Contains(text, "✗ ") && !strings.Contains(sc.Name, "inspector") {
				t.Errorf("the picture shows a refusal:\n%s", text)
			}
		})
	}
}

func TestASceneIsTheSameEachTime(t *testing.T) {
	sc := Scenes()[0]
	a, err := sc.Frame()
	if err != nil {
		t.Fatal(err)
	}
	b, err := sc.Frame()
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Error("two frames of one scene differ")
	}
}

func TestFramesAreReadWithTheirLooks(t *testing.T) {
	f := parse("a\x1b[1;38;2;1;2;3mb\x1b[0m\n\x1b[7m世\x1b[0;94mx", 5, 2, darkPalette)
	if g := f.rows[0][1]; g.r != 'b' || !g.bold || g.fg != (rgb(0x010203)) {
		t.Errorf("second cell = %+v", g)
	}
	if g := f.rows[0][0]; g.r != 'a' || g.fg != darkPalette.fg || g.bold {
		t.Errorf("first cell = %+v", g)
	}
	if g := f.rows[1][0]; g.bg != darkPalette.fg || g.fg != darkPalette.bg {
		t.Errorf("reversed cell = %+v", g)
	}
	if g := f.rows[1][2]; g.r != 'x' || g.fg != darkPalette.ansi[12] {
		t.Errorf("the cell after a wide rune = %+v", g)
	}
}

func TestEveryRuneOfTheScreensIsDrawnOrInTheFont(t *testing.T) {
	fs, err := newFaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range Scenes()[:6] {
		text, err := sc.Text()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range text {
			if r == '\n' || r == ' ' || shapesOf(r) != nil {
				continue
			}
			if _, ok := fs.plain.GlyphAdvance(r); !ok {
				t.Errorf("%s: %q (%U) is neither drawn nor in the font", sc.Name, r, r)
			}
		}
	}
}

func TestPicturesHaveTheSizeOfTheirScreen(t *testing.T) {
	f := parse("╭─┤1├─╮\n│⣿▆░✓◆┃│", 9, 2, darkPalette)
	img, err := renderPNG(f, darkPalette)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(img))
	if err != nil || cfg.Width != 9*cellW+2*margin || cfg.Height != 2*cellH+2*margin {
		t.Errorf("the PNG is %d×%d, %v", cfg.Width, cfg.Height, err)
	}
	svg := string(renderSVG(f, darkPalette))
	for _, want := range []string{`width="114" height="64"`, "<path", ">1</text>", "</svg>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the SVG lacks %q:\n%s", want, svg)
		}
	}
}
