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

[keys]
step-exit = ["s", "f11"]
` + "```" + `

` + "`ticktrap config`" + ` prints what is in force, with the line that each value comes from; ` + "`ticktrap config --default`" + `
prints a file of all defaults to begin with. Flags go before the file, and ` + "`NO_COLOR`" + ` before the theme.

A mistake (an unknown setting, a value that a setting cannot have, an action that there is not, a key with two actions) is
named by its line. ` + "`config`, `run` and `replay`" + ` then do nothing else and end with exit code 3.

| setting | default | what it does | values |
|---|---|---|---|
`)
	d := Default()
	for i := range Settings {
		s := &Settings[i]
		b.WriteString("| `" + s.Name + "` | `" + s.Text(d) + "` | " + s.Doc + " | " + s.Want + " |\n")
	}
	b.WriteString(`
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
