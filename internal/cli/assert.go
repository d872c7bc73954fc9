package cli

import (
	"errors"

	"ticktrap/trace"
)

// parseAsserts reads the conditions of --assert.
func parseAsserts(texts []string) ([]*trace.Assertion, error) {
	var checks []*trace.Assertion
	for _, s := range texts {
		a, err := trace.ParseAssert(s)
		if err != nil {
			return nil, fail(ExitUsage, "--assert %q: %w", s, err)
		}
		checks = append(checks, a)
	}
	return checks, nil
}

// checkAsserts evaluates them all and names each that does not hold.
func checkAsserts(checks []*trace.Assertion, h *trace.Header, st *trace.State) error {
	var failed []error
	for _, a := range checks {
		if ok, why := a.Eval(h, st); !ok {
			failed = append(failed, errors.New("assertion failed: "+why))
		}
	}
	return with(ExitAssert, errors.Join(failed...))
}
