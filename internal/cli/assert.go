package cli

import "ticktrap/trace"

// assertion is a condition on a report.
type assertion struct{}

// parseAsserts reads the conditions of --assert.
func parseAsserts(texts []string) ([]assertion, error) {
	if len(texts) > 0 {
		return nil, fail(ExitUsage, "--assert %q: not possible yet", texts[0])
	}
	return nil, nil
}

// checkAsserts evaluates them all and names each that does not hold.
func checkAsserts([]assertion, *trace.Header, *trace.State) error { return nil }
