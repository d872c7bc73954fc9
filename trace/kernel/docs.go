package kernel

import (
	"fmt"
	"strings"
)

// Docs is the text of docs/kernels.md: the history for people.
func Docs() string {
	var b strings.Builder
	fmt.Fprintf(&b, docsHead, Oldest, Newest, Default)
	for t := BadTopic + 1; t < NumTopics; t++ {
		head := false
		for i := range history {
			c := &history[i]
			if c.Topic != t || c.Since == Oldest {
				continue
			}
			if !head {
				fmt.Fprintf(&b, "\n## %s\n\n| release | change | file: function | vendor | commit |\n|---|---|---|---|---|\n", t)
				head = true
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", docsRelease(c), docsSubject(c), c.Where, c.Vendor, docsCommit(c))
		}
	}
	return b.String()
}

func docsRelease(c *Change) string {
	if c.Kind != Merged {
		return c.Kind.String()
	}
	s := c.Since.String()
	if c.Gap() {
		s += " (not in " + c.After.String() + ")"
	}
	for _, r := range c.Stable {
		s += ", " + r.String()
	}
	return s
}

func docsSubject(c *Change) string {
	if c.Why == "" {
		return c.Subject
	}
	return c.Subject + ": " + c.Why
}

func docsCommit(c *Change) string {
	if c.Commit == "" {
		return "–"
	}
	return "`" + c.Commit + "`"
}

const docsHead = `# Kernels

<!-- Generated from package trace/kernel by: go test ./trace/kernel -run Docs -update -->

What each release of Linux does about a guest's local APIC timer, from %s to %s, as upstream changes. ` + "`--kernel`" + ` chooses
one (default %s); ` + "`ticktrap kernel RELEASE`" + ` prints what follows for it, ` + "`ticktrap kernel diff A B`" + ` what lies between two.

A release in brackets is the last one that was read without the change: those between were not read, and are taken as
without it. Of stable series the release that was read with the back-port is named; the back-port itself can be older.
Distributions add back-ports of their own, which are not known here. A dash stands for a change whose commit is not known.
Rows that no release has say so: *proposed* was posted and not merged, *dropped* was replaced by something else.
`
