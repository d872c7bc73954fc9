package screenshots

import (
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/ui"
	"codeberg.org/ticktrap/ticktrap/ui/picture"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// paneText is the inside of a pane that has the whole screen. The height is
// without the seek bar.
func paneText(s vmm.Session, key string) string {
	const w, h = 140, 44
	var f vmm.Frame
	bar := 0
	if s.Frame(&f); len(f.Timeline.Buckets) > 0 || f.Status.File != "" {
		bar = 1
	}
	d := driver{m: ui.New(s, ui.Options{Theme: "mono"})}
	d.send(tea.WindowSizeMsg{Width: w, Height: h + bar})
	d.frame()
	d.send(ui.KeyMsg(key))
	d.send(ui.KeyMsg("z"))
	d.frame()
	lines := strings.Split(picture.Parse(d.m.View(), w, h+bar, picture.Dark).Plain(), "\n")
	return strings.Join(lines[2:h-2], "\n")
}

// TestReplayShowsWhatTheLiveRunShowed records runs, notes their panes as text in
// the middle, and compares them with the replay that has been sent there.
func TestReplayShowsWhatTheLiveRunShowed(t *testing.T) {
	for _, u := range []Run{{Guest: "deadline", Args: "mode=mixed"}, {Guest: "ping-pong", Args: "mode=hlt", VCPUs: 2}, {Guest: "noisy"}} {
		t.Run(u.Guest, func(t *testing.T) {
			if err := u.open(); err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			path := filepath.Join(t.TempDir(), "run.tt")
			rec, err := session.NewRecorder(path, u.r)
			if err != nil {
				t.Fatal(err)
			}
			step := func(n int) {
				for range n {
					if err := u.exit(); err != nil {
						t.Fatal(err)
					}
				}
			}
			step(900)
			if err := u.Do(vmm.Command{Verb: vmm.DoKnob, Knob: trace.KnobAPICv, Value: 0}); err != nil {
				t.Fatal(err)
			}
			step(300)
			live := map[string]string{}
			for _, key := range []string{"1", "2", "3", "4", "6", "7"} {
				live[key] = paneText(&u, key)
			}
			at := u.status.Now
			step(500)
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			file, f, err := trace.OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := session.NewReplay(path, file, wall{}, session.Options{Paused: true})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if err := p.Do(vmm.Command{Verb: vmm.DoSeek, At: at}); err != nil {
				t.Fatal(err)
			}
			for key, want := range live {
				if got := paneText(p, key); got != want {
					t.Errorf("pane %s at TSC %d: the replay shows\n%s\nthe live run showed\n%s", key, at, got, want)
				}
			}
		})
	}
}
