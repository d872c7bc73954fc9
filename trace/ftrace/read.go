package ftrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/ftrace/tracedat"
)

// maxLine bounds the length of a line that is looked at.
const maxLine = 64 << 10

// Input is a trace at rest.
type Input struct {
	Name string
	io.ReaderAt
	Size int64
}

// Progress is told how many of how many bytes of a pass have been read.
type Progress func(done, total int64)

// Trace is a trace that a first pass has looked over: what it is, whose it is and
// how its clock is tied to the guests'. Decode makes events of it.
type Trace struct {
	Facts
	// VMs are the virtual machines, the one with most exits first.
	VMs []*VM
	// Cut is true if the first pass was stopped: the trace ends there.
	Cut bool

	in       Input
	opts     Options
	vendor   vendor
	segments []segment
	windowed bool
	dat      *tracedat.File // if it is one
	cutAt    uint64         // records after which a stopped pass ended, 0 if it did not
	deltas   bool           // stamps are distances from the line before
}

// Open looks over a trace. It reads it once from end to end in bounded memory; if
// ctx ends meanwhile, the trace is what was read until then.
//
// An error is one of reading, a *ParseError with Options.Strict or if there is no
// record at all, or a *ForeignError for what is no kernel trace.
func Open(ctx context.Context, in Input, o Options, tell Progress) (*Trace, error) {
	o.File = in.Name
	t := &Trace{in: in, opts: o}
	t.File, t.Kernel = in.Name, Era{o.Kernel, o.Kernel}
	s := newSurvey(o)
	over := t.overText
	switch isDat, err := recognize(in); {
	case err != nil:
		return nil, err
	case isDat:
		over = t.overDat
	}
	if err := over(ctx, s, tell); err != nil {
		return nil, err
	}
	if s.merged && s.host() != "" { // a guest's lines are left out
		o.only = s.host()
		t, s = &Trace{in: t.in, opts: o, Facts: Facts{File: in.Name, Kernel: Era{o.Kernel, o.Kernel}}}, newSurvey(o)
		if err := t.overText(ctx, s, tell); err != nil {
			return nil, err
		}
	}
	if t.Printer == Perf && s.differences() {
		again := &Trace{in: t.in, opts: o, deltas: true, Facts: Facts{File: in.Name, Kernel: Era{o.Kernel, o.Kernel}}}
		t, s = again, newSurvey(o)
		if err := t.overText(ctx, s, tell); err != nil {
			return nil, err
		}
	}
	if t.Lines == 0 || s.kvm == 0 && t.Unit == NoUnit {
		return nil, &ParseError{in.Name, 1, 1, "no line of a KVM trace in this file"}
	}
	if t.Unit == Cycles {
		if name := s.clock.notTime(); name != "" {
			return nil, &ForeignError{in.Name, notTimes[name]}
		}
	}
	if s.kvm == 0 {
		return nil, &ForeignError{in.Name, fmt.Sprintf("a trace of %d records, but none of KVM's: record with -e kvm", t.Lines)}
	}
	t.vendor = s.vendor
	t.opts.sharedTimers = s.shared
	t.opts.mono, t.opts.monoUnit = s.monotonic(t.Unit), t.Unit
	t.VMs = s.group()
	if len(t.VMs) == 0 {
		t.VMs = []*VM{{}}
	}
	sortVMs(t.VMs)
	for _, v := range t.VMs {
		v.Time = s.tie(v, t.Unit, t.opts.Time)
	}
	return t, nil
}

// overText is the first pass over a text: it finds where times go back.
func (t *Trace) overText(ctx context.Context, s *survey, tell Progress) error {
	in := openSegment(t.in, segment{0, t.in.Size, 1}, newBrief(&t.Facts, t.opts), 1<<20)
	in.deltas = t.deltas
	var r record
	t.segments = []segment{{0, t.in.Size, 1}}
	last := uint64(0)
	for n := 0; ; n++ {
		if n&(1<<12-1) == 0 {
			if ctx.Err() != nil {
				t.Cut, t.in.Size = true, in.at
				break
			}
			if tell != nil {
				tell(in.at, t.in.Size)
			}
		}
		if err := in.next(&r); err == io.EOF {
			break
		} else if bad := (*ParseError)(nil); errors.As(err, &bad) {
			return err
		} else if err != nil {
			return fmt.Errorf("reading %s: %w", t.in.Name, err)
		}
		if !r.gap && r.unit != NoUnit {
			if r.ts < last {
				s.back++
				t.split(in.at, r.line)
			}
			last = r.ts
		}
		s.take(&r)
	}
	t.segments[len(t.segments)-1].end = t.in.Size
	t.Segments = len(t.segments)
	return nil
}

// maxSegments is how many parts are merged; a text with more is sorted in a window.
const maxSegments = 256

func (t *Trace) split(at int64, line int) {
	if t.BackAt == 0 {
		t.BackAt = line
	}
	if t.windowed || len(t.segments) == maxSegments {
		t.windowed = true
		t.segments = []segment{{0, t.in.Size, 1}}
		return
	}
	t.segments[len(t.segments)-1].end = at
	t.segments = append(t.segments, segment{at, t.in.Size, line})
}

// overDat is the first pass over a trace.dat.
func (t *Trace) overDat(ctx context.Context, s *survey, tell Progress) error {
	var err error
	if t.dat, err = tracedat.Open(t.in, t.in.Size); err != nil {
		return fmt.Errorf("%s: %w", t.in.Name, err)
	}
	if _, ok := clockUnit(t.dat.Clock); !ok {
		return &ForeignError{t.in.Name, notTimes[t.dat.Clock]}
	}
	if t.dat.Hz != 0 && t.opts.Time.Hz == 0 {
		t.opts.Time.Hz, t.opts.rateFrom = clock.Hz(t.dat.Hz), "trace-cmd's option TSC2NSEC"
		s.opts = t.opts
	}
	src, err := t.source(&t.Facts)
	if err != nil {
		return err
	}
	var r record
	for n := 0; ; n++ {
		if n&(1<<12-1) == 0 && ctx.Err() != nil {
			t.Cut, t.cutAt = true, t.Lines
			return nil
		}
		if err := src.next(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", t.in.Name, err)
		}
		s.take(&r)
	}
}

// source opens the trace for the second pass.
func (t *Trace) source(f *Facts) (source, error) {
	if t.dat != nil {
		unit, _ := clockUnit(t.dat.Clock)
		return datSource(t.dat, unit, f)
	}
	if len(t.segments) == 1 {
		s := openSegment(t.in, t.segments[0], newParser(f, t.opts), 1<<20)
		s.deltas = t.deltas
		if t.windowed {
			return &window{in: s, facts: f}, nil
		}
		return s, nil
	}
	var parts []source
	for _, g := range t.segments {
		parts = append(parts, openSegment(t.in, g, newParser(f, t.opts), 64<<10))
	}
	return newMerge(parts, f, true)
}

// Header describes VM number n of the trace as a run.
func (t *Trace) Header(n int) *trace.Header {
	v := t.VMs[n]
	h := &trace.Header{Engine: "import", LAPIC: "kernel", Provenance: trace.Measured, Hz: v.Time.Hz, VCPUs: v.VCPUs(),
		Knobs: trace.UnknownKnobs(), Host: fmt.Sprintf("%s trace, kernel %s, %s", t.vendor, t.Kernel, t.Printer)}
	if h.Hz == 0 && t.Unit == Nanos {
		h.Hz = 1e9
		h.Host += "; the TSC rate is not known: a cycle stands for a nanosecond of the trace's clock"
	}
	return h
}

// Decode makes events of the VMs for which there is a sink; sinks has one for
// each VM, nil for those that are left out. If ctx ends, what was read until then
// is decoded and the error is ctx's. The reports are those of the sinks.
func (t *Trace) Decode(ctx context.Context, sinks []trace.Sink, tell Progress) ([]Report, error) {
	f := &Facts{File: t.in.Name, Kernel: Era{t.opts.Kernel, t.opts.Kernel}, Segments: t.Segments, BackAt: t.BackAt}
	src, err := t.source(f)
	if err != nil {
		return nil, err
	}
	team := newTeam(t, sinks, f)
	var r record
	for n := uint64(0); ; n++ {
		if n&(1<<12-1) == 0 {
			if tell != nil && t.Lines > 0 {
				tell(int64(float64(t.in.Size)*min(1, float64(f.Lines)/float64(t.Lines))), t.in.Size)
			}
			if err = ctx.Err(); err != nil {
				break
			}
		}
		if t.cutAt != 0 && f.Lines >= t.cutAt {
			break
		}
		if err = src.next(&r); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			break
		}
		team.take(&r)
	}
	return team.finish(), err
}

// Read decodes the first VM of a whole trace into sink.
func Read(r io.Reader, o Options, sink trace.Sink) (Report, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Report{}, fmt.Errorf("reading %s: %w", o.File, err)
	}
	t, err := Open(context.Background(), Input{o.File, bytes.NewReader(text), int64(len(text))}, o, nil)
	if err != nil {
		return Report{}, err
	}
	sinks := make([]trace.Sink, len(t.VMs))
	sinks[0] = sink
	reps, err := t.Decode(context.Background(), sinks, nil)
	if len(reps) == 0 {
		return Report{}, err
	}
	return reps[0], err
}
