package kernel

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// Release is a version of Linux: 6.12.117 is {6, 12, 117}, 6.12 {6, 12, 0}. The
// zero value is no release. Releases are compared with Compare, and with ==.
type Release struct{ Major, Minor, Patch uint16 }

// Oldest and Newest bound the history.
var (
	Oldest  = v(4, 9)
	Newest  = v(7, 3)
	Default = v(6, 12) // what runs if nothing is said: an LTS kernel
	// Unrecorded is what ran in recordings of the model that name no kernel.
	Unrecorded = v(5, 19)
)

// lastMinor is the last release of each major version that the history covers.
var lastMinor = map[uint16]uint16{4: 20, 5: 19, 6: 19, 7: Newest.Minor}

// v is a mainline release, vp one of the stable series.
func v(major, minor uint16) Release         { return Release{major, minor, 0} }
func vp(major, minor, patch uint16) Release { return Release{major, minor, patch} }

// Compare orders releases: negative if r is the older.
func (r Release) Compare(o Release) int {
	return cmp.Or(cmp.Compare(r.Major, o.Major), cmp.Compare(r.Minor, o.Minor), cmp.Compare(r.Patch, o.Patch))
}

// Before reports whether r is older than o.
func (r Release) Before(o Release) bool { return r.Compare(o) < 0 }

// Mainline is the release without the stable series' patches.
func (r Release) Mainline() Release { return v(r.Major, r.Minor) }

// String returns "6.12", "6.12.117", or "unknown" for the zero value.
func (r Release) String() string {
	switch {
	case r == Release{}:
		return "unknown"
	case r.Patch == 0:
		return fmt.Sprintf("%d.%d", r.Major, r.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", r.Major, r.Minor, r.Patch)
}

// Next is the mainline release that follows r.
func (r Release) Next() Release {
	if r.Minor >= lastMinor[r.Major] && r.Major < Newest.Major {
		return v(r.Major+1, 0)
	}
	return v(r.Major, r.Minor+1)
}

// Previous is the mainline release before r.
func (r Release) Previous() Release {
	if r.Minor == 0 {
		return v(r.Major-1, lastMinor[r.Major-1])
	}
	return v(r.Major, r.Minor-1)
}

// Mainlines lists the mainline releases from a to b.
func Mainlines(a, b Release) []Release {
	var rs []Release
	for r := a.Mainline(); r.Compare(b.Mainline()) <= 0; r = r.Next() {
		rs = append(rs, r)
	}
	return rs
}

// Name is a kernel as somebody calls it: the release whose rules are meant, and
// what has to be said about that.
type Name struct {
	Text    string // as given, such as "debian12"
	Release Release
	// Note qualifies the release: "back-ports not known", or that a newer kernel
	// is taken as the newest known. Empty if the name is exact.
	Note string
}

// String returns the release and the note in brackets.
func (n Name) String() string {
	s := n.Release.String()
	if n.Text != s && n.Text != "" {
		s = n.Text + " = " + s
	}
	if n.Note != "" {
		s += " (" + n.Note + ")"
	}
	return s
}

const noBackPorts = "back-ports not known"

// Parse reads a release ("6.12", "5.15.85", "6.12.117+deb12-cloud-amd64", "v6.9")
// or the name of a distribution ("debian12", "ubuntu24.04", "rhel9"). A release
// newer than Newest is taken as Newest, and Name.Note says so. The error is one
// sentence.
func Parse(s string) (Name, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if r, ok := distributions[text]; ok {
		return Name{Text: text, Release: r, Note: noBackPorts}, nil
	}
	r, tail, ok := scan(strings.TrimPrefix(text, "v"))
	if !ok {
		return Name{}, fmt.Errorf("no kernel is called %q: want a release from %s to %s, such as %s or 5.15.85, or a distribution: %s%s",
			s, Oldest, Newest, Default, strings.Join(Distributions(), ", "), prose.DidYouMean(text, Distributions()))
	}
	n := Name{Text: r.String(), Release: r}
	switch {
	case r.Before(Oldest):
		return Name{}, fmt.Errorf("kernel %s is older than %s, where the history begins", r, Oldest)
	case r.Mainline().Compare(Newest) > 0:
		n.Release, n.Note = Newest, "newer than "+Newest.String()+", taken as that"
	case r.Minor > lastMinor[r.Major]:
		return Name{}, fmt.Errorf("there is no kernel %s: after %d.%d came %d.0", r, r.Major, lastMinor[r.Major], r.Major+1)
	case tail != "":
		n.Note = noBackPorts
	}
	return n, nil
}

// scan reads the version in front of s; tail is what follows it.
func scan(s string) (r Release, tail string, ok bool) {
	var part [3]uint64
	n := 0
	for n < len(part) {
		end := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
		if end < 0 {
			end = len(s)
		}
		x, err := strconv.ParseUint(s[:end], 10, 16)
		if err != nil {
			return Release{}, "", false
		}
		part[n] = x
		n, s = n+1, s[end:]
		if !strings.HasPrefix(s, ".") || n == len(part) {
			break
		}
		s = s[1:]
	}
	if n < 2 || s != "" && !strings.ContainsRune("-+~.", rune(s[0])) {
		return Release{}, "", false
	}
	return Release{uint16(part[0]), uint16(part[1]), uint16(part[2])}, s, true
}
