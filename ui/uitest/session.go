package uitest

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Session plays events as a vmm.Session. It is deterministic: while it runs,
// each frame applies PerFrame more events. Use from one goroutine at a time.
type Session struct {
	Header trace.Header
	Events []trace.Event
	// PerFrame is the number of events applied by a frame while running.
	PerFrame int
	// Knobs are offered as they are; CPUs are given with every frame.
	Knobs []vmm.KnobState
	CPUs  []vmm.CPUFrame
	// Status is shown; Run, Now and the end are kept by the session.
	Status vmm.Status
	// Others, Timeline and Marks are given with every frame.
	Others   []*vmm.OtherRun
	Timeline vmm.Timeline
	Marks    []vmm.Mark
	// Known is given with every frame.
	Known vmm.KnownFigures
	// Done lists the commands that were asked for.
	Done []vmm.Command
	// Fail is returned by Do for a verb.
	Fail map[vmm.Verb]error

	state trace.State
	pos   int
}

// New makes a paused session at the beginning of the events.
func New(h trace.Header, events []trace.Event) *Session {
	s := &Session{Header: h, Events: events, PerFrame: 200, Knobs: LiveKnobs(h.Knobs), Fail: map[vmm.Verb]error{}}
	s.Status.Run, s.Status.Speed = vmm.Paused, 1
	s.state.Reset(&s.Header)
	return s
}

// LiveKnobs offers every knob as live, with a value each.
func LiveKnobs(values [trace.NumKnobs]uint64) []vmm.KnobState {
	var ks []vmm.KnobState
	for k := trace.BadKnob + 1; k < trace.NumKnobs; k++ {
		ks = append(ks, vmm.KnobState{Knob: k, Value: values[k], Tag: vmm.TagLive})
	}
	return ks
}

// Play applies n more events.
func (s *Session) Play(n int) {
	for ; n > 0 && s.pos < len(s.Events); n-- {
		e := s.Events[s.pos]
		s.pos++
		s.apply(e)
	}
	if s.pos == len(s.Events) && s.Status.Run == vmm.Running {
		s.Status.Run = vmm.Paused
	}
}

// PlayUntil applies events until one of a kind has been applied.
func (s *Session) PlayUntil(k trace.Kind) {
	for s.pos < len(s.Events) {
		e := s.Events[s.pos]
		s.Play(1)
		if e.Kind == k {
			return
		}
	}
}

func (s *Session) apply(e trace.Event) {
	s.state.Apply(&e)
	s.Status.Now = max(s.Status.Now, e.TSC)
	switch e.Kind {
	case trace.KindKnob:
		for i := range s.Knobs {
			if uint64(s.Knobs[i].Knob) == e.A {
				s.Knobs[i].Value = e.B
			}
		}
	case trace.KindEnd:
		s.Status.Run, s.Status.End, s.Status.EndCode = vmm.Ended, trace.EndKind(e.A), uint32(e.B)
	}
}

// Frame implements vmm.Session.
func (s *Session) Frame(f *vmm.Frame) {
	if s.Status.Run == vmm.Running {
		s.Play(s.PerFrame)
	}
	f.Header, f.Status, f.Known = s.Header, s.Status, s.Known
	s.state.CopyTo(&f.State)
	f.Knobs = append(f.Knobs[:0], s.Knobs...)
	f.CPUs = append(f.CPUs[:0], s.CPUs...)
	f.Others = append(f.Others[:0], s.Others...)
	f.Timeline = s.Timeline
	f.Marks = append(f.Marks[:0], s.Marks...)
}

// Do implements vmm.Session.
func (s *Session) Do(c vmm.Command) error {
	s.Done = append(s.Done, c)
	if err := s.Fail[c.Verb]; err != nil {
		return err
	}
	switch c.Verb {
	case vmm.DoRun:
		s.Status.Run = vmm.Running
	case vmm.DoPause:
		s.Status.Run = vmm.Paused
	case vmm.DoStepExit:
		s.PlayUntil(trace.KindExit)
	case vmm.DoStepDeadline:
		s.PlayUntil(trace.KindEOI)
	case vmm.DoSpeed:
		s.Status.Speed = c.Speed
	case vmm.DoKnob:
		s.turn(c)
	case vmm.DoRecord:
		s.Status.Recording = c.Path
	case vmm.DoMark:
		var name uint64
		for i := range min(len(c.Text), 8) {
			name |= uint64(c.Text[i]) << (8 * i)
		}
		s.apply(trace.Event{TSC: s.Status.Now, Kind: trace.KindMark, VCPU: trace.NoCPU, PCPU: trace.NoCPU, A: name})
	case vmm.DoBreak:
		s.Status.Break = c.Text
	case vmm.DoRunTo:
		s.PlayUntil(trace.KindEOI)
	case vmm.DoBackExit, vmm.DoBackDeadline, vmm.DoSeek, vmm.DoBackTo:
	default:
		return fmt.Errorf("verb %d is not known here", c.Verb)
	}
	return nil
}

func (s *Session) turn(c vmm.Command) {
	for _, k := range s.Knobs {
		if k.Knob == c.Knob {
			s.apply(trace.Event{TSC: s.Status.Now, Kind: trace.KindKnob, VCPU: trace.NoCPU, PCPU: trace.NoCPU,
				A: uint64(c.Knob), B: c.Value, C: k.Value})
		}
	}
}

// Close implements vmm.Session.
func (s *Session) Close() error { return nil }
