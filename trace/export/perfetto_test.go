package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
)

func TestPerfettoSlicesAddUpToTheState(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		f := pfDecode(t, write(t, "perfetto", rec, Options{}))
		exits, guests, deadlines, waits := map[string]uint64{}, uint64(0), uint64(0), uint64(0)
		for _, s := range f.slices(t) {
			switch s.category {
			case "exit":
				exits[s.name]++
				if s.depth != 0 {
					t.Errorf("exit %s lies inside another slice", s.args["exit"])
				}
			case "guest":
				guests++
			case "wait":
				waits++
			case "deadline":
				if strings.HasPrefix(s.name, "deadline ") {
					deadlines++
					if s.depth != 0 {
						t.Errorf("%s lies inside another slice", s.name)
					}
				}
			}
		}
		for r := range st.ExitStats {
			if name := trace.ExitReason(r).String(); exits[name] != st.ExitStats[r].Count {
				t.Errorf("%d slices %s, want %d", exits[name], name, st.ExitStats[r].Count)
			}
		}
		if guests != st.Kinds[trace.KindEntry] || waits != st.Waits.Count || deadlines != st.Deadlines.Opened {
			t.Errorf("%d guest, %d wait and %d deadline slices, want %d, %d and %d", guests, waits, deadlines,
				st.Kinds[trace.KindEntry], st.Waits.Count, st.Deadlines.Opened)
		}
	})
}

func TestPerfettoExitsLastFromExitToEntry(t *testing.T) {
	rec, st := runs[0].record(t)
	f := pfDecode(t, write(t, "perfetto", rec, Options{}))
	checked := 0
	for _, s := range f.slices(t) {
		var n uint64
		if s.category != "exit" {
			continue
		}
		fmt.Sscan(s.args["exit"], &n)
		x := st.Exits.Get(n - 1)
		if x == nil || x.EntryAt == 0 {
			continue
		}
		checked++
		if s.ts != uint64(nanosOf(st.Hz, x.At)) || s.end != uint64(nanosOf(st.Hz, x.EntryAt)) {
			t.Errorf("exit %d lasts from %d to %d ns, want TSC %d to %d", n, s.ts, s.end, x.At, x.EntryAt)
		}
		if x.HasFast && (s.args["fastpath"] != x.Result.String() || s.args["clause"] != x.Clause.String()) {
			t.Errorf("exit %d: fastpath %s, clause %s, want %v, %v", n, s.args["fastpath"], s.args["clause"], x.Result, x.Clause)
		}
		if got := s.args["cycles exit"]; got == "" || got == "0" {
			t.Errorf("exit %d has no cost of phase exit", n)
		}
	}
	if checked < 20 {
		t.Errorf("%d exits compared, want at least 20", checked)
	}
}

func TestPerfettoFlowJoinsTheStepsOfADeadline(t *testing.T) {
	rec, st := runs[0].record(t)
	f := pfDecode(t, write(t, "perfetto", rec, Options{}))
	steps := map[uint64][]string{}
	ended := map[uint64]bool{}
	for _, e := range f.events {
		for _, id := range append(slices.Clone(e.flows), e.ends...) {
			if ended[id] {
				t.Errorf("flow %d goes on with %s after its end", id, e.name)
			}
			steps[id] = append(steps[id], e.name)
		}
		for _, id := range e.ends {
			ended[id] = true
		}
	}
	checked := 0
	for i := range st.Chains.Len() {
		c := st.Chains.At(i)
		if !c.Ran() || c.EOIAt == 0 || c.ArmAt == 0 || c.FireAt == 0 {
			continue
		}
		checked++
		got := strings.Join(steps[uint64(c.Num)], " ")
		want := fmt.Sprintf("deadline %d arm host timer: %v expire deliver handler EOI", c.Num, c.Backing)
		if c.InjectAt != 0 {
			want = strings.Replace(want, "handler", "inject handler", 1)
		}
		if got != want {
			t.Errorf("flow %d joins %q, want %q", c.Num, got, want)
		}
		if !ended[uint64(c.Num)] {
			t.Errorf("flow %d has no end", c.Num)
		}
	}
	if checked < 20 {
		t.Errorf("%d flows compared, want at least 20", checked)
	}
}

func TestPerfettoCounters(t *testing.T) {
	eachRun(t, func(t *testing.T, rec *trace.Recording, st *trace.State) {
		f := pfDecode(t, write(t, "perfetto", rec, Options{}))
		n := map[string]uint64{}
		var last int64
		for _, e := range f.events {
			if e.typ != 4 {
				continue
			}
			tr := f.tracks[e.track]
			if !tr.counter {
				t.Errorf("a counter value on track %s, which is none", tr.name)
			}
			n[tr.name[strings.LastIndexByte(tr.name, ' ')+1:]]++
			if tr.name == "vCPU 0 timer advance" {
				last = e.counter
			}
		}
		var late uint64
		for i := range st.VCPUs {
			late += st.VCPUs[i].Late.Count()
		}
		if n["lateness"] != late {
			t.Errorf("%d values of lateness, want %d", n["lateness"], late)
		}
		if st.Kinds[trace.KindTune] > 0 && last != int64(st.VCPUs[0].AdvanceNS) {
			t.Errorf("the advance of vCPU 0 ends at %d ns, want %d", last, st.VCPUs[0].AdvanceNS)
		}
	})
}

func TestPerfettoTracksOfHostCPUs(t *testing.T) {
	rec, _ := runs[2].record(t)
	f := pfDecode(t, write(t, "perfetto", rec, Options{}))
	names := map[string]bool{}
	for _, s := range f.slices(t) {
		if s.category == "sched" && f.tracks[s.track].name == "pCPU 0" {
			names[s.name] = true
			if s.depth != 0 {
				t.Errorf("two vCPUs run on pCPU 0 at %d ns", s.ts)
			}
		}
	}
	if !names["vCPU 0"] || !names["vCPU 1"] {
		t.Errorf("pCPU 0 runs %v, want both vCPUs", names)
	}
}

func TestPerfettoOfARecordingThatBeginsInTheMiddle(t *testing.T) {
	// The first event is an entry that ends an exit which nobody saw, the last
	// one leaves an exit open.
	rec := synthetic(t, trace.Header{Hz: 1e9, VCPUs: 1, Guest: "g"}, []trace.Event{
		{TSC: 10, Kind: trace.KindWait, A: ^uint64(0), B: 500, D: uint64(trace.WaitLate)},
		{TSC: 20, Kind: trace.KindEntry},
		{TSC: 30, Kind: trace.KindWait, B: 5, D: uint64(trace.WaitCallback), PCPU: 3},
		{TSC: 40, Kind: trace.KindExit, A: uint64(trace.ExitHLT)},
		{TSC: 50, Kind: trace.KindHalt, A: uint64(trace.HaltPolling)},
		{TSC: 60, Kind: trace.KindHalt, A: uint64(trace.HaltBlocked)},
		{TSC: 70, Kind: trace.KindLost, VCPU: trace.NoCPU, PCPU: trace.NoCPU},
		{TSC: 80, Kind: trace.KindExit, A: uint64(trace.ExitCPUID)},
		{TSC: 90, Kind: trace.KindMark, A: 0xff41, VCPU: trace.NoCPU, PCPU: trace.NoCPU},
	})
	f := pfDecode(t, write(t, "perfetto", rec, Options{}))
	var got []string
	for _, s := range f.slices(t) {
		got = append(got, fmt.Sprintf("%s %s %d-%d", f.tracks[s.track].name, s.name, s.ts, s.end))
	}
	slices.Sort(got)
	want := []string{"pCPU 0 vCPU 0 20-90", "pCPU 3 wait for deadline 30-35", "vCPU 0 CPUID 80-90", "vCPU 0 HLT 40-80",
		"vCPU 0 blocked 60-80", "vCPU 0 guest 20-40", "vCPU 0 polling 50-60", "vCPU 0 wait for deadline 10-20"}
	if !slices.Equal(got, want) {
		t.Errorf("slices\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
