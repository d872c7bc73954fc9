package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Header describes a run: what a recording begins with and a screen shows on
// top. Everything needed to run a model session again is in it.
type Header struct {
	Engine     string // "model", "kvm" or the name of an importer
	LAPIC      string // "vmm" or "kernel"
	Provenance Provenance
	Guest      string // built-in name or file name
	Args       string // --append
	Inputs     string // --input, one a line
	Initrd     string // file of the initial RAM disk, empty for none
	GuestHash  string // SHA-256 of the image, hex
	Seed       uint64
	Profile    string // cost profile, model only
	Hz         clock.Hz
	VCPUs      int
	PCPUs      int
	MemMiB     int // guest memory, 0 if unknown
	// Knobs are the values at the start, by Knob; [0] is unused.
	Knobs [NumKnobs]uint64
	// Kernel is the release of Linux whose rules the host follows, with Knobs
	// turned away from it perhaps; empty if it is not known. Hide are the features
	// that the CPU did without, names joined by commas.
	Kernel, Hide string
	// Deviates names the rules that were turned away from Kernel at the start, as
	// NAME=VALUE joined by commas: then the run follows the rules of no kernel.
	Deviates string
	// Reboot says what a reset did to the run, empty for what it does by default.
	Reboot string
	// Host is a sentence about the machine: kernel and CPU, or the profile.
	Host string
}
