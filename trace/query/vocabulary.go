package query

import (
	"slices"
	"strings"
)

// Vocabulary is what names mean: a table. C is what values are taken from: a
// whole run for assertions, one event for conditions.
type Vocabulary[C any] struct {
	Vars []Var[C]
	// Find resolves names that no row can list, such as p99.9. It may be nil.
	Find func(word string) *Var[C]
}

// Var is one name, or a family of names that differ by a key.
type Var[C any] struct {
	Word string
	// Keys are the keys of a family; empty for a plain name. NoKey says that
	// the name stands without a key too: then the key is −1.
	Keys  []string
	NoKey bool
	Doc   string

	// Unit is the unit of Number, if the name is a number.
	Unit Unit
	// Number returns the value; ok is false if there is none.
	Number func(c C, key int) (v float64, ok bool)
	// Word returns the value of a name that is a word of Values: an
	// enumeration. Empty Values allow every word.
	Name   func(c C, key int) (word string, ok bool)
	Values []string
	// States are words that may follow the name, as in "knob changed".
	States []string
	State  func(c C, key int, state string) bool
}

// find resolves a name to a row and the index of its key.
func (v *Vocabulary[C]) find(n Name) (*Var[C], int, *Error) {
	x := v.lookUp(n.Word)
	if x == nil && !n.HasKey {
		if w, k, ok := strings.Cut(n.Word, "."); ok && v.lookUp(w) != nil {
			n = Name{Word: w, Key: k, HasKey: true, Col: n.Col, KeyCol: n.Col + len(w) + 1}
			x = v.lookUp(w)
		}
	}
	if x == nil {
		return nil, 0, &Error{n.Col, "nothing is called " + quote(n.Word) + nearest(n.Word, v.words())}
	}
	switch {
	case !n.HasKey && (len(x.Keys) == 0 || x.NoKey):
		return x, -1, nil
	case !n.HasKey:
		return nil, 0, &Error{n.Col, n.Word + " needs one of " + list(x.Keys) + ", as in " + n.Word + "(" + x.Keys[0] + ")"}
	case len(x.Keys) == 0:
		return nil, 0, &Error{n.KeyCol, n.Word + " stands alone"}
	}
	if i := slices.IndexFunc(x.Keys, func(k string) bool { return strings.EqualFold(k, n.Key) }); i >= 0 {
		return x, i, nil
	}
	return nil, 0, &Error{n.KeyCol, n.Word + " has no " + quote(n.Key) + "; it has " + list(x.Keys)}
}

func (v *Vocabulary[C]) lookUp(word string) *Var[C] {
	for i := range v.Vars {
		if v.Vars[i].Word == word {
			return &v.Vars[i]
		}
	}
	if v.Find != nil {
		return v.Find(word)
	}
	return nil
}

func (v *Vocabulary[C]) words() (w []string) {
	for i := range v.Vars {
		w = append(w, v.Vars[i].Word)
	}
	return w
}

func quote(s string) string { return "\"" + s + "\"" }

func list(words []string) string { return strings.Join(words, ", ") }

// nearest lists the words, the one that begins alike first.
func nearest(word string, words []string) string {
	for _, w := range words {
		if len(word) >= 3 && strings.HasPrefix(w, word[:3]) {
			return ": do you mean " + w + "?"
		}
	}
	return ": the names are " + list(words)
}

// NameDoc is what a help page says of one name.
type NameDoc struct {
	// Name is the word, with "(…)" behind it if it is a family.
	Name string
	Doc  string
	// Values are the words that the name is compared with, or the keys of a
	// family; nil for numbers.
	Values []string
}

// Docs lists the names of the vocabulary, in its order.
func (v *Vocabulary[C]) Docs() []NameDoc {
	var out []NameDoc
	for i := range v.Vars {
		x := &v.Vars[i]
		d := NameDoc{Name: x.Word, Doc: x.Doc, Values: x.Values}
		if len(x.Keys) > 0 {
			d.Name, d.Values = x.Word+"(…)", x.Keys
		}
		for _, s := range x.States {
			d.Name += ", " + x.Word + " " + s
		}
		out = append(out, d)
	}
	return out
}
