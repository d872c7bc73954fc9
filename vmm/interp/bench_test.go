package interp

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// benchGuests are endless loops of the kinds that guests are made of.
var benchGuests = []struct{ name, code string }{
	{"sieve", `
		bf 00000300          # mov $0x30000, %edi
		be 02000000          # 5: mov $2, %esi
		8d 04 36             # a: lea (%rsi,%rsi), %eax
		c6 04 07 00          # d: movb $0, (%rdi,%rax)
		48 01 f0             # add %rsi, %rax
		48 3d 00000100       # cmp $0x10000, %rax
		7c f1                # jl d
		83 c6 01             # add $1, %esi
		81 fe 00010000       # cmp $0x100, %esi
		75 e3                # jne a
		eb dc                # jmp 5
	`},
	{"calls", `
		31 c0                # xor %eax, %eax
		e8 04000000          # 2: call b
		ff c0                # inc %eax
		eb f7                # jmp 2
		55                   # b: push %rbp
		48 89 e5             # mov %rsp, %rbp
		8b 04 24             # mov (%rsp), %eax
		5d                   # pop %rbp
		c3                   # ret
	`},
	{"copy", `
		be 00000300          # 0: mov $0x30000, %esi
		bf 00000500          # mov $0x50000, %edi
		b9 00080000          # mov $0x800, %ecx
		48 8b 06             # f: mov (%rsi), %rax
		48 89 07             # mov %rax, (%rdi)
		48 83 c6 08          # add $8, %rsi
		48 83 c7 08          # add $8, %rdi
		83 e9 01             # sub $1, %ecx
		75 ed                # jnz f
		eb dc                # jmp 0
	`},
	{"rep-movsb", `
		be 00000300          # 0: mov $0x30000, %esi
		bf 00000500          # mov $0x50000, %edi
		b9 00400000          # mov $0x4000, %ecx
		f3 a4                # rep movsb
		eb ed                # jmp 0
	`},
}

func BenchmarkGuest(b *testing.B) {
	for _, g := range benchGuests {
		b.Run(g.name, func(b *testing.B) {
			m := newMachineWith(b, mode64, g.code, Config{Costs: DefaultCosts(), NoSkip: true})
			m.run(100_000)
			start := m.cpu.Stats().Executed
			b.ResetTimer()
			for range b.N {
				m.run(100_000)
			}
			b.ReportMetric(float64(m.cpu.Stats().Executed-start)/1e6/b.Elapsed().Seconds(), "Minsn/s")
		})
	}
}

func BenchmarkInterrupt(b *testing.B) {
	m := newMachine(b, mode64, "fb 90 ebfd") // sti; nop; jmp .-1
	m.write(testHandler(0x40), assemble("48cf"))
	m.run(1000)
	for range b.N {
		m.cpu.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
		m.run(clock.TSC(300))
	}
}

func BenchmarkSnapshot(b *testing.B) {
	mem, err := NewMemory(128 << 20)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		mem.Snapshot()
		for p := range uint64(20) { // pages that a guest writes between two
			if err := mem.WriteAt([]byte{byte(i)}, p<<15); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	for _, g := range benchGuests {
		m := newMachine(t, mode64, g.code)
		m.run(200_000)
		if n := testing.AllocsPerRun(20, func() { m.run(20_000) }); n != 0 {
			t.Errorf("%s: %v allocations per Run, want 0", g.name, n)
		}
	}
}
