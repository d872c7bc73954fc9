// Package prose breaks sentences into lines: reports, explanations and the screen
// say the same things in different widths. Lines break at spaces only. A library's
// wrapping would break at hyphens too, which the names of knobs and scenarios have
// and people copy.
//
// Widths are columns of a terminal. All functions are pure.
package prose

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is how wide a report in text is, in columns.
const Width = 80

// Lines breaks words into lines of at most width columns; a word that is longer
// has a line to itself. Runs of spaces count as one. Without words there is no
// line.
func Lines(words string, width int) []string {
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return hang("", "", words, width)
}

// Write writes words in lines of at most Width columns: the first begins with
// first, the others with rest. Without words it writes first alone.
func Write(b *strings.Builder, first, rest, words string) {
	for _, l := range hang(first, rest, words, Width) {
		b.WriteString(l)
		b.WriteByte('\n')
	}
}

// Indented is Write with n spaces before each line.
func Indented(b *strings.Builder, n int, words string) {
	pad := strings.Repeat(" ", n)
	Write(b, pad, pad, words)
}

func hang(first, rest, words string, width int) []string {
	var lines []string
	line, at, empty := first, ansi.StringWidth(first), true
	for w := range strings.FieldsSeq(words) {
		n := ansi.StringWidth(w)
		if !empty && at+1+n > width {
			lines = append(lines, line)
			line, at, empty = rest, ansi.StringWidth(rest), true
		}
		if !empty {
			line, at = line+" ", at+1
		}
		line, at, empty = line+w, at+n, false
	}
	if empty {
		line = strings.TrimRight(line, " ")
	}
	return append(lines, line)
}
