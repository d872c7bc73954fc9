package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/scenario"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// verifyRecording runs the run of a recording again and compares the events.
func verifyRecording(env *Env, name string, rec *trace.Recording) error {
	h := rec.Header()
	if h.Engine != "model" {
		return fail(ExitUsage, "%s: only recordings of the model can be executed again; this one is of engine %s", name, h.Engine)
	}
	make, err := recordedFactory(h)
	if err != nil {
		return with(ExitInput, fmt.Errorf("%s: %w", name, err))
	}
	hash := ""
	err = session.Verify(rec, func(sink trace.Sink) (vmm.Engine, error) {
		eng, err := make(sink)
		if err == nil {
			e := eng.Header()
			hash = e.GuestHash
		}
		return eng, err
	})
	switch diff := (*session.Difference)(nil); {
	case hash != "" && hash != h.GuestHash:
		return fail(ExitInput, "%s: guest %s is another one than was recorded", name, h.Guest)
	case errors.As(err, &diff):
		return fail(ExitAssert, "%s: event %d differs\n  recorded: %s\n  executed: %s", name, diff.Seq, diff.Recorded,
			diff.Executed)
	case err != nil:
		return with(ExitInput, fmt.Errorf("%s: %w", name, err))
	}
	if w := rec.Warning(); w != "" {
		return fail(ExitDamaged, "%s: %s; the first %d events were executed again, all equal", name, w, rec.Whole())
	}
	_, err = fmt.Fprintf(env.Out, "%s: %d events executed again, all equal\n", name, rec.Events())
	return err
}

// recordedFactory makes the engine of a recorded model run once more.
func recordedFactory(h *trace.Header) (session.Factory, error) {
	if s, ok := scenario.Of(h); ok {
		make, err := s.Again(h)
		return func(sink trace.Sink) (vmm.Engine, error) { return make(sink) }, err
	}
	o := runOptions{engine: "model", guest: h.Guest, args: h.Args, initrd: h.Initrd, inputs: typed(h), vcpus: h.VCPUs, pcpus: h.PCPUs, memMiB: h.MemMiB,
		seed: h.Seed, profile: h.Profile, kernel: ranOn(h), hide: hidden(h), reboot: h.Reboot}
	knobs := vmm.DefaultKnobs()
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		if err := knobs.Set(k, h.Knobs[k]); err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
	}
	return o.engineFactory(knobs)
}

// ranOn is the value of --kernel that a recorded run had.
func ranOn(h *trace.Header) string { return cmp.Or(h.Kernel, kernel.Unrecorded.String()) }

// hidden are the values of --hide that a recorded run had.
func hidden(h *trace.Header) []string {
	return strings.FieldsFunc(h.Hide, func(r rune) bool { return r == ',' })
}

// typed are the values of --input that a recorded run had.
func typed(h *trace.Header) []string {
	return strings.FieldsFunc(h.Inputs, func(r rune) bool { return r == '\n' })
}
