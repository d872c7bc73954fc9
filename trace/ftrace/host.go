package ftrace

import (
	"bytes"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// What the host does beside KVM: its tasks, idle states, timers and interrupts,
// on the CPUs where the VM's vCPUs have been.

// vcpuCPUs is a set of host CPUs.
type vcpuCPUs [4]uint64

// add takes a CPU into the set; one that is not known is left out.
func (s *vcpuCPUs) add(cpu uint8) {
	if cpu != trace.NoCPU {
		s[cpu>>6] |= 1 << (cpu & 63)
	}
}

// has reports whether a CPU is in the set.
func (s *vcpuCPUs) has(cpu uint8) bool { return cpu != trace.NoCPU && s[cpu>>6]>>(cpu&63)&1 != 0 }

// named is a task that has been named in the events.
type named struct {
	comm [16]byte
	prio int64
}

const maxTasks = 1 << 12

// task names a host task, unless its name and priority are known already. prio is
// task_struct.prio.
func (d *Decoder) task(l *rawLine, v *vcpu, pid int64, comm []byte, prio int64) {
	if pid <= 0 || pid >= 1<<31 || len(comm) == 0 {
		return
	}
	var n named
	copy(n.comm[:], comm)
	n.prio = prio
	if old, ok := d.tasks[int32(pid)]; ok && old == n {
		return
	}
	if d.tasks == nil {
		d.tasks = map[int32]named{}
	}
	if len(d.tasks) >= maxTasks {
		clear(d.tasks)
	}
	d.tasks[int32(pid)] = n
	d.emit(v, l, trace.KindTask, false, uint64(pid), pack8(n.comm[:8]), pack8(n.comm[8:]), uint64(prio))
}

// pack8 packs text as events carry it: the first byte lowest, ended by a zero.
func pack8(b []byte) (w uint64) {
	for i, c := range b[:min(8, len(b))] {
		if c == 0 {
			break
		}
		w |= uint64(c) << (8 * i)
	}
	return w
}

func (d *Decoder) schedSwitch(l *rawLine, m *match) {
	d.switchTo(l, m, int64(m.num[fPID]), int64(m.num[fNext]), m.text[fWord], m.text[fMode])
}

// schedSwitchShort is trace-cmd's "comm:pid [prio] S ==> comm:pid [prio]".
func (d *Decoder) schedSwitchShort(l *rawLine, m *match) {
	prev, prevComm := pidAfterColon(m.text[fWord])
	next, nextComm := pidAfterColon(m.text[fMode])
	d.switchTo(l, m, prev, next, prevComm, nextComm)
}

func pidAfterColon(b []byte) (pid int64, comm []byte) {
	i := bytes.LastIndexByte(b, ':')
	if i < 0 || !allDigits(b[i+1:]) {
		return -1, nil
	}
	return int64(atoi(b[i+1:])), b[:i]
}

// switchTo reports that a CPU goes from one task to another, where a vCPU's thread
// is one of them or the CPU has run one.
func (d *Decoder) switchTo(l *rawLine, m *match, prev, next int64, prevComm, nextComm []byte) {
	prio, nextPrio := int64(m.num[fOld]), int64(m.num[fValue])
	out, in := d.byPID(prev), d.byPID(next)
	cpu := l.pcpu()
	switch {
	case in == nil && out == nil && !d.cpus.has(cpu):
		return
	case in != nil || out != nil:
		d.cpus.add(cpu)
	}
	d.task(l, out, prev, prevComm, prio)
	d.task(l, in, next, nextComm, nextPrio)
	if out != nil {
		d.emit(out, l, trace.KindSched, false, 0, uint64(cpu), uint64(max(next, 0)), uint64(taskState(m.text[fWhat])))
	}
	if in != nil {
		d.emit(in, l, trace.KindSched, false, 1, uint64(cpu), uint64(max(prev, 0)), 0)
	}
	if in == nil && out == nil {
		d.emit(nil, l, trace.KindSched, false, 1, uint64(cpu), uint64(max(next, 0)), 0)
	}
}

func (d *Decoder) byPID(pid int64) *vcpu {
	for _, v := range d.vcpus {
		if v.pid > 0 && int64(v.pid) == pid {
			return v
		}
	}
	return nil
}

// taskState reads sched_switch's prev_state: "R", "R+", "S", "D|K".
func taskState(b []byte) trace.TaskState {
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

// stateLetters are the words of prev_state by its lowest bit, R without one (enum
// of TASK_* in include/linux/sched.h).
var stateLetters = [][]byte{[]byte("S"), []byte("D"), []byte("T"), []byte("t"), []byte("X"), []byte("Z"), []byte("P"), []byte("I")}

func finishSwitch(r *record) {
	r.text[fWhat] = wordRunning
	for i, s := range stateLetters {
		if r.num[fIndex]>>i&1 != 0 {
			r.text[fWhat] = s
			return
		}
	}
}

var wordRunning = []byte("R")

// waking is a vCPU's thread made runnable. sched_wakeup comes after sched_waking on
// the same occasion and counts only without it.
func (d *Decoder) waking(l *rawLine, m *match) {
	pid, comm := int64(m.num[fPID]), m.text[fWord]
	if !m.set(fPID) {
		pid, comm = pidAfterColon(comm)
	}
	v := d.byPID(pid)
	if v == nil || string(l.event) != "sched_waking" && d.seen("sched_waking") {
		return
	}
	d.task(l, v, pid, comm, int64(m.num[fOld]))
	by := uint64(0)
	if l.pid > 0 && !l.irq() {
		by = uint64(l.pid)
	}
	d.emit(v, l, trace.KindWaking, false, by, m.num[fCPU], 0, 0)
}

const eINTR = 4

// userExit is KVM_RUN's return to user space.
func (d *Decoder) userExit(l *rawLine, m *match) {
	v := d.thread(l)
	if v == nil {
		return
	}
	d.flushEntry(v)
	d.release(v)
	reason, errno := trace.UserExit(min(m.num[fValue], uint64(trace.UserExitOther))), int64(0)
	switch string(m.text[fWord]) {
	case "restart":
		reason, errno = trace.UserExitIntr, -eINTR
	case "error":
		reason, errno = trace.UserExitUnknown, -int64(min(m.num[fValue], 1<<12))
	}
	address, write := uint64(1<<64-1), uint64(0)
	if v.access.known && (reason == trace.UserExitIO || reason == trace.UserExitMMIO) {
		address, write = v.access.address, b2u(v.access.write)
	} else if reason == trace.UserExitIO && v.exit == trace.ExitIO || reason == trace.UserExitMMIO && v.exitAddress != 0 {
		address = v.exitAddress
	}
	d.emit(v, l, trace.KindUserExit, false, uint64(reason), address, write, uint64(errno))
}

func finishUserExit(r *record) {
	n := int64(int32(r.num[fOld]))
	switch {
	case n == -eINTR:
		r.text[fWord], r.num[fValue] = wordRestart, eINTR
	case n < 0:
		r.text[fWord], r.num[fValue] = wordError, uint64(-n)
	}
}

var (
	wordRestart = []byte("restart")
	wordError   = []byte("error")
)

// access remembers the port or address of a vCPU's access: user space may have to
// serve it.
func (d *Decoder) access(l *rawLine, m *match) {
	if v := d.thread(l); v != nil && !l.irq() {
		v.access.known, v.access.address = true, m.num[fValue]
		v.access.write = string(m.text[fWord]) == "write"
	}
}

func finishAccess(r *record) { r.text[fWord] = word(r.num[fOld] != 0, wordWrite, wordRead) }

// finishMMIO: KVM_TRACE_MMIO_WRITE is 2 (arch/x86/kvm/trace.h, include/trace/events/kvm.h).
func finishMMIO(r *record) { r.text[fWord] = word(r.num[fOld] == 2, wordWrite, wordRead) }

// idle is a host CPU that enters or leaves an idle state; it leaves with PWR_EVENT_EXIT.
func (d *Decoder) idle(l *rawLine, m *match) {
	if m.num[fCPU] >= trace.NoCPU || !d.cpus.has(uint8(m.num[fCPU])) {
		return
	}
	at := rawLine{cpu: int16(m.num[fCPU]), pid: -1}
	state := m.num[fValue] & 0xffffffff
	in := state != 1<<32-1
	if !in {
		state = 0
	}
	d.emit(nil, &at, trace.KindHostIdle, false, b2u(in), state, 0, 0)
}

// hostIRQs are the events of host interrupts by name.
var hostIRQs = map[string]struct {
	in   bool
	what trace.HostIRQ
}{
	"local_timer_entry": {true, trace.HostIRQTimer}, "local_timer_exit": {false, trace.HostIRQTimer},
	"reschedule_entry": {true, trace.HostIRQIPI}, "reschedule_exit": {false, trace.HostIRQIPI},
	"call_function_entry": {true, trace.HostIRQIPI}, "call_function_exit": {false, trace.HostIRQIPI},
	"call_function_single_entry": {true, trace.HostIRQIPI}, "call_function_single_exit": {false, trace.HostIRQIPI},
	"irq_work_entry": {true, trace.HostIRQOther}, "irq_work_exit": {false, trace.HostIRQOther},
	"irq_handler_entry": {true, trace.HostIRQDevice}, "irq_handler_exit": {false, trace.HostIRQDevice},
	"softirq_entry": {true, trace.HostIRQSoftirq}, "softirq_exit": {false, trace.HostIRQSoftirq},
}

func (d *Decoder) hostIRQ(l *rawLine, m *match) {
	if !d.cpus.has(l.pcpu()) {
		return
	}
	if x, ok := hostIRQs[string(l.event)]; ok {
		d.emit(nil, l, trace.KindHostIRQ, false, b2u(x.in), uint64(x.what), m.num[fIndex], pack8(m.text[fWhat]))
	}
}

// hostTimer reports a step of the hrtimer behind a vCPU's timer.
func (d *Decoder) hostTimer(v *vcpu, l *rawLine, step trace.HostTimerStep, expires, now uint64) {
	d.emit(v, l, trace.KindHostTimer, false, uint64(step), v.timer, d.fromMonotonic(expires), d.fromMonotonic(now))
}

// fromMonotonic is a time of CLOCK_MONOTONIC on the common line, 0 if that is not
// known.
func (d *Decoder) fromMonotonic(ns uint64) uint64 {
	if ns == 0 || d.opts.mono.n == 0 {
		return 0
	}
	stamp, ok := d.opts.mono.at(ns)
	if !ok {
		return 0
	}
	return uint64(d.time.common(stamp, d.opts.monoUnit))
}

func (d *Decoder) hrtimerCancel(l *rawLine, m *match) {
	if v := d.byTimer(m.num[fPtr]); v != nil && v.timer == m.num[fPtr] {
		d.hostTimer(v, l, trace.HostTimerCancelled, 0, 0)
	}
}

func (d *Decoder) pleWindow(l *rawLine, m *match) {
	if v := d.own(l, m); v != nil {
		d.emit(v, l, trace.KindPLEWindow, false, m.num[fValue], m.num[fOld], 0, 0)
	}
}
