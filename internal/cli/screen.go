package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"codeberg.org/ticktrap/ticktrap/ui"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// runScreen opens the screen on a live run.
func (o *runOptions) runScreen(env *Env, r *session.Runner) error {
	if o.scenario != "" {
		o.screen.ui.Findings = watchScreen(r).findings
	}
	live, err := session.NewLive(r, env.Wall, session.Options{Speed: o.speed, Paused: o.paused, Record: o.record})
	if err != nil {
		return with(ExitInput, err)
	}
	o.screen.ui.Intro = o.intro()
	o.screen.ui.Try = o.trier(live, r.Header())
	err = show(env, live, o.screen)
	var f vmm.Frame
	live.Frame(&f)
	if cerr := live.Close(); err == nil {
		err = with(ExitHost, cerr)
	}
	if err == nil && f.Status.Recording != "" {
		fmt.Fprintf(env.Out, "recorded %s\n", printable(f.Status.Recording))
	}
	return err
}

// intro says what a scenario is to show; empty for other runs.
func (o *runOptions) intro() string {
	if o.scenario == "" {
		return ""
	}
	s, err := scenario.ByName(o.scenario)
	if err != nil {
		return ""
	}
	if o.repaired {
		return "scenario " + s.Name + ", repaired: " + s.Rule
	}
	return "scenario " + s.Name + ": " + s.Text
}

// screenSetup is what the command line and the configuration say about the
// screen.
type screenSetup struct {
	ui   ui.Options
	cast string // file to record the screen to, empty if not
	fps  int    // frames a second at most, 0 as suits the terminal
}

// show runs the screen until the user leaves it, or a signal ends it. The
// terminal is restored in every case, a panic included.
func show(env *Env, s vmm.Session, set screenSetup) (err error) {
	if set.cast != "" {
		out, ok := env.Out.(*os.File)
		if !ok {
			return fail(ExitTerminal, "--cast needs a terminal")
		}
		var f vmm.Frame
		s.Frame(&f)
		c, cerr := newCast(set.cast, "ticktrap "+printable(f.Header.Guest), env.getenv("TERM"), env.Wall.Now,
			func() (w, h int) { return terminalSize(out) })
		if cerr != nil {
			return with(ExitInput, cerr)
		}
		set.ui.Output = castTerminal{out, c}
		defer func() { err = errors.Join(err, with(ExitHost, c.close())) }()
	}
	set.ui.FPS = set.fps
	return runUI(s, set.ui)
}

func runUI(s vmm.Session, o ui.Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	open, cancel := context.WithCancel(ctx)
	defer cancel()
	if f, ok := s.(interface{ Failed() <-chan struct{} }); ok {
		go func() {
			select {
			case <-f.Failed():
				cancel()
			case <-open.Done():
			}
		}()
	}
	err := ui.Run(open, s, o)
	switch {
	case ctx.Err() != nil:
		return fail(ExitSignal, "stopped by a signal")
	case errors.Is(err, context.Canceled):
		return nil
	}
	return err
}
