package cli

import (
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// parseAsserts reads the conditions of --assert.
func parseAsserts(texts []string) ([]*query.Assertion, error) {
	var checks []*query.Assertion
	for _, s := range texts {
		a, err := query.ParseAssertion(s)
		if err != nil {
			return nil, with(ExitUsage, pointed("--assert", s, err))
		}
		checks = append(checks, a)
	}
	return checks, nil
}

// pointed adds the expression and a caret at the column of the error.
func pointed(flag, src string, err error) error {
	var q *query.Error
	if errors.As(err, &q) {
		return fmt.Errorf("%s: %w\n%s", flag, err, q.Point(src))
	}
	return fmt.Errorf("%s %q: %w", flag, src, err)
}

// needRate refuses a condition that compares cycles with seconds where the
// recording does not know how long a cycle is.
func needRate(flag, src string, needs bool, h *trace.Header) error {
	if needs && h.Hz == 0 {
		return fail(ExitUsage, "%s %q: this recording does not know the TSC rate, so cycles cannot be compared with seconds: "+
			"compare with cycles, or import the trace again with --tsc-khz", flag, src)
	}
	return nil
}

// checkAsserts evaluates them all and names each that does not hold.
func checkAsserts(checks []*query.Assertion, h *trace.Header, st *trace.State) error {
	var failed []error
	for _, a := range checks {
		if err := needRate("--assert", a.String(), a.NeedsRate(), h); err != nil {
			return err
		}
		if ok, why := a.Check(h, st); !ok {
			failed = append(failed, errors.New("assertion failed: "+why))
		}
	}
	return with(ExitAssert, errors.Join(failed...))
}
