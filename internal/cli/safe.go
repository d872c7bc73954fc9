package cli

import (
	"io"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// printable makes text safe for a terminal: no escape sequences and no control
// characters but line feed and tab.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, ansi.Strip(s))
}

// serial copies guest text to a writer line by line, made safe for a terminal.
type serial struct {
	w    io.Writer
	line []byte
	err  error
}

// maxLine is how much of a line is kept before it is written unfinished.
const maxLine = 4096

// Write takes raw guest bytes.
func (s *serial) Write(p []byte) {
	for _, b := range p {
		s.line = append(s.line, b)
		if b == '\n' || len(s.line) >= maxLine {
			s.flush()
		}
	}
}

func (s *serial) flush() {
	if len(s.line) == 0 || s.err != nil {
		return
	}
	_, s.err = io.WriteString(s.w, printable(string(s.line)))
	s.line = s.line[:0]
}
