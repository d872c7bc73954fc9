package export

import (
	"errors"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// Exporter writes one form. Event is called after s has applied e, Close after
// the last event; neither keeps what the pointers lead to.
type Exporter interface {
	Event(e *trace.Event, s *trace.State) error
	Close(s *trace.State) error
}

// Keep says whether e, which s has just applied, is wanted.
type Keep func(e *trace.Event, s *trace.State) bool

// Format is a row of Formats.
type Format struct {
	// Name is what --format takes.
	Name string
	Doc  string
	// Whole is true for forms that need every event: a selection would tell of
	// other durations than the run had.
	Whole bool
	make  func(*job) Exporter
}

// job is what an exporter begins with.
type job struct {
	w io.Writer
	h *trace.Header
	// start is the state before the first event.
	start *trace.State
	// keep is never nil; all is true if it takes everything.
	keep Keep
	all  bool
}

// Formats is the table of forms.
var Formats = []Format{
	{Name: "jsonl", Doc: "JSON lines: one object for each event", make: newJSONL},
	{Name: "csv-deadlines", Doc: "CSV: a row for each deadline with every step of its chain", make: newDeadlines},
	{Name: "csv-exits", Doc: "CSV: a row for each VM-exit with its fastpath result and costs", make: newExits},
	{Name: "csv-kicks", Doc: "CSV: a row for each kick with its decision and steps", make: newKicks},
	{Name: "csv-events", Doc: "CSV: a row for each event", make: newEvents},
	{Name: "perfetto", Doc: "Perfetto trace: a track for each vCPU and host CPU, deadlines as flows", Whole: true,
		make: newPerfetto},
	{Name: "ftrace", Doc: "ftrace's text as Linux 6.12 prints it, clock x86-tsc", Whole: true, make: newFtrace},
}

// Find returns the row called name.
func Find(name string) (*Format, bool) {
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i], true
		}
	}
	return nil, false
}

// Options of an export.
type Options struct {
	// Keep selects events; nil takes all. It must be nil for a Whole format.
	Keep Keep
	// Progress is called now and then with the events done and those in all.
	Progress func(done, total uint64)
}

// progressEvery is the number of events between two calls of Progress.
const progressEvery = 1 << 16

// noter is an exporter that has something to say about what it wrote.
type noter interface{ Notes() []string }

// Write exports all of rec to w. Notes are sentences about what the form could
// not hold. An error of the recording is a *trace.DamageError; what came before
// it has been written.
func (f *Format) Write(w io.Writer, rec *trace.Recording, o Options) (notes []string, err error) {
	j := job{w: w, h: rec.Header(), keep: o.Keep, all: o.Keep == nil}
	if j.all {
		j.keep = func(*trace.Event, *trace.State) bool { return true }
	} else if f.Whole {
		return nil, fmt.Errorf("format %s needs every event", f.Name)
	}
	cur := rec.Cursor()
	var st trace.State
	if err := cur.StateAt(rec.First(), &st); err != nil {
		return nil, err
	}
	j.start = &st
	x := f.make(&j)
	total := uint64(rec.Events() - rec.First())
	for n := uint64(0); ; n++ {
		e, err := cur.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			err = errors.Join(err, x.Close(&st))
			if x, ok := x.(noter); ok {
				notes = x.Notes()
			}
			return notes, err
		}
		st.Apply(&e)
		if err := x.Event(&e, &st); err != nil {
			return nil, err
		}
		if o.Progress != nil && n%progressEvery == 0 {
			o.Progress(n, total)
		}
	}
}
