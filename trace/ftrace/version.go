package ftrace

import "fmt"

// Version is a kernel release, major × 256 + minor. The zero value is "any".
type Version uint16

// V returns the version major.minor.
func V(major, minor uint8) Version { return Version(major)<<8 | Version(minor) }

// String returns "6.12".
func (v Version) String() string {
	if v == 0 {
		return "any"
	}
	return fmt.Sprintf("%d.%d", v>>8, v&0xff)
}

// Era is a range of kernel releases; 0 leaves an end open.
type Era struct{ Since, Until Version }

// String returns "6.0–6.13", "since 6.14", "up to 5.3" or "any".
func (e Era) String() string {
	switch {
	case e.Since == 0 && e.Until == 0:
		return "any"
	case e.Until == 0:
		return "since " + e.Since.String()
	case e.Since == 0:
		return "up to " + e.Until.String()
	case e.Since == e.Until:
		return e.Since.String()
	}
	return e.Since.String() + "–" + e.Until.String()
}

// Narrow returns the releases that are in both ranges. Back-ports can make two
// rows of one trace contradict each other: then ok is false and e is unchanged.
func (e Era) Narrow(o Era) (r Era, ok bool) {
	r = Era{max(e.Since, o.Since), e.Until}
	if o.Until != 0 && (r.Until == 0 || o.Until < r.Until) {
		r.Until = o.Until
	}
	if r.Until != 0 && r.Since > r.Until {
		return e, false
	}
	return r, true
}

// Has reports whether release v may be meant.
func (e Era) Has(v Version) bool { return v >= e.Since && (e.Until == 0 || v <= e.Until) }
