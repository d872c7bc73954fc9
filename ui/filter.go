package ui

import (
	"errors"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// filter keeps lines: those on which a condition holds, or that contain a text.
// The zero value keeps all.
type filter struct {
	text string // as typed
	want string // in lower case, for a text
	not  bool
	cond *query.Condition
	// err is what is wrong with a condition; such a filter keeps every line.
	err *query.Error
}

// newFilter reads a condition, or else a text; ! in front inverts either. What
// compares something is meant as a condition, so its errors are shown instead of
// looking for the text.
func newFilter(text string) filter {
	text = strings.TrimSpace(text)
	c, err := query.ParseCondition(text)
	if err == nil {
		return filter{text: text, cond: c}
	}
	if e := (*query.Error)(nil); compares(text) && errors.As(err, &e) {
		return filter{text: text, err: e}
	}
	return textFilter(text)
}

// textFilter keeps the lines that contain a text, or with ! in front those that
// do not. Case does not matter.
func textFilter(text string) filter {
	want, not := strings.CutPrefix(strings.ToLower(text), "!")
	return filter{text: text, want: strings.TrimSpace(want), not: not}
}

// compares reports whether a text holds an operator of conditions.
func compares(text string) bool {
	return strings.ContainsAny(text, "<>") || strings.Contains(text, "==") || strings.Contains(text, "!=") ||
		strings.Contains(text, "&&") || strings.Contains(text, "||")
}

// off reports whether every line is kept.
func (f *filter) off() bool { return f.cond == nil && f.want == "" }

// okText reports whether a line is kept by its text alone.
func (f *filter) okText(line string) bool {
	return f.want == "" || strings.Contains(strings.ToLower(line), f.want) != f.not
}

// ok reports whether a line is kept: m is what a condition looks at, line what a
// text does.
func (f *filter) ok(hz clock.Hz, m func() query.Moment, line func() string) bool {
	if f.cond != nil {
		return f.cond.Eval(m(), hz)
	}
	return f.want == "" || f.okText(line())
}
