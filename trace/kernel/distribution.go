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

// distributionNames lists the distributions: by name, then by version.
func distributionNames() []string {
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

// meant guesses the name that was meant: "; did you mean debian12?", or nothing.
func meant(s string) string {
	best, least := "", 3
	for _, n := range distributionNames() {
		if d := distance(s, n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diag
			if a[i] != b[j] {
				next = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
