package query

// Node is a node of a parsed expression: one of *Or, *And, *Not and *Test.
type Node interface{ node() }

// Or is true if one of its operands is.
type Or struct{ L, R Node }

// And is true if both operands are.
type And struct{ L, R Node }

// Not negates.
type Not struct{ X Node }

// Test compares a name with a value. Without Op it is a test for State ("knob
// changed"), or for the name itself being true.
type Test struct {
	Name  Name
	Op    string // "" or == != < <= > >=
	Value Operand
	State string // a word after the name
	Col   int    // of Op or State
}

// Name is what a vocabulary gives a value: word, or word and key.
type Name struct {
	Word, Key string
	HasKey    bool
	Col       int
	KeyCol    int
}

// String returns the name as it was written, but for "a.b" and "a(b)", which are
// the same.
func (n Name) String() string {
	if n.HasKey {
		return n.Word + "(" + n.Key + ")"
	}
	return n.Word
}

// Operand is the right side of a comparison: a number, a word, or, if the
// vocabulary knows it, another name.
type Operand struct {
	Number *Number
	Word   string
	Quoted bool
	Name   Name
	Col    int
}

func (*Or) node()   {}
func (*And) node()  {}
func (*Not) node()  {}
func (*Test) node() {}
