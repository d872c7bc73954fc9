package ui

import (
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// piece is a stretch of text in one style. Pieces of a higher drop number are
// left out first where a line is too narrow; 0 is never left out.
type piece struct {
	s    string
	st   style
	drop int
}

// pieces writes a line of pieces from x on, as many as fit in w columns, and
// returns the column after the last.
func (a area) pieces(x, y, w int, ps []piece) int {
	limit := keepLimit(ps, w)
	end := x + w
	for _, p := range ps {
		if p.drop <= limit {
			x = a.cut(x, y, end-x, p.st, p.s)
		}
	}
	return x
}

// keepLimit is the greatest drop number whose pieces still fit in w columns.
func keepLimit(ps []piece, w int) int {
	most := 0
	for _, p := range ps {
		most = max(most, p.drop)
	}
	for limit := most; limit > 0; limit-- {
		if piecesWidth(ps, limit) <= w {
			return limit
		}
	}
	return 0
}

func piecesWidth(ps []piece, limit int) int {
	n := 0
	for _, p := range ps {
		if p.drop <= limit {
			n += textWidth(p.s)
		}
	}
	return n
}

// wrapPieces breaks lines that are too wide in their last piece, and indents what
// goes on.
func wrapPieces(lines [][]piece, w int) (out [][]piece) {
	const indent = 8
	for _, ps := range lines {
		n := len(ps) - 1
		if n < 0 || ps[n].drop > 0 || piecesWidth(ps, 0) <= w {
			out = append(out, ps)
			continue
		}
		last := ps[n]
		lead := piecesWidth(ps[:n], 0)
		blanks := last.s[:len(last.s)-len(strings.TrimLeft(last.s, " "))]
		words := wrap(last.s, max(w-lead-len(blanks), 1))
		if w-lead < 8 || len(words) == 0 {
			out = append(out, ps)
			continue
		}
		first := append(slices.Clone(ps[:n]), piece{blanks + words[0], last.st, 0})
		out = append(out, first)
		for _, l := range wrap(strings.Join(words[1:], " "), max(w-indent, 8)) {
			out = append(out, []piece{{strings.Repeat(" ", indent) + l, last.st, 0}})
		}
	}
	return out
}

// wrap breaks a paragraph into lines of at most w columns.
func wrap(s string, w int) []string { return prose.Lines(s, w) }

// cutString is s in at most w columns.
func cutString(s string, w int) string {
	if textWidth(s) <= w {
		return s
	}
	return string([]rune(s)[:max(w-1, 0)]) + "…"
}

// moreLines says how many lines a scrolled sheet has below.
func moreLines(n int) string {
	return " ↓ " + group3(uint64(n)) + pickString(n == 1, " more line ", " more lines ")
}
