package query

import "strconv"

// Beyond says what is impossible in a condition that ParseCondition takes: a
// comparison with a number that the name never has, such as a vCPU that there is
// none of. counts are how many values a name has, from 0 on. It returns nil if
// there is nothing of the kind.
func Beyond(src string, counts map[string]int) *Error {
	root, err := Parse(src)
	if err != nil {
		return nil
	}
	return beyond(root, counts)
}

func beyond(n Node, counts map[string]int) *Error {
	switch n := n.(type) {
	case *Or:
		return either(beyond(n.L, counts), beyond(n.R, counts))
	case *And:
		return either(beyond(n.L, counts), beyond(n.R, counts))
	case *Not:
		return beyond(n.X, counts)
	case *Test:
		count, limited := counts[n.Name.Word]
		if !limited || n.Value.Number == nil {
			return nil
		}
		v := n.Value.Number.V
		if v >= float64(count) || n.Op == ">" && v >= float64(count-1) {
			return &Error{n.Value.Col, "no " + n.Name.Word + " can be meant: the run has " + n.Name.Word + " 0 to " + strconv.Itoa(count-1)}
		}
	}
	return nil
}

func either(a, b *Error) *Error {
	if a != nil {
		return a
	}
	return b
}
