package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/guest/symbols"
)

// kallsymsWord is the value of --symbols that reads them from guest memory.
const kallsymsWord = "kallsyms"

// functions counts exits by the guest's function. It keeps addresses while the
// guest runs, and names them at the end, when a Linux kernel has found its place.
type functions struct {
	exits map[site]uint64
	lost  uint64 // exits at sites beyond maxSites
}

// site is a place in the guest that exits.
type site struct {
	reason trace.ExitReason
	rip    uint64
}

const maxSites = 1 << 16

// Emit implements trace.Sink.
func (f *functions) Emit(e trace.Event) {
	if e.Kind != trace.KindExit || e.A >= uint64(trace.NumExits) {
		return
	}
	s := site{trace.ExitReason(e.A), e.B}
	if _, ok := f.exits[s]; !ok && len(f.exits) == maxSites {
		f.lost++
		return
	}
	f.exits[s]++
}

// functionRow is one line of the table.
type functionRow struct {
	reason trace.ExitReason
	name   string
	count  uint64
}

// rows sums by function, the most exits of a reason first.
func (f *functions) rows(t *symbols.Table) []functionRow {
	sum := map[functionRow]uint64{}
	total := map[trace.ExitReason]uint64{}
	for s, n := range f.exits {
		name, _, ok := t.Find(s.rip)
		if !ok {
			name = "not in the kernel's symbols"
		}
		sum[functionRow{reason: s.reason, name: name}] += n
		total[s.reason] += n
	}
	var rows []functionRow
	for r, n := range sum {
		r.count = n
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b functionRow) int {
		return cmp.Or(cmp.Compare(total[b.reason], total[a.reason]), cmp.Compare(a.reason, b.reason),
			cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return rows
}

// perReason is how many functions of an exit reason are named.
const perReason = 4

// print writes the table below a report.
func (f *functions) print(w io.Writer, t *symbols.Table) error {
	fmt.Fprintf(w, "\nfunctions  exits by guest function, of %d known\n", t.Len())
	var last trace.ExitReason
	n, rest := 0, uint64(0)
	flush := func() {
		if rest > 0 {
			fmt.Fprintf(w, "           %-20s %10d  others\n", "", rest)
		}
		n, rest = 0, 0
	}
	for _, r := range f.rows(t) {
		name := r.reason.String()
		if r.reason == last {
			name = ""
		} else {
			flush()
		}
		last = r.reason
		if n++; n > perReason {
			rest += r.count
			continue
		}
		fmt.Fprintf(w, "           %-20s %10d  %s\n", name, r.count, printable(r.name))
	}
	flush()
	if f.lost > 0 {
		fmt.Fprintf(w, "           %-20s %10d  at places beyond the first %d\n", "", f.lost, maxSites)
	}
	return nil
}

// readSymbols reads what --symbols names, at the end of the run.
func readSymbols(from string, eng vmm.Engine) (*symbols.Table, error) {
	if from != kallsymsWord {
		data, err := guest.ReadFile("symbols", from)
		if err != nil {
			return nil, err
		}
		return symbols.Read(from, data)
	}
	m, ok := eng.(interface{ Memory() vmm.Memory })
	if !ok {
		return nil, errors.New("this engine does not show guest memory: give a System.map or a vmlinux")
	}
	return symbols.FromKallsyms(m.Memory())
}

// startFunctions counts exits by function if --symbols asks for it.
func (o *runOptions) startFunctions(tee func(trace.Sink)) (*functions, error) {
	if o.symbols == "" {
		return nil, nil
	}
	if o.symbols != kallsymsWord {
		if _, err := os.Stat(o.symbols); err != nil {
			return nil, fail(ExitInput, "--symbols: %w", err)
		}
	}
	f := &functions{exits: map[site]uint64{}}
	tee(f)
	return f, nil
}

// printFunctions writes the table below the report, nil writes nothing.
func (o *runOptions) printFunctions(w io.Writer, f *functions, eng vmm.Engine) error {
	if f == nil {
		return nil
	}
	t, err := readSymbols(o.symbols, eng)
	if err != nil {
		return fail(ExitInput, "--symbols: %w", err)
	}
	return f.print(w, t)
}
