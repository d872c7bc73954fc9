package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"ticktrap/ui"
	"ticktrap/vmm"
	"ticktrap/vmm/session"
)

// runScreen opens the screen on a live run.
func (o *runOptions) runScreen(env *Env, r *session.Runner) error {
	live, err := session.NewLive(r, env.Wall, session.Options{Speed: o.speed, Paused: o.paused, Record: o.record})
	if err != nil {
		return with(ExitInput, err)
	}
	err = show(env, live)
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

// show runs the screen until the user leaves it, or a signal ends it. The
// terminal is restored in every case, a panic included.
func show(env *Env, s vmm.Session) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := ui.Run(ctx, s, ui.Options{NoColor: env.Getenv("NO_COLOR") != ""})
	switch {
	case ctx.Err() != nil:
		return fail(ExitSignal, "stopped by a signal")
	case errors.Is(err, context.Canceled):
		return nil
	}
	return err
}
