package cli

import (
	"fmt"
	"io"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// noteIdle says of each knob that was asked for, by --knob or --at, why it has no
// effect as the others stand at the end of the run.
func (o *runOptions) noteIdle(w io.Writer, knobs []vmm.KnobState) {
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
			fmt.Fprintf(w, "ticktrap: note: %s: %s\n", k.Knob, printable(k.Why))
		}
	}
}

// noteEngine prints what the engine has to say about itself: what it cannot
// observe on this host, which way it took, what it cleaned up. The screen shows
// the same in its footer.
func noteEngine(w io.Writer, e vmm.Engine) {
	if n, ok := e.(interface{ Notice() string }); ok && n.Notice() != "" {
		fmt.Fprintf(w, "ticktrap: note: %s\n", printable(n.Notice()))
	}
}
