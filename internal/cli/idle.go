package cli

import (
	"fmt"
	"io"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// idle says of each knob that was asked for, by --knob or --at, why it has no
// effect as the others stand at the end of the run.
func (o *runOptions) idle(knobs []vmm.KnobState) (notes []string) {
	asked := map[trace.Knob]bool{}
	for _, s := range o.knobs {
		if k, _, err := parseSetting(s); err == nil {
			asked[k] = true
		}
	}
	for _, s := range o.at {
		if _, setting, ok := strings.Cut(s, ":"); ok {
			if k, _, err := parseSetting(setting); err == nil {
				asked[k] = true
			}
		}
	}
	for _, k := range knobs {
		if asked[k.Knob] && k.Why != "" {
			notes = append(notes, fmt.Sprintf("%s: %s", k.Knob, k.Why))
		}
	}
	return notes
}

// neverTurned says of each turn of --at that the run ended before it.
func neverTurned(r *session.Runner) (notes []string) {
	for _, t := range r.Pending() {
		notes = append(notes, fmt.Sprintf("--at %d:%s=%s never came to pass: the run ended after %d deadlines", t.At, t.Knob,
			trace.FormatKnob(t.Knob, t.Value), r.State().Deadlines.Count()))
	}
	return notes
}

// noteEngine prints what the engine has to say about itself: what it cannot
// observe on this host, which way it took, what it cleaned up. The screen shows
// the same in its footer.
func noteEngine(w io.Writer, e vmm.Engine) {
	if n, ok := e.(interface{ Notice() string }); ok && n.Notice() != "" {
		fmt.Fprintf(w, "ticktrap: note: %s\n", printable(n.Notice()))
	}
}
