package ui

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// presentCPU draws registers and code of the exit's vCPU.
func presentCPU(s *scene, a area, x *trace.ExitRecord) {
	if int(x.VCPU) >= len(s.f.CPUs) {
		a.cut(0, 0, a.w, label, "registers")
		why := "this source does not carry the guest's registers or code"
		if k := &s.f.Known[vmm.FigureRegisters]; k.Basis == vmm.OnNothing {
			why = k.By
		}
		for i, l := range wrap(why, a.w) {
			a.text(0, 1+i, dim, l)
		}
		return
	}
	cpu := &s.f.CPUs[x.VCPU]
	own, head := ownRegisters(s, x, cpu)
	at := x.RIP
	if !own {
		if at < cpu.CodeAt || at-cpu.CodeAt >= uint64(len(cpu.Code)) {
			at = cpu.Regs.RIP
		}
	}
	before := s.before.of(x.VCPU)
	ps := []piece{{head, pick(own, label, warn), 0}}
	if before != nil {
		ps = append(ps, piece{"  *", changed, 1}, piece{" changed since exit " + group3(uint64(before.exit)), dim, 1})
	}
	if s.f.Known[vmm.FigureRegisters].Basis == vmm.OnMeasure {
		ps = append(ps, piece{"  measured: " + s.f.Known[vmm.FigureRegisters].By, good, 2})
	}
	a.pieces(0, 0, a.w, ps)
	y := 1 + presentRegisters(a.sub(0, 1, a.w, a.h-1), &cpu.Regs, before)
	if p := s.apicOf(int(x.VCPU)); p != nil && y+4 < a.h {
		a.pieces(0, y, a.w, timerRegs(p))
		a.pieces(0, y+1, a.w, setRegs(p))
		y += 2
	}
	if y+2 < a.h {
		presentCode(a.sub(0, y+1, a.w, a.h-y-1), cpu, at, at == x.RIP)
	}
}

// ownRegisters reports whether the registers shown are the exit's own: the vCPU
// has executed nothing since. head says what they are.
func ownRegisters(s *scene, x *trace.ExitRecord, cpu *vmm.CPUFrame) (own bool, head string) {
	v := &s.state().VCPUs[x.VCPU]
	if a := &s.f.Status.Ahead; a.Exits > 0 {
		return false, "registers " + exitsOn(a)
	}
	last := v.Exit == x.Num && s.f.Status.Run != vmm.Running
	switch {
	case last && x.EntryAt == 0:
		return true, "registers at this exit"
	case last && cpu.Regs.RIP == v.RIP:
		return true, "registers at the entry after this exit"
	}
	return false, "registers now: the exit is over"
}

var gprNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8 ", "r9 ", "r10", "r11", "r12", "r13", "r14", "r15"}

// presentRegisters draws the general registers in as many columns as fit, marks
// those that differ from an earlier exit's, and returns the rows used.
func presentRegisters(a area, r *vmm.Registers, before *exitRegs) int {
	cols := min(max(a.w/21, 1), 4)
	rows := (16 + cols - 1) / cols
	order := [16]int{vmm.RAX, vmm.RBX, vmm.RCX, vmm.RDX, vmm.RSI, vmm.RDI, vmm.RBP, vmm.RSP, 8, 9, 10, 11, 12, 13, 14, 15}
	for i, g := range order {
		x, y := i/rows*21, i%rows
		a.text(x, y, label, gprNames[g])
		h := hex16(r.GPR[g])
		z := len(h) - len(strings.TrimLeft(h[:15], "0"))
		a.text(x+4, y, faint, h[:z])
		differs := before != nil && before.regs.GPR[g] != r.GPR[g]
		a.text(x+4+z, y, pick(differs, changed, value), h[z:])
		if differs {
			a.put(x+3, y, '*', changed)
		}
	}
	a.pieces(0, rows, a.w, []piece{{"rip ", label, 0}, {hex(r.RIP), value, 0}, {"  rflags ", label, 0}, {hex(r.RFLAGS), value, 0},
		{" " + flagWords(r.RFLAGS), dim, 0}, {"  cr3 ", label, 2}, {hex(r.CR3), value, 2}, {"  cs ", label, 1},
		{hex(uint64(r.CS.Selector)), value, 1}, {shadowWord(r.Shadow), warn, 0}})
	return rows + 1
}

func shadowWord(on bool) string {
	if on {
		return "  shadow"
	}
	return ""
}

// flagWords names the flags that are set. Intel SDM vol. 1, 3.4.3 "EFLAGS
// Register".
func flagWords(f uint64) string {
	names := []struct {
		bit  uint
		name string
	}{{0, "CF"}, {2, "PF"}, {4, "AF"}, {6, "ZF"}, {7, "SF"}, {8, "TF"}, {9, "IF"}, {10, "DF"}, {11, "OF"}}
	var out []string
	for _, n := range names {
		if f>>n.bit&1 != 0 {
			out = append(out, n.name)
		}
	}
	return strings.Join(out, " ")
}

// presentCode draws the disassembly around at, the exit's instruction or where
// the vCPU is now.
func presentCode(a area, cpu *vmm.CPUFrame, at uint64, exits bool) {
	a.cut(0, 0, a.w, label, pickString(exits, "code at the exit", "code where the vCPU is now"))
	lines, cur := disassemble(cpu, at)
	if len(lines) == 0 {
		a.cut(0, 1, a.w, dim, "the code at "+hex(at)+" is not mapped or not carried by this source")
		return
	}
	from := max(min(cur-(a.h-1)/3, len(lines)-(a.h-1)), 0)
	for i := 0; i+1 < a.h && from+i < len(lines); i++ {
		l, y := lines[from+i], 1+i
		here := l.at == at
		a.text(0, y, pick(here, running, dim), pickString(here, "▶", " "))
		a.text(2, y, dim, hex(l.at))
		width := textWidth(hex(l.at)) + 3
		a.cut(width, y, 22, faint, l.bytes)
		a.cut(width+23, y, a.w-width-23, pick(here, value|strong, text), l.words)
	}
}

// codeLine is one instruction.
type codeLine struct {
	at           uint64
	bytes, words string
}

// disassemble decodes the frame's code so that an instruction begins at at; cur
// is its index.
func disassemble(cpu *vmm.CPUFrame, at uint64) (lines []codeLine, cur int) {
	if at < cpu.CodeAt || at-cpu.CodeAt >= uint64(len(cpu.Code)) {
		return nil, 0
	}
	mode := cpu.Bits
	if mode != 16 && mode != 32 {
		mode = 64
	}
	off := int(at - cpu.CodeAt)
	start := syncStart(cpu.Code[:off], mode)
	for p := start; p < len(cpu.Code); {
		if p == off {
			cur = len(lines)
		}
		n, words := 1, "(bad)"
		inst, err := x86asm.Decode(cpu.Code[p:], mode)
		if (err != nil || inst.Op == 0) && len(cpu.Code)-p < 15 {
			break // the last bytes may be cut off, which leaves prefixes alone
		}
		if err == nil {
			n, words = inst.Len, x86asm.IntelSyntax(inst, cpu.CodeAt+uint64(p), nil)
		}
		if p < off && p+n > off {
			n = off - p
		}
		lines = append(lines, codeLine{cpu.CodeAt + uint64(p), hexBytes(cpu.Code[p : p+n]), words})
		p += n
	}
	return lines, cur
}

// syncStart is the offset from which decoding reaches the end of code exactly.
func syncStart(code []byte, mode int) int {
	for start := max(len(code)-48, 0); start < len(code); start++ {
		p := start
		for p < len(code) {
			inst, err := x86asm.Decode(code[p:], mode)
			if err != nil {
				break
			}
			p += inst.Len
		}
		if p == len(code) {
			return start
		}
	}
	return len(code)
}

func hexBytes(p []byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 3*len(p))
	for i, b := range p {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}
