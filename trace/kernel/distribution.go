package kernel

import (
	"slices"
	"strings"
)

// distributions maps the names of distributions to the series that their releases
// began with. Their kernels carry back-ports that the history does not know.
var distributions = map[string]Release{
	"debian11": v(5, 10), "debian12": v(6, 1), "debian13": v(6, 12),
	"ubuntu20.04": v(5, 4), "ubuntu20.10": v(5, 8), "ubuntu21.04": v(5, 11), "ubuntu21.10": v(5, 13),
	"ubuntu22.04": v(5, 15), "ubuntu22.10": v(5, 19), "ubuntu23.04": v(6, 2), "ubuntu23.10": v(6, 5),
	"ubuntu24.04": v(6, 8), "ubuntu24.10": v(6, 11), "ubuntu25.04": v(6, 14), "ubuntu25.10": v(6, 17),
	"ubuntu26.04": v(7, 0),
	"rhel8":       v(4, 18), "rhel9": v(5, 14), "rhel10": v(6, 12),
}

// Names lists what Parse reads, stable releases aside: the mainline releases, then
// the distributions.
func Names() []string {
	var names []string
	for _, r := range Mainlines(Oldest, Newest) {
		names = append(names, r.String())
	}
	return append(names, Distributions()...)
}

// Distributions lists the distributions: by name, then by version.
func Distributions() []string {
	names := make([]string, 0, len(distributions))
	for n := range distributions {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		fa, fb := strings.TrimRight(a, "0123456789."), strings.TrimRight(b, "0123456789.")
		if fa != fb {
			return strings.Compare(fa, fb)
		}
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}
