package kernel

import "slices"

// Vendor is the vendor of the CPU, and with it the KVM module.
type Vendor uint8

// The vendors. Both is for changes in common code.
const (
	Both  Vendor = iota
	Intel        // kvm-intel, VMX
	AMD          // kvm-amd, SVM
)

// VendorNames names the vendors, by Vendor.
var VendorNames = []string{"both", "intel", "amd"}

// String returns "intel", "amd" or "both".
func (x Vendor) String() string { return VendorNames[min(int(x), len(VendorNames)-1)] }

// Kind is what became of a change.
type Kind uint8

// The kinds. BadKind is the invalid zero value.
const (
	BadKind  Kind = iota
	Merged        // in the releases from Since on
	Proposed      // posted, in no release
	Dropped       // posted, and decided against in favour of what Why names
)

// KindNames names the kinds.
var KindNames = []string{"bad", "merged", "proposed", "dropped"}

// String returns the name.
func (k Kind) String() string { return KindNames[min(int(k), len(KindNames)-1)] }

// Topic is the part of the machinery that a change belongs to.
type Topic uint8

// The topics, in the order in which a kernel is described.
const (
	BadTopic Topic = iota
	TopicLAPIC
	TopicBacking
	TopicExpiry
	TopicWait
	TopicAdvance
	TopicFastpath
	TopicDelivery
	TopicKick
	TopicHalt
	TopicPause
	TopicAPICv
	TopicTrace
	TopicParam
	NumTopics
)

// TopicNames names the topics.
var TopicNames = []string{"bad", "local APIC", "backing", "expiry", "wait", "advance", "fastpath", "delivery", "kick",
	"halt", "pause-loop exits", "APICv inhibits", "tracepoints", "parameters"}

// String returns the name.
func (t Topic) String() string { return TopicNames[min(int(t), len(TopicNames)-1)] }

// Change is one upstream change: a row of the history.
type Change struct {
	Topic Topic
	// Since is the first mainline release that has the change. Where After is
	// set, the releases between After and Since were not read: the change came in
	// one of those after After, at the latest in Since.
	Since, After Release
	// Stable are the releases of older series that took the change back. Each
	// stands for itself and the later ones of its series. Where a series was read
	// only once, its number is that of the release read: the back-port can be
	// older.
	Stable []Release
	Commit string // upstream, at least 12 digits; empty: release read, commit not known
	Where  string // file: function
	Vendor Vendor
	Kind   Kind
	// Base is the release that a proposal was posted against; else zero.
	Base    Release
	Subject string // what changes, in a few words
	Why     string // for what was not merged: what became of it; else empty
	// set applies the change to a kernel; nil for rows that set nothing.
	set func(*Kernel)
}

// in reports whether release r has a merged change.
func (c *Change) in(r Release) bool {
	return !r.Before(c.Since) || slices.ContainsFunc(c.Stable, func(s Release) bool {
		return s.Mainline() == r.Mainline() && !r.Before(s)
	})
}

// Unsure reports whether r lies among the releases that were not read, so that it
// may have the change before Since.
func (c *Change) Unsure(r Release) bool {
	return c.After != Release{} && c.After.Before(r.Mainline()) && r.Before(c.Since) && !c.in(r)
}

// Releases lists the releases that brought the change: the mainline release, then
// the stable ones; "6.19, 6.1.176, 6.12.117".
func (c *Change) Releases() string {
	s := c.Since.String()
	for _, r := range c.Stable {
		s += ", " + r.String()
	}
	return s
}

// Gap reports whether releases before Since were not read.
func (c *Change) Gap() bool { return c.After != (Release{}) && c.After.Next() != c.Since }

// Came says since when release r has the change: "since 6.12", "in 5.19, not in
// 5.17" where releases in between were not read, "back-ported, read in 5.15.85".
func (c *Change) Came(r Release) string {
	if c.BackPorted(r) {
		for _, s := range c.Stable {
			if s.Mainline() == r.Mainline() {
				return "back-port, read in " + s.String()
			}
		}
	}
	if c.Gap() {
		return "in " + c.Since.String() + ", not in " + c.After.String()
	}
	return "since " + c.Since.String()
}

// BackPorted reports whether r has the change as a back-port.
func (c *Change) BackPorted(r Release) bool { return r.Before(c.Since) && c.in(r) }

// Of reports whether the change is in the code that runs on x.
func (c *Change) Of(x Vendor) bool { return c.Vendor == Both || x == Both || c.Vendor == x }

// History returns the rows, in the order in which they are folded.
func History() []Change { return slices.Clone(history) }

// Find returns the row with a subject, which there must be.
func Find(subject string) Change {
	i := slices.IndexFunc(history, func(c Change) bool { return c.Subject == subject })
	if i < 0 {
		panic("BUG: no change is called " + subject)
	}
	return history[i]
}

// Changes are the merged changes since Oldest that a release has on a vendor's
// CPUs.
func Changes(r Release, x Vendor) []*Change {
	var cs []*Change
	for i := range history {
		if c := &history[i]; c.Kind == Merged && c.Since != Oldest && c.Of(x) && c.in(r) {
			cs = append(cs, c)
		}
	}
	return cs
}

// Between lists the changes that b has and a has not, then those that a has as a
// back-port or otherwise and b has not.
func Between(a, b Release, x Vendor) (came, went []*Change) {
	for i := range history {
		c := &history[i]
		if c.Kind != Merged || !c.Of(x) {
			continue
		}
		switch inA, inB := c.in(a), c.in(b); {
		case inB && !inA:
			came = append(came, c)
		case inA && !inB:
			went = append(went, c)
		}
	}
	return came, went
}
