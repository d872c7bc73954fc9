//go:build linux && amd64

package kvm

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Signals of other processes carry values that mean nothing here.
func TestKickSignalsOfOthersSetNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := handleKicks(); err != nil {
		t.Fatal(err)
	}
	own := int32(unix.Getpid())
	const siUser = 0
	for _, tt := range []struct {
		name      string
		code, pid int32
		want      uint8
	}{{"own", siQueue, own, 1}, {"another process's", siQueue, own + 1, 0}, {"a plain kill", siUser, own, 0}} {
		var page runPage
		var x exitByte
		x.lead(&page)
		i := siginfo{signo: kickSignal, code: tt.code, pid: tt.pid, value: uint64(uintptr(unsafe.Pointer(&x)))}
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(own), uintptr(unix.Gettid()), kickSignal,
			uintptr(unsafe.Pointer(&i)), 0, 0)
		if errno != 0 {
			t.Fatalf("%s: %v", tt.name, errno)
		}
		if page.ImmediateExit != tt.want {
			t.Errorf("%s signal: immediate_exit is %d, want %d", tt.name, page.ImmediateExit, tt.want)
		}
		runtime.KeepAlive(&x)
	}
}
