//go:build linux && amd64

package kvm

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// insideEnv is set inside the emulated machines of package vmmtest, which have a
// real KVM: a missing one is a failure there.
const insideEnv = "TICKTRAP_INSIDE"

// needKVM opens KVM, or skips the test with the reason.
func needKVM(t *testing.T) *System {
	t.Helper()
	s, err := Open()
	if errors.Is(err, ErrUnavailable) && os.Getenv(insideEnv) == "" {
		t.Skipf("needs KVM: %v", err)
	}
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

const codeAt = 0x1000

// boot makes a VM of one vCPU with code at codeAt in real mode, and binds it.
// The test's goroutine ends with the test, and its thread with it.
func boot(t *testing.T, o Options, code []byte) (*VM, *CPU) {
	t.Helper()
	s := needKVM(t)
	mem, err := NewMemory(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	if err := mem.WriteAt(code, codeAt); err != nil {
		t.Fatal(err)
	}
	o.VCPUs, o.HaltPoll = 1, -1
	if o.Placement == InVMM && o.Deadline == BadCure {
		if o.Deadline, err = s.ProbeDeadline(); err != nil {
			t.Fatal(err)
		}
	}
	vm, err := s.NewVM(mem, o)
	if err != nil {
		t.Fatal(err)
	}
	c := vm.CPU(0)
	if err := c.startReal(codeAt); err != nil {
		t.Fatal(err)
	}
	if err := c.Bind(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Unbind(); vm.Close() })
	return vm, c
}

func TestExitsReachTheLoop(t *testing.T) {
	code := []byte{
		0xb0, 0x41, // 1000 mov al, 0x41
		0xe6, 0x10, // 1002 out 0x10, al
		0xe5, 0x20, // 1004 in ax, 0x20
		0xe7, 0x30, // 1006 out 0x30, ax
		0xbe, 0x40, 0x10, // 1008 mov si, 0x1040
		0xb9, 0x03, 0x00, // 100b mov cx, 3
		0xba, 0x99, 0x00, // 100e mov dx, 0x99
		0xf3, 0x6e, // 1011 rep outsb
		0x66, 0xb9, 0x1b, 0x00, 0x00, 0x00, // 1013 mov ecx, 0x1b
		0x0f, 0x32, // 1019 rdmsr
		0x66, 0xb9, 0x0b, 0x08, 0x00, 0x00, // 101b mov ecx, 0x80b
		0x0f, 0x30, // 1021 wrmsr
		0xf4,             // 1023 hlt
		0xb8, 0x00, 0xf0, // 1024 mov ax, 0xf000
		0x8e, 0xd8, // 1027 mov ds, ax
		0xc6, 0x06, 0x00, 0xff, 0x77, // 1029 mov byte [0xff00], 0x77: physical 0xfff00
		0xf4, // 102e hlt
	}
	// RAM ends at 1 MiB, so the store hits RAM; a shorter RAM makes it MMIO.
	s := needKVM(t)
	mem, err := NewMemory(512 << 10)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	for _, w := range []struct {
		b  []byte
		at uint64
	}{{code, codeAt}, {[]byte("xyz"), 0x1040}} {
		if err := mem.WriteAt(w.b, w.at); err != nil {
			t.Fatal(err)
		}
	}
	cure, err := s.ProbeDeadline()
	if err != nil {
		t.Fatal(err)
	}
	vm, err := s.NewVM(mem, Options{Placement: InVMM, VCPUs: 1, HaltPoll: -1, Deadline: cure})
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	c := vm.CPU(0)
	if err := c.startReal(codeAt); err != nil {
		t.Fatal(err)
	}
	if err := c.Bind(); err != nil {
		t.Fatal(err)
	}
	defer c.Unbind()

	io := func(port uint64, size uint8, write bool, data uint64) vmm.Exit {
		return vmm.Exit{Reason: vmm.ExitIO, Addr: port, Size: size, Write: write, Data: data}
	}
	want := []struct {
		name   string
		exit   vmm.Exit
		answer uint64 // for reads
	}{
		{"out", io(0x10, 1, true, 0x41), 0},
		{"in", io(0x20, 2, false, 0), 0xbeef},
		{"out of what in gave", io(0x30, 2, true, 0xbeef), 0},
		{"first string item", io(0x99, 1, true, 'x'), 0},
		{"second string item", io(0x99, 1, true, 'y'), 0},
		{"third string item", io(0x99, 1, true, 'z'), 0},
		{"apic base", vmm.Exit{Reason: vmm.ExitRDMSR, Addr: 0x1b}, 0x12345678_fee00900},
		{"x2apic eoi", vmm.Exit{Reason: vmm.ExitWRMSR, Addr: 0x80b, Data: 0x12345678_fee00900, Write: true}, 0},
		{"hlt", vmm.Exit{Reason: vmm.ExitHLT, RIP: 0x1023}, 0},
		{"mmio", vmm.Exit{Reason: vmm.ExitMMIO, Addr: 0xfff00, Size: 1, Write: true, Data: 0x77}, 0},
		{"last hlt", vmm.Exit{Reason: vmm.ExitHLT, RIP: 0x102e}, 0},
	}
	for _, w := range want {
		got := c.Run(vm.Now(), clock.Never)
		got.At = 0
		if got.Reason != vmm.ExitHLT {
			got.RIP = 0 // port accesses stop before or after the instruction, by kernel
		}
		if diff := cmp.Diff(w.exit, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", w.name, diff)
		}
		if !got.Write && (got.Reason == vmm.ExitIO || got.Reason == vmm.ExitRDMSR) {
			c.CompleteRead(w.answer)
		}
	}
}

func TestRefusedMSRFaults(t *testing.T) {
	code := []byte{
		0xc7, 0x06, 0x34, 0x00, 0x00, 0x20, // mov word [4*13], 0x2000
		0xc7, 0x06, 0x36, 0x00, 0x00, 0x00, // mov word [4*13+2], 0
		0x66, 0xb9, 0x83, 0x08, 0x00, 0x00, // mov ecx, 0x883
		0x0f, 0x30, // wrmsr
		0xf4, // hlt
	}
	vm, c := boot(t, Options{Placement: InVMM}, code)
	if err := vm.Memory().WriteAt([]byte{0xe6, 0x55}, 0x2000); err != nil { // out 0x55, al
		t.Fatal(err)
	}
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitWRMSR || e.Addr != 0x883 {
		t.Fatalf("first exit %+v, want WRMSR of 0x883", e)
	}
	c.Inject(vmm.Event{Kind: vmm.EventException, Vector: 13, HasCode: true})
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO || e.Addr != 0x55 {
		t.Errorf("after #GP: exit %+v, want the handler's OUT to 0x55", e)
	}
}

// spinCode enables interrupts and spins without exits.
var spinCode = []byte{
	0xfb,       // sti
	0x90,       // nop
	0xeb, 0xfd, // jmp to the nop
}

func TestTimeLimitStopsSpinningGuest(t *testing.T) {
	vm, c := boot(t, Options{Placement: InVMM}, spinCode)
	for i := range 3 {
		until := vm.Now() + clock.TSC(vm.Hz()/200)
		e := c.Run(vm.Now(), until)
		if e.Reason != vmm.StopLimit || e.At < until {
			t.Fatalf("run %d until %d: %+v, want StopLimit at or after it", i, until, e)
		}
	}
	if e := c.Run(vm.Now(), vm.Now()); e.Reason != vmm.StopLimit {
		t.Errorf("limit already reached: %+v, want StopLimit", e)
	}
}

func TestKickStopsSpinningGuest(t *testing.T) {
	vm, c := boot(t, Options{Placement: InVMM}, spinCode)
	for i := range 5 {
		go c.Kick()
		if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.StopSignal {
			t.Fatalf("run %d: %+v, want StopSignal", i, e)
		}
	}
	c.Kick() // before the run: must not be lost
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.StopSignal {
		t.Errorf("kicked before the run: %+v, want StopSignal", e)
	}
	go c.Kick()
	if !c.Wait(clock.Never) {
		t.Error("Wait reports the time limit, want the kick")
	}
	if c.Wait(vm.Now() + 1000) {
		t.Error("Wait reports a kick that was consumed")
	}
}

func TestInterruptIsInjectedThroughTheWindow(t *testing.T) {
	code := []byte{
		0xbc, 0x00, 0x80, // mov sp, 0x8000
		0xc7, 0x06, 0x00, 0x01, 0x00, 0x20, // mov word [4*0x40], 0x2000
		0xc7, 0x06, 0x02, 0x01, 0x00, 0x00, // mov word [4*0x40+2], 0
		0xe6, 0x10, // out 0x10, al
		0xfb,       // sti
		0x90,       // nop
		0xeb, 0xfd, // jmp to the nop
	}
	vm, c := boot(t, Options{Placement: InVMM}, code)
	if err := vm.Memory().WriteAt([]byte{0xe6, 0x40, 0xcf}, 0x2000); err != nil { // out 0x40, al; iret
		t.Fatal(err)
	}
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO {
		t.Fatalf("first exit %+v, want OUT", e)
	}
	if ok, why := c.Interruptible(); ok || why != vmm.NotReadyIF {
		t.Fatalf("Interruptible with IF clear = %v, %v", ok, why)
	}
	c.WantWindow(true, false)
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.StopWindow {
		t.Fatalf("second exit %+v, want StopWindow", e)
	}
	c.WantWindow(false, false)
	if ok, why := c.Interruptible(); !ok {
		t.Fatalf("Interruptible in the window = false, %v", why)
	}
	c.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
	if e := c.Run(vm.Now(), clock.Never); e.Reason != vmm.ExitIO || e.Addr != 0x40 {
		t.Errorf("after injection: %+v, want the handler's OUT to 0x40", e)
	}
}

func TestRegistersSurviveARoundTrip(t *testing.T) {
	_, c := boot(t, Options{Placement: InVMM}, spinCode)
	want := c.Registers()
	for i := range want.GPR {
		want.GPR[i] = 0x1111111111111111 * uint64(i)
	}
	want.RFLAGS, want.CR8, want.LSTAR, want.KernelGSBase = 0x246, 5, 0x1234, 0x5678
	want.Shadow = true
	want.DR[0], want.DR[7] = 0xdead, 0x400
	want.FPU.XMM[3] = [2]uint64{1, 2}
	want.FPU.ST[1] = vmm.X87{Mant: 1 << 63, Exp: 0x3fff}
	want.FPU.Tag, want.FPU.Top = 0x81, 7
	if err := c.SetRegisters(&want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Registers()); diff != "" {
		t.Errorf("registers (-set +read):\n%s", diff)
	}
	if c.GPR(9) != want.GPR[9] || c.RIP() != want.RIP {
		t.Errorf("GPR(9), RIP = %#x, %#x before the next run, want the values set", c.GPR(9), c.RIP())
	}
	saved := c.Save()
	c.Reset(true)
	if got := c.Registers(); got.RIP != 0xfff0 || got.CS.Base != 0xffff0000 {
		t.Errorf("after Reset: CS base %#x, RIP %#x, want the reset vector", got.CS.Base, got.RIP)
	}
	c.Restore(saved)
	if diff := cmp.Diff(want, c.Registers()); diff != "" {
		t.Errorf("registers after Restore (-want +got):\n%s", diff)
	}
}

func TestGuestTSCFollowsTheCommonLine(t *testing.T) {
	code := []byte{
		0x0f, 0x31, // rdtsc
		0x66, 0xef, // out dx, eax
		0x0f, 0x31, // rdtsc
		0x66, 0xef, // out dx, eax
	}
	vm, c := boot(t, Options{Placement: InVMM}, code)
	read := func(offset clock.Cycles) {
		t.Helper()
		before := vm.Now().Add(offset)
		e := c.Run(vm.Now(), clock.Never)
		after := vm.Now().Add(offset)
		r := c.Registers()
		got := clock.TSC(r.GPR[vmm.RDX]<<32 | r.GPR[vmm.RAX]&0xffffffff)
		if e.Reason != vmm.ExitIO || got < before || got > after {
			t.Errorf("offset %d: %v, guest TSC %d, want %d to %d", offset, e.Reason, got, before, after)
		}
	}
	read(0)
	c.SetTSCOffset(1 << 40)
	got := c.guestOffset()
	if _, err := c.askOffset(); err == nil && got != 1<<40 {
		t.Errorf("offset %d, want %d: this kernel can set it", got, 1<<40)
	}
	if d := got - 1<<40; d <= -c.nearTSC() || d >= c.nearTSC() {
		t.Errorf("offset %d, want %d within %d", got, 1<<40, c.nearTSC())
	}
	read(got)
}

func TestRunDoesNotAllocate(t *testing.T) {
	code := []byte{0xe6, 0x10, 0xeb, 0xfc} // out 0x10, al; jmp back
	vm, c := boot(t, Options{Placement: InVMM}, code)
	got := testing.AllocsPerRun(20, func() { c.Run(vm.Now(), clock.Never) })
	if got != 0 {
		t.Errorf("Run allocates %v times per exit, want 0", got)
	}
}
