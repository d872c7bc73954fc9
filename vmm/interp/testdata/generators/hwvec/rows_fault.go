package main

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// faultRows are instructions that raise an exception: #DE, #UD, #GP, #SS, #PF.
func faultRows() []row {
	var rows []row
	add := func(n int, name, enc, sizes string, pre func(*inst)) {
		rows = append(rows, row{name: name, enc: enc, sizes: sizes, n: n, pre: pre})
	}
	at := func(addr uint64) func(*inst) {
		return func(i *inst) { i.SetGPR(rbx, addr) }
	}
	const hole = uint64(0x8000_0000_0000)
	places := []uint64{interptest.Unmapped, interptest.Unmapped + 0xfff, hole, ^uint64(0)>>1 + 1, 0xffff_7fff_ffff_fff8,
		interptest.Scratch + interptest.ScratchSize - 1, interptest.Scratch + interptest.ScratchSize - 3}
	for _, a := range places {
		for _, m := range []struct{ name, enc, sizes string }{
			{"MOV", "8903", "dq"}, {"MOV", "8b03", "dq"}, {"ADD", "0103", "dq"}, {"MOV", "8803", "b"},
			{"INC", "ff03", "d"}, {"XCHG", "8703", "d"}, {"CMPXCHG", "0fb103", "d"}, {"XADD", "0fc103", "q"},
			{"BTS", "0fba2b03", "d"}, {"SHLD", "0fa40b05", "q"}, {"PUSH", "ff33", "qs"}, {"POP", "8f03", "qs"},
			{"JMP", "ff23", ""}, {"CALL", "ff13", ""}, {"SETcc", "0f9403", "b"}, {"MOVZX", "0fb713", "d"},
			{"CMOVcc", "0f4413", "q"}, {"DIV", "f733", "d"}, {"IMUL", "6b1307", "q"}, {"CMPXCHG8B", "0fc70b", "d"},
			{"TEST", "f60301", "b"}, {"NOT", "f613", "b"}, {"CMP", "803b05", "b"}, {"MOVSXD", "6313", "q"}} {
			add(1, m.name, m.enc, m.sizes, at(a))
		}
	}
	for _, a := range places {
		if a == hole { // pushes would reach below it, where the kernel has something
			a += 64
		}
		sp := func(i *inst) { i.SetGPR(rsp, a); i.SetGPR(rbp, a); i.SetGPR(rax, interptest.Scratch) }
		for _, m := range []struct{ name, enc, sizes string }{
			{"PUSH", "50", "wqs"}, {"POP", "58", "wqs"}, {"CALL", "e820000000", ""}, {"RET", "c3", ""}, {"PUSHF", "9c", "qs"},
			{"POPF", "9d", "qs"}, {"LEAVE", "c9", "qs"}, {"MOV", "895d00", "q"}, {"MOV", "8b1c24", "q"}, {"ENTER", "c8100000", ""},
			{"PUSH", "6a05", "qs"}, {"PUSH", "ff30", "qs"}} {
			add(1, m.name, m.enc, m.sizes, sp)
		}
	}
	rows = append(rows, stringFaults()...)
	for _, m := range []struct{ name, enc string }{
		{"UD2", "0f0b"}, {"UD1", "0fb9c0"}, {"UD0", "0fffc0"}, {"INTO", "ce"}, {"PUSHA", "60"}, {"POPA", "61"}, {"DAA", "27"},
		{"DAS", "2f"}, {"AAA", "37"}, {"AAS", "3f"}, {"AAM", "d40a"}, {"AAD", "d50a"}, {"PUSH", "06"}, {"PUSH", "0e"}, {"PUSH", "16"},
		{"PUSH", "1e"}, {"POP", "07"}, {"POP", "17"}, {"POP", "1f"}, {"CALLF", "9a000000000000"}, {"JMPF", "ea000000000000"},
		{"ALIAS", "8200c0"}, {"SALC", "d6"}, {"LEA", "8dc0"}, {"LOCK", "f090"}, {"LOCK", "f00103f0"}, {"LOCK", "f001c3"},
		{"LOCK", "f08903"}, {"LOCK", "f03903"}, {"LOCK", "f0a4"}, {"CMPXCHG8B", "0fc7c8"}, {"GRP", "fec8d0"}, {"GRP", "fe10"},
		{"GRP", "ff38"}, {"GRP", "c608"}, {"GRP", "c7c8"}, {"GRP", "8f08"}, {"GRP", "0fba00"}, {"GRP", "0fba1801"},
		{"MOVBE", "0f38f0c0"}, {"CALLF", "ff18"}, {"XEND", "0f01d5"}, {"VMCALL", "0f01c8"}} {
		if m.name == "CALLF" && m.enc == "ff18" || m.name == "VMCALL" || m.name == "XEND" {
			continue
		}
		add(1, m.name, m.enc, "", at(interptest.Scratch))
	}
	for _, m := range []struct{ name, enc string }{
		{"HLT", "f4"}, {"CLI", "fa"}, {"STI", "fb"}, {"IN", "e460"}, {"IN", "e560"}, {"IN", "ec"}, {"OUT", "e680"}, {"OUT", "ee"},
		{"INS", "6c"}, {"OUTS", "6f"}, {"RDMSR", "0f32"}, {"WRMSR", "0f30"}, {"CLTS", "0f06"}, {"LGDT", "0f0113"}, {"LIDT", "0f011b"},
		{"LLDT", "0f00d0"}, {"LTR", "0f00d8"}, {"LMSW", "0f01f0"}, {"MOV", "0f20c0"}, {"MOV", "0f22c0"}, {"MOV", "0f20d8"},
		{"MOV", "0f21c0"}, {"MOV", "0f23f8"}, {"INVD", "0f08"}, {"WBINVD", "0f09"}, {"INVLPG", "0f013b"}, {"SWAPGS", "0f01f8"},
		{"SYSRET", "480f07"}, {"MOV", "44 0f20c0"}, {"XSETBV", "0f01d1"}, {"INT", "cd20"}, {"INT", "cd03"},
		{"INT", "cd0e"}, {"INT", "cd08"}, {"INT", "cdff"}, {"INT1", "f1"}} {
		add(1, m.name, m.enc, "", at(interptest.Scratch))
	}
	for _, sel := range []uint64{0, 3, 0x33, 0x2b, 0x10, 0x2f, 0x400, 0xfff8} {
		s := func(i *inst) { i.SetGPR(rax, i.In.GPR[rax]&^0xffff|sel) }
		if sel != 0x2b && sel > 3 {
			add(1, "MOV", "8ee8", "d", s) // GS
		}
		if sel != 0x2b {
			add(1, "MOV", "8ed0", "d", s) // SS
		}
		add(1, "MOV", "8ec8", "d", s) // CS
		for _, op := range []string{"0f00e0", "0f00e8", "0f02c8", "0f03c8"} {
			w := row{name: map[string]string{"0f00e0": "VERR", "0f00e8": "VERW", "0f02c8": "LAR", "0f03c8": "LSL"}[op], enc: op, n: 1, pre: s}
			if sel == 0 || sel == 3 {
				rows = append(rows, w)
			}
		}
	}
	div := func(v uint64, hi uint64) func(*inst) {
		return func(i *inst) { i.SetGPR(rbx, v); i.SetGPR(rdx, hi); i.SetGPR(rax, hi<<8|0xff) }
	}
	for k, d := range []struct{ v, hi uint64 }{{0, 0}, {0, 5}, {1, 1}, {2, 2}, {^uint64(0), 1 << 63}, {^uint64(0), 1 << 31}} {
		_ = k
		add(1, "DIV", "f7f3", "wdq", div(d.v, d.hi))
		add(1, "IDIV", "f7fb", "wdq", div(d.v, d.hi))
		add(1, "DIV", "f6f3", "b", div(d.v, d.hi))
		add(1, "IDIV", "f6fb", "b", div(d.v, d.hi))
	}
	minDividend := func(i *inst) {
		n := uint(i.size * 8)
		i.SetGPR(rbx, ^uint64(0))
		i.SetGPR(rax, 1<<(n-1))
		i.SetGPR(rdx, ^uint64(0))
	}
	add(1, "IDIV", "f7fb", "wdq", minDividend)
	return rows
}

// stringFaults run off the end of the page, or the start of it, half way.
func stringFaults() []row {
	var rows []row
	for _, op := range []string{"a4", "a5", "a6", "a7", "aa", "ab", "ac", "ad", "ae", "af"} {
		for _, rep := range []string{"", "F3 ", "F2 "} {
			if rep == "F2 " && (op[1] < '6' || op > "a7" && op < "ae") {
				continue
			}
			enc := op
			if rep != "" {
				enc = "p" + rep + op
			}
			w := row{name: map[byte]string{'4': "MOVS", '5': "MOVS", '6': "CMPS", '7': "CMPS", 'a': "STOS", 'b': "STOS",
				'c': "LODS", 'd': "LODS", 'e': "SCAS", 'f': "SCAS"}[op[1]], enc: enc, sizes: "b", n: 4, pre: offEnd}
			if op[1]&1 == 1 || op[1] == 'b' || op[1] == 'd' || op[1] == 'f' {
				w.sizes = "wdq"
				if op[1] == 'a' || op[1] == 'c' || op[1] == 'e' {
					w.sizes = "b"
				}
			}
			rows = append(rows, w)
		}
	}
	return rows
}

func offEnd(i *inst) {
	end := interptest.Scratch + interptest.ScratchSize
	i.setFill(0x5a)
	i.SetGPR(rax, 0x5a5a5a5a5a5a5a5a)
	near, far := end-uint64(i.r.N(40)), interptest.Scratch+uint64(i.r.N(64))
	i.Set("fl", fmt.Sprintf("%x", 0x202|i.r.N(2)*0x40))
	if i.r.Chance(20) {
		far = interptest.Unmapped
	}
	i.SetGPR(rcx, 64)
	if i.r.Chance(50) {
		near, far = far, near
	}
	i.SetGPR(rsi, near)
	i.SetGPR(rdi, far)
}

func (i *inst) setFill(b byte) { i.Set("fill", fmt.Sprintf("%x", b)) }

// compatRows are the forms that only 32-bit code has, and some that differ.
func compatRows() []row {
	rows := []row{
		{name: "AAA", enc: "37", n: 24, undef: of | sf | zf | pf}, {name: "AAS", enc: "3f", n: 24, undef: of | sf | zf | pf},
		{name: "DAA", enc: "27", n: 24, undef: of}, {name: "DAS", enc: "2f", n: 24, undef: of},
		{name: "AAM", enc: "d4 ib", n: 16, undef: of | af | cf}, {name: "AAD", enc: "d5 ib", n: 16, undef: of | af | cf},
		{name: "AAM", enc: "d400", n: 2, undef: of | af | cf | sf | zf | pf}, {name: "SALC", enc: "d6", n: 6},
		{name: "INC", enc: "40 +r", sizes: "wd", n: 12}, {name: "DEC", enc: "48 +r", sizes: "wd", n: 12},
		{name: "PUSHA", enc: "60", sizes: "wd", n: 8}, {name: "POPA", enc: "61", sizes: "wd", n: 8},
		{name: "PUSH", enc: "50 +r", sizes: "wd"}, {name: "POP", enc: "58 +r", sizes: "wd"}, {name: "PUSH", enc: "ff /6", sizes: "wd"},
		{name: "POP", enc: "8f /0", sizes: "wd"}, {name: "PUSH", enc: "6a ib", sizes: "wd"}, {name: "PUSH", enc: "68 iz", sizes: "wd"},
		{name: "PUSHF", enc: "9c", sizes: "wd"}, {name: "PUSH", enc: "0e", sizes: "wd", n: 3}, {name: "PUSH", enc: "1e", sizes: "wd", n: 3},
		{name: "PUSH", enc: "0fa0", sizes: "wd", n: 3},
		{name: "PUSH", enc: "16", sizes: "wd", n: 3}, {name: "CALL", enc: "e8 relz", n: 6}, {name: "JMP", enc: "eb rel8", n: 6},
		{name: "LEAVE", enc: "c9", n: 6, pre: func(i *inst) { i.SetGPR(rbp, interptest.Scratch+uint64(i.r.N(240))) }},
		{name: "LEA", enc: "8d /r:m", sizes: "wd", n: 24}, {name: "MOV", enc: "8b /r", sizes: "wd", n: 16},
		{name: "ADD", enc: "01 /r", sizes: "wd"}, {name: "SUB", enc: "82 /5 ib", sizes: "b", n: 12}, {name: "MOV", enc: "88 /r", sizes: "b", n: 16},
		{name: "ARPL", enc: "63 /r", n: 24}, {name: "MOV", enc: "8cd8", sizes: "wd", n: 4}, {name: "CWD", enc: "99", sizes: "wd", n: 4},
		{name: "BOUND", enc: "62 /r:m", sizes: "wd", n: 16, pre: func(i *inst) { i.span = 16 }},
		{name: "LOOP", enc: "e2 rel8", n: 8, pre: func(i *inst) { i.SetGPR(rcx, uint64(i.r.N(3))) }},
		{name: "JECXZ", enc: "e3 rel8", n: 8, pre: func(i *inst) { i.SetGPR(rcx, uint64(i.r.N(2))) }},
		{name: "XCHG", enc: "90 +r", sizes: "wd"}, {name: "INTO", enc: "ce", n: 8}, {name: "MUL", enc: "f7 /4", sizes: "wd", undef: sf | zf | af | pf},
		{name: "BT", enc: "0fa3 /r:r", sizes: "wd", undef: of | sf | af | pf}, {name: "XLAT", enc: "d7", pre: xlat},
		{name: "ADDR16", enc: "p67 8d40 ib", n: 8}, {name: "ADDR16", enc: "p67 8d82 iw", n: 8}, {name: "ADDR16", enc: "p67 8d01", n: 4},
		{name: "ADDR16", enc: "p67 8d3e iw", n: 4}, {name: "ADDR16", enc: "p67 8d5b ib", n: 4}, {name: "ADDR16", enc: "p67 8d6e ib", n: 4},
		{name: "MOVS", enc: "a5", sizes: "wd", n: 6, pre: func(i *inst) { i.stringState(false) }},
	}
	for k := range rows {
		rows[k].mode = 32
	}
	return rows
}
