package model

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestProfilesParse(t *testing.T) {
	for _, name := range Profiles() {
		p, err := LoadProfile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name || p.Text == "" || p.Hz == 0 {
			t.Errorf("profile %s: name %q, text %q, %d Hz", name, p.Name, p.Text, p.Hz)
		}
		if f := p.Phases[trace.PhaseIPIFlight].Base; f <= 0 {
			t.Errorf("profile %s: an IPI flies for %d cycles: CPUs could not run apart", name, f)
		}
	}
	if _, err := LoadProfile("z80"); err == nil || !strings.Contains(err.Error(), "generic") {
		t.Errorf("loading an unknown profile: %v, want an error that lists the profiles", err)
	}
}

func TestProfileErrorsNameTheLine(t *testing.T) {
	text, err := profiles.ReadFile("profiles/generic.tsv")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, line, want string }{
		{"too few columns", "phase\texit", "want at least 3 columns"},
		{"an unknown row", "cost\tx\t1", `unknown row "cost"`},
		{"an unknown phase", "phase\tlunch\t1\t0\t0\t0\tassumed", `unknown phase "lunch"`},
		{"a phase twice", "phase\texit\t1\t0\t0\t0\tassumed", "second row"},
		{"a negative cost", "guest\tmul\t-3\tassumed", "want cycles"},
		{"a free instruction", "guest\tmul\t0\tassumed", "is 0"},
		{"an unknown instruction", "guest\tnope\t3\tassumed", "unknown guest cost"},
		{"an unknown host row", "host\tram\t3", "unknown host row"},
		{"a row both calibrated and predicted", "calibrates\tr1\tx\npredicts\tr1\ty", "second row for predicts r1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseProfile("t", string(text)+tt.line+"\n")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "profile t:") {
				t.Errorf("error %v, want one with the line and %q", err, tt.want)
			}
		})
	}
	cut := strings.Replace(string(text), "phase\tentry", "#", 1)
	if _, err := ParseProfile("t", cut); err == nil || !strings.Contains(err.Error(), "no row for phase entry") {
		t.Errorf("a profile without entry: %v", err)
	}
}

func TestMeanOfACost(t *testing.T) {
	tests := []struct {
		name string
		c    Cost
		want float64
	}{
		{"base only", Cost{Base: 100}, 100},
		{"with jitter", Cost{Base: 100, Jitter: 20}, 110},
		{"with a tail once in 50", Cost{Base: 100, Jitter: 20, Tail: 1000, TailOneIn: 50}, 120},
	}
	for _, tt := range tests {
		if got := tt.c.Mean(); got != tt.want {
			t.Errorf("%s: mean %v, want %v", tt.name, got, tt.want)
		}
		n, d, sum := newNoise(1, 1), newDice(&tt.c), 0.0
		const draws = 200_000
		for range draws {
			sum += float64(n.draw(&d))
		}
		if got := sum / draws; got < tt.want*0.99 || got > tt.want*1.01 {
			t.Errorf("%s: %d draws have the mean %.2f, want %v", tt.name, draws, got, tt.want)
		}
	}
}
