package screenshots

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/ui"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// wall is the wall clock.
type wall struct{}

func (wall) Now() time.Time                         { return time.Now() }
func (wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// BenchmarkKeyToScreen measures, while the model runs as fast as it can, the time
// from a key that turns a knob to the frame that shows the run after it.
func BenchmarkKeyToScreen(b *testing.B) {
	run := Run{Guest: "deadline", Args: "mode=mixed"}
	if err := run.open(); err != nil {
		b.Fatal(err)
	}
	live, err := session.NewLive(run.r, wall{}, session.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer live.Close()
	m := ui.New(live, ui.Options{})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	m.Update(m.Init()())
	var f vmm.Frame
	for turns := 0; b.Loop(); {
		_, cmd := m.Update(ui.KeyMsg("a"))
		m.Update(cmd())
		for turns++; int(f.State.KnobTurns.N) < turns && f.State.Kinds[trace.KindKnob] < uint64(turns); {
			live.Frame(&f)
			time.Sleep(100 * time.Microsecond)
		}
		m.Update(m.Init()())
		m.View()
	}
}
