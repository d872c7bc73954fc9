package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// Stretch is a time for which a vCPU's thread, or a host CPU, was in a state that
// exits and entries do not tell.
type Stretch struct {
	From, To clock.TSC
	// Address is the port, physical address or MSR of StretchUser.
	Address uint64
	Task    uint32 // pid: StretchTask
	Kind    StretchKind
	Reason  uint8 // UserExit, HostIRQ, or index of a C-state
	VCPU    uint8 // NoCPU if it is a host CPU's
	PCPU    uint8 // NoCPU if not known
}

// StretchKind is what a Stretch was spent with.
type StretchKind uint8

// The kinds of stretches.
const (
	BadStretch      StretchKind = iota
	StretchSleep                // vCPU: switched out and not runnable
	StretchRunnable             // vCPU: switched out and runnable: it waits for its CPU
	StretchStopped              // vCPU: switched out by SIGSTOP or a debugger
	StretchOff                  // vCPU: switched out; the source does not tell in what state
	StretchUser                 // vCPU: KVM_RUN has returned to user space
	StretchPoll                 // vCPU: halt polling
	StretchTask                 // host CPU: another task runs
	StretchIdle                 // host CPU: in an idle state
	StretchIRQ                  // host CPU: in an interrupt
	StretchHeld                 // all: held by the debugger
	NumStretches
)

// Task is a task of the host that an event named.
type Task struct {
	PID  uint32
	Name [16]byte // comm, padded with zeros
	Prio int32    // task_struct.prio: −1 deadline, 0 to 98 real time, 100 to 139 fair, 140 idle
}

// String returns the task's name; it is not filtered.
func (t *Task) String() string {
	n := 0
	for n < len(t.Name) && t.Name[n] != 0 {
		n++
	}
	return string(t.Name[:n])
}

// MaxTasks is how many tasks a State remembers by name: those named last.
const MaxTasks = 256

// Task returns the task with a pid, nil if no event named it lately.
func (s *State) Task(pid uint32) *Task {
	for i := range s.Tasks.Len() {
		if t := s.Tasks.Last(i); t.PID == pid {
			return t
		}
	}
	return nil
}

// OffCPU is a vCPU's thread that is switched out.
type OffCPU struct {
	Since clock.TSC // 0 if it is not, or not known to be
	Woken clock.TSC // when it became runnable again, 0 if it has not
	State TaskState
}

// InUser is a vCPU's thread outside KVM_RUN.
type InUser struct {
	Since   clock.TSC // 0 if it is not
	Reason  UserExit
	Address uint64
}

// HostCPU is one CPU of the host.
type HostCPU struct {
	// Task is the pid of what runs there since Since, if that is no vCPU's thread;
	// Since is 0 if it is one, or not known.
	Task  uint32
	Since clock.TSC
	// IdleSince is when it entered C-state Idle, 0 if it is in none.
	IdleSince clock.TSC
	Idle      uint8
	IRQ       HostIRQ
	IRQs      uint8     // nesting
	IRQSince  clock.TSC // of the outermost interrupt
}
