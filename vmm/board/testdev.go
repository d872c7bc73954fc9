package board

import (
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// testMemSize is the size of the test device's memory window in bytes.
const testMemSize = 0x10000

// testdev is the device that the unit tests use to drive interrupt lines and to
// have ports and memory that only emulation reaches. Its memory exists from the
// first write on.
type testdev struct {
	scratch uint32
	mem     *[testMemSize + 8]byte // 8 spare: an access at the end stays inside
}

func (t testdev) clone() testdev {
	if t.mem != nil {
		m := *t.mem
		t.mem = &m
	}
	return t
}

func scratchIn(b *Board, _ clock.TSC, port uint16, _ uint8) uint32 {
	return b.st.testdev.scratch >> (8 * (port & 3))
}

func scratchOut(b *Board, _ clock.TSC, port uint16, size uint8, v uint32) {
	shift := 8 * (port & 3)
	m := ones32(size) << shift
	b.st.testdev.scratch = b.st.testdev.scratch&^m | v<<shift&m
}

// testLineOut sets the level of an interrupt line.
func testLineOut(b *Board, now clock.TSC, port uint16, _ uint8, v uint32) {
	b.setIRQ(now, uint8(port-0x2000), sourceTest, v != 0)
}

func testMemRead(b *Board, _ clock.TSC, off uint64, _ uint8) uint64 {
	if b.st.testdev.mem == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b.st.testdev.mem[off:])
}

func testMemWrite(b *Board, _ clock.TSC, off uint64, size uint8, v uint64) {
	t := &b.st.testdev
	if t.mem == nil {
		t.mem = new([testMemSize + 8]byte)
	}
	for i := range uint64(size) {
		t.mem[off+i] = byte(v >> (8 * i))
	}
}
