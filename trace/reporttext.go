package trace

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/prose"
)

// Text returns the report for a terminal: at most 80 columns, aligned, sections
// that have nothing to say left out.
func (r *Report) Text() string {
	t := &reportText{r: r}
	t.head()
	t.deadlines()
	t.spent()
	t.exits()
	t.counts("kicks", "kicks", r.Kicks)
	t.counts("", "steps", r.KickSteps)
	t.counts("expiries", "expiries", r.Expiries)
	t.counts("", "because", r.ExpWhy)
	t.counts("deliveries", "deliveries", r.Deliver)
	t.counts("", "from", r.Sources)
	t.counts("backings", "backings", r.Backings)
	t.counts("", "because", r.BackWhy)
	t.waits()
	t.counts("tuning", "tuning", r.Tuning)
	t.halts()
	t.costs()
	t.samples()
	t.knobs()
	for i, m := range r.Missing {
		name := ""
		if i == 0 {
			name = "no device"
		}
		t.line(name, m)
	}
	for _, w := range r.Warnings {
		t.line("warning", w)
	}
	return t.String()
}

type reportText struct {
	strings.Builder
	r *Report
}

// label is the width of the first column.
const label = 11

// line writes words under a label, wrapped at prose.Width.
func (t *reportText) line(name, words string) {
	prose.Write(&t.Builder, fmt.Sprintf("%-*s", label, name), strings.Repeat(" ", label), words)
}

// section begins a block; its provenance is told where it is not the run's.
func (t *reportText) section(name, key string) string {
	t.WriteByte('\n')
	if p := t.r.ProvenanceOf[key]; p != "" && p != t.r.Provenance {
		t.line("", "("+name+": "+p+")")
	}
	return name
}

func (t *reportText) head() {
	r := t.r
	t.line("guest", strings.TrimSpace(printable(r.Guest)+" "+printable(r.Args)))
	lapic := r.LAPIC
	if r.Kernel != "" {
		lapic += ", kernel " + printable(r.Kernel)
		if r.Deviates != "" {
			lapic += " with " + printable(strings.ReplaceAll(r.Deviates, ",", ", ")) + ": no kernel"
		}
	}
	if r.Hide != "" {
		lapic += ", without " + strings.ReplaceAll(r.Hide, ",", " and ")
	}
	engine := fmt.Sprintf("%s, LAPIC %s, %s, every figure %s", r.Engine, printable(lapic), plural(r.VCPUs, "vCPU"),
		r.Provenance)
	for _, p := range r.ProvenanceOf {
		if p == Inferred.String() && p != r.Provenance {
			engine += " unless marked " + Inferred.String()
			break
		}
	}
	if r.Profile != "" {
		engine += fmt.Sprintf(" (profile %s, seed %d)", r.Profile, r.Seed)
	}
	t.line("engine", engine)
	if r.Host != "" {
		t.line("host", printable(r.Host))
	}
	t.line("time", r.span())
	end := r.End.How
	if end == "exit" || r.End.Code != 0 {
		end += fmt.Sprintf(", status %d", r.End.Code)
	}
	t.line("end", end)
}

// span is how long the run took; in cycles only where their rate is not known.
func (r *Report) span() string {
	if r.Duration.NS == nil {
		return fmt.Sprintf("%d cycles at an unknown rate, %d events; times in seconds are withheld", r.Duration.Cycles,
			r.Events)
	}
	return fmt.Sprintf("%s, %d cycles at %s, %d events", duration(*r.Duration.NS), r.Duration.Cycles, frequency(r.Hz),
		r.Events)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printable keeps what the header took from elsewhere from reaching a terminal
// raw.
func printable(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

func duration(ns int64) string {
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if float64(ns) >= u.ns {
			return fmt.Sprintf("%.3f %s", float64(ns)/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%d ns", ns)
}

func frequency(hz uint64) string { return fmt.Sprintf("%g GHz", float64(hz)/1e9) }

func (t *reportText) deadlines() {
	d := &t.r.Deadlines
	if d.Opened == 0 {
		return
	}
	name := t.section("deadlines", "deadlines")
	words := fmt.Sprintf("%d ran of %d", d.Count, d.Opened)
	for _, c := range []struct {
		n    uint64
		word string
	}{{d.Rearmed, "rearmed"}, {d.Cancelled, "cancelled"}, {d.Merged, "merged"}, {d.Lost, "lost"},
		{d.Dropped, "dropped"}, {d.Unknown, "unknown"}, {d.Reset, "reset"},
		{d.Held, "held by the debugger"}, {d.Withheld, "withheld"}, {d.Open, "open"}, {d.InPast, "armed in the past"}} {
		if c.n != 0 {
			words += fmt.Sprintf(", %d %s", c.n, c.word)
		}
	}
	t.line(name, words)
	if d.Count == 0 {
		return
	}
	t.line("", fmt.Sprintf("%d early, %d late, %d of them within %d cycles", d.Lateness.Early, d.Lateness.Late,
		d.Lateness.OnTime, OnTimeBand))
	t.latenessHead("lateness")
	t.lateness("cycles", &d.Lateness)
	if d.LateNS != nil {
		t.lateness("ns", d.LateNS)
	}
	if len(d.ByVCPU) > 1 {
		for i := range d.ByVCPU {
			if d.ByVCPU[i].Count > 0 {
				t.lateness(fmt.Sprintf("vCPU %d", i), &d.ByVCPU[i])
			}
		}
	}
	if d.SinceKnob != nil && d.SinceKnob.Count > 0 {
		t.lateness("since knob", d.SinceKnob)
	}
}

// spent is what a deadline cost the host, as far as it is known.
func (t *reportText) spent() {
	c := t.r.Cost
	if c == nil {
		return
	}
	name := t.section("cost", "cost_per_deadline")
	var words []string
	say := func(format string, v *float64) {
		if v != nil {
			words = append(words, fmt.Sprintf(format, *v))
		}
	}
	say("%.1f cycles of host work", c.HostCycles)
	if c.HostCycles != nil {
		say("%.1f of them burnt in busy waits and halt polling", c.Burnt)
	} else {
		say("%.1f cycles burnt in busy waits", c.Burnt)
	}
	say("%.3f exits", c.Exits)
	say("%.3f IPIs", c.IPIs)
	t.line(name, "per deadline "+strings.Join(words, ", "))
}

func (t *reportText) latenessHead(name string) {
	fmt.Fprintf(t, "%-*s%9s%9s%9s%9s%9s%9s%11s\n", label, name, "min", "p50", "p90", "p99", "p99.9", "max", "mean")
}

func (t *reportText) lateness(name string, l *ReportLateness) {
	values := []int64{l.Min, l.P50, l.P90, l.P99, l.P999, l.Max}
	fmt.Fprintf(t, "%-*s", label, name)
	over := 0 // columns by which the figures so far are wider than their heads
	for _, v := range values {
		over = t.column(9, over, fmt.Sprint(v))
	}
	t.column(11, over, fmt.Sprintf("%.1f", l.Mean))
	t.WriteByte('\n')
}

// column writes s right-aligned in w columns, with a blank in front of it. It
// takes back what figures before it took too much, and returns what is still
// too much.
func (t *reportText) column(w, over int, s string) int {
	pad := max(w-over-len(s), 1)
	fmt.Fprintf(t, "%*s%s", pad, "", s)
	return over + pad + len(s) - w
}

func (t *reportText) exits() {
	if len(t.r.Exits) == 0 {
		return
	}
	t.section("exits", "exits")
	fmt.Fprintf(t, "%-20s%10s%10s%10s%10s%10s%10s\n", "exits", "count", "fastpath", "reenter", "min", "mean cyc", "max")
	names := slices.SortedFunc(maps.Keys(t.r.Exits), func(a, b string) int {
		if x, y := t.r.Exits[a].Count, t.r.Exits[b].Count; x != y {
			return int(min(max(int64(y)-int64(x), -1), 1))
		}
		return strings.Compare(a, b)
	})
	for _, n := range names {
		x := t.r.Exits[n]
		fmt.Fprintf(t, "%-20s%10d%10s%10s%s\n", n, x.Count, percent(x.Fastpath, x.Count), percent(x.Reenter, x.Count),
			cycleColumns(&x.Cycles))
		if len(x.Bails) > 0 {
			t.line("", "bails: "+countList(x.Bails))
		}
	}
}

// cycleColumns are the last three columns of an exit; it may not have ended yet.
func cycleColumns(d *ReportDist) string {
	if d.Count == 0 {
		return fmt.Sprintf("%10s%10s%10s", "-", "-", "-")
	}
	return fmt.Sprintf("%10d%10d%10d", d.Min, d.Mean, d.Max)
}

func percent(n, of uint64) string {
	if n == 0 || of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

// counts writes the counters that are not zero, the greatest first.
func (t *reportText) counts(section, name string, m map[string]uint64) {
	if sum(m) == 0 {
		return
	}
	if section != "" {
		t.section(name, section)
	}
	t.line(name, countList(m))
}

func sum(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

func countList(m map[string]uint64) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return int(min(max(int64(m[b])-int64(m[a]), -1), 1))
		}
		return strings.Compare(a, b)
	})
	var words []string
	for _, n := range names {
		if m[n] != 0 {
			words = append(words, fmt.Sprintf("%s %d", n, m[n]))
		}
	}
	return strings.Join(words, ", ")
}

func (t *reportText) waits() {
	w := &t.r.Waits
	if w.Count == 0 {
		return
	}
	t.section("waits", "waits")
	t.line("waits", fmt.Sprintf("%d, %d of them before the deadline, %d cut short by the advance; placement %s",
		w.Count, w.Early, w.Capped, countList(w.Places)))
	t.line("", fmt.Sprintf("waited %d to %d cycles, mean %d; delta %d to %d, mean %d", w.Waited.Min, w.Waited.Max,
		w.Waited.Mean, w.Delta.Min, w.Delta.Max, w.Delta.Mean))
}

func (t *reportText) halts() {
	h := &t.r.Halts
	if h.Polling+h.Blocked+sum(h.Wakes) == 0 {
		return
	}
	t.section("halts", "halts")
	words := fmt.Sprintf("polling %d, blocked %d", h.Polling, h.Blocked)
	if sum(h.Wakes) != 0 {
		if t.r.Hz != 0 {
			words += "; " + duration(h.HaltedNS) + " halted"
		}
		words += fmt.Sprintf("; woken by %s; %d while polling", countList(h.Wakes), h.Polled)
	}
	t.line("halts", words)
}

func (t *reportText) costs() {
	if len(t.r.Costs) == 0 {
		return
	}
	var total int64
	cycles := make(map[string]uint64)
	for n, c := range t.r.Costs {
		total += c.Cycles
		cycles[n] = uint64(c.Cycles)
	}
	t.section("costs", "costs")
	t.line("costs", fmt.Sprintf("%d cycles in the host: %s", total, countList(cycles)))
}

func (t *reportText) samples() {
	if t.r.Samples.Count == 0 {
		return
	}
	t.WriteByte('\n')
	t.line("samples", fmt.Sprintf("%d latencies that the guest recorded itself", t.r.Samples.Count))
	t.latenessHead("")
	t.lateness("cycles", &t.r.Samples)
	if t.r.SamplesNS != nil {
		t.lateness("ns", t.r.SamplesNS)
	}
}

func (t *reportText) knobs() {
	t.section("knobs", "knobs")
	var words []string
	for _, n := range KnobNames[1:] {
		words = append(words, n+"="+t.r.Knobs[n])
	}
	t.line("knobs", strings.Join(words, " "))
	for _, k := range t.r.Turns {
		t.line("", fmt.Sprintf("at %d: %s from %s to %s", k.TSC, k.Knob, k.Old, k.Value))
	}
	if n := uint64(len(t.r.Turns)); t.r.TurnCount > n {
		t.line("", fmt.Sprintf("and %d turns before these", t.r.TurnCount-n))
	}
}
