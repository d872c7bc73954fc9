//go:build linux && amd64

package kvm

import (
	"encoding/binary"
	"testing"

	"codeberg.org/ticktrap/ticktrap/lapic"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

func TestRegisterPageIsDecoded(t *testing.T) {
	var s lapicState
	put := func(r lapic.Reg, v uint32) { binary.LittleEndian.PutUint32(s.Regs[r:], v) }
	put(lapic.LVTT, 0x400ec)
	put(lapic.TPR, 0x20)
	put(lapic.PPR, 0xe0)
	put(lapic.TMICT, 1000)
	put(lapic.TMCCT, 400)
	put(lapic.ICRLow, 0x4ec)
	put(lapic.ICR2, 1)
	put(lapic.ISR+0x70, 1<<12)    // vector 0xec: 236 = 7·32 + 12
	put(lapic.IRR+0x10, 1|1<<31)  // 32 and 63
	put(lapic.IRR+0x70, 1<<31)    // 255
	put(lapic.TMR, 1<<17|1<<0x1f) // 17 and 31
	want := vmm.APICFrame{Known: true, TMCCT: 400, PPR: 0xe0,
		Regs: trace.APICRegisters{LVTT: 0x400ec, TPR: 0x20, TMICT: 1000, ICR: 1<<32 | 0x4ec}}
	want.ISR.Add(0xec)
	for _, v := range []uint8{32, 63, 255} {
		want.IRR.Add(v)
	}
	want.TMR.Add(17)
	want.TMR.Add(31)
	if got := apicFrame(&s); got != want {
		t.Errorf("apicFrame = %+v\nwant        %+v", got, want)
	}
}
