package board

import "testing"

// initPIC programs both chips: vectors 0x20 and 0x28, everything unmasked.
func initPIC(b *Board, icw4 uint32) {
	out(b, 0x20, 0x11, 0x21, 0x20, 0x21, 4, 0x21, icw4, 0xa0, 0x11, 0xa1, 0x28, 0xa1, 2, 0xa1, icw4, 0x21, 0, 0xa1, 0)
}

func TestPICPriorities(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 1)
	b.setIRQ(0, 5, sourceTest, true)
	b.setIRQ(0, 3, sourceTest, true)
	if !l.intr {
		t.Error("a request does not raise INTR")
	}
	if v := b.AckPIC(0); v != 0x23 {
		t.Errorf("vector %#x, want IRQ 3 first: 0x23", v)
	}
	if l.intr {
		t.Error("IRQ 5 interrupts IRQ 3 in service")
	}
	b.setIRQ(0, 1, sourceTest, true)
	if v := b.AckPIC(0); v != 0x21 {
		t.Errorf("vector %#x, want IRQ 1 to interrupt IRQ 3: 0x21", v)
	}
	out(b, 0x20, 0x20, 0x20, 0x20) // two non-specific EOIs
	if v := b.AckPIC(0); v != 0x25 {
		t.Errorf("after the EOIs vector %#x, want IRQ 5: 0x25", v)
	}
}

func TestPICCascade(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 1)
	b.setIRQ(0, 10, sourceTest, true)
	if v := b.AckPIC(0); v != 0x2a {
		t.Errorf("vector %#x, want IRQ 10: 0x2a", v)
	}
	out(b, 0x20, 0x0b, 0xa0, 0x0b) // read ISR
	if m, s := in(b, 0x20), in(b, 0xa0); m != 4 || s != 4 {
		t.Errorf("in service: master %#x, slave %#x, want input 2 of both", m, s)
	}
	b.setIRQ(0, 9, sourceTest, true)
	if l.intr {
		t.Error("IRQ 9 passes a master that is not fully nested")
	}
	out(b, 0xa0, 0x62, 0x20, 0x62) // specific EOIs
	if v := b.AckPIC(0); v != 0x29 {
		t.Errorf("vector %#x, want IRQ 9: 0x29", v)
	}
}

func TestPICSpurious(t *testing.T) {
	b, _ := newBoard(t)
	initPIC(b, 1)
	if v := b.AckPIC(0); v != 0x27 {
		t.Errorf("vector without a request %#x, want the spurious 0x27", v)
	}
	out(b, 0x20, 0x0b)
	if isr := in(b, 0x20); isr != 0 {
		t.Errorf("in service after a spurious interrupt: %#x, want nothing", isr)
	}
}

func TestPICEdgeAndLevel(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 3) // automatic EOI
	b.setIRQ(0, 5, sourceTest, true)
	b.AckPIC(0)
	if l.intr {
		t.Error("a high edge-triggered line requests again")
	}
	out(b, 0x4d0, 0xff, 0x4d1, 0xff)
	if m, s := in(b, 0x4d0), in(b, 0x4d1); m != 0xf8 || s != 0xde {
		t.Errorf("ELCR %#x %#x, want the fixed inputs to stay edge: 0xf8 0xde", m, s)
	}
	b.setIRQ(0, 5, sourceTest, false)
	b.setIRQ(0, 5, sourceTest, true)
	b.AckPIC(0)
	if !l.intr {
		t.Error("a high level-triggered line does not request again")
	}
	b.setIRQ(0, 5, sourceTest, false)
	if l.intr {
		t.Error("a low level-triggered line still requests")
	}
}

func TestPICMask(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 1)
	out(b, 0x21, 0x20)
	b.setIRQ(0, 5, sourceTest, true)
	if l.intr || in(b, 0x20) != 0x20 {
		t.Errorf("masked: INTR %v, IRR %#x, want low and the request kept", l.intr, in(b, 0x20))
	}
	out(b, 0x21, 0)
	if !l.intr {
		t.Error("unmasking does not let the request through")
	}
}

func TestPICRotation(t *testing.T) {
	b, _ := newBoard(t)
	initPIC(b, 1)
	out(b, 0x20, 0xc3) // input 3 becomes the lowest: 4 is the highest
	for _, n := range []uint8{3, 4, 7} {
		b.setIRQ(0, n, sourceTest, true)
	}
	var got []uint8
	for range 3 {
		got = append(got, b.AckPIC(0))
		out(b, 0x20, 0x20)
	}
	if got[0] != 0x24 || got[1] != 0x27 || got[2] != 0x23 {
		t.Errorf("order %x, want 24 27 23", got)
	}
	out(b, 0x20, 0xa0) // rotate on EOI, nothing in service: no change
	b.setIRQ(0, 4, sourceTest, false)
	b.setIRQ(0, 4, sourceTest, true)
	b.AckPIC(0)
	out(b, 0x20, 0xa0) // now 4 becomes the lowest
	if p := &b.st.pic.chip[0]; p.lowest != 5 {
		t.Errorf("highest input %d after rotation on EOI of 4, want 5", p.lowest)
	}
}

func TestPICPoll(t *testing.T) {
	b, _ := newBoard(t)
	initPIC(b, 1)
	b.setIRQ(0, 6, sourceTest, true)
	out(b, 0x20, 0x0c)
	if v := in(b, 0x20); v != 0x86 {
		t.Errorf("poll word %#x, want 0x86", v)
	}
	out(b, 0x20, 0x0b)
	if isr := in(b, 0x20); isr != 0x40 {
		t.Errorf("in service after a poll: %#x, want input 6", isr)
	}
}

func TestPICSpecialMask(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 1)
	b.setIRQ(0, 3, sourceTest, true)
	b.AckPIC(0)
	b.setIRQ(0, 6, sourceTest, true)
	if l.intr {
		t.Error("IRQ 6 passes IRQ 3 in service")
	}
	out(b, 0x21, 0x08, 0x20, 0x68)
	if !l.intr {
		t.Error("special mask mode does not let IRQ 6 pass the masked IRQ 3")
	}
}
