package main

import (
	"encoding/binary"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// target is an address on the code page for an indirect branch.
func (i *inst) target() uint64 {
	t := 0x100 + uint64(i.r.N(0xe00))
	if i.Mode != 16 {
		t += interptest.CodeBase
	}
	return t
}

func stackRows() []row {
	branch := func(i *inst) {
		i.reserve(rsp)
		i.setOperand(i.target(), 8)
	}
	ret := func(i *inst) {
		top := i.In.GPR[rsp] - i.data()
		i.setMem(int(top), binary.LittleEndian.AppendUint64(nil, i.target()))
	}
	retN := func(i *inst) { i.imm, i.immSet = uint64(i.r.N(256)), true }
	popf := func(i *inst) {
		v := i.r.Next() & 0x3ffed7 &^ (1<<14 | 1<<18 | 1<<21 | 1<<8)
		i.setMem(int(i.In.GPR[rsp]-i.data()), binary.LittleEndian.AppendUint64(nil, v))
	}
	leave := func(i *inst) { i.SetGPR(rbp, i.data()+uint64(i.r.N(240))) }
	enter := func(i *inst) {
		i.imm, i.immSet = uint64(i.r.N(64)), true
		i.SetGPR(rbp, i.data()+128+uint64(i.r.N(64)))
	}
	nested := func(i *inst) { // overwrite the nesting level, the last byte
		i.Code[len(i.Code)-1] = byte(i.r.N(6)) | byte(i.r.N(2))<<5
	}
	noRSP := func(i *inst) { i.reserve(rsp) }
	return []row{
		{name: "PUSH", enc: "50 +r", sizes: "wqs"}, {name: "POP", enc: "58 +r", sizes: "wqs"},
		{name: "PUSH", enc: "ff /6", sizes: "wqs", n: 16}, {name: "POP", enc: "8f /0", sizes: "wqs", n: 16},
		{name: "PUSH", enc: "54", sizes: "wqs", n: 2}, {name: "POP", enc: "5c", sizes: "wqs", n: 2},
		{name: "PUSH", enc: "0fa0", sizes: "wqs", n: 2}, {name: "PUSH", enc: "0fa8", sizes: "wqs", n: 2},
		{name: "POP", enc: "8f44240c", sizes: "q", n: 4}, {name: "PUSH", enc: "ff74240c", sizes: "q", n: 4},
		{name: "PUSH", enc: "6a ib", sizes: "wqs"}, {name: "PUSH", enc: "68 iz", sizes: "wqs"},
		{name: "PUSHF", enc: "9c", sizes: "wqs"}, {name: "POPF", enc: "9d", sizes: "wqs", n: 16, pre: popf},
		{name: "CALL", enc: "e8 relz", n: 8}, {name: "JMP", enc: "e9 relz", n: 8}, {name: "JMP", enc: "eb rel8", n: 8},
		{name: "CALL", enc: "ff /2", n: 20, pre: noRSP, post: branch}, {name: "JMP", enc: "ff /4", n: 20, pre: noRSP, post: branch},
		{name: "RET", enc: "c3", n: 8, pre: ret}, {name: "RET", enc: "c2 iw", n: 8, pre: func(i *inst) { ret(i); retN(i) }},
		{name: "ENTER", enc: "c8 iw 00", n: 16, pre: enter}, {name: "LEAVE", enc: "c9", sizes: "wqs", pre: leave},
		{name: "ENTER", enc: "c8 iw ib", n: 24, pre: enter, post: nested},
	}
}

func stringRows() []row {
	var rows []row
	names := []struct {
		name string
		op   byte
		cmp  bool
	}{{"MOVS", 0xa4, false}, {"CMPS", 0xa6, true}, {"STOS", 0xaa, false}, {"LODS", 0xac, false}, {"SCAS", 0xae, true}}
	for _, s := range names {
		reps := []string{"", "pF3 ", "pF2 "}
		if !s.cmp {
			reps = reps[:2]
		}
		for _, rep := range reps {
			f := func(w *row) {
				w.enc = rep + w.enc
				w.n = 8
				if rep != "" {
					w.n = 16
				}
				w.pre = func(i *inst) { i.stringState(s.cmp) }
			}
			rows = append(rows, both(s.name, s.op, "", 0, f)...)
		}
	}
	return rows
}

// stringState points RSI and RDI into the scratch area, with a count and a
// direction that keep them there, and data that often match.
func (i *inst) stringState(match bool) {
	i.Set("fl", map[bool]string{false: "202", true: "602"}[i.r.Chance(35)])
	count := i.r.N(14)
	lo, hi := 0, interptest.ScratchSize-8-count*i.size
	if i.In.Flags&0x400 != 0 {
		lo, hi = count*i.size, interptest.ScratchSize-8
	}
	src, dst := lo+i.r.N(hi-lo), lo+i.r.N(hi-lo)
	if i.r.Chance(20) { // overlapping
		dst = min(max(src+i.r.N(17)-8, lo), hi)
	}
	garbage := uint64(0)
	if i.Mode == 64 && i.r.Chance(15) {
		i.addr32 = true
		garbage = i.r.Next() << 32
	}
	if i.Mode == 16 {
		garbage = i.r.Next() & 0xffff0000
		if i.addr32 = i.r.Chance(25); i.addr32 {
			garbage = 0
		}
	}
	i.SetGPR(rcx, uint64(count)|garbage)
	i.SetGPR(rsi, i.data()+uint64(src)|garbage)
	i.SetGPR(rdi, i.data()+uint64(dst)|garbage)
	if match && i.r.Chance(70) {
		b := byte(i.r.Next())
		i.setFill(b)
		i.SetGPR(rax, uint64(b)*0x0101010101010101)
		if i.r.Chance(60) {
			step := i.size
			if i.In.Flags&0x400 != 0 {
				step = -step
			}
			i.setMem(dst+step*i.r.N(count+1), []byte{byte(i.r.Next())})
		}
	}
}
