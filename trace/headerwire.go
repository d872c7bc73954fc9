package trace

import (
	"encoding/json"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// headerWire is the JSON of a recording's first block. Fields are only ever
// added; Knobs is indexed by Knob and may be shorter or longer than NumKnobs.
type headerWire struct {
	Engine     string   `json:"engine"`
	LAPIC      string   `json:"lapic"`
	Provenance string   `json:"provenance"`
	Guest      string   `json:"guest"`
	Args       string   `json:"args,omitempty"`
	GuestHash  string   `json:"guest_hash,omitempty"`
	Seed       uint64   `json:"seed"`
	Profile    string   `json:"profile,omitempty"`
	Hz         uint64   `json:"hz"`
	VCPUs      int      `json:"vcpus"`
	PCPUs      int      `json:"pcpus"`
	Knobs      []uint64 `json:"knobs"`
	Host       string   `json:"host,omitempty"`
	MemMiB     int      `json:"mem_mib,omitempty"`
	Kernel     string   `json:"lapic_era,omitempty"` // once the LAPIC's code only
	Hide       string   `json:"hide,omitempty"`
	Initrd     string   `json:"initrd,omitempty"`
	Reboot     string   `json:"reboot,omitempty"`
	Inputs     string   `json:"inputs,omitempty"`
	Deviates   string   `json:"deviates,omitempty"`
}

func encodeHeader(h *Header) ([]byte, error) {
	return json.Marshal(headerWire{h.Engine, h.LAPIC, h.Provenance.String(), h.Guest, h.Args, h.GuestHash, h.Seed,
		h.Profile, uint64(h.Hz), h.VCPUs, h.PCPUs, h.Knobs[:], h.Host, h.MemMiB,
		h.Kernel, h.Hide, h.Initrd, h.Reboot, h.Inputs, h.Deviates})
}

func decodeHeader(p []byte) (h Header, err error) {
	var w headerWire
	if err := json.Unmarshal(p, &w); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	if w.VCPUs < 0 || w.VCPUs > MaxVCPUs || w.PCPUs < 0 {
		return h, fmt.Errorf("header: %d vCPUs on %d host CPUs", w.VCPUs, w.PCPUs)
	}
	h = Header{Engine: w.Engine, LAPIC: w.LAPIC, Guest: w.Guest, Args: w.Args, GuestHash: w.GuestHash, Seed: w.Seed,
		Profile: w.Profile, Hz: clock.Hz(w.Hz), VCPUs: w.VCPUs, PCPUs: w.PCPUs, Host: w.Host, MemMiB: w.MemMiB,
		Kernel: w.Kernel, Hide: w.Hide, Initrd: w.Initrd, Reboot: w.Reboot, Inputs: w.Inputs, Deviates: w.Deviates}
	for p := Measured; int(p) < len(provenanceNames); p++ {
		if p.String() == w.Provenance {
			h.Provenance = p
		}
	}
	if h.Provenance == BadProvenance {
		return h, fmt.Errorf("header: provenance %q", w.Provenance)
	}
	copy(h.Knobs[:], w.Knobs)
	return h, nil
}

// Action is a user's action that is no event: with the knob events, which are
// inputs too, it is what a model session needs to be run again. Text is in the
// words of whoever wrote it.
type Action struct {
	Seq  Seq       `json:"seq"` // events before it
	TSC  clock.TSC `json:"tsc"`
	Verb string    `json:"verb"`
	Text string    `json:"text,omitempty"`
}
