package vmm

import "codeberg.org/ticktrap/ticktrap/trace"

// Console takes a byte that the guest wrote to its serial port. Bytes are
// reported in one event per line, or when the event is full or the guest exits
// for another reason.
func (m *Machine) Console(b byte) {
	m.st.text[m.st.ntext] = b
	m.st.ntext++
	if b == '\n' || m.st.ntext == len(m.st.text) {
		m.flushConsole(m.devCPU())
	}
}

func (m *Machine) flushConsole(p PCPU) {
	if m.st.ntext == 0 {
		return
	}
	var w [3]uint64
	for i, b := range m.st.text[:m.st.ntext] {
		w[i/8] |= uint64(b) << (i % 8 * 8)
	}
	m.emit(p, trace.NoCPU, trace.KindConsole, w[0], w[1], w[2], uint64(m.st.ntext))
	m.st.ntext = 0
}

// Exit is the guest's write to the debug-exit port, or its power off.
func (m *Machine) Exit(v uint32, powerOff bool) {
	how := trace.EndExit
	if powerOff {
		how = trace.EndShutdown
	}
	m.Stop(m.devCPU(), how, v, 0)
}
