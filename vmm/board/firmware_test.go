package board

import (
	"testing"
)

func TestKeyboardControllerShowsItsOutputPort(t *testing.T) {
	b, _ := newBoard(t)
	in := func(port uint16) uint32 { v, _ := b.In(0, port, 1); return v }
	if s := in(0x64); s&(statusOBF|2) != 0 {
		t.Errorf("status %#x before any command", s)
	}
	out(b, 0x64, commandReadOutput)
	if s := in(0x64); s&statusOBF == 0 {
		t.Errorf("status %#x with a byte to read", s)
	}
	if v := in(0x60); v != outputRun|outputA20 {
		t.Errorf("output port %#x, want %#x", v, outputRun|outputA20)
	}
	if s := in(0x64); s&statusOBF != 0 {
		t.Errorf("status %#x after the byte was read", s)
	}
}

// A reboot is a power-up for every device but CMOS, whose RAM has a battery; the
// firmware has dealt with the shutdown byte.
func TestRebootKeepsCMOS(t *testing.T) {
	b, _ := newBoard(t)
	cmos := func(i uint32) uint32 { out(b, 0x70, i); v, _ := b.In(0, 0x71, 1); return v }
	out(b, 0x70, 0x40, 0x71, 0x5a, 0x70, shutdownByte, 0x71, shutdownJump, 0x92, 3)
	b.Reboot()
	if a, s := cmos(0x40), cmos(shutdownByte); a != 0x5a || s != 0 {
		t.Errorf("CMOS 40H is %#x and the shutdown byte %#x, want 0x5a and 0", a, s)
	}
	if v, _ := b.In(0, 0x92, 1); v&1 != 0 {
		t.Error("port A still says that the CPU was reset by it")
	}
}

type image map[uint64]byte

func (m image) WriteAt(p []byte, gpa uint64) error {
	for i, c := range p {
		m[gpa+uint64(i)] = c
	}
	return nil
}
func (m image) ReadAt(p []byte, gpa uint64) error {
	for i := range p {
		p[i] = m[gpa+uint64(i)]
	}
	return nil
}
func (m image) Size() uint64 { return 64 << 20 }

func TestFirmwareIsWhereTheResetVectorPoints(t *testing.T) {
	b, _ := newBoard(t)
	m := image{}
	if err := b.Place(m); err != nil {
		t.Fatal(err)
	}
	if m[resetVector] != 0xea {
		t.Fatalf("%#x at the reset vector, want a far jump", m[resetVector])
	}
	at := uint64(m[resetVector+1]) | uint64(m[resetVector+2])<<8 + uint64(m[resetVector+3])<<4 + uint64(m[resetVector+4])<<12
	if m[at] != 0xfa || at != firmwareBase || firmwareBase+uint64(len(firmware)) > resetVector {
		t.Errorf("the reset vector jumps to %#x, where %#x stands", at, m[at])
	}
}
