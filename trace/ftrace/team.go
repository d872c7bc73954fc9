package ftrace

import (
	"slices"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// team is the decoders of several VMs at one trace. Records of a vCPU's thread go
// to the decoder of its VM alone, all others to every decoder.
type team struct {
	all   []*Decoder
	home  map[int32]*Decoder
	facts *Facts
	total uint64 // records that went to one decoder, or to none
}

func newTeam(t *Trace, sinks []trace.Sink, f *Facts) *team {
	m := &team{home: map[int32]*Decoder{}, facts: f}
	for i, v := range t.VMs {
		var d *Decoder
		if sinks[i] != nil {
			o := t.opts
			o.Time = v.Time.TimeBase
			if len(t.VMs) > 1 {
				o.Mine = t.mine(v)
			}
			d = newDecoder(o, sinks[i], f)
			d.report.Time = v.Time
			d.report.VCPUs = v.Threads
			for _, th := range v.Threads {
				d.Bind(th.VCPU, th.PID)
			}
			m.all = append(m.all, d)
		}
		for _, th := range v.Threads {
			m.home[th.PID] = d
		}
	}
	return m
}

// mine tells the threads that may act on a VM: its own, and those that run no
// vCPU.
func (t *Trace) mine(v *VM) func([]byte, int32) bool {
	return func(_ []byte, pid int32) bool {
		if v.Has(pid) {
			return true
		}
		return !slices.ContainsFunc(t.VMs, func(o *VM) bool { return o.Has(pid) })
	}
}

func (m *team) take(r *record) {
	if !r.gap && !r.irq() && r.pid >= 0 && r.ev.name != "sched_switch" {
		if d, ok := m.home[r.pid]; ok {
			m.total++
			if d != nil {
				d.mineN++
				d.take(r)
			}
			return
		}
	}
	for _, d := range m.all {
		d.take(r)
	}
}

func (m *team) finish() []Report {
	var out []Report
	for _, d := range m.all {
		d.Flush()
		d.report.OtherVM += m.total - d.mineN
		out = append(out, d.Report())
	}
	return out
}

// sortVMs puts the VM with most exits first.
func sortVMs(vms []*VM) {
	slices.SortStableFunc(vms, func(a, b *VM) int {
		switch {
		case a.Exits > b.Exits:
			return -1
		case a.Exits < b.Exits:
			return 1
		}
		return 0
	})
}
