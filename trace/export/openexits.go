package export

import "codeberg.org/ticktrap/ticktrap/trace"

// openExits follows the exit that each vCPU is in. It keeps a copy of the record,
// for the ring of State loses one when other vCPUs exit often during a halt.
type openExits struct {
	recs []trace.ExitRecord // by vCPU; NoNum: in the guest, or not known
	done trace.ExitRecord
}

// step returns the exit that the event just applied ended, nil if none; entered
// is false if the vCPU exited again without an entry between. The record is valid
// until the next call.
func (o *openExits) step(e *trace.Event, s *trace.State) (done *trace.ExitRecord, entered bool) {
	if int(e.VCPU) >= len(s.VCPUs) {
		return nil, false
	}
	for len(o.recs) < len(s.VCPUs) {
		o.recs = append(o.recs, trace.ExitRecord{})
	}
	r := &o.recs[e.VCPU]
	if e.Kind == trace.KindExit {
		o.done = *r
		*r = *s.Exits.Last(0)
		if o.done.Num == trace.NoNum {
			return nil, false
		}
		return &o.done, false
	}
	if r.Num == trace.NoNum {
		return nil, false
	}
	if kept := s.Exits.Get(uint64(r.Num) - 1); kept != nil {
		*r = *kept
	} else {
		apply(r, e)
	}
	if e.Kind != trace.KindEntry {
		return nil, false
	}
	o.done = *r
	*r = trace.ExitRecord{}
	return &o.done, true
}

// apply does for a copied record what the fold does for one in the ring.
func apply(r *trace.ExitRecord, e *trace.Event) {
	switch e.Kind {
	case trace.KindFastpath:
		r.Result, r.Clause, r.HasFast = trace.FastpathResult(e.B), trace.Clause(e.C), true
	case trace.KindCost:
		for _, arg := range [4]uint64{e.A, e.B, e.C, e.D} {
			a, b := trace.UnpackCosts(arg)
			for _, c := range [2]trace.PhaseCost{a, b} {
				if c.Phase != trace.BadPhase && c.Phase < trace.NumPhases {
					r.Costs.Add(c)
				}
			}
		}
	case trace.KindEntry:
		r.EntryAt, r.Vector, r.Reentry = e.TSC, uint8(e.B), e.D != 0
	}
}

// rest calls f with every exit that no entry has ended.
func (o *openExits) rest(f func(*trace.ExitRecord)) {
	for i := range o.recs {
		if o.recs[i].Num != trace.NoNum {
			f(&o.recs[i])
		}
	}
}
