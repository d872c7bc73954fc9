package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/ui/picture"
)

// savedMsg says where a picture went.
type savedMsg struct {
	path string
	err  error
}

// savePicture writes what is in front as an SVG: the focused pane with its
// frame, or what is open over the panes.
func (m *Model) savePicture() tea.Cmd {
	m.draw()
	name, at := m.shown()
	ansi := string(m.captioned(at).render(nil, m.look))
	p := picture.Dark
	if m.look.name == "light" {
		p = picture.Light
	}
	path := filepath.Join(m.opts.Dir, "ticktrap-"+name+"-"+strconv.FormatUint(uint64(m.frame.Status.Now), 10))
	return guarded(func() tea.Msg {
		out, err := saveNew(path, ".svg", picture.Parse(ansi, at.w, at.h+1, p).SVG())
		return savedMsg{out, err}
	})
}

// captioned is a part of the screen with a line below that says what its figures
// are of: a picture leaves the header behind.
func (m *Model) captioned(at rect) *canvas {
	var c canvas
	c.reset(at.w, at.h+1)
	for y := range at.h {
		copy(c.cells[y*at.w:][:at.w], m.canvas.cells[(at.y+y)*m.canvas.w+at.x:])
	}
	h, st := &m.frame.Header, &m.frame.Status
	word := provenanceWords[h.Provenance]
	if word == "" {
		word = "UNKNOWN"
	}
	c.all().pieces(0, at.h, at.w, []piece{{" " + word + " ", badge, 0}, {"  ", text, 0}, {filepath.Base(h.Guest), value, 0},
		{argsWord(h.Args), dim, 3}, {"  " + h.Engine, text, 1}, {", LAPIC in " + h.LAPIC, text, 4}, {profileLabel(h) + h.Profile, dim, 2},
		{"  TSC " + group3(uint64(st.Now)) + " " + hzWord(uint64(h.Hz)), dim, 5}, {"  ticktrap", dim, 6}})
	return &c
}

// shown is what is in front: its name for a file, and where it is.
func (m *Model) shown() (name string, at rect) {
	body := rect{0, headerRows, m.w, m.h - headerRows - footerRows - m.barRows()}
	for _, o := range []struct {
		open bool
		name string
	}{{m.helping, "help"}, {m.comparing != nil, "compare"}, {m.why != nil, "explain"}, {m.open != nil, "exit"}} {
		if o.open {
			return o.name, body
		}
	}
	return strings.ToLower(paneTitles[m.focus]), m.arrange()[m.focus].rect
}

// saveNew writes a new file: an existing one is never touched, a number is added
// to the name instead.
func saveNew(stem, ext string, data []byte) (path string, err error) {
	for n := 1; n < 1000; n++ {
		path = stem + ext
		if n > 1 {
			path = stem + "-" + strconv.Itoa(n) + ext
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("saving a picture: %w", err)
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("saving a picture to %s: %w", path, err)
		}
		return path, nil
	}
	return "", fmt.Errorf("saving a picture: %s and 998 more exist", stem+ext)
}

// saved notes what became of a picture.
func (m *Model) saved(msg savedMsg) {
	m.dirty = true
	if msg.err != nil {
		m.refuse(msg.err.Error())
		return
	}
	m.say("picture saved to %s", msg.path)
}
