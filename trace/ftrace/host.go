package ftrace

import (
	"bytes"
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// What the host did besides KVM: which task had a vCPU's CPU, who woke its thread,
// what user space was asked for, idle states and interrupts of the CPUs on which
// vCPUs run.

// task is what was told of a host task last.
type task struct {
	comm string
	prio int64
}

// maxTasks bounds what is remembered of tasks.
const maxTasks = 1 << 12

// name tells a task's name and priority, unless the last told are the same.
func (d *Decoder) name(l *rawLine, pid int64, comm []byte, prio int64) {
	if pid <= 0 || len(comm) == 0 {
		return
	}
	if t, ok := d.tasks[pid]; ok && t.prio == prio && t.comm == string(comm) {
		return
	}
	if d.tasks == nil {
		d.tasks = map[int64]task{}
	}
	if len(d.tasks) >= maxTasks {
		clear(d.tasks)
	}
	d.tasks[pid] = task{string(comm), prio}
	var b [16]byte
	copy(b[:], comm)
	x := trace.TaskArgs{PID: uint64(pid), Comm0: binary.LittleEndian.Uint64(b[:]), Comm1: binary.LittleEndian.Uint64(b[8:]), Prio: prio}
	vcpu := uint8(trace.NoCPU)
	if v := d.byPID(pid); v != nil {
		vcpu = v.id
	}
	d.send(x.Event(d.now, vcpu, trace.NoCPU))
}

// byPID finds the vCPU whose thread has a pid.
func (d *Decoder) byPID(pid int64) *vcpu {
	for _, v := range d.vcpus {
		if v.pid >= 0 && int64(v.pid) == pid {
			return v
		}
	}
	return nil
}

// ours reports whether a vCPU runs, or ran last, on the line's CPU.
func (d *Decoder) ours(l *rawLine) bool {
	for _, v := range d.vcpus {
		if v.cpu == l.cpu && v.seen {
			return true
		}
	}
	return false
}

// schedSwitch is printed by the task that leaves.
func (d *Decoder) schedSwitch(l *rawLine, m *match) {
	prio, state, _ := bytes.Cut(m.text[fWhat], []byte(" prev_state="))
	prev, next := int64(m.num[fPID]), int64(m.num[fNext])
	d.switchTo(l, side{prev, m.text[fWord], signedText(prio)}, side{next, m.text[fMode], int64(m.num[fValue])}, taskState(state))
}

// schedSwitchShort is trace-cmd's "comm:pid [prio] S ==> comm:pid [prio]".
func (d *Decoder) schedSwitchShort(l *rawLine, m *match) {
	prev, next := m.text[fWord], m.text[fMode]
	d.switchTo(l, side{pidAfterColon(prev), commBefore(prev), int64(m.num[fOld])},
		side{pidAfterColon(next), commBefore(next), int64(m.num[fValue])}, taskState(m.text[fWhat]))
}

func pidAfterColon(b []byte) int64 {
	i := bytes.LastIndexByte(b, ':')
	if i < 0 || !allDigits(b[i+1:]) {
		return -1
	}
	return int64(atoi(b[i+1:]))
}

func commBefore(b []byte) []byte {
	if i := bytes.LastIndexByte(b, ':'); i >= 0 {
		return b[:i]
	}
	return nil
}

func signedText(b []byte) int64 {
	if d, neg := bytes.CutPrefix(b, []byte("-")); neg {
		return -int64(atoi(d))
	}
	return int64(atoi(b))
}

// taskState reads prev_state: letters, joined by |, with a + behind a preempted
// one (include/trace/events/sched.h).
func taskState(b []byte) trace.TaskState {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return trace.TaskUnknown
	}
	switch b[0] {
	case 'R':
		return trace.TaskRunnable
	case 'S', 'I':
		return trace.TaskSleeping
	case 'D':
		return trace.TaskUninterruptible
	case 'T', 't':
		return trace.TaskStopped
	case 'X', 'Z':
		return trace.TaskDead
	}
	return trace.TaskUnknown
}

// side is one of the two tasks of a switch.
type side struct {
	pid  int64
	comm []byte
	prio int64
}

func (d *Decoder) switchTo(l *rawLine, prev, next side, state trace.TaskState) {
	from, to := d.byPID(prev.pid), d.byPID(next.pid)
	if from == nil && to == nil && !d.ours(l) || next.pid < 0 {
		return
	}
	d.name(l, prev.pid, prev.comm, prev.prio)
	d.name(l, next.pid, next.comm, next.prio)
	if from != nil {
		from.cpu = l.cpu
		d.emit(from, l, trace.KindSched, false, 0, uint64(l.pcpu()), uint64(next.pid), uint64(state))
	}
	if to != nil {
		to.cpu = l.cpu
		d.emit(to, l, trace.KindSched, false, 1, uint64(l.pcpu()), uint64(max(0, prev.pid)), 0)
	}
	if from == nil && to == nil {
		d.emit(nil, l, trace.KindSched, false, 1, uint64(l.pcpu()), uint64(next.pid), 0)
	}
}

// waking is a thread that becomes runnable; sched_wakeup follows sched_waking and
// may come without it.
func (d *Decoder) waking(l *rawLine, m *match) {
	pid := int64(m.num[fPID])
	if !m.set(fPID) {
		pid = pidAfterColon(m.text[fWord])
	}
	v := d.byPID(pid)
	if v == nil {
		return
	}
	by := uint64(0)
	if l.pid > 0 && !l.irq() {
		by = uint64(l.pid)
	}
	d.emit(v, l, trace.KindWaking, false, by, m.num[fCPU], 0, 0)
}

// userExit is KVM_RUN returning to user space. Its text is a name and a number in
// brackets: of the exit reason, or of an error.
func (d *Decoder) userExit(l *rawLine, m *match) {
	v := d.thread(l)
	if v == nil || l.irq() {
		return
	}
	text := m.text[fReason]
	name, num, _ := bytes.Cut(text, []byte(" ("))
	n := uint64(atoi(bytes.TrimSuffix(num, []byte(")"))))
	x := trace.UserExitArgs{Reason: trace.UserExitOther, Address: ^uint64(0)}
	switch {
	case bytes.Equal(name, []byte("restart")):
		x.Reason, x.Errno = trace.UserExitIntr, -4
	case bytes.Equal(name, []byte("error")):
		x.Reason, x.Errno = trace.UserExitUnknown, -int64(n)
	case n < uint64(trace.UserExitOther):
		x.Reason = trace.UserExit(n)
	}
	if x.Reason == trace.UserExitIO && v.exit == trace.ExitIO || x.Reason == trace.UserExitMMIO && v.exitAddress != 0 {
		x.Address = v.exitAddress
	}
	e := x.Event(d.now, v.id, l.pcpu())
	d.emit(v, l, e.Kind, false, e.A, e.B, e.C, e.D)
}

// cpuIdle: 4294967295 is PWR_EVENT_EXIT.
func (d *Decoder) cpuIdle(l *rawLine, m *match) {
	if !d.ours(l) {
		return
	}
	in := m.num[fValue] != 1<<32-1
	state := m.num[fValue]
	if !in {
		state = 0
	}
	d.emit(nil, l, trace.KindHostIdle, false, b2u(in), state, 0, 0)
}

// hostIRQs says what the events of host interrupts mean.
var hostIRQs = map[string]struct {
	what trace.HostIRQ
	in   bool
}{
	"irq_handler_entry": {trace.HostIRQDevice, true}, "irq_handler_exit": {trace.HostIRQDevice, false},
	"softirq_entry": {trace.HostIRQSoftirq, true}, "softirq_exit": {trace.HostIRQSoftirq, false},
	"local_timer_entry": {trace.HostIRQTimer, true}, "local_timer_exit": {trace.HostIRQTimer, false},
	"reschedule_entry": {trace.HostIRQIPI, true}, "reschedule_exit": {trace.HostIRQIPI, false},
	"call_function_entry": {trace.HostIRQIPI, true}, "call_function_exit": {trace.HostIRQIPI, false},
	"call_function_single_entry": {trace.HostIRQIPI, true}, "call_function_single_exit": {trace.HostIRQIPI, false},
}

func (d *Decoder) hostIRQ(l *rawLine, m *match) {
	if !d.ours(l) {
		return
	}
	h := hostIRQs[string(l.event)]
	var b [8]byte
	copy(b[:], m.text[fWhat])
	d.emit(nil, l, trace.KindHostIRQ, false, b2u(h.in), uint64(h.what), m.num[fIndex], binary.LittleEndian.Uint64(b[:]))
}
