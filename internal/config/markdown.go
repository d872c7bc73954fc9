package config

import (
	"strings"
)

// Markdown is docs/config.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`<!-- Generated from package config by "go generate ./internal/config"; do not edit. -->

# The configuration file

The file is ` + "`ticktrap/config.toml` in `$XDG_CONFIG_HOME`, or in `~/.config`; `--config FILE`" + ` names another one. It is
[TOML](https://toml.io). It need not exist, and holds only what differs from the defaults:

` + "```toml" + `
theme = "light"
late = "5us"

[layout]
focus = "Deadlines"
left = ["Deadlines", "Exits"]
right = ["Timer", "Knobs"]
split = 70

[keys]
step-exit = ["s", "f11"]
` + "```" + `

` + "`ticktrap config`" + ` prints what is in force, with the line that each value comes from; ` + "`ticktrap config --default`" + `
prints a file of all defaults to start from. Flags override the file, and ` + "`NO_COLOR`" + ` overrides the theme.

A mistake (an unknown setting, an invalid value, an unknown action, a key with two actions) is reported with its line. ` + "`config`, `run` and `replay`" + ` then do nothing else and end with exit code 3.

| setting | default | what it does | values |
|---|---|---|---|
`)
	d := Default()
	for i := range Settings {
		s := &Settings[i]
		b.WriteString("| `" + s.Name + "` | `" + s.Text(d) + "` | " + s.Doc + " | " + s.Want + " |\n")
	}
	b.WriteString(`
## Layout

On a screen of 110 × 34 or more the panes of the layout are open side by side, in two columns; on a smaller one the focused pane
is open between lines that sum up the others. A pane that the layout leaves out is still reached by its key, and is alone on the
screen while it has the focus. ` + "`L`" + ` goes through the layouts: the one of the file first, then

| layout | shows |
|---|---|
| ` + "`overview`" + ` | all panes |
| ` + "`deadlines`" + ` | Timer and a large Deadlines; Knobs, Fastpath |
| ` + "`exits`" + ` | Timer and a large Exits; Knobs, Fastpath, Console |
| ` + "`kicks`" + ` | Timer and Kicks; Exits, Fastpath |

A pane placed in one column is removed from the other. If one column is empty, the other gets the whole width.

## Keys

In the table ` + "`keys`" + ` each line gives an action its keys, all of them: the defaults of that action are gone. The actions and
their default keys are in [keys.md](keys.md). A key is a character, or ` + "`space`, `enter`, `esc`, `tab`, `shift+tab`, `up`" + `,
` + "`pgdn`, `home`, `f5`, `ctrl+r`, `alt+x`" + ` and the like. An empty list leaves an action to the palette; quitting, the palette
and what answers prompts and questions must have a key. A key can have one action only in each of three places: everywhere,
in a prompt, in a question.
`)
	return b.String()
}

//go:generate go run gen.go
