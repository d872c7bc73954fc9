package interp

import (
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// decoded returns what decode makes of code.
func decoded(code []byte, mode codeMode) (op, decodeStatus) {
	var o op
	s := decode(&o, code, mode)
	return o, s
}

var modeBits = [3]int{mode16: 16, mode32: 32, mode64: 64}

// vector is a line of testdata/decode.txt: bits, the bytes of the instruction, a
// bar, further bytes, and the text in Intel syntax.
type decodeVector struct {
	line int
	mode codeMode
	code []byte
	n    int
	text string
}

func decodeVectors(t *testing.T) []decodeVector {
	t.Helper()
	data, err := os.ReadFile("testdata/decode.txt")
	if err != nil {
		t.Fatal(err)
	}
	var vs []decodeVector
	for i, line := range strings.Split(string(data), "\n") {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Fields(line)
		insn, rest, ok := strings.Cut(f[1], "|")
		code, err := hex.DecodeString(insn + rest)
		if err != nil || !ok {
			t.Fatalf("decode.txt:%d: %q is not hex with a bar: %v", i+1, f[1], err)
		}
		v := decodeVector{line: i + 1, code: code, n: len(insn) / 2, text: strings.Join(f[2:], " ")}
		v.mode = map[string]codeMode{"16": mode16, "32": mode32, "64": mode64}[f[0]]
		vs = append(vs, v)
	}
	return vs
}

// opText is what the text of a vector says, as far as an op knows it: mnemonic
// and the parts of a memory operand.
func opText(o *op) (name, mem string) {
	name = o.row.name
	if o.flags&opMem == 0 {
		return name, ""
	}
	return name, fmt.Sprintf("base %d index %d scale %d disp %#x seg %d", o.base, o.index, 1<<o.scale, o.disp&o.amask, o.seg)
}

func TestDecodeVectors(t *testing.T) {
	for _, v := range decodeVectors(t) {
		o, status := decoded(v.code, v.mode)
		if status == decodeUnknown || int(o.len) != v.n {
			t.Errorf("decode.txt:%d: decode(% x): status %d, length %d, want %d", v.line, v.code, status, o.len, v.n)
			continue
		}
		name, mem := opText(&o)
		first, rest, _ := strings.Cut(v.text, " ")
		for strings.HasPrefix(first, "rep") || first == "lock" || first == "data16" || first == "addr32" {
			first, rest, _ = strings.Cut(rest, " ")
		}
		if !sameMnemonic(name, first, &o) {
			t.Errorf("decode.txt:%d: decode(% x) is %q, the file says %q", v.line, v.code, name, v.text)
		}
		inst, err := x86asm.Decode(v.code, modeBits[v.mode])
		if err != nil {
			continue // the file is the only witness
		}
		if text := x86asm.IntelSyntax(inst, 0, nil); text != v.text || inst.Len != v.n {
			t.Errorf("decode.txt:%d: x86asm says %q, %d bytes; the file %q, %d", v.line, text, inst.Len, v.text, v.n)
		}
		for _, a := range inst.Args {
			if m, ok := a.(x86asm.Mem); ok && mem != "" {
				if want := asmMem(m, &o); mem != want {
					t.Errorf("decode.txt:%d: % x: operand %s, want %s", v.line, v.code, mem, want)
				}
			}
		}
	}
}

// asmMem renders x86asm's memory operand as opText does.
func asmMem(m x86asm.Mem, o *op) string {
	base, index, scale := uint8(regZero), uint8(regZero), m.Scale
	if m.Base != 0 {
		base = asmReg(m.Base)
	}
	if m.Index != 0 {
		index = asmReg(m.Index)
	} else {
		scale = 1 << o.scale
	}
	return fmt.Sprintf("base %d index %d scale %d disp %#x seg %d", base, index, max(scale, 1), uint64(m.Disp)&o.amask, o.seg)
}

func asmReg(r x86asm.Reg) uint8 {
	switch {
	case r == x86asm.RIP || r == x86asm.EIP || r == x86asm.IP:
		return regIP
	case r >= x86asm.RAX && r <= x86asm.R15:
		return uint8(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return uint8(r - x86asm.EAX)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return uint8(r - x86asm.AX)
	}
	return 0xff
}

// sameMnemonic compares the table's name with the disassembler's.
func sameMnemonic(row, text string, o *op) bool {
	row, _, _ = strings.Cut(row, " ")
	conds := [16]string{"o", "no", "b", "nb", "z", "nz", "be", "nbe", "s", "ns", "p", "np", "l", "nl", "le", "nle"}
	aliases := map[string]string{"jnb": "jae", "jz": "je", "jnz": "jne", "jnbe": "ja", "jnl": "jge", "jnle": "jg",
		"setnb": "setae", "setz": "sete", "setnz": "setne", "setnbe": "seta", "setnl": "setge", "setnle": "setg",
		"cmovnb": "cmovae", "cmovz": "cmove", "cmovnz": "cmovne", "cmovnbe": "cmova", "cmovnl": "cmovge", "cmovnle": "cmovg"}
	switch row {
	case "j", "set", "cmov":
		full := row + conds[o.code&15]
		return full == text || aliases[full] == text
	}
	bySize := map[string][4]string{
		"movs": {"movsb", "movsw", "movsd", "movsq"}, "stos": {"stosb", "stosw", "stosd", "stosq"},
		"lods": {"lodsb", "lodsw", "lodsd", "lodsq"}, "scas": {"scasb", "scasw", "scasd", "scasq"},
		"cmps": {"cmpsb", "cmpsw", "cmpsd", "cmpsq"}, "ins": {"insb", "insw", "insd", "insd"},
		"outs": {"outsb", "outsw", "outsd", "outsd"}, "cbw": {"", "cbw", "cwde", "cdqe"}, "cwd": {"", "cwd", "cdq", "cqo"},
		"iret": {"", "iret", "iretd", "iretq"}, "pushf": {"", "pushf", "pushfd", "pushfq"}, "popf": {"", "popf", "popfd", "popfq"},
		"pusha": {"", "pusha", "pushad", ""}, "popa": {"", "popa", "popad", ""}, "callf": {"", "call", "call", "call"},
		"jmpf": {"", "jmp", "jmp", "jmp"}, "retf": {"", "ret", "ret", "ret"}, "cmpxchg8b": {"", "", "cmpxchg8b", "cmpxchg16b"},
		"jcxz": {"jcxz", "jcxz", "jecxz", "jrcxz"}, "xlat": {"xlatb", "xlatb", "xlatb", "xlatb"},
		"int1": {"icebp", "icebp", "icebp", "icebp"}, "nop": {"nop", "nop", "nop", "nop"},
	}
	i := map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3}[o.size]
	if row == "jcxz" {
		i = map[uint8]int{2: 1, 4: 2, 8: 3}[o.asize]
	}
	if n, ok := bySize[row]; ok && n[i] == text {
		return true
	}
	return strings.TrimSuffix(row, "f") == text || row == text
}

func TestDecodeNeedsAllBytes(t *testing.T) {
	for _, v := range decodeVectors(t) {
		for n := range v.n {
			if _, s := decoded(v.code[:n], v.mode); s == decodeOK {
				t.Errorf("decode.txt:%d: the first %d of %d bytes decode as an instruction", v.line, n, v.n)
			}
		}
	}
}

func TestTooManyPrefixesFault(t *testing.T) {
	code := append([]byte(strings.Repeat("\x66", 15)), 0x90)
	o, s := decoded(code, mode64)
	if s != decodeShort || int(o.len) != maxInsn {
		t.Errorf("16 bytes: status %d, length %d, want short, 15", s, o.len)
	}
	if o, s = decoded(code[1:], mode64); s != decodeOK || o.len != 15 {
		t.Errorf("15 bytes: status %d, length %d, want ok, 15", s, o.len)
	}
}

// FuzzDecodeLength compares lengths with another decoder.
func FuzzDecodeLength(f *testing.F) {
	for _, s := range []string{"90", "660f1f440000", "48b80102030405060708", "f0480fc70e", "c8010002", "67668b4500", "0fba2c2508",
		"f30f1efa", "ea01000000 0800", "9a0100 0800", "f6c301", "f7042501000000 02000000"} {
		f.Add(assemble(s), uint8(mode64))
		f.Add(assemble(s), uint8(mode16))
	}
	f.Fuzz(func(t *testing.T, code []byte, m uint8) {
		mode := codeMode(m % 3)
		o, s := decoded(code, mode)
		if int(o.len) > len(code) || int(o.len) > maxInsn || o.fn == nil || o.row == nil {
			t.Fatalf("decode(% x, %d): length %d of %d", code, mode, o.len, len(code))
		}
		if s != decodeOK || !comparable(&o) {
			return
		}
		inst, err := x86asm.Decode(code, modeBits[mode])
		if err == nil && inst.Op != 0 && inst.Len != int(o.len) && !lenient(code, inst) {
			t.Errorf("decode(% x, %d): %s, length %d; x86asm: %v, length %d", code, mode, o.row.name, o.len, inst, inst.Len)
		}
	})
}

// comparable reports whether the other decoder can be trusted with o: it knows
// no undefined encodings, hint NOPs and FPU forms as we have them.
func comparable(o *op) bool {
	switch {
	case o.row == &rowUndefined, reflect.ValueOf(o.fn).Pointer() == reflect.ValueOf(execUndefined).Pointer():
		return false
	case strings.HasSuffix(o.row.args, "Cv") || strings.HasSuffix(o.row.args, "Dv") || strings.HasSuffix(o.row.args, ",Rv"):
		return false // it reads a displacement, the processor takes rm as a register
	}
	return true
}

// lenient reports encodings that x86asm is known to take differently: operand
// size prefixes on near branches in 64-bit mode, which Intel ignores, and
// prefixes that it takes as instructions of their own.
func lenient(code []byte, inst x86asm.Inst) bool {
	if inst.Len == 1 && isPrefix(code[0]) {
		return true
	}
	for _, p := range inst.Prefix {
		if p&0xff == 0x66 && inst.Mode == 64 {
			return true
		}
	}
	return false
}
