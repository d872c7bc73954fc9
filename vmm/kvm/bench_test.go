//go:build linux && amd64

package kvm

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
)

// The guests of BenchmarkExit leave for one thing in an endless loop.
var exitLoops = []struct {
	name   string
	code   []byte
	rcx    uint64
	reason vmm.ExitKind
}{
	{"pio", []byte{0xe6, 0x80, 0xeb, 0xfc}, 0, vmm.ExitIO},               // out 0x80, al; jmp back
	{"msr", []byte{0x0f, 0x32, 0xeb, 0xfc}, msrTSCAdjust, vmm.ExitRDMSR}, // rdmsr; jmp back
}

// BenchmarkExit is the round trip of one exit, in TSC cycles, by who drives the
// vCPU: a loop of raw system calls, this package's CPU, and the run loop without
// its events, with them, and with them folded. All of them take turns, so that
// their ratios to the first hold on a machine whose speed varies; each figure is
// that of the best round, an iteration is one round of all.
func BenchmarkExit(b *testing.B) {
	for _, x := range exitLoops {
		b.Run(x.name, func(b *testing.B) {
			drivers := []struct {
				name string
				run  func(clock.TSC) (perExit float64)
			}{
				{"raw", rawLoop(b, x.code, x.rcx)},
				{"cpu", cpuLoop(b, x.code, x.rcx, x.reason)},
				{"off", engineLoop(b, x.code, x.rcx, true, false)},
				{"on", engineLoop(b, x.code, x.rcx, false, false)},
				{"folded", engineLoop(b, x.code, x.rcx, false, true)},
			}
			hz, err := Frequency()
			if err != nil {
				b.Fatal(err)
			}
			round := clock.TSC(hz / 5)
			per := make([][]float64, len(drivers))
			b.ResetTimer()
			for range b.N {
				for i, d := range drivers {
					per[i] = append(per[i], d.run(round))
				}
			}
			var raw float64
			for i, d := range drivers {
				least := slices.Min(per[i])
				if i == 0 {
					raw = least
				}
				b.ReportMetric(least, d.name+"-tsc/exit")
				b.ReportMetric(least/raw, d.name+"/raw")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// meter tells the cycles per exit between the first and the last look at a
// counter of exits.
type meter struct{ t0, n0, t, n uint64 }

func (m *meter) look(exits uint64) {
	m.t, m.n = rdtsc(), exits
	if m.t0 == 0 {
		m.t0, m.n0 = m.t, m.n
	}
}

func (m *meter) perExit() float64 { return float64(m.t-m.t0) / float64(m.n-m.n0) }

// onThread makes f's calls run on one thread, which a vCPU is bound to.
func onThread(b *testing.B, c *CPU, f func(clock.TSC) float64) func(clock.TSC) float64 {
	b.Helper()
	ask, answer, bound := make(chan clock.TSC), make(chan float64), make(chan error)
	go func() {
		bound <- c.Bind()
		for d := range ask {
			answer <- f(d)
		}
		c.Unbind()
		close(answer)
	}()
	if err := <-bound; err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { close(ask); <-answer })
	return func(d clock.TSC) float64 { ask <- d; return <-answer }
}

// spin calls once, which makes an exit, until d cycles have passed.
func spin(vm *VM, d clock.TSC, once func() bool) float64 {
	var m meter
	n := uint64(0)
	for until := vm.Now() + d; vm.Now() < until; m.look(n) {
		for range 50 {
			if once() {
				n++
			}
		}
	}
	return m.perExit()
}

func rawLoop(b *testing.B, code []byte, rcx uint64) func(clock.TSC) float64 {
	vm, c := bootB(b, code, rcx)
	c.ShowRegisters(false)
	return onThread(b, c, func(d clock.TSC) float64 {
		return spin(vm, d, func() bool {
			_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(c.fd), _KVM_RUN, 0)
			return errno == 0
		})
	})
}

func cpuLoop(b *testing.B, code []byte, rcx uint64, want vmm.ExitKind) func(clock.TSC) float64 {
	vm, c := bootB(b, code, rcx)
	c.ShowRegisters(false)
	return onThread(b, c, func(d clock.TSC) float64 {
		return spin(vm, d, func() bool {
			e := c.Run(0, clock.Never)
			return e.Reason == want
		})
	})
}

// bootB makes a VM whose vCPU starts at code in real mode.
func bootB(b *testing.B, code []byte, rcx uint64) (*VM, *CPU) {
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
	if err := mem.WriteAt(code, codeAt); err != nil {
		b.Fatal(err)
	}
	vm, err := s.NewVM(mem, Options{Placement: InVMM, VCPUs: 1, HaltPoll: -1, Deadline: CureNone})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { vm.Close(); mem.Close() })
	c := vm.CPU(0)
	if err := c.startReal(codeAt); err != nil {
		b.Fatal(err)
	}
	c.SetGPR(vmm.RCX, rcx)
	return vm, c
}

// benchSink takes events and may fold them.
type benchSink struct {
	st   trace.State
	fold bool
	n    int
}

func (s *benchSink) Emit(e trace.Event) { s.EmitBatch([]trace.Event{e}, func() bool { return false }) }

func (s *benchSink) EmitBatch(events []trace.Event, done func() bool) int {
	s.n += len(events)
	for i := range events {
		if s.fold {
			s.st.Apply(&events[i])
		}
	}
	done()
	return len(events)
}

// engineLoop makes a whole engine.
func engineLoop(b *testing.B, code []byte, rcx uint64, untraced, fold bool) func(clock.TSC) float64 {
	img, err := guest.Load("loop", code, guest.Options{Format: guest.Flat})
	if err != nil {
		b.Fatal(err)
	}
	sink := &benchSink{fold: fold}
	e, err := New(Config{Guest: img, Placement: InVMM, VCPUs: 1, RAM: 16 << 20, Knobs: vmm.DefaultKnobs(), Untraced: untraced}, sink)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { e.Close() })
	h := e.Header()
	sink.st.Reset(&h)
	l := e.(*loopEngine)
	l.vm.CPU(0).SetGPR(vmm.RCX, rcx)
	return func(d clock.TSC) float64 {
		var m meter
		calls := 0
		e.Run(e.Now()+d, func() bool {
			if calls++; calls%64 == 0 {
				m.look(l.m.Exits())
			}
			return false
		})
		return m.perExit()
	}
}
