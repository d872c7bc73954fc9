package ftrace

import (
	"bytes"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace/tracedat"
)

// ForeignError says that a file is no kernel trace, and what it is.
type ForeignError struct {
	File string
	What string
}

// Error returns one sentence.
func (e *ForeignError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.What) }

// notTimes are the clocks that are no time, by their name in trace_clock.
var notTimes = map[string]string{
	"counter": "its time stamps rise by one from line to line: trace_clock was \"counter\", which tells the order of events " +
		"and no time; record with -C x86-tsc or -C mono",
	"uptime": "its time stamps are jiffies: trace_clock was \"uptime\", whose step is longer than a deadline is late; record " +
		"with -C x86-tsc or -C mono",
}

// foreigners are tools whose output people take for a trace. A file is one's if
// its first part holds all the words, in that order.
var foreigners = []struct {
	words []string
	what  string
}{
	{[]string{"T: ", "P:", "I:", "C:", "Min:", "Act:", "Avg:", "Max:"}, "this is cyclictest's table: latencies as the guest " +
		"saw them, without events; trace the host while cyclictest runs, and import that"},
	{[]string{"# Histogram", "# Min Latencies:", "# Max Latencies:"}, "this is cyclictest's histogram: latencies as the guest " +
		"saw them, without events; trace the host while cyclictest runs, and import that"},
	{[]string{"Timer Latency", "IRQ Timer Latency"}, "this is rtla timerlat's table: latencies without events; import what " +
		"it saved with -t (timerlat_trace.txt), or trace the host"},
	{[]string{"RTLA timerlat histogram"}, "this is rtla timerlat's histogram: latencies without events; trace the host while it runs"},
	{[]string{"Operating System Noise"}, "this is rtla osnoise's table: noise without events; trace the host while it runs"},
	{[]string{"RTLA osnoise histogram"}, "this is rtla osnoise's histogram: noise without events; trace the host while it runs"},
	{[]string{"Analyze events for", "VM-EXIT", "Samples"}, "this is the table of perf kvm stat: sums over exits, without " +
		"events; run perf script on the same perf.data, and import that"},
	{[]string{"VM-EXIT", "Samples%", "Time%"}, "this is the table of perf kvm stat: sums over exits, without events; run " +
		"perf script on the same perf.data, and import that"},
	{[]string{"kvm statistics - summary", "Total"}, "this is kvm_stat's table: counters without events"},
	{[]string{"ticktrap recording"}, "this is a recording of ticktrap: it needs no import"},
}

// sniffSize is how much of a file is looked at to tell what it is.
const sniffSize = 16 << 10

// recognize tells a trace.dat from text. What is known to be no kernel trace is an
// error.
func recognize(in Input) (dat bool, err error) {
	b := make([]byte, min(sniffSize, in.Size))
	n, err := in.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	b = b[:n]
	if bytes.HasPrefix(b, tracedat.Magic) {
		return true, nil
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return false, &ForeignError{in.Name, "binary data of a form that is not known"}
	}
	for _, f := range foreigners {
		if inOrder(b, f.words) {
			return false, &ForeignError{in.Name, f.what}
		}
	}
	return false, nil
}

func inOrder(b []byte, words []string) bool {
	for _, w := range words {
		i := bytes.Index(b, []byte(w))
		if i < 0 {
			return false
		}
		b = b[i+len(w):]
	}
	return true
}
