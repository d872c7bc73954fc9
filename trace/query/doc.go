// Package query is the small expression language of assertions, break
// conditions, filters and report --where:
//
//	p99(late) < 5us && exits.HLT == 0
//	late > 20us && vcpu == 1
//	exit == MSR_WRITE && fastpath == bail || knob changed
//
// The grammar is
//
//	expr  = and { "||" and }
//	and   = not { "&&" not }
//	not   = "!" not | "(" expr ")" | test
//	test  = name [ op value | word ]      op is == != < <= > >=
//	name  = word | word "(" word ")" | word "." word
//	value = number [ unit ] | word | "quoted text" | name
//	unit  = cycles | ns | us | ms | s | %
//
// A word holds letters, digits and - _ + . and names what a Vocabulary has: the
// language knows no names of its own. "a.b" and "a(b)" are the same. "knob
// changed" is a test of a state that the vocabulary gives knob.
//
// Parse reads the syntax, Compile checks names, units and enumerations against a
// Vocabulary, and Program.Eval computes. Everything that can be wrong with an
// expression is found by Compile, with the column. Programs may be evaluated
// from several goroutines.
package query
