// Package interval lays out what the thread of a vCPU did: a line of states
// without gaps, measured and not deduced from steps that came later.
//
// The line is made of a trace.State: of its exits and entries, and of the stretches
// that scheduler, user-space, halt and interrupt events told. Where events tell
// nothing, the state is Unknown. Time that two of them claim belongs to the one
// that is named first here:
//
//	held by the debugger; switched out; outside KVM_RUN; host interrupt on its CPU;
//	halt polling; in an exit; in the guest
package interval

import (
	"sort"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// State is what a vCPU's thread is doing.
type State uint8

// The states.
const (
	Unknown  State = iota
	Guest          // executes guest code
	Exit           // in KVM, because of an exit: Reason is a trace.ExitReason
	User           // outside KVM_RUN: Reason is a trace.UserExit, Address its port or address
	Poll           // halt polling
	Asleep         // blocked: switched out and not runnable
	Runnable       // switched out and runnable: Task holds its CPU
	Stopped        // switched out by SIGSTOP or a debugger
	Off            // switched out, in a state that is not told
	HostIRQ        // a host interrupt on its CPU: Reason is a trace.HostIRQ
	Held           // held by this debugger
	NumStates
)

// Names names the states.
var Names = [NumStates]string{"unknown", "in guest", "in exit", "user space", "halt polling", "asleep", "runnable",
	"stopped", "switched out", "host interrupt", "held by the debugger"}

// String returns the name of the state.
func (s State) String() string { return Names[min(s, NumStates-1)] }

// Interval is a piece of the line.
type Interval struct {
	From, To clock.TSC
	State    State
	Reason   uint8
	// Task is the task that held the CPU of a runnable thread; HasTask is false if
	// no event tells one, and a Task of pid 0 is the idle task.
	Task    uint32
	HasTask bool
	Address uint64
}

// Cycles is the length of the interval.
func (i *Interval) Cycles() clock.Cycles { return i.To.Sub(i.From) }

// states says which State a stretch is.
var states = [trace.NumStretches]State{trace.StretchSleep: Asleep, trace.StretchRunnable: Runnable,
	trace.StretchStopped: Stopped, trace.StretchOff: Off, trace.StretchUser: User, trace.StretchPoll: Poll,
	trace.StretchIRQ: HostIRQ, trace.StretchHeld: Held}

// ranks orders the claims on the same time.
var ranks = [NumStates]int{Unknown: 0, Guest: 1, Exit: 2, Poll: 3, HostIRQ: 4, User: 5, Off: 6, Asleep: 6, Runnable: 6,
	Stopped: 6, Held: 7}

// Line returns the states of vCPU n from one moment to another, in order and
// without gaps.
func Line(s *trace.State, n uint8, from, to clock.TSC) []Interval {
	if from >= to || int(n) >= len(s.VCPUs) {
		return nil
	}
	l := line{s: s, n: n, from: from, to: to}
	l.exits()
	l.stretches()
	l.open()
	return l.merge()
}

type line struct {
	s        *trace.State
	n        uint8
	from, to clock.TSC
	claims   []Interval
}

// claim takes an interval that overlaps the line.
func (l *line) claim(i Interval) {
	i.From, i.To = max(i.From, l.from), min(i.To, l.to)
	if i.From < i.To {
		l.claims = append(l.claims, i)
	}
}

// exits claims the time in exits, and between them the time in the guest. It goes
// back from the last one, so that a short line costs little.
func (l *line) exits() {
	x, v := &l.s.Exits, &l.s.VCPUs[l.n]
	left := clock.TSC(0) // of the exit after, 0 if there was none
	if v.InGuest {
		left = l.to
	}
	for i := x.Len() - 1; i >= 0; i-- {
		r := x.At(i)
		if r.VCPU != l.n {
			continue
		}
		end := r.EntryAt
		if end != 0 && left != 0 {
			l.claim(Interval{From: end, To: left, State: Guest})
		}
		if end == 0 && r.Num == v.Exit {
			end = l.to
		}
		if end != 0 {
			l.claim(Interval{From: r.At, To: end, State: Exit, Reason: uint8(r.Reason)})
		}
		if left = r.At; left <= l.from {
			return
		}
	}
}

// stretches claims what other events told. They are kept in the order in which
// they ended.
func (l *line) stretches() {
	l.each(func(r *trace.Stretch) {
		state := states[r.Kind]
		switch {
		case r.Kind == trace.StretchHeld:
		case r.Kind == trace.StretchIRQ && r.PCPU == l.s.VCPUs[l.n].PCPU:
		case r.VCPU != l.n || state == Unknown:
			return
		}
		iv := Interval{From: r.From, To: r.To, State: state, Reason: r.Reason, Address: r.Address}
		if state == Runnable {
			l.holders(iv, r.PCPU)
			return
		}
		l.claim(iv)
	})
}

// each calls f for the stretches that overlap the line, the last one first.
func (l *line) each(f func(*trace.Stretch)) {
	x := &l.s.Stretches
	for i := x.Len() - 1; i >= 0; i-- {
		r := x.At(i)
		if r.To <= l.from {
			return
		}
		if r.From < l.to {
			f(r)
		}
	}
}

// holders divides the time of a runnable thread among the tasks that its CPU ran.
func (l *line) holders(iv Interval, cpu uint8) {
	l.claim(iv)
	l.each(func(r *trace.Stretch) {
		if r.Kind == trace.StretchTask && r.PCPU == cpu && r.From < iv.To && r.To > iv.From {
			part := iv
			part.From, part.To, part.Task, part.HasTask = max(r.From, iv.From), min(r.To, iv.To), r.Task, true
			l.claim(part)
		}
	})
}

// open claims what has not ended.
func (l *line) open() {
	v := &l.s.VCPUs[l.n]
	if o := &v.Off; o.Since != 0 {
		asleep := l.to
		if o.State == trace.TaskRunnable {
			asleep = o.Since
		} else if o.Woken != 0 {
			asleep = o.Woken
		}
		st := Asleep
		switch o.State {
		case trace.TaskUnknown:
			st = Off
		case trace.TaskStopped:
			st = Stopped
		}
		l.claim(Interval{From: o.Since, To: asleep, State: st})
		run := Interval{From: asleep, To: l.to, State: Runnable}
		l.holders(run, v.PCPU)
		if v.PCPU != trace.NoCPU {
			if p := &l.s.HostCPUs[v.PCPU]; p.Since != 0 {
				run.From, run.Task, run.HasTask = max(run.From, p.Since), p.Task, true
				l.claim(run)
			}
		}
	}
	if v.User.Since != 0 {
		l.claim(Interval{From: v.User.Since, To: l.to, State: User, Reason: uint8(v.User.Reason), Address: v.User.Address})
	}
	if v.Halt == trace.HaltPolling {
		l.claim(Interval{From: v.HaltedAt, To: l.to, State: Poll})
	}
	if h := l.s.Held.Since; h != 0 {
		l.claim(Interval{From: h, To: l.to, State: Held})
	}
}

// merge gives each moment to the claim of the highest rank, among equals to the
// one made last.
func (l *line) merge() []Interval {
	cuts := []clock.TSC{l.from, l.to}
	for i := range l.claims {
		cuts = append(cuts, l.claims[i].From, l.claims[i].To)
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	// The claims are gone through in the order in which they begin.
	order := make([]int, len(l.claims))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return l.claims[order[i]].From < l.claims[order[j]].From })
	var out []Interval
	var live []int
	next := 0
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		if from == to {
			continue
		}
		for ; next < len(order) && l.claims[order[next]].From <= from; next++ {
			live = append(live, order[next])
		}
		best, kept := Interval{}, live[:0]
		bestAt := -1
		for _, c := range live {
			iv := &l.claims[c]
			if iv.To <= from {
				continue
			}
			kept = append(kept, c)
			if d := ranks[iv.State] - ranks[best.State]; d > 0 || d == 0 && c > bestAt {
				best, bestAt = *iv, c
			}
		}
		live = kept
		best.From, best.To = from, to
		out = join(out, best)
	}
	return out
}

// join appends i to the line, or prolongs its last interval.
func join(line []Interval, i Interval) []Interval {
	if n := len(line); n > 0 {
		if last := &line[n-1]; last.To == i.From && last.State == i.State && last.Reason == i.Reason &&
			last.Task == i.Task && last.HasTask == i.HasTask && last.Address == i.Address {
			last.To = i.To
			return line
		}
	}
	return append(line, i)
}
