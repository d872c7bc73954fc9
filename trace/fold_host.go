package trace

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// stretch keeps a stretch that is worth keeping.
func (s *State) stretch(x Stretch) {
	if x.From != 0 && x.From < x.To {
		s.Stretches.Push(x)
	}
}

// foldTask names a task, unless it has that name already.
func foldTask(s *State, _ *VCPU, e *Event) {
	x := e.Task()
	t := Task{PID: uint32(x.PID), Prio: int32(max(-1, min(x.Prio, 999)))}
	for i := range 8 {
		t.Name[i], t.Name[8+i] = byte(x.Comm0>>(8*i)), byte(x.Comm1>>(8*i))
	}
	if old := s.Task(t.PID); old != nil {
		*old = t
		return
	}
	s.Tasks.Push(t)
}

// foldSched follows the threads of vCPUs and, where a source tells of other tasks
// (VCPU is then NoCPU), what runs on the host CPUs.
func foldSched(s *State, v *VCPU, e *Event) {
	x := e.Sched()
	p := s.hostCPU(byteOf(x.PCPU))
	if v == nil {
		if p != nil {
			s.occupied(p, e.TSC, byteOf(x.PCPU))
			p.Task, p.Since = uint32(x.Task), e.TSC
		}
		return
	}
	v.Loaded, v.PCPU = x.In, byteOf(x.PCPU)
	if !x.In {
		v.LoopMode = OutsideGuestMode
		v.Off = OffCPU{Since: e.TSC, State: x.State}
		if x.State == TaskUnknown && v.Halt == HaltBlocked {
			v.Off.State = TaskSleeping
		}
		if p != nil {
			p.Task, p.Since = uint32(x.Task), e.TSC
		}
		return
	}
	if p != nil {
		p.Task = uint32(x.Task) // the one that ran last, should the others not be told
		s.occupied(p, e.TSC, v.PCPU)
		p.Since = 0
	}
	s.switchedIn(e.VCPU, v, e.TSC)
}

// occupied ends the time of the task that ran on a host CPU.
func (s *State) occupied(p *HostCPU, at clock.TSC, cpu uint8) {
	s.stretch(Stretch{From: p.Since, To: at, Kind: StretchTask, Task: p.Task, VCPU: NoCPU, PCPU: cpu})
}

// switchedIn divides the time that a vCPU's thread was off its CPU.
func (s *State) switchedIn(n uint8, v *VCPU, at clock.TSC) {
	o := v.Off
	v.Off = OffCPU{}
	x := Stretch{From: o.Since, To: at, VCPU: n, PCPU: v.PCPU}
	switch {
	case o.State == TaskRunnable:
		x.Kind = StretchRunnable
	case o.Woken != 0:
		asleep := x
		asleep.To, asleep.Kind = o.Woken, sleepKinds[o.State]
		s.stretch(asleep)
		x.From, x.Kind = max(o.Woken, o.Since), StretchRunnable
	default:
		x.Kind = sleepKinds[min(o.State, NumTaskStates-1)]
	}
	s.stretch(x)
}

// sleepKinds says what a switched-out thread that is not runnable does.
var sleepKinds = [NumTaskStates]StretchKind{TaskUnknown: StretchOff, TaskRunnable: StretchRunnable,
	TaskSleeping: StretchSleep, TaskUninterruptible: StretchSleep, TaskStopped: StretchStopped, TaskDead: StretchOff}

func foldWaking(_ *State, v *VCPU, e *Event) {
	if v.Off.Since != 0 && v.Off.Woken == 0 {
		v.Off.Woken = e.TSC
	}
}

func foldUserExit(_ *State, v *VCPU, e *Event) {
	x := e.UserExit()
	v.User = InUser{Since: e.TSC, Reason: x.Reason, Address: x.Address}
}

// leaveUser ends a time in user space: with the call of KVM_RUN, or with the entry
// for want of that.
func (s *State) leaveUser(v *VCPU, e *Event) {
	s.stretch(Stretch{From: v.User.Since, To: e.TSC, Kind: StretchUser, Reason: uint8(v.User.Reason),
		Address: v.User.Address, VCPU: e.VCPU, PCPU: e.PCPU})
	v.User = InUser{}
}

func foldUserEntry(s *State, v *VCPU, e *Event) { s.leaveUser(v, e) }

func (s *State) hostCPU(n uint8) *HostCPU {
	if n == NoCPU {
		return nil
	}
	return &s.HostCPUs[n]
}

func foldHostIdle(s *State, _ *VCPU, e *Event) {
	p := s.hostCPU(e.PCPU)
	if p == nil {
		return
	}
	s.stretch(Stretch{From: p.IdleSince, To: e.TSC, Kind: StretchIdle, Reason: p.Idle, VCPU: NoCPU, PCPU: e.PCPU})
	p.IdleSince = 0
	if x := e.HostIdle(); x.In {
		p.IdleSince, p.Idle = e.TSC, byteOf(x.State)
	}
}

// foldHostIRQ keeps the outermost of nested interrupts.
func foldHostIRQ(s *State, _ *VCPU, e *Event) {
	p := s.hostCPU(e.PCPU)
	switch x := e.HostIRQ(); {
	case p == nil:
	case x.In:
		if p.IRQs == 0 {
			p.IRQSince, p.IRQ = e.TSC, x.What
		}
		p.IRQs++
	case p.IRQs > 0:
		if p.IRQs--; p.IRQs == 0 {
			s.stretch(Stretch{From: p.IRQSince, To: e.TSC, Kind: StretchIRQ, Reason: uint8(p.IRQ), VCPU: NoCPU, PCPU: e.PCPU})
		}
	}
}
