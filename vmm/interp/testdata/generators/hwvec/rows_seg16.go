package main

import (
	"slices"
	"strings"
)

// segment16Rows are the instructions in 16-bit code with segments that have a
// base and a limit: 16-bit addresses, prefixes that mean the opposite, limits.
func segment16Rows() []row {
	var rows []row
	for _, w := range slices.Concat(integerRows(), bitRows(), stackRows(), stringRows(), compatRows()) {
		stack := strings.HasSuffix(w.sizes, "s")
		sizes := strings.NewReplacer("q", "", "s", "").Replace(w.sizes)
		switch {
		case sizes == "" && w.sizes != "", strings.HasPrefix(w.enc, "vex"), w.name == "MOVSXD", w.name == "ADDR16", w.name == "ENDBR64",
			w.name == "JRCXZ", w.name == "ADCX", w.name == "ADOX", w.name == "BOUND":
			continue
		case stack && !strings.Contains(sizes, "d"):
			sizes = "wd"
		case w.sizes == "" && (w.name == "CALL" || w.name == "JMP" || w.name == "RET" || w.name == "ENTER"):
			sizes = "wd"
		}
		if w.name == "JMP" && strings.Contains(w.enc, "ff") || w.name == "CALL" && strings.Contains(w.enc, "ff") {
			w.post = branch16
		}
		w.sizes, w.mode, w.n = sizes, 16, max(2, w.n/8)
		rows = append(rows, w)
	}
	rows = append(rows, limitRows()...)
	rows = append(rows, row{name: "CHAIN16", n: 300, mode: 16, build: func(i *inst) { i.chain(4 + i.r.N(12)) }},
		row{name: "LEA", enc: "8d /r:m", sizes: "wd", n: 40, mode: 16}, row{name: "MOV", enc: "8b /r:m", sizes: "wd", n: 40, mode: 16})
	return rows
}

// branch16 gives an indirect branch a target within the code segment.
func branch16(i *inst) {
	i.reserve(rsp)
	i.setOperand(i.target(), min(i.size, 4))
}

// limitRows reach beyond the segments' limit, which is the end of the page.
func limitRows() []row {
	var rows []row
	for _, at := range []uint64{0xffd, 0xfff, 0x1000, 0x8000, 0xffff} {
		for _, m := range []struct{ name, enc, sizes string }{
			{"MOV", "8907", "wd"}, {"MOV", "8b07", "wd"}, {"ADD", "0107", "wd"}, {"MOV", "8807", "b"}, {"XCHG", "8707", "wd"},
			{"PUSH", "ff37", "wd"}, {"POP", "8f07", "wd"}, {"MOV", "8b4600", "wd"}, {"STOS", "ab", "wd"}, {"LODS", "ad", "wd"},
			{"MOVS", "a5", "wd"}, {"LES", "c407", "wd"}, {"CMPXCHG8B", "0fc70f", "d"}, {"NOT", "f617", "b"}} {
			rows = append(rows, row{name: m.name, enc: m.enc, sizes: m.sizes, n: 1, mode: 16, pre: func(i *inst) {
				for _, r := range []int{rbx, rbp, rsi, rdi} {
					i.SetGPR(r, i.In.GPR[r]&0xffff0000|at)
				}
			}})
		}
	}
	for _, sp := range []uint64{0, 1, 2, 3, 0xffe, 0xfff, 0x1000, 0x1001, 0x1002} {
		for _, m := range []struct{ name, enc string }{{"PUSH", "50"}, {"POP", "58"}, {"CALL", "e8 relz"}, {"RET", "c3"}, {"PUSHA", "60"},
			{"POPA", "61"}, {"PUSHF", "9c"}, {"ENTER", "c8100000"}} {
			rows = append(rows, row{name: m.name, enc: m.enc, sizes: "wd", n: 1, mode: 16, pre: func(i *inst) { i.SetGPR(rsp, sp) }})
		}
	}
	return rows
}
