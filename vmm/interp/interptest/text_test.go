package interptest

import (
	"strings"
	"testing"
)

func TestLineSurvivesParsing(t *testing.T) {
	tests := []struct{ name, line string }{
		{"plain", "ADD 4801d8 i1a2b rbx=5 > rax=7 fl=202"},
		{"undefined flags and memory", "SHL d1e0 i77 m10=0102 > u=10 fl=a97 m10=ff m12=00"},
		{"page fault", "MOV 8b03 i9 rbx=30000000 > ex=14:4:30000000 rip=0 fl=10a42"},
		{"branch in 32-bit code", "JMP eb40 i1 mode=32 > rip=42"},
		{"x87 and XMM", "FLD1 d9e8 x5 cw=37f > us=4500 sw=3800 tw=80 s0=3fff:8000000000000000 x3=1:2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Parse(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Parse(v.String())
			if err != nil {
				t.Fatal(err)
			}
			if w.Out != v.Out || w.In != v.In || w.Undef != v.Undef {
				t.Errorf("after %q, %q differs from %q", v, w, tt.line)
			}
		})
	}
}

func TestMalformedLineIsRefused(t *testing.T) {
	for _, line := range []string{"ADD", "ADD 48 i1 rax=5", "ADD 4x i1 >", "ADD 48 i1 > rzz=1", "ADD 48 i1 > mff=0000", "ADD 48 iz >"} {
		if _, err := Parse(line); err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("Parse(%q): error %v does not quote the line", line, err)
		}
	}
}

func TestSeedGivesTheSameStateAlways(t *testing.T) {
	a, b := Seeded(KindX87, 7), Seeded(KindX87, 7)
	if a != b {
		t.Error("one seed gave two states")
	}
	if a.GPR == Seeded(KindX87, 8).GPR {
		t.Error("two seeds gave the same registers")
	}
}
