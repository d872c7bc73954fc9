package ui

import "testing"

func TestFiguresOfSentencesAreWrittenAsOnTheScreen(t *testing.T) {
	for in, want := range map[string]string{
		"Late by 2387 cycles (955 ns): the largest part, 603 cycles (25.3 %).":       "Late by 2,387 cycles (955 ns): the largest part, 603 cycles (25.3 %).",
		"an advance of 585 ns (1463 cycles) was too small; try timer-advance=1200ns": "an advance of 585 ns (1,463 cycles) was too small; try timer-advance=1200ns",
		"the 99 % interval is -1103.2 to -88.2 cycles":                               "the 99 % interval is −1,103.2 to −88.2 cycles",
		"a kernel that advances a missed target to now (6.19, 6.1.176)":              "a kernel that advances a missed target to now (6.19, 6.1.176)",
		"pi-inject-off, exit 1234567, v0@0, 0x6e0":                                   "pi-inject-off, exit 1,234,567, v0@0, 0x6e0",
	} {
		if got := figures(in); got != want {
			t.Errorf("figures(%q)\n= %q, want\n  %q", in, got, want)
		}
	}
}

func TestOneLineIsSingular(t *testing.T) {
	if got := moreLines(1) + moreLines(1200); got != " ↓ 1 more line  ↓ 1,200 more lines " {
		t.Errorf("%q", got)
	}
}
