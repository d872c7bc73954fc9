package interp

import (
	"encoding/binary"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// The addresses that paging tests look at.
const (
	pageLin  = 0x40200000 // the linear page under test
	pagePhys = 0x300000
)

// tablesFor fills page tables so that the code stays mapped (identity) and the
// entries on the path to pageLin are path, from the top. 0 in path means the
// usual entry that leads to the next table.
func (m *machine) tablesFor(kind string, path [4]uint64) {
	const a, b, c, d = 0x100000, 0x101000, 0x102000, 0x103000
	or := func(v, def uint64) uint64 {
		if v == 0 {
			return def
		}
		return v
	}
	switch kind {
	case "4-level":
		m.put64(a, or(path[0], b|7))
		m.put64(b, 0x104000|7)
		m.put64(0x104000, 0x87) // the low 2 MiB
		m.put64(b+8, or(path[1], c|7))
		m.put64(c+8, or(path[2], d|7))
		m.put64(d, or(path[3], pagePhys|7))
		m.put64(d+5*8, 0x305000|7)
	case "PAE":
		m.put64(a, 0x104000|1)
		m.put64(0x104000, 0x87)
		m.put64(a+8, or(path[1], c|1))
		m.put64(c+8, or(path[2], d|7))
		m.put64(d, or(path[3], pagePhys|7))
		m.put64(d+5*8, 0x305000|7)
	case "32-bit":
		m.put32(a, 0x87)
		m.put32(a+0x100*4, or(path[2], d|7))
		m.put32(d+0x200*4, or(path[3], pagePhys|7))
	}
}

func (m *machine) put32(at, v uint64) {
	m.write(at, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

func TestPageWalk(t *testing.T) {
	const nx = 1 << 63
	type test struct {
		name  string
		kind  string
		path  [4]uint64
		acc   access
		user  bool
		setup func(r *vmm.Registers)
		phys  uint64
		code  uint32 // error code of the page fault, if phys is 0
	}
	cr4 := func(bits uint64) func(r *vmm.Registers) { return func(r *vmm.Registers) { r.CR4 |= bits } }
	noWP := func(r *vmm.Registers) { r.CR0 &^= cr0WP }
	noNX := func(r *vmm.Registers) { r.EFER &^= eferNXE }
	ac := func(r *vmm.Registers) { r.CR4 |= cr4SMAP; r.RFLAGS |= flagAC }
	tests := []test{
		{"4 KiB page", "4-level", [4]uint64{}, accRead, false, nil, pagePhys + 0x123, 0},
		{"2 MiB page", "4-level", [4]uint64{2: 0x400000 | 0x87}, accRead, false, nil, 0x400123, 0},
		{"1 GiB page", "4-level", [4]uint64{1: 0x40000000 | 0x87}, accRead, false, nil, 0x40200123, 0},
		{"absent at the top", "4-level", [4]uint64{0: 0x101006}, accRead, false, nil, 0, 0},
		{"absent page, write by user", "4-level", [4]uint64{3: pagePhys | 6}, accWrite, true, nil, 0, pfW | pfU},
		{"absent page, fetch", "4-level", [4]uint64{3: pagePhys | 6}, accFetch, false, nil, 0, pfI},
		{"user reads supervisor page", "4-level", [4]uint64{3: pagePhys | 3}, accRead, true, nil, 0, pfP | pfU},
		{"user reads below supervisor table", "4-level", [4]uint64{2: 0x103003}, accRead, true, nil, 0, pfP | pfU},
		{"user writes read-only page", "4-level", [4]uint64{3: pagePhys | 5}, accWrite, true, nil, 0, pfP | pfW | pfU},
		{"supervisor writes read-only page", "4-level", [4]uint64{3: pagePhys | 5}, accWrite, false, nil, 0, pfP | pfW},
		{"the same without WP", "4-level", [4]uint64{3: pagePhys | 5}, accWrite, false, noWP, pagePhys + 0x123, 0},
		{"modify of a read-only page", "4-level", [4]uint64{3: pagePhys | 5}, accModify, false, nil, 0, pfP | pfW},
		{"fetch from NX page", "4-level", [4]uint64{3: nx | pagePhys | 7}, accFetch, false, nil, 0, pfP | pfI},
		{"read of NX page", "4-level", [4]uint64{3: nx | pagePhys | 7}, accRead, false, nil, pagePhys + 0x123, 0},
		{"NX bit without NXE", "4-level", [4]uint64{3: nx | pagePhys | 7}, accRead, false, noNX, 0, pfP | pfRSVD},
		{"address beyond MAXPHYADDR", "4-level", [4]uint64{3: 1<<45 | pagePhys | 7}, accRead, false, nil, 0, pfP | pfRSVD},
		{"PS in the top level", "4-level", [4]uint64{0: 0x101087}, accRead, false, nil, 0, pfP | pfRSVD},
		{"unaligned 2 MiB page", "4-level", [4]uint64{2: 0x402000 | 0x87}, accRead, false, nil, 0, pfP | pfRSVD},
		{"SMEP", "4-level", [4]uint64{}, accFetch, false, cr4(cr4SMEP), 0, pfP | pfI},
		{"SMAP", "4-level", [4]uint64{}, accRead, false, cr4(cr4SMAP), 0, pfP},
		{"SMAP with AC", "4-level", [4]uint64{}, accRead, false, ac, pagePhys + 0x123, 0},
		{"SMAP, implicit access with AC", "4-level", [4]uint64{}, accSys, false, ac, 0, pfP},
		{"system access at user level", "4-level", [4]uint64{3: pagePhys | 3}, accSys, true, nil, pagePhys + 0x123, 0},
		{"PAE, 4 KiB page", "PAE", [4]uint64{}, accRead, false, nil, pagePhys + 0x123, 0},
		{"PAE, 2 MiB page", "PAE", [4]uint64{2: 0x400000 | 0x87}, accRead, false, nil, 0x400123, 0},
		{"PAE, absent pointer", "PAE", [4]uint64{1: 0x102000}, accRead, false, nil, 0, 0},
		{"PAE, reserved bit in pointer", "PAE", [4]uint64{1: 0x102003}, accRead, false, nil, 0, pfP | pfRSVD},
		{"PAE, NX", "PAE", [4]uint64{3: nx | pagePhys | 7}, accFetch, false, nil, 0, pfP | pfI},
		{"32-bit, 4 KiB page", "32-bit", [4]uint64{}, accRead, false, nil, pagePhys + 0x123, 0},
		{"32-bit, 4 MiB page", "32-bit", [4]uint64{2: 0x400000 | 0x87}, accRead, false, cr4(cr4PSE), 0x600123, 0},
		{"32-bit, PSE-36", "32-bit", [4]uint64{2: 0x400000 | 3<<13 | 0x87}, accRead, false, cr4(cr4PSE), 3<<32 + 0x600123, 0},
		{"32-bit, PS without PSE", "32-bit", [4]uint64{2: 0x103087}, accRead, false, nil, pagePhys + 0x123, 0},
		{"32-bit, fetch has no I bit", "32-bit", [4]uint64{3: pagePhys | 6}, accFetch, false, nil, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, map[string]codeMode{"4-level": mode64, "PAE": mode32, "32-bit": mode32}[tt.kind], "f4")
			m.tablesFor(tt.kind, tt.path)
			m.change(func(r *vmm.Registers) {
				r.CR0 |= cr0PG | cr0WP
				r.CR3 = 0x100000
				if tt.kind == "PAE" {
					r.CR4 |= cr4PAE
					r.EFER |= eferNXE
				}
				if tt.user {
					user(r)
				}
				if tt.setup != nil {
					tt.setup(r)
				}
			})
			for _, when := range []string{"alone", "after its neighbour"} {
				phys, ok := m.cpu.walk(pageLin+0x123, tt.acc)
				switch {
				case ok != (tt.phys != 0) || phys != tt.phys:
					t.Errorf("%s: walk = %#x, %v (error code %#x), want %#x, %#x", when, phys, ok, m.cpu.exc.code, tt.phys, tt.code)
				case !ok && (m.cpu.exc.code != tt.code || m.cpu.exc.addr != pageLin+0x123 || m.cpu.exc.vector != excPF):
					t.Errorf("%s: exception %+v, want #PF with code %#x at %#x", when, m.cpu.exc, tt.code, pageLin+0x123)
				}
				// The neighbour's entry forbids nothing.
				if m.cpu.walk(pageLin+0x5000, accRead); tt.kind == "32-bit" {
					break
				}
			}
		})
	}
}

func TestAccessedAndDirtyBits(t *testing.T) {
	tests := []struct {
		name       string
		acc        access
		leaf, path uint64
	}{
		{"read", accRead, pteA, pteA}, {"write", accWrite, pteA | pteD, pteA}, {"modify", accModify, pteA | pteD, pteA},
		{"fetch", accFetch, pteA, pteA},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, "f4")
			m.tablesFor("4-level", [4]uint64{})
			m.change(func(r *vmm.Registers) { r.CR3 = 0x100000 })
			if _, ok := m.cpu.walk(pageLin, tt.acc); !ok {
				t.Fatal("the walk faults")
			}
			if got := m.get64(0x103000) & (pteA | pteD); got != tt.leaf {
				t.Errorf("leaf entry has %#x set, want %#x", got, tt.leaf)
			}
			if got := m.get64(0x102008) & (pteA | pteD); got != tt.path {
				t.Errorf("directory entry has %#x set, want %#x", got, tt.path)
			}
		})
	}
	t.Run("fault sets nothing", func(t *testing.T) {
		m := newMachine(t, mode64, "f4")
		m.tablesFor("4-level", [4]uint64{3: pagePhys | 5})
		m.change(func(r *vmm.Registers) { r.CR3 = 0x100000 })
		m.cpu.walk(pageLin, accWrite)
		if got := m.get64(0x103000) & (pteA | pteD); got != 0 {
			t.Errorf("leaf entry has %#x set after a fault", got)
		}
	})
}

// A guest that changes a page table sees the change at once, with or without
// INVLPG: the TLB is never stale.
func TestPageTableWritesAreSeen(t *testing.T) {
	for _, tt := range []struct{ name, entry, value string }{
		{"entry of the page", "00301000", "07004000"},
		{"entry of its table", "08201000", "07501000"},
		{"entry of its directory", "08101000", "07601000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, `
				8b04 25 00002040          # mov pageLin, %eax
				c704 25 `+tt.entry+tt.value+` # movl $value, entry
				8b1c 25 00002040          # mov pageLin, %ebx
				c704 25 `+tt.entry+` 00000000 # movl $0, entry
				8b0c 25 00002040          # mov pageLin, %ecx: #PF
				f4
			`)
			m.tablesFor("4-level", [4]uint64{})
			m.put64(0x101000, 0x104000|7)
			m.put64(0x105000, 0x400000|7) // another table, and
			m.put64(0x106008, 0x105000|7) // another directory
			m.put64(pagePhys, 0x11)
			m.put64(0x400000, 0x22)
			m.change(func(r *vmm.Registers) { r.CR3 = 0x100000 })
			e := m.runTo(vmm.ExitHLT)
			if a, b := m.cpu.GPR(vmm.RAX), m.cpu.GPR(vmm.RBX); a != 0x11 || b != 0x22 || e.RIP != testHandler(excPF) {
				t.Errorf("read %#x, then %#x, ended at %#x; want 0x11, 0x22 and the #PF handler", a, b, e.RIP)
			}
		})
	}
}

func TestPageCrossingAccess(t *testing.T) {
	m := newMachine(t, mode64, "488904 25 fc0f2040 488b1c 25 fc0f2040 f4") // mov %rax, pageLin+0xffc; mov ..., %rbx
	m.tablesFor("4-level", [4]uint64{})
	m.change(func(r *vmm.Registers) { r.CR3 = 0x100000 })
	m.set(vmm.RAX, 0x1122334455667788)
	if e := m.runTo(vmm.ExitHLT); e.RIP != testHandler(excPF) || m.cpu.cr2 != pageLin+0x1000 {
		t.Errorf("ended at %#x with CR2 %#x, want a page fault at the second page, %#x", e.RIP, m.cpu.cr2, pageLin+0x1000)
	}
	if v := m.get64(pagePhys + 0xff8); v != 0 {
		t.Errorf("the first page was written: %#x", v)
	}
	m.put64(0x103008, 0x500007)
	m.change(func(r *vmm.Registers) { r.RIP, r.GPR[vmm.RSP] = testCode, testStack })
	if e := m.runTo(vmm.ExitHLT); e.RIP != testCode+16 || m.cpu.GPR(vmm.RBX) != 0x1122334455667788 {
		t.Errorf("ended at %#x, read back %#x", e.RIP, m.cpu.GPR(vmm.RBX))
	}
	if lo, hi := m.get64(pagePhys+0xff8)>>32, m.get64(0x500000)&0xffffffff; lo != 0x55667788 || hi != 0x11223344 {
		t.Errorf("memory holds %#x and %#x", lo, hi)
	}
}
