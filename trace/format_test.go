package trace

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
)

// releasedFormat is the newest version that recordings of a release have.
const releasedFormat = 1

// table is the part of Specs that version v has, a kind or a field a line.
func table(v int) string {
	var b strings.Builder
	for k := BadKind + 1; k < formats[v].kinds; k++ {
		fmt.Fprintf(&b, "%d %s %d\n", k, Specs[k].Name, Specs[k].Role)
		for _, f := range Specs[k].Fields[:formatFields[v][k]] {
			fmt.Fprintf(&b, "  %s %d %s\n", f.Name, f.Form, strings.Join(f.Names, ","))
		}
	}
	return b.String()
}

// TestEachFormatIsBoundToItsPartOfTheTable: a kind or a field that is added needs a
// format that has not been released; so does a name of an enumeration, which older
// formats then have in the table but in no recording.
func TestEachFormatIsBoundToItsPartOfTheTable(t *testing.T) {
	for v := 1; v <= FormatVersion; v++ {
		file := fmt.Sprintf("testdata/formats/%d.txt", v)
		if v > releasedFormat && golden.Updating() {
			golden.Equal(t, file, []byte(table(v)))
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		have, old := strings.Split(table(v), "\n"), strings.Split(string(want), "\n")
		if len(have) != len(old) {
			t.Fatalf("the table of format %d has %d lines, now %d: a format that was released needs a new version, "+
				"another one -update", v, len(old), len(have))
		}
		for i := range old {
			grown := strings.HasPrefix(have[i], old[i]+",") && (v < FormatVersion || v > releasedFormat)
			if have[i] != old[i] && !grown {
				t.Errorf("line %d of the table of format %d is now\n%s\nnot\n%s", i+1, v, have[i], old[i])
			}
		}
	}
}

// TestAnOlderFormatHasFewerFields: the columns of a field that format 1 lacks are
// not looked for, and a kind that it lacks is damage.
func TestAnOlderFormatHasFewerFields(t *testing.T) {
	events := []Event{{TSC: 5, Kind: KindSched, VCPU: 0, PCPU: 1, A: 1, B: 1}, {TSC: 9, Kind: KindMark, VCPU: NoCPU, PCPU: NoCPU, A: 7}}
	var c columns
	old := c.encode(nil, events, 1)
	if now := c.encode(nil, events, FormatVersion); string(old) == string(now) {
		t.Error("the formats do not differ")
	}
	got, err := c.decode(nil, old, len(events), 1)
	if err != nil || len(got) != 2 || got[0] != events[0] || got[1] != events[1] {
		t.Errorf("read back %v, %v", got, err)
	}
	if _, err := c.decode(nil, old, len(events), FormatVersion); err == nil {
		t.Error("a body of format 1 is read as one of a newer format")
	}
	task := c.encode(nil, []Event{{Kind: KindTask, VCPU: NoCPU, PCPU: NoCPU, A: 77}}, FormatVersion)
	if _, err := c.decode(nil, task, 1, 1); err == nil || !strings.Contains(err.Error(), "format 1 has no task events") {
		t.Errorf("a kind of format 2 in format 1: %v", err)
	}
}
