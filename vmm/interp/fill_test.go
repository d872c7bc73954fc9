package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// fillLoops are loops behind which there is a HLT. RAX is an address, RCX a step,
// RDX a bound of RAX, RSI and RDI the first and the last value of a count.
var fillLoops = []struct {
	name, code string
	fills      bool
}{
	{"memset", "c60000 4883c001 4839d0 75f4", true},
	{"of a register's low byte", "8818 4883c001 4839d0 75f5", true},
	{"of a register's second byte", "8838 4883c001 4839d0 75f5", true},
	{"quadwords", "48c700efbeadde 4883c008 4839d0 72f0", true},
	{"words, as long as not above", "66c7000180 4883c002 4839d0 76f2", true},
	{"a stride in a register", "c60000 4801c8 4839d0 72f5", true},
	{"bound on the left", "c60000 4801c8 4839c2 77f5", true},
	{"bound as a constant", "c60000 4883c004 483d00300200 7cf1", true},
	{"down", "c60000 4883c0ff 4839d0 75f4", true},
	{"by index", "c68600000300aa 83c601 39fe 75f2", true},
	{"by index, signed", "c70496 01000000 83c601 39fe 7cf2", true},
	{"32-bit count that wraps", "67c60600 83c6ff 39fe 75f5", true},
	{"a step of the wrong width", "c60000 6683c001 4839d0 75f3", false},
	{"stores what it counts", "488930 4883c601 4839fe 75f4", false},
	{"doubles its address", "c60000 4801c0 4839d0 72f5", false},
	{"compares what stays", "c60000 4883c001 4839f7 75f4", false},
	{"compares with memory", "c60000 4883c001 483b5500 75f3", false},
	{"goes by the sign", "c60000 4883c001 4839d0 78f4", false},
	{"subtracts", "c60000 4883e801 4839d0 75f4", false},
	{"loads", "8a18 4883c001 4839d0 75f5", false},
	{"relative to itself", "c6050001000000 4883c001 4839d0 75f0", false},
	{"a longer body", "90 c60000 4883c001 4839d0 75f3", false},
}

// startFill is a machine before a fill. The memory is mapped in small pages, some
// of which are code.
func startFill(t *testing.T, code string, noSkip bool, seed uint64) *machine {
	r := rand.New(rand.NewPCG(seed, 7))
	m := newMachineWith(t, mode64, code+" f4", Config{Costs: DefaultCosts(), NoSkip: noSkip})
	m.put64(testTables+0x2000, 0x300000|7)
	for i := range uint64(512) {
		m.put64(0x300000+i*8, i<<12|7)
	}
	start := testData + r.Uint64N(0x3000)
	m.set(vmm.RAX, start)
	m.set(vmm.RBP, testData)
	m.set(vmm.RBX, 0x1122334455667788)
	m.set(vmm.RCX, 1+r.Uint64N(3000))
	m.set(vmm.RDX, start+8*r.Uint64N(1500))
	m.set(vmm.RSI, r.Uint64N(50))
	m.set(vmm.RDI, r.Uint64N(5000))
	if r.IntN(4) == 0 { // over the code of the loop itself
		m.set(vmm.RAX, testCode-0x100)
		m.set(vmm.RDX, testCode+0x100)
	}
	return m
}

func TestFillsChangeNothing(t *testing.T) {
	for _, tt := range fillLoops {
		t.Run(tt.name, func(t *testing.T) {
			filled := false
			for seed := range uint64(12) {
				a, b := startFill(t, tt.code, false, seed), startFill(t, tt.code, true, seed)
				r := rand.New(rand.NewPCG(seed, 8))
				for range 4 {
					n := clock.TSC(r.Uint64N(6000))
					ea, eb := a.run(n), b.run(n)
					ra, rb := a.cpu.Registers(), b.cpu.Registers()
					if ea != eb || ra != rb || a.mem.Hash() != b.mem.Hash() {
						t.Fatalf("seed %d: in one go\n%+v\n%+v\none by one\n%+v\n%+v", seed, ea, ra, eb, rb)
					}
					sa, sb := a.cpu.Stats(), b.cpu.Stats()
					if sa.Executed+sa.Skipped+sa.Filled != sb.Executed {
						t.Fatalf("seed %d: executed %d + skipped %d + filled %d, one by one %d", seed, sa.Executed, sa.Skipped,
							sa.Filled, sb.Executed)
					}
					filled = filled || sa.Filled > 0
				}
			}
			if filled != tt.fills {
				t.Errorf("done in one go: %v, want %v", filled, tt.fills)
			}
		})
	}
}

func TestFillsStopAtWatchpoints(t *testing.T) {
	m := newMachine(t, mode64, "c60000 4883c001 4839d0 75f4 f4")
	m.set(vmm.RAX, testData)
	m.set(vmm.RDX, testData+0x100)
	m.change(func(r *vmm.Registers) { r.DR[0], r.DR[7] = testData+0x40, 1<<16|1 })
	if e := m.runTo(vmm.ExitHLT); e.RIP != testHandler(excDB) || m.cpu.GPR(vmm.RAX) != testData+0x40 {
		t.Errorf("ended at %#x with RAX %#x, want the #DB handler after the store at %#x", e.RIP, m.cpu.GPR(vmm.RAX), testData+0x40)
	}
}

func BenchmarkFill(b *testing.B) {
	for _, noSkip := range []bool{false, true} {
		b.Run(fmt.Sprintf("one-by-one=%v", noSkip), func(b *testing.B) {
			m := newMachineWith(b, mode64, "48c7c000000200 c60000 4883c001 4839d0 75f4 ebeb",
				Config{Costs: DefaultCosts(), NoSkip: noSkip})
			m.set(vmm.RDX, testData+0x1000)
			m.run(clock.TSC(4 * b.N))
			b.ReportMetric(float64(b.N)/1e6/b.Elapsed().Seconds(), "Miter/s")
		})
	}
}
