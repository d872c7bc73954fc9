package board

import (
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// ioapicSet writes an I/O APIC register.
func ioapicSet(b *Board, reg uint64, v uint32) {
	b.WriteMem(0, 0xfec00000, 4, reg)
	b.WriteMem(0, 0xfec00010, 4, uint64(v))
}

// ioapicGet reads one.
func ioapicGet(b *Board, reg uint64) uint32 {
	b.WriteMem(0, 0xfec00000, 4, reg)
	v, _ := b.ReadMem(0, 0xfec00010, 4)
	return uint32(v)
}

// redirect programs a pin.
func redirect(b *Board, pin uint64, high, low uint32) {
	ioapicSet(b, 0x11+2*pin, high)
	ioapicSet(b, 0x10+2*pin, low)
}

func TestIOAPICRegisters(t *testing.T) {
	tests := []struct {
		name       string
		reg        uint64
		write      uint32
		before, at uint32
	}{
		{"ID: bits 27:24", 0, 0xffffffff, 0, 0x0f000000},
		{"version is read-only", 1, 0xffffffff, 0x00170011, 0x00170011},
		{"arbitration ID is read-only", 2, 0xffffffff, 0, 0},
		{"pin 23 low, masked at reset", 0x3e, 0xffffffff, 0x00010000, 0x0001afff},
		{"pin 23 high: destination", 0x3f, 0xffffffff, 0, 0xff000000},
		{"no pin 24", 0x40, 0, 0xffffffff, 0xffffffff},
		{"hole", 3, 0, 0xffffffff, 0xffffffff},
	}
	for _, tt := range tests {
		b, _ := newBoard(t)
		if v := ioapicGet(b, tt.reg); v != tt.before {
			t.Errorf("%s: reads %#x at reset, want %#x", tt.name, v, tt.before)
		}
		ioapicSet(b, tt.reg, tt.write)
		if v := ioapicGet(b, tt.reg); v != tt.at {
			t.Errorf("%s: reads %#x after writing %#x, want %#x", tt.name, v, tt.write, tt.at)
		}
	}
	b, _ := newBoard(t)
	ioapicSet(b, 0, 0x0a000000)
	if v := ioapicGet(b, 2); v != 0x0a000000 {
		t.Errorf("arbitration ID %#x, want the ID", v)
	}
}

func TestIOAPICEdge(t *testing.T) {
	b, l := newBoard(t)
	redirect(b, 14, 0x03000000, 0x0976) // logical, lowest priority, vector 0x76
	out(b, 0x200e, 1, 0x200e, 1)
	want := vmm.Message{Dest: 3, Logical: true, Delivery: 1, Vector: 0x76, Assert: true}
	if len(l.messages) != 1 || l.messages[0] != want {
		t.Fatalf("messages %+v, want one %+v for one edge", l.messages, want)
	}
	out(b, 0x200e, 0)
	redirect(b, 14, 0, 0x10076)
	out(b, 0x200e, 1)
	redirect(b, 14, 0, 0x76)
	if len(l.messages) != 1 {
		t.Error("an edge on a masked pin is not lost")
	}
}

func TestIOAPICLevel(t *testing.T) {
	b, l := newBoard(t)
	redirect(b, 14, 0, 0x8077)
	out(b, 0x200e, 1)
	if len(l.messages) != 1 || !l.messages[0].Level || ioapicGet(b, 0x2c)&redirIRR == 0 {
		t.Fatalf("messages %+v, entry %#x, want one with remote IRR set", l.messages, ioapicGet(b, 0x2c))
	}
	out(b, 0x200e, 0, 0x200e, 1)
	if len(l.messages) != 1 {
		t.Error("a level interrupt is sent again before its EOI")
	}
	b.EOI(0, 0x76)
	if ioapicGet(b, 0x2c)&redirIRR == 0 {
		t.Error("the EOI of another vector clears remote IRR")
	}
	b.EOI(0, 0x77)
	if len(l.messages) != 2 {
		t.Error("a line that is still high at its EOI does not send again")
	}
	out(b, 0x200e, 0)
	b.EOI(0, 0x77)
	if len(l.messages) != 2 || ioapicGet(b, 0x2c)&redirIRR != 0 {
		t.Errorf("messages %+v, entry %#x, want no third and remote IRR clear", l.messages, ioapicGet(b, 0x2c))
	}
}

func TestIOAPICLevelMask(t *testing.T) {
	b, l := newBoard(t)
	redirect(b, 14, 0, 0x18082)
	out(b, 0x200e, 1)
	if len(l.messages) != 0 {
		t.Error("a masked pin sends")
	}
	redirect(b, 14, 0, 0x8082)
	if len(l.messages) != 1 {
		t.Error("unmasking a high level pin does not send")
	}
}

func TestIOAPICRemoteIRRSurvivesDestinationNotEdge(t *testing.T) {
	b, _ := newBoard(t)
	redirect(b, 13, 0, 0x8064)
	out(b, 0x200d, 1, 0x200d, 0)
	ioapicSet(b, 0x2b, 0x01000000)
	if ioapicGet(b, 0x2a)&redirIRR == 0 {
		t.Error("writing the destination clears remote IRR")
	}
	ioapicSet(b, 0x2a, 0x64)
	if ioapicGet(b, 0x2a)&redirIRR != 0 {
		t.Error("an edge-triggered pin keeps remote IRR")
	}
}
