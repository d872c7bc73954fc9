package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

func newReplay(env *Env) *cobra.Command {
	var o session.Options
	var verify bool
	var compare string
	var screen screenSetup
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "play a recording on the screen",
		Long: `replay opens a recording on the same screen as a live run: play, pause, step
both ways, seek, break at a condition. Knobs cannot be turned in a recording.
Bookmarks are kept next to it, in FILE.marks.

With --verify, replay re-executes a recording of the model, without a screen, and
compares it event by event; it prints the first difference, with both events, and
exits with 6.`,
		Example: `  ticktrap replay session.tt
  ticktrap replay --verify session.tt
  ticktrap replay --compare before.tt after.tt`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := refuse(c.Flags(), []moot{
				{[]string{"speed", "paused", "compare", "cast", "fps"}, verify, "it applies only to the screen, which --verify does not have"},
				{[]string{"fps"}, screen.fps < 1 || screen.fps > 120, "want 1 to 120 frames a second"},
				{[]string{"speed"}, !(o.Speed >= 0 && o.Speed <= 1e6), fmt.Sprintf("want 0 (as fast as possible) to 1000000, have %g", o.Speed)},
			}); err != nil {
				return err
			}
			rec, f, err := openRecording(env, args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			if verify {
				return verifyRecording(env, args[0], rec)
			}
			if !env.Terminal {
				return fail(ExitTerminal, "the screen needs a terminal; without one use: ticktrap report %s", args[0])
			}
			cfg, err := readConfig(env)
			if err != nil {
				return err
			}
			if cfg.Set("speed") && !c.Flags().Changed("speed") {
				o.Speed = cfg.Speed
			}
			screen.ui = screenOptions(env, cfg)
			return playRecording(env, args[0], rec, compare, o, screen)
		},
	}
	c.Flags().Float64Var(&o.Speed, "speed", defaultSpeed, "recorded time per wall time; 0 is as fast as possible")
	c.Flags().BoolVar(&o.Paused, "paused", false, "start paused")
	c.Flags().StringVar(&compare, "compare", "", "a second recording to compare with")
	c.Flags().IntVar(&screen.fps, "fps", 0, "paint at most this many frames per second (default 30, over ssh 8)")
	c.Flags().StringVar(&screen.cast, "cast", "", "record the screen to a new file, as asciinema does")
	c.Flags().BoolVar(&verify, "verify", false, "re-execute the recording and compare")
	return c
}

func playRecording(env *Env, name string, rec *trace.Recording, compare string, o session.Options, screen screenSetup) error {
	o.Marks = session.MarksPath(name)
	p, err := session.NewReplay(name, rec, env.Wall, o)
	if err != nil {
		return with(ExitInput, fmt.Errorf("%s: %w", name, err))
	}
	defer p.Close()
	if compare != "" {
		other, f, err := trace.OpenFile(compare)
		if err != nil {
			return with(ExitInput, err)
		}
		defer f.Close()
		if err := p.Compare(compare, other); err != nil {
			return with(ExitInput, fmt.Errorf("%s: %w", compare, err))
		}
	}
	screen.ui.Try = recordingTrier(rec)
	return show(env, p, screen)
}
