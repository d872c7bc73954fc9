package fuzz

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// Invariant is what must hold for every guest.
type Invariant struct {
	text   string
	assert *query.Assertion // on the report of a straight run
	same   bool             // all ways to run it come to the same
}

// String is the invariant as it was given.
func (i *Invariant) String() string { return i.text }

// short are invariants with a name of their own.
var short = map[string]string{
	"no lost": "deadlines(lost) == 0",
}

// Same is the invariant that a straight run, one with steps back, one without skipping
// and one that verifies the recording come to the same.
const Same = "same"

// ParseInvariant reads an invariant: "same", "no lost", "late < 20us", or an assertion as
// run --assert takes it.
func ParseInvariant(text string) (*Invariant, error) {
	i := &Invariant{text: text}
	text = strings.TrimSpace(text)
	if text == Same {
		i.same = true
		return i, nil
	}
	if s, ok := short[text]; ok {
		text = s
	}
	if rest, ok := strings.CutPrefix(text, "late <"); ok {
		text = "max(late) <" + rest
	}
	var err error
	i.assert, err = query.ParseAssertion(text)
	return i, err
}

// Broken is an invariant that does not hold.
type Broken struct {
	Invariant string
	Why       string
}

// Error says which and why.
func (b *Broken) Error() string { return b.Invariant + ": " + b.Why }

// ErrStopped says that a check was stopped.
var ErrStopped = errors.New("stopped")

// Check runs the case for so much guest time and checks the invariants. The error is a
// *Broken for the first that does not hold; a panic and a run without end break every
// one.
func (c *Case) Check(inv []*Invariant, until clock.TSC, stop func() bool) error {
	over := func() bool { return stop != nil && stop() }
	first, err := c.run(straight, until, stop)
	if err := broken(straight, first, err); err != nil {
		return err
	}
	for _, i := range inv {
		if i.assert == nil || over() {
			continue
		}
		if holds, why := i.assert.Check(&first.header, &first.state); !holds && first.state.Deadlines.Count() > 0 {
			return &Broken{i.text, why}
		}
	}
	for _, i := range inv {
		if i.same {
			if err := c.checkSame(i, first, until, stop); err != nil {
				return err
			}
		}
	}
	if over() {
		return ErrStopped
	}
	return nil
}

// broken is the error of a run that failed.
func broken(h way, o *outcome, err error) error {
	switch {
	case err != nil:
		return &Broken{"no panic", fmt.Sprintf("%s: %v", wayNames[h], err)}
	case o.stuck:
		return &Broken{"no hang", fmt.Sprintf("%s: %d turns of the model without reaching the limit", wayNames[h], patience)}
	}
	return nil
}

// checkSame compares the other ways to run the case with the straight one.
func (c *Case) checkSame(i *Invariant, first *outcome, until clock.TSC, stop func() bool) error {
	for _, h := range []way{noSkip, stepped} {
		o, err := c.run(h, until, stop)
		if stop != nil && stop() {
			return ErrStopped
		}
		if err := broken(h, o, err); err != nil {
			return err
		}
		switch {
		case o.n != first.n:
			return &Broken{i.text, fmt.Sprintf("%d events straight, %d %s", first.n, o.n, wayNames[h])}
		case h == noSkip && o.events != first.events:
			return &Broken{i.text, fmt.Sprintf("other events %s than straight", wayNames[h])}
		case o.print != first.print:
			return &Broken{i.text, fmt.Sprintf("another state at the end %s than straight", wayNames[h])}
		}
	}
	rec, err := trace.Open(bytes.NewReader(first.record), int64(len(first.record)))
	if err == nil && rec.Warning() != "" {
		err = errors.New(rec.Warning())
	}
	if err == nil {
		err = rec.Verify()
	}
	if err == nil {
		make, _, ferr := c.factory(false)
		if err = ferr; err == nil {
			err = session.Verify(rec, make)
		}
	}
	if err != nil {
		return &Broken{i.text, "verify: " + err.Error()}
	}
	return nil
}
