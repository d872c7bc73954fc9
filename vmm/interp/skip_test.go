package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// loopPieces are the instructions that random loops are made of. A loop begins
// with any number of them and ends with a branch back to its start.
var loopPieces = []string{
	"90",                   // nop
	"f390",                 // pause
	"8b04 25 00000200",     // mov 0x20000, %eax
	"48 8b1c25 08000200",   // mov 0x20008, %rbx
	"8b4e10",               // mov 0x10(%rsi), %ecx
	"85c0",                 // test %eax, %eax
	"3d 05000000",          // cmp $5, %eax
	"803c25 00000200 00",   // cmpb $0, 0x20000
	"0f31",                 // rdtsc
	"0f31 48c1e220 4809d0", // rdtsc; shl $32, %rdx; or %rdx, %rax
	"0f31 48c1e220 89c0 4809c2 4829fa 4881fa 00100000", // the same into %rdx; sub %rdi, %rdx; cmp $0x1000, %rdx
	"4839f8",             // cmp %rdi, %rax
	"4c39c0",             // cmp %r8, %rax
	"4939c0",             // cmp %rax, %r8
	"4d89c1",             // mov %r8, %r9
	"4889c1",             // mov %rax, %rcx
	"4801f8",             // add %rdi, %rax
	"4c29c0",             // sub %r8, %rax
	"4c29c2",             // sub %r8, %rdx
	"29f8",               // sub %edi, %eax
	"3d 00400000",        // cmp $0x4000, %eax
	"31c0",               // xor %eax, %eax
	"ffc3",               // inc %ebx
	"4983c201",           // add $1, %r10
	"c60425 00000200 00", // movb $0, 0x20000
	"c60425 01000200 01", // movb $1, 0x20001
	"8904 25 10000200",   // mov %eax, 0x20010
	"50 58",              // push %rax; pop %rax
	"53 5b",              // push %rbx; pop %rbx
	"9c 9d",              // pushf; popf
	"b904000000 f3ab",    // mov $4, %ecx; rep stos
	"0fb6c0",             // movzx %al, %eax
	"4885d2",             // test %rdx, %rdx
	"88e0",               // mov %ah, %al
	"6683c001",           // add $1, %ax
	"d3e8",               // shr %cl, %eax
}

// randomLoop returns a loop that ends with a random branch to its start, and a
// HLT behind it.
func randomLoop(r *rand.Rand) (code, text string) {
	n := r.IntN(6)
	var parts []string
	for range n {
		parts = append(parts, loopPieces[r.IntN(len(loopPieces))])
	}
	body := strings.Join(parts, " ")
	size := len(assemble(body))
	op := 0x70 + r.IntN(16)
	if r.IntN(3) == 0 {
		op = []int{0x72, 0x76, 0x7c, 0x7e, 0xeb, 0xeb, 0x74}[r.IntN(7)]
	}
	// prefix: one instruction outside the loop
	text = fmt.Sprintf("%s %02x%02x", body, op, uint8(-(size + 2)))
	return "90 " + text + " f4", text
}

// startLoop makes a machine that is about to enter the loop.
func startLoop(t *testing.T, code string, noSkip bool, seed uint64) *machine {
	r := rand.New(rand.NewPCG(seed, 2))
	m := newMachineWith(t, mode64, code, Config{Costs: DefaultCosts(), NoSkip: noSkip})
	m.now = clock.TSC(r.Uint64N(1 << 20))
	if r.IntN(4) == 0 {
		m.now = 1<<32 - clock.TSC(r.Uint64N(20000)) // the low half wraps
	}
	target := uint64(m.now) + r.Uint64N(200000)
	m.set(vmm.RDI, target)
	if r.IntN(2) == 0 {
		m.set(vmm.RDI, uint64(m.now)-r.Uint64N(5000))
	}
	m.set(vmm.R8, target)
	m.set(vmm.RSI, testData)
	m.put64(testData, r.Uint64N(3))
	i := vmm.Intercepts{HLT: true}
	if r.IntN(3) == 0 {
		i.PLEGap, i.PLEWindow = clock.Cycles(20+r.IntN(100)), clock.Cycles(1000+r.IntN(20000))
	}
	m.cpu.SetIntercepts(i)
	if r.IntN(4) == 0 {
		m.cpu.SetTSCOffset(clock.Cycles(r.Int64N(1 << 40)))
	}
	return m
}

func TestSkippingChangesNothing(t *testing.T) {
	skipped := 0
	for seed := uint64(1); seed <= 600; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		code, text := randomLoop(r)
		a, b := startLoop(t, code, false, seed), startLoop(t, code, true, seed)
		for range 3 {
			n := clock.TSC(r.Uint64N(15000))
			ea, eb := a.run(n), b.run(n)
			ra, rb := a.cpu.Registers(), b.cpu.Registers()
			if ea != eb || ra != rb || a.mem.Hash() != b.mem.Hash() || a.cpu.ple != b.cpu.ple {
				t.Fatalf("seed %d, loop %s: with skipping\n%+v\n%+v\nwithout\n%+v\n%+v", seed, text, ea, ra, eb, rb)
			}
			sa, sb := a.cpu.Stats(), b.cpu.Stats()
			if sa.Executed+sa.Skipped+sa.Filled != sb.Executed || sb.Skipped+sb.Filled != 0 {
				t.Fatalf("seed %d, loop %s: executed %d + skipped %d + filled %d, without skipping %d",
					seed, text, sa.Executed, sa.Skipped, sa.Filled, sb.Executed)
			}
			a.cpu.Skip()
			b.cpu.Skip()
		}
		if a.cpu.Stats().Skips > 0 {
			skipped++
		}
	}
	if skipped < 120 {
		t.Errorf("only %d of 600 loops were skipped: the test proves little", skipped)
	}
}

func TestBusyWaitsAreSkipped(t *testing.T) {
	tests := []struct{ name, code string }{
		{"jump to itself", "ebfe"},
		{"poll of a byte", "803c25 00000200 00 74f6"},
		{"poll with pause", "f390 8b0425 00000200 85c0 74f3"},
		{"poll in a called function", "e8 05000000 85c0 74f7 f4 8b0425 00000200 c3"},
		{"rdtsc below target", "0f31 48c1e220 4809d0 4c39c0 72f2"},
		{"rdtsc as compilers do it", "f390 0f31 48c1e220 89c0 4809c2 4829fa 4881fa ffffff7f 76e7"},
		{"rdtsc and a poll", "8b0c25 10000200 39f9 730e 0f31 48c1e220 89c0 4809c2 4c39c2 72e5 f4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code)
			m.set(vmm.R8, 1<<40)
			m.set(vmm.RDI, 1)
			if e := m.run(1_000_000); e.Reason != vmm.StopLimit {
				t.Fatalf("exit %d, want StopLimit", e.Reason)
			}
			s := m.cpu.Stats()
			if s.Executed > 2000 || s.Skipped < 10000 {
				t.Errorf("executed %d, skipped %d: want nearly everything skipped", s.Executed, s.Skipped)
			}
		})
	}
}
