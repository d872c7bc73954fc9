package query

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// truth is the value of an expression: a comparison with what has no value is
// neither true nor false.
type truth uint8

const (
	badTruth truth = iota
	no
	yes
	unknown
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return t
}

// noValue is the sentence of a comparison that is unknown.
func noValue(name string) []string { return []string{name + " has no value"} }

type notStep[C any] struct{ x step[C] }

func (s *notStep[C]) eval(c C, hz clock.Hz) truth { return s.x.eval(c, hz).not() }

func (s *notStep[C]) why(c C, hz clock.Hz, is truth) []string { return s.x.why(c, hz, is.not()) }

type pairStep[C any] struct {
	l, r step[C]
	or   bool
}

func (s *pairStep[C]) eval(c C, hz clock.Hz) truth {
	decides := truthOf(s.or) // one such operand is enough
	l := s.l.eval(c, hz)
	if l == decides {
		return l
	}
	r := s.r.eval(c, hz)
	if r == decides || l != unknown {
		return r
	}
	return l
}

// why names the operands that made the pair what it is.
func (s *pairStep[C]) why(c C, hz clock.Hz, is truth) (w []string) {
	for _, x := range [2]step[C]{s.l, s.r} {
		if x.eval(c, hz) == is {
			w = append(w, x.why(c, hz, is)...)
		}
	}
	return w
}

type stateStep[C any] struct {
	name  string
	x     *Var[C]
	key   int
	state string
}

func (s *stateStep[C]) eval(c C, _ clock.Hz) truth { return truthOf(s.x.State(c, s.key, s.state)) }

func (s *stateStep[C]) why(_ C, _ clock.Hz, is truth) []string {
	if is == yes {
		return []string{s.name + " is " + s.state}
	}
	return []string{s.name + " is not " + s.state}
}

type wordStep[C any] struct {
	name string
	x    *Var[C]
	key  int
	word string
	not  bool
}

func (s *wordStep[C]) eval(c C, _ clock.Hz) truth {
	w, ok := s.x.Name(c, s.key)
	if !ok {
		return unknown
	}
	return truthOf((w == s.word) != s.not)
}

func (s *wordStep[C]) why(c C, _ clock.Hz, is truth) []string {
	w, _ := s.x.Name(c, s.key)
	switch {
	case is == unknown:
		return noValue(s.name)
	case is == yes, s.not:
		return []string{s.name + " is " + w}
	}
	return []string{s.name + " is " + w + ", not " + s.word}
}

type numberStep[C any] struct {
	name    string
	x       *Var[C]
	key     int
	op      string
	literal Number
	// y is the other name, nil if the right side is literal.
	y     *Var[C]
	ykey  int
	yname string
}

// sides returns both values in one unit.
func (s *numberStep[C]) sides(c C, hz clock.Hz) (a, b Number, ok bool) {
	v, ok := s.x.Number(c, s.key)
	a, b = Number{V: v, Unit: s.x.Unit}, s.literal
	if s.y != nil {
		w, yok := s.y.Number(c, s.ykey)
		b, ok = Number{V: w, Unit: s.y.Unit}, ok && yok
	}
	if b.Unit == Plain {
		b.Unit = a.Unit
	}
	if a.Unit != b.Unit && hz == 0 {
		return a, b, false
	}
	return Number{V: a.in(b.Unit, hz), Unit: b.Unit}, b, ok
}

func (s *numberStep[C]) eval(c C, hz clock.Hz) truth {
	a, b, ok := s.sides(c, hz)
	if !ok {
		return unknown
	}
	return truthOf(compare(a.V, s.op, b.V))
}

func compare(a float64, op string, b float64) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	panic("BUG: operator " + op)
}

func (s *numberStep[C]) why(c C, hz clock.Hz, is truth) []string {
	a, b, _ := s.sides(c, hz)
	if is == unknown {
		return noValue(s.name)
	}
	right := b.text
	if s.y != nil {
		right = s.yname + " = " + b.String()
	}
	if is == yes {
		return []string{s.name + " is " + a.String() + ", " + s.op + " " + right}
	}
	return []string{s.name + " is " + a.String() + ", not " + s.op + " " + right}
}
