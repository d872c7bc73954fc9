package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

// row describes one instruction form.
type row struct {
	name string
	// enc is the encoding, as in the manual: prefixes that belong to it as
	// p66, pF2, pF3; opcode bytes in hex; /r or /digit, with :r or :m where only
	// a register or only memory is valid and :a where memory must be aligned to
	// 16 bytes; +r; ib iw iz iv; rel8 relz; vex.pp.map, and .1111 if vvvv is not used.
	enc string
	// sizes are the operand sizes: b, w, d, q; empty if there is only one that
	// needs no prefix. s after it: 64 bits is the default (stack operations).
	sizes string
	undef uint64 // flags that are undefined after it
	us    uint16 // the same for the x87 status word
	n     int    // instances; 0 is the usual number
	kind  interptest.Kind
	mode  int // 32 or 16 for the forms of compatibility mode
	lock  bool
	// pre runs before the operands are chosen, post after encoding.
	pre, post func(*inst)
	// build, if set, makes the code instead of enc.
	build func(*inst)
}

// usual is the number of instances per row and operand size.
const usual = 24

func (w *row) instances(r *interptest.Rand) []*interptest.Vector {
	n := w.n
	if n == 0 {
		n = usual
		if !strings.Contains(w.enc, "/") {
			n /= 2
		}
	}
	sizes := strings.TrimSuffix(w.sizes, "s")
	if sizes == "" {
		sizes = "-"
	}
	var all []*interptest.Vector
	for _, sz := range sizes {
		for range n {
			all = append(all, w.instance(r, byte(sz)))
		}
	}
	return all
}

// inst is an instruction under construction.
type inst struct {
	*interptest.Vector
	r        *interptest.Rand
	w        *row
	size     int // operand size in bytes
	reserved uint16
	isMem    bool
	addr32   bool // has an address-size prefix
	reg, rm  int  // register operands; rm of a register form
	vvvv     int
	off      int // offset of the memory operand in the scratch area
	span     int // bytes to leave free behind it
	imm      uint64
	immSet   bool // imm was chosen by the row
	distinct bool // the register operand is not part of the address
}

func (w *row) instance(r *interptest.Rand, sz byte) *interptest.Vector {
	kind := w.kind
	if kind == 0 {
		kind = interptest.KindInt
	}
	i := &inst{Vector: interptest.New(w.name, kind, r.Next()>>32, nil), r: r, w: w, span: 16}
	i.size = map[byte]int{'b': 1, 'w': 2, 'd': 4, 'q': 8, '-': 4}[sz]
	i.Undef, i.UndefFSW = w.undef, w.us
	if w.mode != 0 {
		i.Mode = w.mode
		for n := range 16 {
			if v := i.In.GPR[n]; v>>32 != 0 {
				i.In.GPR[n] = uint64(uint32(v))
			}
		}
	}
	if i.Mode == 16 {
		i.SetGPR(rsp, i.data()+interptest.ScratchSize/2)
		if sz == '-' {
			i.size = 2
		}
	}
	if w.build != nil {
		w.build(i)
		return i.Vector
	}
	if w.pre != nil {
		w.pre(i)
	}
	i.encode()
	if w.post != nil {
		w.post(i)
	}
	return i.Vector
}

// data is the address of the scratch area: in 16-bit code an offset in its
// segments.
func (i *inst) data() uint64 {
	if i.Mode == 16 {
		return interptest.Scratch & 0xfff
	}
	return interptest.Scratch
}

// encode chooses operands and writes the bytes.
func (i *inst) encode() {
	var pfx, op, tail []byte
	var rex byte
	vex := ""
	if i.Mode == 16 {
		if i.size == 4 {
			pfx = append(pfx, 0x66)
		}
		if i.r.Chance(8) { // ES, SS, DS
			pfx = append(pfx, []byte{0x26, 0x36, 0x3e}[i.r.N(3)])
		}
	} else if i.size == 2 {
		pfx = append(pfx, 0x66)
	}
	if i.size == 8 && !strings.HasSuffix(i.w.sizes, "s") {
		rex |= 0x48
	}
	relFix := -1
	for _, t := range strings.Fields(i.w.enc) {
		switch {
		case t[0] == 'p':
			pfx = append(pfx, unhex(t[1:])...)
		case strings.HasPrefix(t, "vex"):
			vex = t
		case t[0] == '/':
			m, rx := i.modRM(t)
			rex |= rx
			tail = append(tail, m...)
			if m[0]>>6 == 0 && m[0]&7 == 5 && i.Mode == 64 {
				relFix = len(tail) - 4
			}
		case t == "+r":
			i.rm = i.pickReg()
			op[len(op)-1] |= byte(i.rm & 7)
			if i.rm >= 8 {
				rex |= 0x41
			}
		case t[0] == 'i' && len(t) == 2:
			tail = append(tail, i.immediate(t[1])...)
		case strings.HasPrefix(t, "rel"):
			tail = append(tail, i.displacement(t[3])...)
		case t == "moffs":
			i.off = i.r.N(interptest.ScratchSize - i.span)
			tail = binary.LittleEndian.AppendUint64(tail, i.data()+uint64(i.off))[:map[int]int{64: 8, 32: 4, 16: 2}[i.Mode]+len(tail)]
			i.isMem = true
		default:
			op = append(op, unhex(t)...)
		}
	}
	if i.isMem && i.w.lock && i.r.Chance(25) {
		pfx = append([]byte{0xf0}, pfx...)
	}
	if i.size == 1 && !i.isMem && rex == 0 && i.Mode == 64 && i.r.Chance(50) {
		rex = 0x40
	}
	if i.r.Chance(3) && i.Mode == 64 && vex == "" && rex == 0 {
		rex = 0x40
	}
	code := pfx
	if i.addr32 {
		code = append([]byte{0x67}, code...)
	}
	if vex != "" {
		code = append(code, i.vexPrefix(vex, rex)...)
	} else if rex != 0 && i.Mode == 64 {
		code = append(code, rex)
	}
	code = append(code, op...)
	at := len(code)
	code = append(code, tail...)
	if relFix >= 0 {
		disp := interptest.Scratch + uint64(i.off) - i.In.RIP - uint64(len(code))
		binary.LittleEndian.PutUint32(code[at+relFix:], uint32(disp))
	}
	i.Code = code
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic("BUG: encoding " + s)
	}
	return b
}

func (i *inst) vexPrefix(t string, rex byte) []byte {
	f := strings.Split(t, ".")
	if len(f) == 4 { // vex.pp.map.1111: no third operand
		i.vvvv = 0
	}
	pp := map[string]byte{"np": 0, "66": 1, "f3": 2, "f2": 3}[f[1]]
	m := map[string]byte{"0f": 1, "0f38": 2, "0f3a": 3}[f[2]]
	b1 := m | ^(rex<<5)&0xe0
	return []byte{0xc4, b1, rex>>3&1<<7 | byte(^i.vvvv&15)<<3 | pp}
}

func (i *inst) pickReg() int {
	n := 16
	if i.Mode != 64 {
		n = 8
	}
	for {
		if k := i.r.N(n); i.reserved>>k&1 == 0 {
			return k
		}
	}
}

func (i *inst) immediate(kind byte) []byte {
	v := i.r.Int()
	n := map[byte]int{'b': 1, 'w': 2, 'z': min(i.size, 4), 'v': i.size}[kind]
	if i.immSet {
		v = i.imm
	}
	i.imm = v & (1<<(8*n-1)<<1 - 1)
	return binary.LittleEndian.AppendUint64(nil, v)[:n]
}

// displacement makes a branch displacement that stays on the code page, outside
// the instruction.
func (i *inst) displacement(kind byte) []byte {
	d := uint32(0x20 + i.r.N(0x60))
	if kind == '8' {
		return []byte{byte(d)}
	}
	if i.r.Chance(50) {
		d += 0x300
	}
	if i.size == 2 {
		return []byte{byte(d), byte(d >> 8)}
	}
	return binary.LittleEndian.AppendUint32(nil, d)
}

// modRM chooses a register or memory operand for the token t and returns ModRM,
// SIB and displacement with the REX bits they need.
func (i *inst) modRM(t string) ([]byte, byte) {
	t, form, _ := strings.Cut(t[1:], ":")
	var rex byte
	if t == "r" {
		i.reg = i.pickReg()
		if i.distinct {
			i.reserve(i.reg)
		}
	} else {
		d, err := strconv.Atoi(t)
		if err != nil {
			panic("BUG: token " + t)
		}
		i.reg = d
	}
	i.vvvv = i.pickReg()
	if i.reg >= 8 {
		rex |= 0x44
	}
	reg := byte(i.reg&7) << 3
	if form == "r" || form != "m" && form != "ma" && form != "m16" && i.r.Chance(60) {
		i.rm = i.pickReg()
		if i.rm >= 8 {
			rex |= 0x41
		}
		return []byte{0xc0 | reg | byte(i.rm&7)}, rex
	}
	i.isMem = true
	i.off = i.r.N(interptest.ScratchSize - i.span)
	if strings.Contains(form, "a") && !i.r.Chance(3) || form == "m16" {
		i.off &^= 15
	}
	m, rx := i.memory(reg)
	return m, rex | rx
}

// memory encodes an address of the operand, setting the registers it uses.
func (i *inst) memory(reg byte) ([]byte, byte) {
	if i.Mode == 16 {
		if !i.addr32 && i.r.Chance(75) {
			return i.memory16(reg), 0
		}
		i.addr32 = true
	}
	ea := i.data() + uint64(i.off)
	mode := i.r.N(10)
	if i.Mode != 64 && mode == 1 {
		mode = 0
	}
	switch mode {
	case 0: // disp32 without base
		if i.Mode != 64 && i.r.Chance(50) {
			return binary.LittleEndian.AppendUint32([]byte{reg | 5}, uint32(ea)), 0
		}
		return binary.LittleEndian.AppendUint32([]byte{reg | 4, 0x25}, uint32(ea)), 0
	case 1: // RIP-relative, completed by encode
		return binary.LittleEndian.AppendUint32([]byte{reg | 5}, 0), 0
	}
	base := i.pickReg()
	for base == 4 {
		base = i.pickReg()
	}
	i.reserved |= 1 << base
	var rex byte
	if base >= 8 {
		rex |= 0x41
	}
	disp, dispBytes, mod := i.disp(base)
	var garbage uint64 // the upper half of a base, which a 32-bit address ignores
	if i.Mode == 64 && i.r.Chance(8) {
		i.addr32 = true
		garbage = i.r.Next() << 32
	}
	if mode < 6 && base&7 != 4 {
		i.SetGPR(base, i.baseValue(ea-disp, garbage))
		return append([]byte{mod | reg | byte(base&7)}, dispBytes...), rex
	}
	index, scale := 4, 0 // no index
	if i.r.Chance(80) {
		for index == 4 || index == base {
			index = i.pickReg()
		}
		scale = i.r.N(4)
		i.SetGPR(index, uint64(i.r.N(4001)-2000)&i.addrMask())
		if index >= 8 {
			rex |= 0x42
		}
		disp += i.In.GPR[index] << scale
	}
	i.reserved |= 1 << index
	i.SetGPR(base, i.baseValue(ea-disp, garbage))
	return append([]byte{mod | reg | 4, byte(scale<<6 | index&7<<3 | base&7)}, dispBytes...), rex
}

// memory16 encodes an address of 16-bit code. The registers' upper halves are
// left as they are, and sums wrap.
func (i *inst) memory16(reg byte) []byte {
	ea := uint16(i.data()) + uint16(i.off)
	bases, indexes := []int{rbx, rbx, rbp, rbp, rsi, rdi, rbp, rbx}, []int{rsi, rdi, rsi, rdi, rsp, rsp, rsp, rsp}
	rm := i.r.N(8)
	for i.distinct && (i.reg == bases[rm] || i.reg == indexes[rm]) {
		rm = i.r.N(8)
	}
	mod, disp := i.r.N(3), uint16(i.r.Next())
	var d []byte
	switch mod {
	case 0:
		disp = 0
	case 1:
		disp = uint16(int8(disp))
		d = []byte{byte(disp)}
	case 2:
		d = []byte{byte(disp), byte(disp >> 8)}
	}
	if mod == 0 && rm == 6 {
		return []byte{reg | 6, byte(ea), byte(ea >> 8)}
	}
	base, index := bases[rm], indexes[rm]
	v := ea - disp
	if index != rsp {
		x := uint16(i.r.Next())
		i.SetGPR(index, i.In.GPR[index]&0xffff0000|uint64(x))
		i.reserve(index)
		v -= x
	}
	i.SetGPR(base, i.In.GPR[base]&0xffff0000|uint64(v))
	i.reserve(base)
	return append([]byte{byte(mod<<6) | reg | byte(rm)}, d...)
}

func (i *inst) addrMask() uint64 {
	if i.Mode != 64 {
		return 0xffff_ffff
	}
	return ^uint64(0)
}

func (i *inst) baseValue(v, garbage uint64) uint64 {
	if i.addr32 {
		return v&0xffff_ffff | garbage
	}
	return v & i.addrMask()
}

func (i *inst) disp(base int) (v uint64, b []byte, mod byte) {
	switch k := i.r.N(3); {
	case k == 0 && base&7 != 5:
		return 0, nil, 0
	case k <= 1:
		d := int8(i.r.Next())
		return uint64(int64(d)), []byte{byte(d)}, 0x40
	}
	d := int32(i.r.Next()) >> i.r.N(20)
	return uint64(int64(d)), binary.LittleEndian.AppendUint32(nil, uint32(d)), 0x80
}

// setOperand gives the r/m operand a value of n bytes.
func (i *inst) setOperand(v uint64, n int) {
	if !i.isMem {
		i.SetGPR(i.rm, v)
		return
	}
	i.setMem(i.off, binary.LittleEndian.AppendUint64(nil, v)[:n])
}

func (i *inst) setMem(off int, b []byte) {
	i.Set(fmt.Sprintf("m%x", off), hex.EncodeToString(b))
}

// reserve keeps registers from becoming operands.
func (i *inst) reserve(regs ...int) {
	for _, n := range regs {
		i.reserved |= 1 << n
	}
}

// mul128 is a*b+c.
func mul128(a, b, c uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c, 0)
	return hi + carry, lo
}
