//go:build linux && amd64

package kvm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"ticktrap/internal/clock"
)

// kickSignal is the signal of timers and kicks. It is blocked in the vCPU's
// thread except inside KVM_RUN: there it makes KVM_RUN return EINTR and stays
// pending, so no handler runs and none is lost. The Go runtime leaves real-time
// signals from 35 on alone.
const kickSignal = 40

const kickSet uint64 = 1 << (kickSignal - 1)

// sigevent mirrors struct sigevent with SIGEV_THREAD_ID.
type sigevent struct {
	value  uint64
	signo  int32
	notify int32
	tid    int32
	_      [44]byte
}

const sigevThreadID = 4

// threadTimer is a POSIX timer that sends kickSignal to one thread.
type threadTimer struct{ id int32 }

func newThreadTimer(tid int) (threadTimer, error) {
	ev := sigevent{signo: kickSignal, notify: sigevThreadID, tid: int32(tid)}
	var t threadTimer
	_, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC,
		uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&t.id)))
	if errno != 0 {
		return t, fmt.Errorf("creating a timer for the vCPU thread: %w", errno)
	}
	return t, nil
}

// set arms the timer ns from now; 0 or less disarms it.
func (t threadTimer) set(ns clock.Nanos) {
	var spec unix.ItimerSpec
	if ns > 0 {
		spec.Value = unix.NsecToTimespec(int64(ns))
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(t.id), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	if errno != 0 {
		panic(fmt.Sprintf("BUG: arming the vCPU's timer for %d ns: %v", ns, errno))
	}
}

func (t threadTimer) delete() { _, _, _ = unix.Syscall(unix.SYS_TIMER_DELETE, uintptr(t.id), 0, 0) }

// takeSignal consumes a pending kickSignal of this thread, if there is one.
func takeSignal() bool {
	set := kickSet
	var zero unix.Timespec
	r, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), 0,
		uintptr(unsafe.Pointer(&zero)), 8, 0, 0)
	return errno == 0 && r == kickSignal
}

// waitSignal sleeps until kickSignal arrives, at most ns nanoseconds; negative is
// for ever. Go's scheduler is told, so that other goroutines get the processor.
func waitSignal(ns clock.Nanos) bool {
	set := kickSet
	var ts unix.Timespec
	var limit unsafe.Pointer
	if ns >= 0 {
		ts = unix.NsecToTimespec(int64(ns))
		limit = unsafe.Pointer(&ts)
	}
	r, _, errno := unix.Syscall6(unix.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), 0, uintptr(limit), 8, 0, 0)
	return errno == 0 && r == kickSignal
}

// blockSignal blocks kickSignal in this thread and returns the mask that was.
func blockSignal() (old uint64, err error) {
	var set, was unix.Sigset_t
	set.Val[0] = kickSet
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, &was); err != nil {
		return 0, fmt.Errorf("blocking the kick signal: %w", err)
	}
	return was.Val[0], nil
}
