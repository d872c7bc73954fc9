package export

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// rows reads a table as encoding/csv does, which wants RFC 4180, and returns its
// rows by column name.
func rows(t *testing.T, data []byte) []map[string]string {
	t.Helper()
	if bytes.Count(data, []byte("\n")) != bytes.Count(data, []byte("\r\n")) {
		t.Error("a line does not end in CRLF")
	}
	all, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			if _, twice := m[name]; twice {
				t.Fatalf("column %s occurs twice", name)
			}
			m[name] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func count(rs []map[string]string, col, val string) (n uint64) {
	for _, r := range rs {
		if r[col] == val {
			n++
		}
	}
	return n
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeadlineRowsAddUpToTheState(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		rs := rows(t, write(t, "csv-deadlines", rec, Options{}))
		if got := uint64(len(rs)); got != st.Deadlines.Opened {
			t.Errorf("%d rows, want a row for each of %d deadlines", got, st.Deadlines.Opened)
		}
		for o := trace.OutcomeDone; o < trace.NumOutcomes; o++ {
			if got, want := count(rs, "outcome", o.String()), st.Deadlines.Outcomes[o]; got != want {
				t.Errorf("%d rows with outcome %v, want %d", got, o, want)
			}
		}
		if got, want := count(rs, "outcome", "open"), st.Deadlines.Open(); got != want {
			t.Errorf("%d rows with outcome open, want %d", got, want)
		}
		seen := map[string]bool{}
		eois := uint64(0)
		for _, r := range rs {
			if seen[r["num"]] {
				t.Errorf("deadline %s has two rows", r["num"])
			}
			seen[r["num"]] = true
			if r["outcome"] != "done" {
				continue
			}
			c := number(t, r["isr_tsc"]) - number(t, r["target_tsc"])
			if r["late_cycles"] != strconv.FormatInt(c, 10) {
				t.Errorf("deadline %s: late_cycles %s, want isr_tsc − target_tsc = %d", r["num"], r["late_cycles"], c)
			}
			if r["eoi_tsc"] != "" {
				eois++
			}
		}
		if open := uint64(len(st.VCPUs)); eois+open < st.Deadlines.Count() {
			t.Errorf("%d rows have an EOI, want %d but for those that run", eois, st.Deadlines.Count())
		}
	})
}

func TestExitRowsAddUpToTheState(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		rs := rows(t, write(t, "csv-exits", rec, Options{}))
		if got, want := uint64(len(rs)), st.Kinds[trace.KindExit]; got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
		for r := range st.ExitStats {
			name := trace.ExitReason(r).String()
			if got, want := count(rs, "reason", name), st.ExitStats[r].Count; got != want {
				t.Errorf("%d rows with reason %s, want %d", got, name, want)
			}
		}
		var cycles int64
		for _, r := range rs {
			if r["entry_tsc"] != "" {
				cycles += number(t, r["cycles"])
			}
		}
		var want int64
		for i := range st.ExitStats {
			want += int64(st.ExitStats[i].Cycles.Sum)
		}
		if cycles != want {
			t.Errorf("the rows' cycles add up to %d, want %d", cycles, want)
		}
	})
}

func TestKickAndEventRowsAddUpToTheState(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		ks := rows(t, write(t, "csv-kicks", rec, Options{}))
		for d := range st.Kicks.Decisions {
			name := trace.KickDecision(d).String()
			if got, want := count(ks, "decision", name), st.Kicks.Decisions[d]; got != want {
				t.Errorf("%d rows with decision %s, want %d", got, name, want)
			}
		}
		es := rows(t, write(t, "csv-events", rec, Options{}))
		for k := range st.Kinds {
			name := trace.Kind(k).String()
			if got, want := count(es, "kind", name), st.Kinds[k]; got != want {
				t.Errorf("%d rows of kind %s, want %d", got, name, want)
			}
		}
	})
}

func TestExitOutlivesTheRingOfExits(t *testing.T) {
	// vCPU 1 halts while vCPU 0 exits more often than the ring holds.
	es := []trace.Event{
		{TSC: 1, Kind: trace.KindExit, VCPU: 1, A: uint64(trace.ExitHLT), B: 0x1234},
	}
	for i := range clock.TSC(5000) {
		es = append(es, trace.Event{TSC: 10 + 10*i, Kind: trace.KindExit, A: uint64(trace.ExitCPUID)},
			trace.Event{TSC: 11 + 10*i, Kind: trace.KindEntry})
	}
	es = append(es,
		trace.Event{TSC: 60000, Kind: trace.KindCost, VCPU: 1, A: trace.PackCosts(trace.PhaseCost{Phase: trace.PhaseExit, Cycles: 7}, trace.PhaseCost{})},
		trace.Event{TSC: 60001, Kind: trace.KindEntry, VCPU: 1})
	rec := synthetic(t, trace.Header{Hz: 1e9, VCPUs: 2}, es)
	rs := rows(t, write(t, "csv-exits", rec, Options{}))
	if len(rs) != 5001 {
		t.Fatalf("%d rows, want 5001", len(rs))
	}
	last := rs[len(rs)-1]
	for col, want := range map[string]string{"num": "1", "vcpu": "1", "reason": "HLT", "rip": "0x1234", "cycles": "60000",
		"costs": "exit:7"} {
		if last[col] != want {
			t.Errorf("%s = %q, want %q", col, last[col], want)
		}
	}
}

func TestConditionSelectsRows(t *testing.T) {
	rec, st := runs[0].record(t)
	median := st.Deadlines.Late.Percentile(50)
	late := func(e *trace.Event, s *trace.State) bool {
		c := s.Chains.Last(0)
		return e.Kind == trace.KindGuestIRQ && c != nil && c.ISRAt == e.TSC && c.Late > median
	}
	rs := rows(t, write(t, "csv-deadlines", rec, Options{Keep: late}))
	if n := uint64(len(rs)); n == 0 || n >= st.Deadlines.Count() {
		t.Fatalf("%d rows of %d deadlines", n, st.Deadlines.Count())
	}
	for _, r := range rs {
		if number(t, r["late_cycles"]) <= int64(median) {
			t.Errorf("deadline %s is %s cycles late, want more than %d", r["num"], r["late_cycles"], median)
		}
	}
	for _, name := range []string{"perfetto", "ftrace"} {
		f, _ := Find(name)
		if _, err := f.Write(&bytes.Buffer{}, rec, Options{Keep: late}); err == nil {
			t.Errorf("%s takes a condition, want an error: it needs every event", name)
		}
	}
}

func TestTextCellsAreQuoted(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "MSR_WRITE", "MSR_WRITE\r\n"},
		{"comma", "a,b", "\"a,b\"\r\n"},
		{"quote", `a"b`, "\"a\"\"b\"\r\n"},
		{"line end", "a\nb", "\"a\nb\"\r\n"},
		{"empty", "", "\r\n"},
	}
	for _, tt := range tests {
		var x table
		x.text(tt.text)
		x.end()
		if string(x.b) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, x.b, tt.want)
		}
	}
}

func TestEveryFormatIsNamedOnceAndDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats {
		if seen[f.Name] || f.Doc == "" || strings.ToLower(f.Name) != f.Name {
			t.Errorf("format %q: doc %q, seen before: %v", f.Name, f.Doc, seen[f.Name])
		}
		seen[f.Name] = true
	}
}
