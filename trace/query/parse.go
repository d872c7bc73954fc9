package query

import "fmt"

// maxDepth bounds the nesting of an expression.
const maxDepth = 100

// Parse reads an expression. The error is an *Error.
func Parse(src string) (Node, error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{toks: toks}
	n := p.or(0)
	if p.err == nil && p.peek().kind != tokEnd {
		p.fail(p.peek(), "%q does not belong here: want && or ||", p.peek().text)
	}
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

// parser is a recursive descent over tokens. After the first error it does
// nothing.
type parser struct {
	toks []token
	pos  int
	err  error
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) take() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// accept takes the next token if it is of kind k.
func (p *parser) accept(k tokenKind) bool {
	if p.err != nil || p.peek().kind != k {
		return false
	}
	p.take()
	return true
}

func (p *parser) fail(t token, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{t.col, fmt.Sprintf(format, args...)}
	}
}

func (p *parser) or(depth int) Node {
	n := p.and(depth)
	for p.accept(tokOr) {
		n = &Or{n, p.and(depth)}
	}
	return n
}

func (p *parser) and(depth int) Node {
	n := p.not(depth)
	for p.accept(tokAnd) {
		n = &And{n, p.not(depth)}
	}
	return n
}

func (p *parser) not(depth int) Node {
	if depth > maxDepth {
		p.fail(p.peek(), "nested too deeply")
		return nil
	}
	switch {
	case p.accept(tokNot):
		return &Not{p.not(depth + 1)}
	case p.accept(tokOpen):
		n := p.or(depth + 1)
		if !p.accept(tokClose) {
			p.fail(p.peek(), "want )")
		}
		return n
	}
	return p.test()
}

func (p *parser) test() Node {
	if t := p.peek(); t.kind != tokWord {
		p.fail(t, "want a name, as in p99(late) < 5us%s", found(t))
		return nil
	}
	t := &Test{Name: p.name()}
	switch next := p.peek(); next.kind {
	case tokOp:
		p.take()
		t.Op, t.Col = next.text, next.col
		t.Value = p.operand()
	case tokWord:
		p.take()
		t.State, t.Col = next.text, next.col
	}
	return t
}

func found(t token) string {
	if t.kind == tokEnd {
		return ""
	}
	return fmt.Sprintf(", have %q", t.text)
}

// name takes a word and, in parentheses, its key. Whether a dot divides a word
// from its key is the vocabulary's to say: see Name.split.
func (p *parser) name() Name {
	w := p.take()
	n := Name{Word: w.text, Col: w.col}
	if !p.accept(tokOpen) {
		return n
	}
	k := p.take()
	if k.kind != tokWord && k.kind != tokText && k.kind != tokNumber {
		p.fail(k, "want a word in the parentheses of %s%s", w.text, found(k))
		return n
	}
	n.Key, n.HasKey, n.KeyCol = k.text, true, k.col
	if !p.accept(tokClose) {
		p.fail(p.peek(), "want ) after %s", k.text)
	}
	return n
}

func (p *parser) operand() Operand {
	t := p.peek()
	o := Operand{Col: t.col, Word: t.text}
	switch t.kind {
	case tokNumber:
		p.take()
		o.Word = t.text + p.unit()
		n, err := parseNumber(o.Word)
		if err == nil {
			o.Number = &n
		}
		// A word such as 5.8 or 2x is not a number, but may be a value's name.
	case tokText:
		p.take()
		o.Quoted = true
	case tokWord:
		o.Name = p.name()
	default:
		p.fail(t, "want a value%s", found(t))
	}
	return o
}

// unit takes a unit that a space divides from its number.
func (p *parser) unit() string {
	t := p.peek()
	for _, u := range unitNames {
		if t.kind == tokWord && t.text == u.name {
			p.take()
			return u.name
		}
	}
	return ""
}
