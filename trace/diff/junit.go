package diff

import (
	"encoding/xml"
	"fmt"
	"io"
)

// Suite is the checks of one comparison, for JUnit.
type Suite struct {
	Name   string
	Checks []Check
	// Err is why there was no comparison; empty if there was.
	Err string
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

// JUnit writes suites as a JUnit document. A limit that is exceeded is a failure;
// one that cannot be decided is an error; one whose figure is absent is skipped.
func JUnit(w io.Writer, suites []Suite) error {
	var doc junitSuites
	for _, s := range suites {
		out := junitSuite{Name: s.Name}
		if s.Err != "" {
			out.Tests, out.Errors = 1, 1
			out.Cases = []junitCase{{Name: "run", Class: s.Name, Error: &junitMessage{s.Err}}}
		}
		for _, c := range s.Checks {
			k := junitCase{Name: c.Limit, Class: s.Name}
			switch c.Outcome {
			case Exceeded:
				k.Failure, out.Failures = &junitMessage{c.Words}, out.Failures+1
			case Undecided:
				k.Error, out.Errors = &junitMessage{c.Words}, out.Errors+1
			case Absent:
				k.Skipped, out.Skipped = &junitMessage{c.Words}, out.Skipped+1
			default:
				k.Out = c.Words
			}
			out.Tests++
			out.Cases = append(out.Cases, k)
		}
		doc.Suites = append(doc.Suites, out)
	}
	b, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}
