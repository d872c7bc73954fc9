package ftrace

import "bytes"

// A host runs more than one VM, and a trace holds the lines of all. What names a
// vCPU by its number or an APIC ID may belong to any of them; the thread tells,
// and in interrupt context the timer whose callback runs.

// timerContext is the timer whose callback ran last on a host CPU.
type timerContext struct {
	known bool
	v     *vcpu // nil for another VM's
}

var schedSwitch = []byte("sched_switch") // printed by the thread that leaves, which may be any

// foreign reports whether a line comes from a thread that cannot act on the VM.
func (d *Decoder) foreign(l *rawLine) bool {
	if l.pid < 0 || l.irq() || bytes.Equal(l.event, schedSwitch) {
		return false
	}
	if d.opts.Mine == nil {
		return d.others[l.pid]
	}
	mine, ok := d.mine[l.pid]
	if !ok && d.thread(l) != nil {
		return false
	}
	if !ok {
		mine = d.opts.Mine(l.comm, l.pid)
		if d.mine == nil {
			d.mine = map[int32]bool{}
		}
		if len(d.mine) < maxThreads {
			d.mine[l.pid] = mine
		}
	}
	return !mine
}

// maxThreads bounds what is remembered of threads.
const maxThreads = 1 << 16

// otherThread remembers a thread that runs a vCPU of another VM.
func (d *Decoder) otherThread(pid int32) {
	if d.others == nil {
		d.others = map[int32]bool{}
	}
	if len(d.others) < maxThreads {
		d.others[pid] = true
	}
}

// alone reports whether an address that nothing ties to a vCPU can only be that
// of the one vCPU there is.
func (d *Decoder) alone() bool {
	return len(d.vcpus) == 1 && d.opts.Mine == nil && len(d.others) == 0
}

// setTimer remembers whose timer's callback runs on the line's CPU.
func (d *Decoder) setTimer(l *rawLine, v *vcpu) {
	if l.cpu < 0 {
		return
	}
	for len(d.timers) <= int(l.cpu) {
		d.timers = append(d.timers, timerContext{})
	}
	d.timers[l.cpu] = timerContext{v != nil || d.opts.Mine != nil, v}
}

// inTimer is v if a line in interrupt context may be about it: nil if the
// callback that runs there belongs to another vCPU's timer.
func (d *Decoder) inTimer(l *rawLine, v *vcpu) *vcpu {
	if l.cpu < 0 || int(l.cpu) >= len(d.timers) {
		return v
	}
	if t := &d.timers[l.cpu]; t.known && t.v != v {
		d.report.OtherVM++
		return nil
	}
	return v
}

// addressee is the vCPU with an APIC ID, if the line may be about this VM.
func (d *Decoder) addressee(l *rawLine, id uint64) *vcpu {
	v := d.byNumber(id)
	if l.irq() {
		return d.inTimer(l, v)
	}
	return v
}
