package explain

import (
	"fmt"
	"strings"
	"unicode"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/interval"
)

// measured puts what the line of the vCPU's thread tells in the place of what the
// steps of the chain were put down to: a step that ends late because its thread
// was switched out did not take that time.
func (b *builder) measured() {
	var out []span
	for _, sp := range b.spans {
		out = append(out, b.overlay(sp)...)
	}
	b.spans = out
}

// overlay cuts a span where the line says something better.
func (b *builder) overlay(sp span) []span {
	var out []span
	at := sp.from
	for _, iv := range interval.Line(b.s, b.c.VCPU, sp.from, sp.to) {
		c, detail, ok := b.stateCause(&iv, sp.cause)
		if !ok {
			continue
		}
		if iv.From > at {
			out = append(out, span{at, iv.From, sp.cause, sp.detail})
		}
		out = append(out, span{iv.From, iv.To, c, detail})
		at = iv.To
	}
	if at < sp.to {
		out = append(out, span{at, sp.to, sp.cause, sp.detail})
	}
	return out
}

// stateCause is the cause that a measured state is; ok is false if the state says
// no more than the step it was in, whose cause is step.
func (b *builder) stateCause(iv *interval.Interval, step cause) (c cause, detail string, ok bool) {
	if settled[step] {
		return 0, "", false
	}
	switch iv.State {
	case interval.Runnable:
		switch {
		case iv.HasTask && iv.Task == 0: // its CPU was idle: it is being woken
			return causeSwitch, "", true
		case iv.HasTask:
			return causeHeldOff, b.taskName(iv.Task), true
		}
		return causePreempted, "", true
	case interval.Stopped:
		return causeStopped, "", true
	case interval.Off:
		if timed[step] {
			return 0, "", false // asleep until its timer, as the step says
		}
		return causeOffCPU, "", true
	case interval.Asleep:
		if timed[step] {
			return 0, "", false
		}
		return causeWake, "", true
	case interval.User:
		return causeUser, userWords(iv), true
	case interval.HostIRQ:
		if trace.HostIRQ(iv.Reason) == trace.HostIRQTimer && (timed[step] || step == causeExpire) {
			return 0, "", false
		}
		return causeHostIRQ, trace.HostIRQ(iv.Reason).String(), true
	case interval.Held:
		return causeDebugger, "", true
	case interval.Exit:
		if b.hasCosts() || !named[step] {
			return 0, "", false
		}
		return causeInExit, trace.ExitReason(iv.Reason).String(), true
	}
	return 0, "", false
}

// timed are the steps in which a vCPU may well sleep: its timer has not fired.
var timed = [numCauses]bool{causeTimerLate: true, causeIdle: true, causeHostTimer: true, causeNeverFired: true,
	causeMistimed: true}

// settled are the reasons for which a vector does not come, whatever the thread
// does.
var settled = [numCauses]bool{causeAsleepPIR: true, causeAsleepPending: true, causeVanished: true, causeAPICOff: true,
	causeSVROff: true, causeMasked: true, causeNoEOI: true, causeTPR: true, causeHaltedOff: true}

// named are the steps that a source without cost events cannot tell from other
// work of the same exit.
var named = [numCauses]bool{causeProgram: true, causeExpire: true, causeWaitCheck: true}

// taskName is a task as people know it.
func (b *builder) taskName(pid uint32) string {
	t := b.s.Task(pid)
	if t == nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("%s, pid %d, %s", printable(t.String()), pid, prioWords(t.Prio))
}

// prioWords says what a kernel priority means.
func prioWords(p int32) string {
	switch {
	case p < 0:
		return "deadline class"
	case p < 100:
		return fmt.Sprintf("real-time priority %d", 99-p)
	case p < 140:
		return fmt.Sprintf("nice %d", int(p)-120)
	}
	return "idle class"
}

func userWords(iv *interval.Interval) string {
	w := "KVM_EXIT_" + trace.UserExit(iv.Reason).String()
	if iv.Address != ^uint64(0) {
		switch trace.UserExit(iv.Reason) {
		case trace.UserExitIO:
			w += fmt.Sprintf(", port %#x", iv.Address)
		case trace.UserExitMMIO:
			w += fmt.Sprintf(", address %#x", iv.Address)
		case trace.UserExitRDMSR, trace.UserExitWRMSR:
			w += fmt.Sprintf(", MSR %#x", iv.Address)
		}
	}
	return w
}

// printable replaces what could act on a terminal: names of tasks are anybody's.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// otherCPU reports whether the host timer fired on another CPU than the vCPU was
// on, which then was in the guest.
func (b *builder) otherCPU() bool {
	c := b.c
	return c.FireAt != 0 && c.FireGuest && c.FirePCPU != trace.NoCPU && c.FireVCPU != trace.NoCPU && c.FirePCPU != c.FireVCPU
}

// idleAt reports whether the host CPU on which the timer fired had been idle since
// the moment at which it was due.
func (b *builder) idleAt() (state int, idle bool) {
	c := b.c
	for i := b.s.Stretches.Len() - 1; i >= 0; i-- {
		r := b.s.Stretches.At(i)
		if r.To < c.Fire {
			break
		}
		if r.PCPU != c.FirePCPU || r.From > max(c.Fire, c.BackedAt) || r.To.Add(slackOf(b.s.Hz)) < c.FireAt {
			continue
		}
		switch {
		case r.Kind == trace.StretchIdle:
			return int(r.Reason), true
		case r.Kind == trace.StretchTask && r.Task == 0:
			state, idle = -1, true
		}
	}
	return state, idle
}

// slackOf is how long the way out of an idle state to the timer's callback may be
// told apart: 10 us.
func slackOf(hz clock.Hz) clock.Cycles { return clock.Cycles(uint64(hz) / 100_000) }
