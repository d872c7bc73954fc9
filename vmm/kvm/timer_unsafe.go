//go:build linux && amd64

package kvm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// kickSignal is the signal of timers and kicks. In KVM_RUN it makes that return
// EINTR. Its handler sets kvm_run.immediate_exit, so one that comes just before
// KVM_RUN is not lost: nothing has to be blocked, and KVM need not change the
// signal mask twice in every KVM_RUN. The Go runtime leaves real-time signals
// from 35 on alone.
const kickSignal = 40

// exitByte leads to kvm_run.immediate_exit of the vCPU that a thread runs; 0 if
// there is none. Kick signals carry its address. It is not Go's pointer: what it
// leads to is a mapping, and it is read in a signal handler.
type exitByte struct{ at uintptr }

// lead makes signals set the byte of p, or of nothing if p is nil.
func (x *exitByte) lead(p *runPage) {
	x.at = 0
	if p != nil {
		x.at = uintptr(unsafe.Pointer(&p.ImmediateExit))
	}
}

// sigaction mirrors the kernel's struct sigaction.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Flags of sigaction (asm/signal.h).
const (
	saSiginfo  = 0x00000004
	saRestorer = 0x04000000
	saOnStack  = 0x08000000
	saRestart  = 0x10000000
)

// onKick and kickReturn are the addresses of the handler and of what it returns
// to. The handler uses a few words of the thread's signal stack, which Go gives
// to every thread, and touches nothing of Go's.
func onKick() (pc uintptr)
func kickReturn() (pc uintptr)

// kickPID is this process, whose kicks the handler obeys.
var kickPID int32

// handleKicks gives kickSignal its handler, in the whole process.
func handleKicks() error {
	atomic.StoreInt32(&kickPID, int32(unix.Getpid()))
	sa := sigaction{handler: onKick(), restorer: kickReturn(), flags: saSiginfo | saRestorer | saOnStack | saRestart}
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, kickSignal, uintptr(unsafe.Pointer(&sa)), 0, 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("handling the kick signal: %w", errno)
	}
	return nil
}

// siginfo mirrors the used start of siginfo_t of a queued signal.
type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid, uid           int32
	value              uint64
	_                  [96]byte
}

const siQueue = -1

// sendKick sends kickSignal to a thread of this process.
func sendKick(tid int, x *exitByte) {
	pid := unix.Getpid()
	i := siginfo{signo: kickSignal, code: siQueue, pid: int32(pid), uid: int32(unix.Getuid()),
		value: uint64(uintptr(unsafe.Pointer(x)))}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(pid), uintptr(tid), kickSignal,
		uintptr(unsafe.Pointer(&i)), 0, 0)
}

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

// newThreadTimer makes a timer whose signals carry x, which must live as long.
func newThreadTimer(tid int, x *exitByte) (threadTimer, error) {
	ev := sigevent{signo: kickSignal, notify: sigevThreadID, tid: int32(tid), value: uint64(uintptr(unsafe.Pointer(x)))}
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

// doze sleeps until word is no longer val, a signal arrives, or ns nanoseconds
// have passed; negative is for ever. Go's scheduler is told, so that other
// goroutines get the processor.
func doze(word *atomic.Uint32, val uint32, ns clock.Nanos) {
	var ts unix.Timespec
	var limit unsafe.Pointer
	if ns >= 0 {
		ts = unix.NsecToTimespec(int64(ns))
		limit = unsafe.Pointer(&ts)
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(val), uintptr(limit), 0, 0)
}

// rouse wakes what dozes at word.
func rouse(word *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1, 0, 0, 0)
}

// Operations of futex(2) on words that one process uses.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)
