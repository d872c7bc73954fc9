package kernel

import "strings"

// Span is a range of releases, both ends in it; a zero end is open. Of the stable
// series only the mainline numbers count.
type Span struct{ Since, Until Release }

// String returns "6.0–6.13", "since 6.14", "up to 5.3" or "any".
func (s Span) String() string {
	open := Release{}
	switch {
	case s.Since == open && s.Until == open:
		return "any"
	case s.Until == open:
		return "since " + s.Since.String()
	case s.Since == open:
		return "up to " + s.Until.String()
	case s.Since == s.Until:
		return s.Since.String()
	}
	return s.Since.String() + "–" + s.Until.String()
}

// Narrow returns the releases that are in both ranges. Back-ports can make two
// observations of one trace contradict each other: then ok is false and s is
// returned unchanged.
func (s Span) Narrow(o Span) (r Span, ok bool) {
	r = s
	if r.Since.Before(o.Since) {
		r.Since = o.Since
	}
	if (o.Until != Release{}) && ((r.Until == Release{}) || o.Until.Before(r.Until)) {
		r.Until = o.Until
	}
	if (r.Until != Release{}) && r.Until.Before(r.Since) {
		return s, false
	}
	return r, true
}

// Has reports whether r may be meant.
func (s Span) Has(r Release) bool {
	return !r.Mainline().Before(s.Since) && ((s.Until == Release{}) || !s.Until.Before(r.Mainline()))
}

// Where says of which mainline releases has holds: "up to 5.14", "5.8–5.15",
// "5.17 on", several joined by ", and "; "no kernel" if of none.
func Where(x Vendor, has func(*Kernel) bool) string {
	var spans []string
	var from Release
	end := func(last Release) {
		switch {
		case from == Release{}:
			return
		case last == Newest && from == Oldest:
			spans = append(spans, "every kernel")
		case last == Newest:
			spans = append(spans, from.String()+" on")
		case from == Oldest:
			spans = append(spans, "up to "+last.String())
		default:
			spans = append(spans, Span{from, last}.String())
		}
		from = Release{}
	}
	last := Oldest
	for _, r := range Mainlines(Oldest, Newest) {
		k := At(r, x)
		if has(&k) {
			if (from == Release{}) {
				from = r
			}
		} else {
			end(last)
		}
		last = r
	}
	end(Newest)
	if spans == nil {
		return "no kernel"
	}
	return strings.Join(spans, ", and ")
}
