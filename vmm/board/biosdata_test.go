package board

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// placedBoard is a board of n vCPUs and memory after Place.
func placedBoard(t *testing.T, n int) ram {
	t.Helper()
	b, err := New(Config{VCPUs: n, RAM: 2 << 20, Hz: testHz}, &lines{})
	if err != nil {
		t.Fatal(err)
	}
	mem := make(ram, 2<<20)
	if err := b.Place(mem); err != nil {
		t.Fatal(err)
	}
	return mem
}

func TestMPTableListsProcessorsAndLines(t *testing.T) {
	mem := placedBoard(t, 3)
	at := bytes.Index(mem[ACPIBase:ACPIEnd], []byte("_MP_"))
	if at < 0 || at%16 != 0 {
		t.Fatalf("no floating pointer on a 16-byte boundary (%#x)", at)
	}
	p := mem[ACPIBase+at:]
	if checksum(p[:16]) != 0 {
		t.Error("the floating pointer's checksum is wrong")
	}
	le := binary.LittleEndian
	table := mem[le.Uint32(p[4:]):]
	table = table[:le.Uint16(table[4:])]
	if string(table[:4]) != "PCMP" || checksum(table) != 0 || le.Uint32(table[36:]) != lapicAddr {
		t.Errorf("configuration table %x", table[:44])
	}
	size := map[byte]int{0: 20, 1: 8, 2: 8, 3: 8, 4: 8}
	count := map[byte]int{}
	n := 0
	for e := table[44:]; len(e) > 0; e = e[size[e[0]]:] {
		if e[0] == 0 && (int(e[1]) != count[0] || e[3]&1 == 0 || e[3]&2 != 0 != (count[0] == 0)) {
			t.Errorf("processor %d: %x", count[0], e[:20])
		}
		if e[0] == 3 && e[5] == 0 && e[7] != 2 {
			t.Errorf("IRQ 0 goes to pin %d, want 2", e[7])
		}
		count[e[0]]++
		n++
	}
	if want := map[byte]int{0: 3, 1: 1, 2: 1, 3: 15, 4: 2}; n != int(le.Uint16(table[34:])) || !equalCounts(count, want) {
		t.Errorf("%d entries, by type %v, want %v", n, count, want)
	}
}

func equalCounts(a, b map[byte]int) bool {
	for k, v := range b {
		if a[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

func TestBIOSDataAreaSaysWhereBaseMemoryEnds(t *testing.T) {
	mem := placedBoard(t, 1)
	le := binary.LittleEndian
	seg, kib := le.Uint16(mem[0x40e:]), le.Uint16(mem[0x413:])
	if uint64(seg)<<4 != uint64(kib)<<10 || mem[uint64(seg)<<4] != 1 || le.Uint16(mem[0x400:]) != 0x3f8 || le.Uint16(mem[0x463:]) != 0x3d4 {
		t.Errorf("EBDA segment %#x, %d KiB, COM1 %#x", seg, kib, le.Uint16(mem[0x400:]))
	}
}

func TestCRTCReadsBack(t *testing.T) {
	b, _ := newBoard(t)
	b.Out(0, 0x3d4, 1, 0x0e)
	b.Out(0, 0x3d5, 1, 0x12)
	b.Out(0, 0x3d4, 2, 0x340f)
	if got := in(b, 0x3d5); got != 0x34 {
		t.Errorf("cursor low reads %#x, want 0x34", got)
	}
	b.Out(0, 0x3d4, 1, 0x0e)
	if got := in(b, 0x3d5); got != 0x12 {
		t.Errorf("cursor high reads %#x, want 0x12", got)
	}
}
