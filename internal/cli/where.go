package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/query"
)

// printWhere lists the moments of a recording at which a condition holds: the
// event as trace text, and what it completed.
func printWhere(w io.Writer, rec *trace.Recording, cond string) (err error) {
	c, err := query.ParseCondition(cond)
	if err != nil {
		return with(ExitUsage, pointed("--where", cond, err))
	}
	if err := needRate("--where", cond, c.NeedsRate(), rec.Header()); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	defer func() { err = errors.Join(err, out.Flush()) }()
	cur := rec.Cursor()
	var st trace.State
	if err := cur.StateAt(rec.First(), &st); err != nil {
		return with(ExitInput, err)
	}
	n := 0
	for {
		e, err := cur.Next()
		if errors.Is(err, io.EOF) {
			fmt.Fprintf(out, "%d of %d events\n", n, rec.Events())
			return nil
		}
		if err != nil {
			return with(ExitInput, err)
		}
		st.Apply(&e)
		if m := query.MomentOf(&e, &st); c.Eval(m, rec.Header().Hz) {
			n++
			fmt.Fprintf(out, "%s%s\n", printable(e.String()), completed(m))
		}
	}
}

// completed says what an event completed.
func completed(m query.Moment) string {
	switch {
	case m.Chain != nil:
		return fmt.Sprintf("  # deadline %d late %d cycles", m.Chain.Num, m.Chain.Late)
	case m.Exit != nil:
		return fmt.Sprintf("  # exit %d %s, %s, %s, %d cycles", m.Exit.Num, m.Exit.Reason, m.Exit.Result, m.Exit.Clause,
			m.Exit.Cycles())
	}
	return ""
}
