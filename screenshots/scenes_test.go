package screenshots

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/ui/picture"
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

func TestDocsShowScenesThatExist(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, sc := range Scenes() {
		names[sc.Name] = true
	}
	found := 0
	for _, f := range append(files, "../README.md") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`images/([a-z0-9-]+)\.(png|svg)`).FindAllStringSubmatch(string(text), -1) {
			found++
			if !names[m[1]] {
				t.Errorf("%s shows %s, which no scene makes", f, m[0])
			}
			if _, err := os.Stat("../docs/" + m[0]); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
	if found < 6 {
		t.Errorf("%d pictures in the docs, want those of the README and the tour", found)
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
			if r == '\n' || r == ' ' || picture.ShapesOf(r) != nil {
				continue
			}
			if _, ok := fs.plain.GlyphAdvance(r); !ok {
				t.Errorf("%s: %q (%U) is neither drawn nor in the font", sc.Name, r, r)
			}
		}
	}
}

func TestPicturesHaveTheSizeOfTheirScreen(t *testing.T) {
	f := picture.Parse("╭─┤1├─╮\n│⣿▆░✓◆┃│", 9, 2, picture.Dark)
	img, err := renderPNG(f)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(img))
	if err != nil || cfg.Width != 9*cellW+2*margin || cfg.Height != 2*cellH+2*margin {
		t.Errorf("the PNG is %d×%d, %v", cfg.Width, cfg.Height, err)
	}
	svg := string(f.SVG())
	for _, want := range []string{`width="114" height="64"`, "<path", ">1</text>", "</svg>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the SVG lacks %q:\n%s", want, svg)
		}
	}
}
