package interp

import (
	"fmt"
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// deviceTrace runs until HLT, answers every device read with the next of values,
// and lists the accesses.
func (m *machine) deviceTrace(values ...uint64) []string {
	m.t.Helper()
	var got []string
	for range 100 {
		e := m.run(100000)
		switch e.Reason {
		case vmm.ExitHLT:
			return got
		case vmm.ExitMMIO, vmm.ExitIO:
			what, v := "read", uint64(0)
			if e.Write {
				what = fmt.Sprintf("write %x", e.Data)
			} else {
				v, values = values[0], values[1:]
			}
			kind := "mem"
			if e.Reason == vmm.ExitIO {
				kind = "port"
			}
			got = append(got, fmt.Sprintf("%s %x/%d %s", kind, e.Addr, e.Size, what))
			m.cpu.CompleteRead(v)
			m.cpu.Skip()
		default:
			m.t.Fatalf("exit %d at %#x", e.Reason, e.RIP)
		}
	}
	m.t.Fatal("no HLT after 100 exits")
	return nil
}

func TestDeviceAccesses(t *testing.T) {
	const fee = 0xfee00000
	tests := []struct {
		name, code string
		values     []uint64
		want       []string
		reg        int
		value      uint64 // of reg at the end
	}{
		{"load", "8b07", []uint64{0x12345678}, []string{"mem fee00000/4 read"}, vmm.RAX, 0x12345678},
		{"sign extension", "480fbe07", []uint64{0x80}, []string{"mem fee00000/1 read"}, vmm.RAX, 0xffffffffffffff80},
		{"store", "66895f10", nil, []string{"mem fee00010/2 write 1111"}, vmm.RBX, 0x1111111111111111},
		{"store of 8 bytes", "48891f", nil, []string{"mem fee00000/8 write 1111111111111111"}, vmm.RBX, 0x1111111111111111},
		{"read-modify-write", "011f", []uint64{5}, []string{"mem fee00000/4 read", "mem fee00000/4 write 11111116"}, vmm.RAX, 0},
		{"exchange", "871f", []uint64{7}, []string{"mem fee00000/4 read", "mem fee00000/4 write 11111111"}, vmm.RBX, 7},
		{"compare and exchange", "0fb11f", []uint64{0}, []string{"mem fee00000/4 read", "mem fee00000/4 write 11111111"},
			vmm.RAX, 0},
		{"locked bit set", "f00fba2f03", []uint64{0}, []string{"mem fee00000/4 read", "mem fee00000/4 write 8"}, vmm.RAX, 0},
		{"push from a device", "ff37", []uint64{0x99}, []string{"mem fee00000/8 read"}, vmm.RSP, testStack - 8},
		{"pop to a device", "53 8f07", nil, []string{"mem fee00000/8 write 1111111111111111"}, vmm.RSP, testStack},
		{"string copy between devices", "4889fe b902000000 f3a5", []uint64{1, 2},
			[]string{"mem fee00000/4 read", "mem fee00000/4 write 1", "mem fee00004/4 read", "mem fee00004/4 write 2"}, vmm.RDI, fee + 8},
		{"copy from a device", "4889fe bf00000200 b903000000 f3a4", []uint64{1, 2, 3},
			[]string{"mem fee00000/1 read", "mem fee00001/1 read", "mem fee00002/1 read"}, vmm.RCX, 0},
		{"half in RAM", "48890425 fcff7f00 488b0425 fcff7f00", []uint64{0xaa, 0xbb, 0xcc, 0xdd},
			[]string{"mem 800000/1 write 0", "mem 800001/1 write 0", "mem 800002/1 write 0", "mem 800003/1 write 0",
				"mem 800000/1 read", "mem 800001/1 read", "mem 800002/1 read", "mem 800003/1 read"}, vmm.RAX, 0xddccbbaa_00000000},
		{"cmov reads in any case", "85ff 0f4407", []uint64{1}, []string{"mem fee00000/4 read"}, vmm.RAX, 0},
		{"in", "e560", []uint64{0x1234}, []string{"port 60/4 read"}, vmm.RAX, 0x1234},
		{"out", "b034 e680", nil, []string{"port 80/1 write 34"}, vmm.RAX, 0x34},
		{"rep insb", "ba60000000 bf00000200 b902000000 f36c 8b042500000200", []uint64{0x12, 0x34},
			[]string{"port 60/1 read", "port 60/1 read"}, vmm.RAX, 0x3412},
		{"rep outsw", "ba80000000 be00000200 66c70601 00 b902000000 f3666f", nil,
			[]string{"port 80/2 write 1", "port 80/2 write 0"}, vmm.RSI, testData + 4},
		{"insd to a device", "ba60000000 6d", []uint64{0x55}, []string{"port 60/4 read", "mem fee00000/4 write 55"}, vmm.RDI, fee + 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code+"f4")
			m.put64(testTables+0x1018, testTables+0x3000|7) // 3 GiB on
			m.put64(testTables+0x3000+fee>>21&511*8, fee&^0x1fffff|0x87)
			m.set(vmm.RDI, fee)
			m.set(vmm.RBX, 0x1111111111111111)
			if got := m.deviceTrace(tt.values...); !slices.Equal(got, tt.want) {
				t.Errorf("accesses %q, want %q", got, tt.want)
			}
			if got := m.cpu.GPR(tt.reg); got != tt.value {
				t.Errorf("register %d is %#x, want %#x", tt.reg, got, tt.value)
			}
			if m.cpu.log.n != 0 {
				t.Errorf("%d accesses are left in the log", m.cpu.log.n)
			}
		})
	}
}

// An event that arrives while an access is answered is delivered after the
// instruction, which is not executed twice.
func TestEventsWaitForTheAccess(t *testing.T) {
	m := newMachine(t, mode64, "fb 90 8304 25 00008000 01 90 f4") // addl $1, 0x800000
	m.write(testHandler(0x40), assemble("ffc3 48cf"))
	if e := m.runTo(vmm.ExitMMIO); e.Write || e.RIP != testCode+2 || e.Len != 0 {
		t.Fatalf("first exit %+v, want a read", e)
	}
	m.cpu.CompleteRead(41)
	m.cpu.Inject(vmm.Event{Kind: vmm.EventInterrupt, Vector: 0x40})
	if e := m.runTo(vmm.ExitMMIO); !e.Write || e.Data != 42 {
		t.Fatalf("second exit %+v, want a write of 42", e)
	}
	m.cpu.CompleteRead(0)
	m.runTo(vmm.ExitHLT)
	if m.cpu.GPR(vmm.RBX) != 1 || m.get64(testStack-40) != testCode+10 {
		t.Errorf("handler ran %d times, from %#x; want once, from %#x", m.cpu.GPR(vmm.RBX), m.get64(testStack-40), testCode+10)
	}
}

func TestFaultsLeaveNothingBehind(t *testing.T) {
	tests := []struct{ name, code string }{
		{"add to a read-only page", "0107"}, {"pop to a read-only page", "8f07"}, {"xadd", "0fc107"},
		{"cmpxchg", "0fb10f"}, {"push onto a read-only page", "4889fc 50"}, {"call with such a stack", "4889fc e800000000"},
		{"enter", "4889fc c8100000"}, {"movs", "4889d6 a5"}, {"sbb", "f9 1907"}, {"shl", "c12705"}, {"bts", "0fba2f01"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, mode64, tt.code+"f4")
			m.put64(testTables+0x2010, 0x400085) // 4 MiB: read-only
			m.gate(excPF, selCode64, testHandler(excPF), 0x8e, 1)
			m.put64(0x400ff8, 0x1234)
			m.set(vmm.RDI, 0x401000)
			m.set(vmm.RDX, testData)
			m.set(vmm.RAX, 0x77)
			n := len(assemble(tt.code))
			var before vmm.Registers
			for i := 0; ; i++ { // the last instruction faults
				before = m.cpu.Registers()
				m.cpu.Run(m.now, m.now+1)
				m.now += 1000
				if m.cpu.RIP() < testCode || m.cpu.RIP() > testCode+uint64(n) {
					break
				}
				if i > 4 {
					t.Fatal("no fault")
				}
			}
			after := m.cpu.Registers()
			if m.cpu.cr2&^0xfff != 0x400000 && m.cpu.cr2&^0xfff != 0x401000 {
				t.Fatalf("CR2 %#x", m.cpu.cr2)
			}
			flags := m.get64(testStack - 0x2000 - 24)
			if before.GPR[vmm.RSP] != m.get64(testStack-0x2000-16) || flags&flagsArith != before.RFLAGS&flagsArith {
				t.Errorf("RSP, flags at the fault %#x, %#x; before %#x, %#x", m.get64(testStack-0x2000-16), flags,
					before.GPR[vmm.RSP], before.RFLAGS)
			}
			before.GPR[vmm.RSP], after.GPR[vmm.RSP] = 0, 0
			if before.GPR != after.GPR {
				t.Errorf("registers changed: %x, before %x", after.GPR, before.GPR)
			}
		})
	}
}
