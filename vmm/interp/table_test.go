package interp

import (
	"fmt"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// everyRow calls f for each form of each opcode.
func everyRow(f func(m string, opcode int, x form)) {
	for _, t := range []struct {
		name string
		m    *[256][]form
	}{{"", &maps.one}, {"0F ", &maps.two}, {"0F 38 ", &maps.three8}, {"0F 3A ", &maps.threeA}} {
		for b := range t.m {
			for _, x := range t.m[b] {
				f(t.name, b, x)
			}
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	n := 0
	everyRow(func(m string, opcode int, x form) {
		n++
		r := x.row
		if r.name == "" || r.cost >= numCosts {
			t.Errorf("row %q: name %q, cost %d", r.enc, r.name, r.cost)
		}
		handlers := 0
		for i := range 4 {
			if r.exec.reg[i] != nil || r.exec.mem[i] != nil {
				handlers++
			}
		}
		if handlers == 0 {
			t.Errorf("row %q %s has no handler", r.enc, r.name)
		}
		if strings.Trim(r.flags, "OSZAPCoszapc") != "" {
			t.Errorf("row %q %s: flags %q", r.enc, r.name, r.flags)
		}
	})
	if n < 500 {
		t.Errorf("the maps hold %d forms: rows are missing", n)
	}
}

func TestNoRowHidesAnother(t *testing.T) {
	seen := make(map[string]string)
	everyRow(func(m string, opcode int, x form) {
		key := fmt.Sprintf("%s%02x prefix %x modrm %02x/%02x mem %v modes %x", m, opcode, x.prefix, x.mask, x.want,
			x.memory, x.row.attr&(only64|no64))
		if other, ok := seen[key]; ok && opcode != 0x90 {
			t.Errorf("%s: rows %s and %s", key, other, x.row.name)
		}
		seen[key] = x.row.name
	})
}

func TestFormsOfOneOpcodeAgreeOnModRM(t *testing.T) {
	modrm := make(map[string]bool)
	everyRow(func(m string, opcode int, x form) {
		key := fmt.Sprintf("%s%02x", m, opcode)
		if old, ok := modrm[key]; ok && old != x.modrm {
			t.Errorf("opcode %s: some rows have a ModRM byte and some have not", key)
		}
		modrm[key] = x.modrm
	})
}

func TestUndefinedOpcodesRaiseUD(t *testing.T) {
	tests := []struct{ name, code string }{
		{"ud2", "0f0b"}, {"lock on a register", "f0 01d8"}, {"lock on mov", "f0 8903"}, {"lea of a register", "8dc0"},
		{"vmxon", "f30fc730"}, {"vaddps", "c5f858c0"}, {"push es in 64-bit mode", "06"}, {"rdrand", "0fc7f0"},
		{"mov to cs", "8ec8"}, {"mov from cr1", "0f20c8"}, {"invpcid", "660f388200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code)
			m.set(3, testData)
			if e := m.runTo(vmm.ExitHLT); e.RIP != testHandler(excUD) {
				t.Errorf("ended at %#x, want the #UD handler at %#x", e.RIP, testHandler(excUD))
			}
		})
	}
}

func TestUnknownEncodingsExitWithTheirBytes(t *testing.T) {
	m := newMachine(t, mode64, "90 0f04 0102030405060708090a0b0c0d0e0f")
	e := m.runTo(vmm.ExitUnknown)
	if e.RIP != testCode+1 || e.NBytes != 15 || e.Bytes[0] != 0x0f || e.Bytes[1] != 0x04 || e.Bytes[14] != 0x0d {
		t.Errorf("exit at %#x with %d bytes % x, want 15 bytes from 0f 04 at %#x", e.RIP, e.NBytes, e.Bytes, testCode+1)
	}
}
