package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// counter is a loop that counts in the line of its own code: incl at 0x10038; jmp.
const counter = "ff0425 38000100 eb f7"

// Data beside code is written without decoding the code anew.
func TestDataBesideCodeDecodesNothing(t *testing.T) {
	m := newMachineWith(t, mode64, counter, Config{Costs: DefaultCosts(), NoSkip: true})
	m.run(1000)
	before := m.cpu.Stats()
	m.run(100_000)
	after := m.cpu.Stats()
	if n := after.Blocks - before.Blocks; n > 2 {
		t.Errorf("%d blocks were decoded in %d instructions", n, after.Executed-before.Executed)
	}
	if n := uint32(m.get64(testCode + 0x38)); uint64(n) < after.Executed/2-2 {
		t.Errorf("counted to %d in %d instructions", n, after.Executed)
	}
}

// Code that is written is decoded anew, in its line, in another, and across two pages.
func TestWrittenCodeIsDecodedAnew(t *testing.T) {
	for _, at := range []uint64{testCode + 0x20, testCode + 0x800, testCode + 0xffd} {
		// The code at RSI is mov $imm, %eax; ret. It is called, changed and called again.
		m := newMachine(t, mode64, "ffd6 89c3 c746 01 44332211 ffd6 f4")
		m.write(at, assemble("b801000000 c3"))
		m.set(vmm.RSI, at)
		m.runTo(vmm.ExitHLT)
		if m.cpu.GPR(vmm.RBX) != 1 || m.cpu.GPR(vmm.RAX) != 0x11223344 {
			t.Errorf("code at %#x gives %#x, then %#x", at, m.cpu.GPR(vmm.RBX), m.cpu.GPR(vmm.RAX))
		}
	}
}

// What the host writes into the page is seen as well, by every CPU, and what it writes
// back is known again.
func TestCodeThatOthersWriteIsDecodedAnew(t *testing.T) {
	m := newMachine(t, mode64, "b801000000 f4")
	again := func(want uint64) {
		t.Helper()
		m.change(func(r *vmm.Registers) { r.RIP, r.GPR[vmm.RAX] = testCode, 0 })
		m.runTo(vmm.ExitHLT)
		if got := m.cpu.GPR(vmm.RAX); got != want {
			t.Errorf("RAX %#x, want %#x", got, want)
		}
	}
	again(1)
	m.write(testCode+1, []byte{2})
	again(2)
	m.write(testCode+1, []byte{1})
	again(1)
	m.write(testCode+0x30, []byte{7}) // same line, not code
	again(1)
}

func BenchmarkDataBesideCode(b *testing.B) {
	m := newMachineWith(b, mode64, counter, Config{Costs: DefaultCosts(), NoSkip: true})
	for b.Loop() {
		m.run(clock.TSC(10_000))
	}
	b.ReportMetric(float64(m.cpu.Stats().Executed)/b.Elapsed().Seconds()/1e6, "Minsn/s")
}
