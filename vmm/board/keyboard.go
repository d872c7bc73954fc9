package board

import "codeberg.org/ticktrap/ticktrap/internal/clock"

// keyboard is an 8042 without a keyboard: its output port, by which the CPU can be
// reset, can be read and written. IBM PC/AT Technical Reference, "Keyboard
// Controller".
type keyboard struct {
	output  uint8 // bits of the output port
	full    bool  // data holds a byte for the CPU
	data    uint8
	command uint8 // whose data byte comes next, 0 for none
}

// The bits of the output port and of the status register, and the commands.
const (
	outputRun = 1 << 0 // low: the CPU is held in reset
	outputA20 = 1 << 1
	statusOBF = 1 << 0
	statusSYS = 1 << 2

	commandReadOutput  = 0xd0
	commandWriteOutput = 0xd1
	commandPulse       = 0xf0 // bits 3:0: those that are 0 pulse low
)

func newKeyboard() keyboard { return keyboard{output: outputRun | outputA20} }

// keyboardStatusIn reads the status: nothing sent is ever still being taken.
func keyboardStatusIn(b *Board, _ clock.TSC, _ uint16, _ uint8) uint32 {
	if b.st.keyboard.full {
		return statusSYS | statusOBF
	}
	return statusSYS
}

func keyboardDataIn(b *Board, _ clock.TSC, _ uint16, _ uint8) uint32 {
	k := &b.st.keyboard
	if !k.full {
		return 0
	}
	k.full = false
	return uint32(k.data)
}

// keyboardCommandOut takes commands; a pulse on bit 0 of the output port resets.
func keyboardCommandOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	k := &b.st.keyboard
	k.command = 0
	switch {
	case v == commandReadOutput:
		k.data, k.full = k.output, true
	case v == commandWriteOutput:
		k.command = commandWriteOutput
	case v&commandPulse == commandPulse && v&outputRun == 0:
		b.reset()
	}
}

// keyboardDataOut is the data byte of a command; a keyboard that is not there
// takes the others.
func keyboardDataOut(b *Board, _ clock.TSC, _ uint16, _ uint8, v uint32) {
	k := &b.st.keyboard
	if k.command == commandWriteOutput {
		k.output = uint8(v)
		if v&outputRun == 0 {
			b.reset()
		}
	}
	k.command = 0
}
