package session

import (
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Frame implements vmm.Session.
func (l *Live) Frame(f *vmm.Frame) {
	l.mu.Lock()
	copyFrame(f, &l.frame)
	l.mu.Unlock()
	select {
	case l.wish <- struct{}{}:
	default:
	}
}

func copyFrame(dst, src *vmm.Frame) {
	dst.Header, dst.Status, dst.Known = src.Header, src.Status, src.Known
	src.State.CopyTo(&dst.State)
	dst.Knobs = append(dst.Knobs[:0], src.Knobs...)
	dst.CPUs = append(dst.CPUs[:0], src.CPUs...)
	dst.Others = append(dst.Others[:0], src.Others...)
	dst.Marks = append(dst.Marks[:0], src.Marks...)
	dst.Timeline.From, dst.Timeline.To, dst.Timeline.Complete = src.Timeline.From, src.Timeline.To, src.Timeline.Complete
	dst.Timeline.Buckets = append(dst.Timeline.Buckets[:0], src.Timeline.Buckets...)
}

// publish makes a new frame.
func (l *Live) publish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.frame
	if l.past != nil {
		l.framePast(f)
		f.Others = l.r.Others(f.Others)
		if l.present(); l.past != nil {
			return
		}
	}
	f.Timeline = vmm.Timeline{Buckets: f.Timeline.Buckets[:0]}
	l.r.Known(&f.Timeline)
	f.Marks = append(f.Marks[:0], l.marks.List()...)
	l.turns = l.r.Turns()
	f.Header = l.r.header
	l.r.st.CopyTo(&f.State)
	f.CPUs = l.r.eng.CPUs(f.CPUs[:0])
	f.Knobs = append(f.Knobs[:0], l.r.eng.Knobs()...)
	f.Status = l.status()
	f.Others = l.r.Others(f.Others)
	if w, ok := l.r.eng.(vmm.Witness); ok {
		f.Known = w.Figures()
		if !l.running {
			f.Status.Ahead = w.Ahead()
		}
	}
}

func (l *Live) status() vmm.Status {
	s := vmm.Status{Run: vmm.Paused, Now: l.r.eng.Now(), Speed: l.speed, Rate: l.meter.rate(l.r.header.Hz),
		CanBack: l.r.CanBack() || l.r.seen != nil, Break: l.breakText, Notice: l.notice}
	if l.running {
		s.Run = vmm.Running
	} else {
		s.Rate = 0
	}
	if how, code, ended := l.r.eng.Ended(); ended {
		s.Run, s.End, s.EndCode = vmm.Ended, how, code
	}
	s.Branch, s.Replaying, s.Head = l.r.Where()
	if l.rec != nil {
		s.Recording, s.RecBytes = l.rec.path, l.rec.n
	}
	return s
}
