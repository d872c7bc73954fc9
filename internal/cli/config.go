package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeberg.org/ticktrap/ticktrap/internal/config"
	"codeberg.org/ticktrap/ticktrap/ui"
)

func newConfig(env *Env) *cobra.Command {
	var defaults bool
	c := &cobra.Command{
		Use:   "config",
		Short: "print the configuration and where it comes from",
		Long: `config prints the configuration in effect as a configuration file, each line with
the line of the file it comes from. A mistake in the file is an error here
and in run and replay, with exit code 3.

The file is ticktrap/config.toml in $XDG_CONFIG_HOME, or in ~/.config; --config
names another one. The file is optional. Flags override it, and NO_COLOR overrides
the theme.`,
		Example: `  ticktrap config
  ticktrap config --default > ~/.config/ticktrap/config.toml`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			if defaults {
				_, err := io.WriteString(env.Out, config.DefaultText())
				return err
			}
			cfg, err := readConfig(env)
			if err != nil {
				return err
			}
			return printConfig(env, cfg)
		},
	}
	c.Flags().BoolVar(&defaults, "default", false, "print a file with every default, and what each setting does")
	return c
}

func printConfig(env *Env, cfg *config.Config) error {
	if cfg.File == "" {
		if p := config.Path(env.getenv); p != "" {
			fmt.Fprintf(env.Out, "# would be read from %s\n", printable(p))
		}
	}
	if env.getenv("NO_COLOR") != "" {
		fmt.Fprintln(env.Out, "# NO_COLOR is set: the screen has no colours whatever the theme")
	}
	_, err := io.WriteString(env.Out, cfg.Text())
	return err
}

// readConfig reads the configuration file: that of --config, which must exist, or
// the one in the XDG place.
func readConfig(env *Env) (*config.Config, error) {
	name := env.config
	if name == "" {
		name = config.Path(env.getenv)
	}
	if name == "" {
		return config.Default(), nil
	}
	c, err := config.Load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && env.config == "":
		return config.Default(), nil
	case err != nil:
		return nil, with(ExitInput, fmt.Errorf("configuration: %w", err))
	}
	return c, nil
}

// getenv reads the environment; a test may leave it out.
func (e *Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// configure takes from the configuration what the command line leaves open. named
// is true if a guest is given as an argument.
func (o *runOptions) configure(env *Env, flags *pflag.FlagSet, named bool) error {
	c, err := readConfig(env)
	if err != nil {
		return err
	}
	if c.Set("engine") && !flags.Changed("engine") {
		o.engine = c.Engine
	}
	if c.Set("speed") && !flags.Changed("speed") {
		o.speed = c.Speed
	}
	if c.Set("guest") && !flags.Changed("guest") && !named && o.scenario == "" {
		o.guest = c.Guest
	}
	o.screen.ui = screenOptions(env, c)
	return nil
}

// screenOptions are those of the configuration.
func screenOptions(env *Env, c *config.Config) ui.Options {
	return ui.Options{NoColor: env.getenv("NO_COLOR") != "", Theme: c.Theme, Keys: c.Keys, Focus: c.Focus, Zoom: c.Zoom, Late: c.Late,
		Layout: c.Layout, Left: c.Left, Right: c.Right, Split: c.Split}
}
