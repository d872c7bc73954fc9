package prose

import "testing"

func TestNearestTakesWhatWasMeant(t *testing.T) {
	names := []string{"report", "replay", "run", "timer-advance", "apicv"}
	for _, tt := range []struct {
		word, want string
	}{
		{"reprot", "report"}, // two neighbours swapped
		{"repor", "report"},
		{"reports", "report"},
		{"rnu", "run"},
		{"timeradvance", "timer-advance"},
		{"apciv", "apicv"},
		{"run", "run"},
		{"xyz", ""},
		{"sweep", ""},
		{"r", ""},
		{"", ""},
	} {
		got, ok := Nearest(tt.word, names)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", tt.word, got, ok, tt.want)
		}
	}
	if got, want := DidYouMean("reprot", names), "; did you mean report?"; got != want {
		t.Errorf("DidYouMean = %q, want %q", got, want)
	}
	if got := DidYouMean("xyz", names); got != "" {
		t.Errorf("DidYouMean of a far word = %q, want nothing", got)
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "bc", 1}, {"abcd", "badc", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
