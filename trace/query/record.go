package query

import "codeberg.org/ticktrap/ticktrap/trace"

// The moments of records: what a filter over a list looks at. They hold no
// event, so names of events alone, such as kick on an exit, have no value.

// OfExit is the moment of a kept exit and, where it is known, the deadline that
// belongs to it.
func OfExit(x *trace.ExitRecord, c *trace.Chain) Moment {
	return Moment{Event: trace.Event{VCPU: x.VCPU, TSC: x.At}, Exit: x, Chain: c}
}

// OfChain is the moment of a kept deadline.
func OfChain(c *trace.Chain) Moment {
	return Moment{Event: trace.Event{VCPU: c.VCPU, TSC: c.Target}, Chain: c}
}

// OfKick is the moment of a line of the kick ledger.
func OfKick(k *trace.KickRecord) Moment {
	return Moment{Event: trace.Event{Kind: trace.KindKick, VCPU: k.Target, TSC: k.At, A: uint64(k.Decision)}}
}
