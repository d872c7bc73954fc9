package query

import (
	"fmt"
	"slices"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// Program is a compiled expression.
type Program[C any] struct {
	src  string
	root step[C]
}

// String returns the source.
func (p *Program[C]) String() string { return p.src }

// Eval reports whether the expression is true on c; hz converts between cycles
// and nanoseconds. An expression that depends on what has no value (the lateness
// of no deadline) is not true, nor is its negation.
func (p *Program[C]) Eval(c C, hz clock.Hz) bool { return p.root.eval(c, hz) == yes }

// Explain says, if the expression is not true on c, which comparisons made it
// so: "p99(late) is 6.2us, not < 5us". It is empty if the expression is true.
func (p *Program[C]) Explain(c C, hz clock.Hz) string {
	t := p.root.eval(c, hz)
	if t == yes {
		return ""
	}
	return strings.Join(p.root.why(c, hz, t), "; ")
}

// NeedsRate reports whether the expression compares cycles with seconds: where
// the TSC rate is not known it has no value.
func (p *Program[C]) NeedsRate() bool { return needsRate(p.root) }

func needsRate[C any](s step[C]) bool {
	switch s := s.(type) {
	case *notStep[C]:
		return needsRate(s.x)
	case *pairStep[C]:
		return needsRate(s.l) || needsRate(s.r)
	case *numberStep[C]:
		other := s.literal.Unit
		if s.y != nil {
			other = s.y.Unit
		}
		return s.x.Unit == Cycles && other == Nanos || s.x.Unit == Nanos && other == Cycles
	}
	return false
}

// step is a node of a program. why lists the sentences that say that the node is
// what eval made of it.
type step[C any] interface {
	eval(c C, hz clock.Hz) truth
	why(c C, hz clock.Hz, is truth) []string
}

// Compile reads an expression in the words of v. The error is an *Error.
func Compile[C any](src string, v *Vocabulary[C]) (*Program[C], error) {
	n, err := Parse(src)
	if err != nil {
		return nil, err
	}
	root, cerr := compile(n, v)
	if cerr != nil {
		return nil, cerr
	}
	return &Program[C]{src, root}, nil
}

func compile[C any](n Node, v *Vocabulary[C]) (step[C], *Error) {
	switch n := n.(type) {
	case *Not:
		x, err := compile(n.X, v)
		return &notStep[C]{x}, err
	case *And:
		return compilePair(n.L, n.R, v, false)
	case *Or:
		return compilePair(n.L, n.R, v, true)
	case *Test:
		return compileTest(n, v)
	}
	panic(fmt.Sprintf("BUG: node %T", n))
}

func compilePair[C any](l, r Node, v *Vocabulary[C], or bool) (step[C], *Error) {
	x, err := compile(l, v)
	if err != nil {
		return nil, err
	}
	y, err := compile(r, v)
	return &pairStep[C]{x, y, or}, err
}

func compileTest[C any](t *Test, v *Vocabulary[C]) (step[C], *Error) {
	x, key, err := v.find(t.Name)
	if err != nil {
		return nil, err
	}
	switch {
	case t.State != "":
		if !slices.Contains(x.States, t.State) {
			return nil, &Error{t.Col, quote(t.State) + " cannot follow " + t.Name.String() + ": want a comparison" + orStates(x.States)}
		}
		return &stateStep[C]{t.Name.String(), x, key, t.State}, nil
	case t.Op == "":
		return nil, &Error{t.Name.Col, t.Name.String() + " has to be compared with something" + orStates(x.States)}
	case x.Name != nil:
		return compileWord(t, x, key)
	case x.Number == nil:
		return nil, &Error{t.Col, t.Name.String() + " cannot be compared" + orStates(x.States)}
	}
	return compileNumber(t, x, key, v)
}

func orStates(states []string) string {
	if len(states) == 0 {
		return ""
	}
	return ", or " + list(states)
}

// compileWord checks a comparison of an enumeration with one of its words.
func compileWord[C any](t *Test, x *Var[C], key int) (step[C], *Error) {
	if t.Op != "==" && t.Op != "!=" {
		return nil, &Error{t.Col, t.Name.String() + " is a word: it can be == or !=, not " + t.Op}
	}
	w := t.Value.Word
	if len(x.Values) > 0 {
		i := slices.IndexFunc(x.Values, func(s string) bool { return strings.EqualFold(s, w) })
		if i < 0 {
			return nil, &Error{t.Value.Col, quote(w) + " is no " + t.Name.String() + ": " + list(x.Values)}
		}
		w = x.Values[i]
	}
	return &wordStep[C]{t.Name.String(), x, key, w, t.Op == "!="}, nil
}

// compileNumber checks a comparison of a number with a number or another name.
func compileNumber[C any](t *Test, x *Var[C], key int, v *Vocabulary[C]) (step[C], *Error) {
	s := &numberStep[C]{name: t.Name.String(), x: x, key: key, op: t.Op}
	other := BadUnit
	switch o := &t.Value; {
	case o.Number != nil:
		s.literal, other = *o.Number, o.Number.Unit
	case o.Name.Word != "":
		y, k, err := v.find(o.Name)
		if err != nil {
			return nil, err
		}
		if y.Number == nil {
			return nil, &Error{o.Col, o.Name.String() + " is not a number"}
		}
		s.y, s.ykey, s.yname, other = y, k, o.Name.String(), y.Unit
	default:
		return nil, &Error{o.Col, quote(o.Word) + " is not a number: " + t.Name.String() + " is one"}
	}
	if !comparable(x.Unit, other, s.y == nil) {
		return nil, &Error{t.Value.Col, t.Name.String() + wants(x.Unit)}
	}
	return s, nil
}

// comparable reports whether units can be compared. A literal without unit
// counts in the name's own, but for percentages, where 0.9 and 90 would be
// mistaken.
func comparable(a, b Unit, literal bool) bool {
	isTime := func(u Unit) bool { return u == Cycles || u == Nanos }
	return a == b || isTime(a) && isTime(b) || literal && b == Plain && isTime(a)
}

func wants(u Unit) string {
	switch u {
	case Percent:
		return " is a rate: compare it with a percentage such as 90%"
	case Plain:
		return " is a count: compare it with a plain number"
	}
	return " is a time: compare it with cycles, ns, us or ms"
}
