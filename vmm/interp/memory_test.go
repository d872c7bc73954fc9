package interp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestMemoryBounds(t *testing.T) {
	for _, size := range []uint64{0, 4095, 4097, 1<<40 + 4096} {
		if _, err := NewMemory(size); err == nil {
			t.Errorf("NewMemory(%d) succeeds", size)
		}
	}
	m, err := NewMemory(8192)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		gpa uint64
		n   int
		ok  bool
	}{
		{0, 8192, true}, {8191, 1, true}, {8192, 0, true}, {8192, 1, false}, {8000, 200, false}, {1 << 63, 1, false},
		{^uint64(0), 2, false},
	}
	for _, tt := range tests {
		p := bytes.Repeat([]byte{0xff}, tt.n)
		h := m.Hash()
		if err := m.WriteAt(p, tt.gpa); (err == nil) != tt.ok {
			t.Errorf("WriteAt(%d bytes, %#x): %v", tt.n, tt.gpa, err)
		}
		if err := m.ReadAt(p, tt.gpa); (err == nil) != tt.ok {
			t.Errorf("ReadAt(%d bytes, %#x): %v", tt.n, tt.gpa, err)
		}
		if !tt.ok && m.Hash() != h {
			t.Errorf("a refused write of %d bytes at %#x changed memory", tt.n, tt.gpa)
		}
	}
}

// Snapshots of a memory that goes on changing must all stay what they were.
func TestSnapshotsStayWhatTheyWere(t *testing.T) {
	const size = 6 << 20
	r := rand.New(rand.NewPCG(1, 1))
	m, err := NewMemory(size)
	if err != nil {
		t.Fatal(err)
	}
	type kept struct {
		s *MemSnapshot
		h uint64
	}
	var all []kept
	for range 300 {
		switch r.IntN(4) {
		case 0:
			all = append(all, kept{m.Snapshot(), m.Hash()})
		case 1:
			if len(all) > 0 {
				k := all[r.IntN(len(all))]
				if err := m.Restore(k.s); err != nil {
					t.Fatal(err)
				}
				if h := m.Hash(); h != k.h {
					t.Fatalf("restored snapshot has hash %#x, want %#x", h, k.h)
				}
			}
		default:
			p := make([]byte, 1+r.IntN(9000))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			if err := m.WriteAt(p, r.Uint64N(size-10000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, k := range all {
		if err := m.Restore(k.s); err != nil || m.Hash() != k.h {
			t.Errorf("snapshot %d changed: %v", i, err)
		}
	}
}

func TestSnapshotOfAnotherSizeIsRefused(t *testing.T) {
	a, _ := NewMemory(8192)
	b, _ := NewMemory(4096)
	if err := a.Restore(b.Snapshot()); err == nil {
		t.Error("Restore takes a snapshot of another size")
	}
}

func TestHashSeesContentOnly(t *testing.T) {
	a, _ := NewMemory(1 << 20)
	b, _ := NewMemory(1 << 20)
	write := func(m *Memory, at uint64, v byte) {
		if err := m.WriteAt([]byte{v}, at); err != nil {
			t.Fatal(err)
		}
	}
	write(a, 0x5000, 1)
	write(a, 0x5000, 0) // a page of zeroes that is not the shared one
	if a.Hash() != b.Hash() {
		t.Error("a written page of zeroes changes the hash")
	}
	write(a, 0x5000, 1)
	write(b, 0x6000, 1)
	if a.Hash() == b.Hash() {
		t.Error("the same byte in another page gives the same hash")
	}
}

func TestChangedCodeIsExecuted(t *testing.T) {
	tests := []struct {
		name, code string
		want       uint64 // RAX
	}{
		{"next instruction of the block", "c60425 0a000100 42 90 b801000000 f4", 0x42},
		{"same instruction twice round", "b801000000 ffc3 c60425 01000100 02 83fb02 75ec f4", 2},
		{"in the next page's instruction", "e9 f80f0000", 0x55}, // the instruction lies across the page's end
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code)
			// mov $1, %eax across the page; change its last bytes; again.
			m.write(testCode+0xffd, assemble("b801000000 ffc3 c60425 00100100 00 c60425 fe0f0100 55 83fb02 75e4 f4"))
			m.runTo(vmm.ExitHLT)
			if got := m.cpu.GPR(vmm.RAX); got != tt.want {
				t.Errorf("EAX %#x, want %#x", got, tt.want)
			}
		})
	}
}

func TestCodeChangedFromOutside(t *testing.T) {
	m := newMachine(t, mode64, "b801000000 ebf9")
	m.run(100)
	m.write(testCode+1, []byte{2})
	if m.run(100); m.cpu.GPR(vmm.RAX) != 2 {
		t.Errorf("after WriteAt the old code runs: EAX %d", m.cpu.GPR(vmm.RAX))
	}
	s := m.mem.Snapshot()
	m.write(testCode+1, []byte{3})
	m.run(100)
	if err := m.mem.Restore(s); err != nil {
		t.Fatal(err)
	}
	if m.run(100); m.cpu.GPR(vmm.RAX) != 2 {
		t.Errorf("after Restore the later code runs: EAX %d", m.cpu.GPR(vmm.RAX))
	}
	// Another CPU on the same memory writes, through its own TLB.
	o := newMachine(t, mode64, "")
	other := &machine{t: t, mem: m.mem, cpu: New(m.mem, Config{Costs: DefaultCosts()})}
	r := o.cpu.Registers()
	r.RIP = testCode + 0x100
	if err := other.cpu.SetRegisters(&r); err != nil {
		t.Fatal(err)
	}
	m.write(testCode+0x100, assemble("c60425 01000100 07 ebfe"))
	other.run(100)
	if m.run(100); m.cpu.GPR(vmm.RAX) != 7 {
		t.Errorf("after another CPU's write the old code runs: EAX %d", m.cpu.GPR(vmm.RAX))
	}
}

func TestCPUsSeeEachOthersWrites(t *testing.T) {
	m := newMachine(t, mode64, "8b0425 00000200 ebf7")
	other := &machine{t: t, mem: m.mem, cpu: New(m.mem, Config{Costs: DefaultCosts()})}
	r := m.cpu.Registers()
	r.RIP = testCode + 0x100
	if err := other.cpu.SetRegisters(&r); err != nil {
		t.Fatal(err)
	}
	m.write(testCode+0x100, assemble("ff0425 00000200 ebf7"))
	for i := range 5 {
		m.run(50)
		before := m.cpu.GPR(vmm.RAX)
		other.run(50)
		m.mem.Snapshot() // shares the page again
		if m.run(50); m.cpu.GPR(vmm.RAX) <= before || m.cpu.GPR(vmm.RAX) != m.get64(testData)&0xffffffff {
			t.Fatalf("round %d: read %d after %d, memory holds %d", i, m.cpu.GPR(vmm.RAX), before, m.get64(testData))
		}
	}
}
