//go:build linux && amd64

package kvm

import (
	"testing"

	"golang.org/x/sys/unix"

	"ticktrap/internal/clock"
	"ticktrap/trace"
	"ticktrap/vmm"
	"ticktrap/vmm/guest"
)

// outLoop is a guest that leaves for a port in an endless loop.
var outLoop = []byte{0xe6, 0x80, 0xeb, 0xfc} // out 0x80, al; jmp back

// BenchmarkExit is the round trip of one port exit: the bare system call, this
// package's CPU, and the whole run loop without and with its events folded.
func BenchmarkExit(b *testing.B) {
	b.Run("system-call", func(b *testing.B) {
		_, c := bootB(b)
		for b.Loop() {
			if errno := runVCPU(c.fd); errno != 0 && errno != unix.EINTR {
				b.Fatal(errno)
			}
		}
	})
	b.Run("cpu", func(b *testing.B) {
		vm, c := bootB(b)
		for b.Loop() {
			if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO {
				b.Fatalf("exit %+v", e)
			}
		}
	})
	for _, fold := range []bool{false, true} {
		name := map[bool]string{false: "loop", true: "loop-folded"}[fold]
		b.Run(name, func(b *testing.B) { benchLoop(b, fold) })
	}
}

func bootB(b *testing.B) (*VM, *CPU) {
	b.Helper()
	s, err := Open()
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { s.Close() })
	mem, err := NewMemory(1 << 20)
	if err != nil {
		b.Fatal(err)
	}
	if err := mem.WriteAt(outLoop, codeAt); err != nil {
		b.Fatal(err)
	}
	vm, err := s.NewVM(mem, Options{Placement: InVMM, VCPUs: 1, HaltPoll: -1, Deadline: CureNone})
	if err != nil {
		b.Fatal(err)
	}
	c := vm.CPU(0)
	if err := c.startReal(codeAt); err != nil {
		b.Fatal(err)
	}
	if err := c.Bind(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Unbind(); vm.Close(); mem.Close() })
	return vm, c
}

// benchLoop runs the whole engine for b.N exits.
func benchLoop(b *testing.B, fold bool) {
	img, err := guest.Load("out", outLoop, guest.Options{Format: guest.Flat})
	if err != nil {
		b.Fatal(err)
	}
	st := &trace.State{}
	exits := 0
	e, err := New(Config{Guest: img, Placement: InVMM, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(ev trace.Event) {
			if ev.Kind == trace.KindExit {
				exits++
			}
			if fold {
				st.Apply(&ev)
			}
		}))
	if err != nil {
		b.Skip(err)
	}
	defer e.Close()
	st.Reset(&trace.Header{Hz: 1e9, VCPUs: 1})
	b.ResetTimer()
	e.Run(clock.Never, func() bool { return exits >= b.N })
}
