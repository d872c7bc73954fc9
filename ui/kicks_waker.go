package ui

import "codeberg.org/ticktrap/ticktrap/trace"

// waker is who called kvm_vcpu_kick.
type waker uint8

const (
	wakerHost  waker = iota // no vCPU is loaded on the kicking CPU
	wakerVCPU               // another vCPU's thread, or an interrupt on its CPU
	wakerSelf               // the target's own thread
	wakerTimer              // apic_timer_fn, in interrupt context on the kicking CPU
)

// wakerOf tells who made kick n of the ledger. A kick event names the vCPU that is
// loaded on the kicking CPU, which a timer callback only interrupts: what an expiry
// on the route "pending and kick" did is told from the deadline, whose first kick
// after the expiry and before the delivery it is.
func wakerOf(st *trace.State, n uint64) waker {
	k := st.KickLedger.Get(n)
	switch {
	case k == nil:
		return wakerHost
	case kickOfExpiry(st, n, k):
		return wakerTimer
	case k.From == trace.NoCPU:
		return wakerHost
	case k.From == k.Target:
		return wakerSelf
	}
	return wakerVCPU
}

// kickOfExpiry reports whether kick n came from apic_timer_expired in the timer
// callback.
func kickOfExpiry(st *trace.State, n uint64, k *trace.KickRecord) bool {
	mine := func(c *trace.Chain) bool {
		return c.VCPU == k.Target && c.Route == trace.RoutePendKick && (c.Callback || c.Inferred) && c.ExpireAt != 0 && c.ExpireAt <= k.At &&
			(c.DeliverAt == 0 || k.At <= c.DeliverAt) && firstKickSince(st, n, k, c)
	}
	if int(k.Target) < len(st.VCPUs) {
		found := false
		st.VCPUs[k.Target].Open(func(c *trace.Chain) { found = found || mine(c) })
		if found {
			return true
		}
	}
	for i := range st.Chains.Len() { // the last that closed first
		c := st.Chains.Last(i)
		if mine(c) {
			return true
		}
		if c.ISRAt != 0 && c.ISRAt < k.At { // all others had closed before the kick
			return false
		}
	}
	return false
}

// firstKickSince reports whether no kick of the same vCPU lies between the expiry
// and kick n.
func firstKickSince(st *trace.State, n uint64, k *trace.KickRecord, c *trace.Chain) bool {
	for n > 0 {
		n--
		b := st.KickLedger.Get(n)
		if b == nil || b.At < c.ExpireAt {
			return true
		}
		if b.Target == k.Target {
			return false
		}
	}
	return true
}

// wakerWord is the waker and the CPU it ran on, in seven columns, eight from pCPU 10 on.
func wakerWord(w waker, k *trace.KickRecord) string {
	word := "host"
	switch w {
	case wakerTimer:
		word = "timer"
	case wakerSelf:
		word = "self"
	case wakerVCPU:
		word = "v" + cpuWord(k.From)
	}
	if k.PCPU != trace.NoCPU {
		word += "@" + cpuWord(k.PCPU)
	}
	return word
}

// wakerWords says who kicked in a sentence.
func wakerWords(w waker, k *trace.KickRecord) string {
	at := ""
	if k.PCPU != trace.NoCPU {
		at = " on pCPU " + cpuWord(k.PCPU)
	}
	switch w {
	case wakerTimer:
		words := "apic_timer_fn in irq context" + at
		switch k.From {
		case trace.NoCPU:
			return words + ", no vCPU loaded there"
		case k.Target:
			return words + ", the target's own CPU"
		}
		return words + ", over v" + cpuWord(k.From)
	case wakerSelf:
		return "the target's own thread" + at
	case wakerVCPU:
		return "v" + cpuWord(k.From) + "'s thread" + at
	}
	return "the host" + at + ", no vCPU loaded there"
}
