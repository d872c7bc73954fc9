package screenshots

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/ui"
	"codeberg.org/ticktrap/ticktrap/ui/picture"
)

// Scene is one picture: a run, the screen's size and theme, and what the user
// does before the picture.
type Scene struct {
	Name  string
	W, H  int
	Theme string
	// Alt is the picture in words, for readers who cannot see it.
	Alt string
	Run Run
	// Script is what happens, in order: "12" runs on for 12 deadlines, "press a"
	// presses a key, "type late > 20us" types text and enter.
	Script []string
	// Shows are texts that the picture is there for.
	Shows []string
}

// Scenes are the pictures of the docs.
func Scenes() []Scene {
	return []Scene{
		{Name: "overview", W: 160, H: 46, Theme: "dark", Alt: "the overview: seven panes on a running guest",
			Run: Run{Guest: "deadline", Args: "mode=mixed"}, Script: []string{"600", "press v", "500", "press 2"},
			Shows: []string{"MODELLED", "1 Timer", "2 Deadlines", "3 Fastpath", "4 Kicks", "5 Knobs", "6 Exits", "7 Console", "lateness over time"}},
		{Name: "exit-inspector", W: 140, H: 40, Theme: "dark", Alt: "a WRMSR exit opened: registers, code, fastpath clauses, cost by phase",
			Run: Run{Guest: "deadline", Args: "mode=spin"}, Script: []string{"300", "press a", "20",
				"press >", "type exit == PREEMPTION_TIMER", "press 6", "press enter"},
			Shows: []string{"fastpath 6.12", "✗ no request pending", "✓ fastpath on", "registers at the entry after this exit", "host "}},
		{Name: "deadlines", W: 150, H: 46, Theme: "dark", Alt: "the waterfall of the last deadlines with one told step by step",
			Run: Run{Guest: "deadline", Args: "mode=mixed"}, Script: []string{"800", "press 2", "press z"},
			Shows: []string{"programmed", "▼", "host fire", "histogram", "p99.9"}},
		{Name: "advance", W: 140, H: 40, Theme: "dark", Alt: "adaptive tuning of the timer advance converging, and again after APICv was turned off",
			Run: Run{Guest: "deadline", Args: "mode=spin"}, Script: []string{"400", "press a", "600", "press 1", "press z"},
			Shows: []string{"timer advance over the run, ns", "tuning", "expiries"}},
		{Name: "apicv-off", W: 140, H: 40, Theme: "dark", Alt: "comparison of lateness before and after APICv was turned off",
			Run: Run{Guest: "deadline", Args: "mode=spin"}, Script: []string{"400", "press A", "400", "press a", "400", "press c"},
			Shows: []string{"since apicv off", "B − A", "99 % interval"}},
		{Name: "kicks", W: 140, H: 40, Theme: "dark", Alt: "kicks between two vCPUs that send each other interrupts",
			Run: Run{Guest: "ping-pong", Args: "mode=hlt", VCPUs: 2}, Script: []string{"press :", "type halt-poll=off", "exits 900", "press a",
				"exits 600", "press 4", "press z"},
			Shows: []string{"waker", "wake", "2 vCPUs", "in-guest", "ipi"}},
		{Name: "explain", W: 140, H: 40, Theme: "dark", Alt: "one late deadline explained: shares of its lateness by cause, and each step",
			Run: Run{Guest: "deadline", Args: "mode=mixed"}, Script: []string{"500", "press n", "press 2", "press e", "press e"},
			Shows: []string{"where the time went", "run again with a knob turned", "earlier", "step by step", "modelled"}},
		{Name: "branches", W: 140, H: 40, Theme: "dark", Alt: "two branches of a run compared: stepped back, a knob turned, run again",
			Run: Run{Guest: "deadline", Args: "mode=spin"}, Script: []string{"400", "back 200", "press -", "press -", "press -", "300", "press c"},
			Shows: []string{"branch 1", "branch 0 since the fork", "this run since the fork", "knobs"}},
		{Name: "tour-1-humps", W: 120, H: 36, Theme: "dark", Alt: "the deadlines of one guest in two humps, at 900 and at 4,000 cycles",
			Run: tourRun, Script: tourScript[:4],
			Shows: []string{"histogram", "+1,000", "p99.9"}},
		{Name: "tour-2-filter", W: 120, H: 36, Theme: "dark", Alt: "only the late deadlines: each of them slept and was woken",
			Run: tourRun, Script: tour("press right"),
			Shows: []string{"/late > 3000", "backed by sw, not hv: the vCPU is halting"}},
		{Name: "tour-3-explain", W: 120, H: 36, Theme: "dark", Alt: "one late deadline explained, with the knob that would change its causes",
			Run: tourRun, Script: tour("press enter", "press e"),
			Shows: []string{"where the time went", "try exits-disabled=hlt", "waking the vCPU's thread", "run again with a knob turned"}},
		{Name: "tour-4-back", W: 120, H: 36, Theme: "dark", Alt: "300 deadlines earlier in the same run, with the timeline below",
			Run: tourRun, Script: tour("press z", "press esc", "press <", "type deadline == 300"),
			Shows: []string{"in the past", "late>", "┃"}},
		{Name: "tour-5-compare", W: 120, H: 36, Theme: "dark", Alt: "both branches since they parted: the difference and its interval",
			Run: tourRun, Script: tour("press z", "press esc", "press <", "type deadline == 300", "press E",
				"press >", "press enter", "press c"),
			Shows: []string{"typical lateness is lower", "branch 0 since the fork", "exits-disabled"}},
		{Name: "palette", W: 110, H: 34, Theme: "dark", Alt: "the palette finds actions and knobs",
			Run: Run{Guest: "deadline"}, Script: []string{"200", "press :", "keys fast"},
			Shows: []string{"fastpath=6.18", "fastpath-era"}},
		{Name: "light", W: 120, H: 36, Theme: "light", Alt: "the overview in the light theme",
			Run: Run{Guest: "noisy"}, Script: []string{"400", "press 3"},
			Shows: []string{"CPUID", "IO_INSTRUCTION"}},
		{Name: "mono-80x24", W: 80, H: 24, Theme: "mono", Alt: "80 columns, 24 lines, no colours",
			Run: Run{Guest: "deadline", Args: "mode=mixed"}, Script: []string{"400", "press 2"},
			Shows: []string{"2 Deadlines", "7 Console", "p99"}},
	}
}

// tourRun is the run of docs/tour.md, and tourScript its beginning.
var (
	tourRun    = Run{Guest: "deadline", Knobs: []string{"halt-poll=off"}}
	tourScript = []string{"press >", "type deadline == 600", "press 2", "press z", "press /", "type late > 3000"}
)

// tour is tourScript and what follows.
func tour(more ...string) []string { return append(slices.Clone(tourScript), more...) }

// Frame returns the scene's screen as text with escape sequences.
func (sc *Scene) Frame() (string, error) {
	run := sc.Run
	if err := run.open(); err != nil {
		return "", fmt.Errorf("scene %s: %w", sc.Name, err)
	}
	defer run.Close()
	d := driver{m: ui.New(&run, ui.Options{Theme: sc.Theme, Try: run.Try})}
	d.send(tea.WindowSizeMsg{Width: sc.W, Height: sc.H})
	d.frame()
	for _, step := range sc.Script {
		if err := d.step(&run, step); err != nil {
			return "", fmt.Errorf("scene %s, %q: %w", sc.Name, step, err)
		}
	}
	return d.m.View(), nil
}

// driver feeds a model without a terminal.
type driver struct{ m *ui.Model }

// step carries out a line of a script.
func (d *driver) step(run *Run, step string) error {
	verb, rest, _ := strings.Cut(step, " ")
	switch verb {
	case "press":
		d.send(ui.KeyMsg(rest))
	case "keys", "type":
		for _, r := range rest {
			d.send(ui.KeyMsg(string(r)))
		}
		if verb == "type" {
			d.send(ui.KeyMsg("enter"))
		}
	case "exits", "back":
		var n int
		if _, err := fmt.Sscan(rest, &n); err != nil {
			return err
		}
		if verb == "back" {
			if err := run.r.BackDeadlines(n); err != nil {
				return err
			}
			break
		}
		for range n {
			if err := run.exit(); err != nil {
				return err
			}
		}
	default:
		var n int
		if _, err := fmt.Sscan(step, &n); err != nil {
			return fmt.Errorf("no such step: %w", err)
		}
		if err := run.Deadlines(n); err != nil {
			return err
		}
	}
	d.frame()
	return nil
}

// send delivers a message and carries out the command that follows.
func (d *driver) send(msg tea.Msg) {
	if _, cmd := d.m.Update(msg); cmd != nil {
		d.m.Update(cmd())
	}
	d.frame()
}

// frame lets the model take the session's present state.
func (d *driver) frame() {
	d.m.Update(d.m.Init()())
	d.m.Settle()
}

// Text returns the scene as lines without escape sequences.
func (sc *Scene) Text() (string, error) {
	s, err := sc.Frame()
	if err != nil {
		return "", err
	}
	return picture.Parse(s, sc.W, sc.H, picture.Dark).Plain(), nil
}

// Write makes the scene's SVG and PNG in a directory.
func (sc *Scene) Write(dir string) error {
	s, err := sc.Frame()
	if err != nil {
		return err
	}
	p := picture.Dark
	if sc.Theme == "light" {
		p = picture.Light
	}
	f := picture.Parse(s, sc.W, sc.H, p)
	img, err := renderPNG(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, sc.Name+".png"), img, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sc.Name+".svg"), f.SVG(), 0o644)
}
