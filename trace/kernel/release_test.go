package kernel

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Release
		note string
	}{
		{"6.12", v(6, 12), ""}, {" V5.15.85 ", vp(5, 15, 85), ""}, {"4.9", v(4, 9), ""}, {"4.20", v(4, 20), ""},
		{"6.12.117+deb12-cloud-amd64", vp(6, 12, 117), noBackPorts}, {"5.17-rc5", v(5, 17), noBackPorts},
		{"debian12", v(6, 1), noBackPorts}, {"Ubuntu24.04", v(6, 8), noBackPorts}, {"rhel8", v(4, 18), noBackPorts},
		{"7.4.1", Newest, "newer than 7.3, taken as that"}, {"8.0", Newest, "newer than 7.3, taken as that"},
		{"7.3.4", vp(7, 3, 4), ""},
	} {
		n, err := Parse(tt.in)
		if err != nil || n.Release != tt.want || n.Note != tt.note {
			t.Errorf("Parse(%q) = %+v, %v; want %v, %q", tt.in, n, err, tt.want, tt.note)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":            "want a release",
		"6":           "want a release",
		"6.":          "want a release",
		"6.12x":       "want a release",
		"debian":      "want a release",
		"debain12":    "did you mean debian12?",
		"ubunto24.04": "did you mean ubuntu24.04?",
		"4.8":         "older than 4.9",
		"3.10":        "older than 4.9",
		"4.21":        "after 4.20 came 5.0",
		"5.20":        "after 5.19 came 6.0",
		"6.99999999":  "want a release",
	} {
		if n, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %+v, %v; want an error with %q", in, n, err, want)
		}
	}
}

func TestMainlinesCrossMajors(t *testing.T) {
	all := Mainlines(Oldest, Newest)
	if len(all) != 12+20+20+4 {
		t.Errorf("%d mainline releases: %v", len(all), all)
	}
	if got := Mainlines(v(4, 19), vp(5, 1, 7)); !slices.Equal(got, []Release{v(4, 19), v(4, 20), v(5, 0), v(5, 1)}) {
		t.Errorf("from 4.19 to 5.1.7: %v", got)
	}
	if !slices.IsSortedFunc(all, Release.Compare) {
		t.Error("not in order")
	}
}

func TestSpanNarrows(t *testing.T) {
	for _, tt := range []struct {
		a, b Span
		want string
		ok   bool
	}{
		{Span{}, Span{}, "any", true},
		{Span{}, Span{Since: v(6, 14)}, "since 6.14", true},
		{Span{Until: v(5, 3)}, Span{Since: v(4, 10)}, "4.10–5.3", true},
		{Span{v(6, 0), v(6, 13)}, Span{v(6, 13), v(7, 0)}, "6.13", true},
		{Span{v(6, 0), v(6, 13)}, Span{Since: v(6, 14)}, "6.0–6.13", false},
		{Span{Until: v(5, 3)}, Span{}, "up to 5.3", true},
	} {
		if got, ok := tt.a.Narrow(tt.b); got.String() != tt.want || ok != tt.ok {
			t.Errorf("%v and %v: %v, %v; want %s, %v", tt.a, tt.b, got, ok, tt.want, tt.ok)
		}
	}
	s := Span{v(6, 0), v(6, 13)}
	if !s.Has(vp(6, 13, 7)) || s.Has(v(5, 19)) || s.Has(v(6, 14)) {
		t.Error("Has is wrong at an end")
	}
}
