package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is what is wrong with an expression, and where.
type Error struct {
	Col int // column in characters from 1
	Msg string
}

// Error gives the column and the message.
func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Col, e.Msg) }

// Point returns src and, below it, a caret at the column.
func (e *Error) Point(src string) string {
	return src + "\n" + strings.Repeat(" ", e.Col-1) + "^"
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	badToken tokenKind = iota
	tokEnd
	tokWord
	tokNumber
	tokText // quoted
	tokOp   // == != < <= > >=
	tokAnd
	tokOr
	tokNot
	tokOpen
	tokClose
)

type token struct {
	kind tokenKind
	text string
	col  int
}

// operators, longest first where one begins another.
var operators = []struct {
	text string
	kind tokenKind
}{{"==", tokOp}, {"!=", tokOp}, {"<=", tokOp}, {">=", tokOp}, {"&&", tokAnd}, {"||", tokOr}, {"<", tokOp}, {">", tokOp},
	{"!", tokNot}, {"(", tokOpen}, {")", tokClose}}

// lex cuts src into tokens; the last is tokEnd.
func lex(src string) (toks []token, err error) {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if unicode.IsSpace(r) {
			i += n
			continue
		}
		t, length, err := next(src[i:])
		if t.col = utf8.RuneCountInString(src[:i]) + 1; err != nil {
			return nil, &Error{t.col, err.Error()}
		}
		toks = append(toks, t)
		i += length
	}
	return append(toks, token{kind: tokEnd, col: utf8.RuneCountInString(src) + 1}), nil
}

// next returns the token that s begins with and its length in bytes.
func next(s string) (token, int, error) {
	for _, op := range operators {
		if strings.HasPrefix(s, op.text) {
			return token{kind: op.kind, text: op.text}, len(op.text), nil
		}
	}
	if s[0] == '"' {
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return token{}, 0, fmt.Errorf("the quoted text has no end")
		}
		return token{kind: tokText, text: s[1 : end+1]}, end + 2, nil
	}
	if n := prefix(s, isWord); n > 0 {
		return word(s[:n]), n, nil
	}
	if s[0] == '=' || s[0] == '&' || s[0] == '|' {
		return token{}, 0, fmt.Errorf("%q is no operator: write %q", s[:1], strings.Repeat(s[:1], 2))
	}
	r, _ := utf8.DecodeRuneInString(s)
	return token{}, 0, fmt.Errorf("%q has no meaning here", string(r))
}

// word makes a token of word characters: a number if it begins like one.
func word(w string) token {
	digits := strings.TrimPrefix(w, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return token{kind: tokWord, text: w}
	}
	return token{kind: tokNumber, text: w}
}

func prefix(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

func isWord(r rune) bool {
	return r == '_' || r == '-' || r == '+' || r == '.' || r == 'µ' || r == '%' ||
		r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
