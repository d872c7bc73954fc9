package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Reference is docs/commands.md: every command with its flags, and the help
// topics.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Generated from the commands themselves by: go generate ./internal/cli -->\n\n")
	root := Command()
	root.InitDefaultHelpCmd()
	var topics []*cobra.Command
	reference(&b, root)
	for _, c := range root.Commands() {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c)
		case !c.Hidden && c.Name() != "help" && c.Name() != "completion":
			referenceTree(&b, c)
		}
	}
	b.WriteString("# Topics\n\n")
	for _, c := range topics {
		fmt.Fprintf(&b, "## ticktrap help %s\n\n```\n%s```\n\n", c.Name(), ended(c.Long))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Command is the tree of commands, for generators of documentation.
func Command() *cobra.Command {
	root := newRoot(&Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	root.InitDefaultCompletionCmd()
	return root
}

func referenceTree(b *strings.Builder, c *cobra.Command) {
	reference(b, c)
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			referenceTree(b, sub)
		}
	}
}

func reference(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "## %s\n\n%s.\n\n```\n%s\n```\n\n", c.CommandPath(), sentence(c.Short), c.UseLine())
	if c.Long != "" {
		fmt.Fprintf(b, "```\n%s```\n\n", ended(c.Long))
	}
	if u := c.LocalNonPersistentFlags().FlagUsagesWrapped(0); c.HasParent() && u != "" {
		fmt.Fprintf(b, "```\n%s```\n\n", u)
	}
	if c.Example != "" {
		fmt.Fprintf(b, "Examples:\n\n```\n%s```\n\n", ended(c.Example))
	}
}

// sentence begins with a capital.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// ended ends with a line feed.
func ended(s string) string { return strings.TrimRight(s, "\n") + "\n" }
