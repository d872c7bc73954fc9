package screenshots

import (
	"fmt"
	"os"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/keymap"
	"ticktrap/ui"
	"ticktrap/vmm"
)

// Scene is one picture: a session, the screen's size and theme, and the actions
// taken before the picture.
type Scene struct {
	Name  string
	W, H  int
	Theme string
	// Open makes the session as it stands when the screen starts.
	Open func() (vmm.Session, error)
	// Do are the actions, by key as the keymap has it.
	Do []keymap.Action
}

// Frame returns the scene's screen as text with escape sequences.
func (sc *Scene) Frame() (string, error) {
	session, err := sc.Open()
	if err != nil {
		return "", fmt.Errorf("scene %s: %w", sc.Name, err)
	}
	defer session.Close()
	m := ui.New(session, ui.Options{Theme: sc.Theme})
	d := driver{m: m}
	d.send(tea.WindowSizeMsg{Width: sc.W, Height: sc.H})
	d.frame()
	keys := keymap.New(keymap.Default())
	for _, a := range sc.Do {
		for _, c := range d.send(ui.KeyMsg(keys.Binding(a).Keys[0])) {
			d.m.Update(c())
		}
		d.frame()
	}
	return m.View(), nil
}

// driver feeds a model without a terminal.
type driver struct{ m *ui.Model }

func (d *driver) send(msg tea.Msg) (cmds []tea.Cmd) {
	if _, c := d.m.Update(msg); c != nil {
		cmds = append(cmds, c)
	}
	return cmds
}

// frame lets the model take the session's present state.
func (d *driver) frame() { d.m.Update(d.m.Init()()) }

// Text returns the scene as lines without escape sequences.
func (sc *Scene) Text() (string, error) {
	s, err := sc.Frame()
	if err != nil {
		return "", err
	}
	return plain(parse(s, sc.W, sc.H, darkPalette)), nil
}

func plain(f frame) string {
	var out []rune
	for _, row := range f.rows {
		line := make([]rune, 0, len(row))
		for _, g := range row {
			if g.r != 0 {
				line = append(line, g.r)
			}
		}
		for len(line) > 0 && line[len(line)-1] == ' ' {
			line = line[:len(line)-1]
		}
		out = append(append(out, line...), '\n')
	}
	return string(out)
}

// Write makes the scene's SVG and PNG in a directory.
func (sc *Scene) Write(dir string) error {
	s, err := sc.Frame()
	if err != nil {
		return err
	}
	p := darkPalette
	if sc.Theme == "light" {
		p = lightPalette
	}
	f := parse(s, sc.W, sc.H, p)
	img, err := renderPNG(f, p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, sc.Name+".png"), img, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sc.Name+".svg"), renderSVG(f, p), 0o644)
}
