package board

import (
	"fmt"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// testHz is 1 GHz: one cycle is one nanosecond.
const testHz = clock.Hz(1_000_000_000)

// lines records what a board does to the machine.
type lines struct {
	messages []vmm.Message
	intr     bool
	log      []string
	console  []byte
}

func (l *lines) Message(m vmm.Message) { l.messages = append(l.messages, m) }
func (l *lines) SetINTR(level bool) {
	l.intr = level
	l.log = append(l.log, fmt.Sprintf("intr %v", level))
}
func (l *lines) PulseNMI()      { l.log = append(l.log, "nmi") }
func (l *lines) Console(c byte) { l.console = append(l.console, c) }
func (l *lines) Reset()         { l.log = append(l.log, "reset") }
func (l *lines) Exit(v uint32, powerOff bool) {
	l.log = append(l.log, fmt.Sprintf("exit %d %v", v, powerOff))
}

// take returns what was logged since the last call.
func (l *lines) take() []string {
	log := l.log
	l.log = nil
	return log
}

// newBoard returns a board with 2 vCPUs, 64 MiB and the test device.
func newBoard(t *testing.T) (*Board, *lines) {
	t.Helper()
	l := &lines{}
	b, err := New(Config{VCPUs: 2, RAM: 64 << 20, Hz: testHz, TestDevice: true}, l)
	if err != nil {
		t.Fatal(err)
	}
	return b, l
}

// out writes bytes to ports given as port, value pairs at time 0.
func out(b *Board, pairs ...uint32) {
	for i := 0; i < len(pairs); i += 2 {
		b.Out(0, uint16(pairs[i]), 1, pairs[i+1])
	}
}

// in reads a byte at time 0.
func in(b *Board, port uint16) uint32 {
	v, _ := b.In(0, port, 1)
	return v
}
