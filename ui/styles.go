package ui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// The roles. Every role also has a word, a sign or a place on the screen that
// says the same: colour never carries a fact alone.
const (
	text         style = iota // plain words
	dim                       // words of less weight: units, labels
	faint                     // frames, axes, separators
	frameFocus                // frame of the focused pane
	title                     // title of a pane
	titleFocus                // title of the focused pane
	heading                   // name of a vCPU, of a part of a pane
	keyHint                   // a key that can be pressed
	value                     // a figure
	label                     // name of a figure
	brand                     // the program's name
	good                      // on, hit, in time
	warn                      // bail, late, pending
	bad                       // lost, far too late, failed
	early                     // before the deadline
	late                      // after the deadline
	knobMark                  // a turn of a knob
	notice                    // the last thing the user should know
	badge                     // provenance
	recording                 // recording indicator
	running                   // run state
	paused                    // run state
	phaseProgram              // programmed, waiting for the host timer
	phaseFire                 // host timer to expiry
	phaseExpire               // expiry to wait or delivery
	phaseWait                 // busy wait
	phaseEntry                // VM-entry
	phaseISR                  // handler up to EOI
	series0                   // first of a set of like things
	series1
	series2
	series3
	series4
	series5
	series6
	series7
	chart // bars and dots of a single series
	numRoles
)

// look is how a theme shows a role: colours as "#rrggbb" or an ANSI number,
// empty for the terminal's own, and attributes: b bold, d dim, u underlined,
// r reversed, i italic.
type look struct{ fg, bg, attr string }

// theme is a named set of looks. selFG and selBG show the selected line.
type theme struct {
	name  string
	looks [numRoles]look
	sel   look
}

// ThemeNames are the themes in the order of the theme key.
var ThemeNames = []string{"dark", "light", "16", "mono"}

// styles holds the escape sequence of every style.
type styles struct {
	name string
	seq  [numStyles]string
	back [numStyles]bool
	// painting are the sequences that show on a blank.
	painting map[string]bool
}

// paintsBlank reports whether a blank in this style looks unlike a plain one.
func (s *styles) paintsBlank(st style) bool { return s.back[st] }

func (s *styles) paintsBlankSeq(seq string) bool { return s.painting[seq] }

// newStyles builds a theme's styles for a colour profile.
func newStyles(name string, profile termenv.Profile) *styles {
	t, ok := themes[name]
	if !ok {
		t = themes["dark"]
	}
	if name == "mono" && profile != termenv.Ascii {
		profile = termenv.ANSI // attributes only: the theme names no colours
	}
	r := lipgloss.NewRenderer(nil)
	r.SetColorProfile(profile)
	s := &styles{name: name, painting: map[string]bool{}}
	for i := range style(numStyles) {
		role := i & roleMask
		if role >= numRoles {
			continue
		}
		lk := t.looks[role]
		if i&strong != 0 {
			lk.attr += "b"
		}
		if i&selected != 0 {
			if t.sel.fg != "" {
				lk.fg = t.sel.fg
			}
			if t.sel.bg != "" {
				lk.bg = t.sel.bg
			}
			lk.attr += t.sel.attr
		}
		s.seq[i] = sequence(r, lk, profile)
		s.back[i] = lk.bg != "" && profile != termenv.Ascii || strings.ContainsAny(lk.attr, "ru")
		if s.back[i] {
			s.painting[s.seq[i]] = true
		}
	}
	return s
}

// sequence is the escape sequence that turns a look on.
func sequence(r *lipgloss.Renderer, lk look, profile termenv.Profile) string {
	st := r.NewStyle()
	if lk.fg != "" {
		st = st.Foreground(lipgloss.Color(lk.fg))
	}
	if lk.bg != "" {
		st = st.Background(lipgloss.Color(lk.bg))
	}
	st = st.Bold(strings.Contains(lk.attr, "b")).Faint(strings.Contains(lk.attr, "d")).
		Underline(strings.Contains(lk.attr, "u")).Reverse(strings.Contains(lk.attr, "r")).
		Italic(strings.Contains(lk.attr, "i"))
	on, _, ok := strings.Cut(st.Render("x"), "x")
	if !ok || profile == termenv.Ascii {
		return ""
	}
	return on
}
