package fuzz

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Piece is a part of a guest's program that can be left out.
type Piece struct {
	Text string // assembly (NASM), one line per instruction
	Code []byte
}

// ins appends an instruction.
func (p *Piece) ins(text string, code ...byte) *Piece {
	p.Text += "\t" + text + "\n"
	p.Code = append(p.Code, code...)
	return p
}

// le32 are the bytes of v.
func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// reg32 are the general registers by number.
var reg32 = [8]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"}

// The registers by number.
const (
	eax = iota
	ecx
	edx
	ebx
	esp
	ebp
	esi
	edi
)

// mov loads a constant.
func (p *Piece) mov(r int, v uint32) *Piece {
	return p.ins(fmt.Sprintf("mov %s, %#x", reg32[r], v), append([]byte{0xb8 + byte(r)}, le32(v)...)...)
}

// mov64 loads a constant of 64 bits.
func (p *Piece) mov64(r int, v uint64) *Piece {
	return p.ins(fmt.Sprintf("mov r%s, qword %#x", reg32[r][1:], v),
		binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8 + byte(r)}, v)...)
}

// wrmsr writes v to an MSR.
func (p *Piece) wrmsr(msr uint32, v uint64) *Piece {
	return p.mov(ecx, msr).mov(eax, uint32(v)).mov(edx, uint32(v>>32)).ins("wrmsr", 0x0f, 0x30)
}

// bytes appends data that is executed.
func (p *Piece) bytes(b []byte) *Piece {
	if len(b) == 0 {
		return p
	}
	s := make([]string, len(b))
	for i, x := range b {
		s[i] = fmt.Sprintf("%#02x", x)
	}
	return p.ins("db "+strings.Join(s, ", "), b...)
}

// The layout of a generated guest. Its program is at base, as every flat binary's.
const (
	base     = 0x100000
	handlers = 0x3000 // offset of the handlers
	idt      = 0x4000 // offset of the IDT
	imageLen = 0x5000
	stackTop = 0x1f0000
	sel      = 8 // 64-bit code in the loader's GDT

	timerVector = 0x40
	ipiVector   = 0x41
	// spuriousVector is not 0xff: the place of that gate holds the operand of LIDT.
	spuriousVector = 0xfe
)

// MaxCode is the space for the pieces.
const MaxCode = handlers - 0x100

// Program is a guest's program.
type Program struct {
	Pieces []Piece
	// Handlers are what the timer's handler and that of an IPI do before their EOI.
	Handlers [2]Piece
	// Bare guests have no IDT and no stack of their own.
	Bare bool
}

// prologue is what a program that is not bare begins with.
func prologue() *Piece {
	p := &Piece{}
	p.ins(fmt.Sprintf("mov esp, %#x", stackTop), append([]byte{0xbc}, le32(stackTop)...)...)
	p.ins(fmt.Sprintf("lidt [%#x]", base+imageLen-16), append([]byte{0x0f, 0x01, 0x1c, 0x25}, le32(base+imageLen-16)...)...)
	// x2APIC on, spurious vector 0xfe, APIC enabled.
	p.mov(ecx, 0x1b).ins("rdmsr", 0x0f, 0x32).ins("or eax, 0xc00", 0x0d, 0, 0x0c, 0, 0).ins("wrmsr", 0x0f, 0x30)
	return p.wrmsr(0x80f, 0x100|spuriousVector)
}

// handler is a handler that ends with EOI.
func handler(body Piece) *Piece {
	p := &Piece{}
	p.ins("push rax", 0x50).ins("push rcx", 0x51).ins("push rdx", 0x52)
	p.Text += body.Text
	p.Code = append(p.Code, body.Code...)
	p.wrmsr(0x80b, 0)
	return p.ins("pop rdx", 0x5a).ins("pop rcx", 0x59).ins("pop rax", 0x58).ins("iretq", 0x48, 0xcf)
}

// Image is the flat binary. Its program begins anew when it is through.
func (p *Program) Image() []byte {
	b := make([]byte, 0, imageLen)
	if !p.Bare {
		b = append(b, prologue().Code...)
	}
	loop := len(b)
	for i := range p.Pieces {
		b = append(b, p.Pieces[i].Code...)
	}
	b = append(b, 0xe9)
	b = append(b, le32(uint32(loop-(len(b)+4)))...)
	if p.Bare {
		return b
	}
	b = append(b, make([]byte, imageLen-len(b))...)
	for i := range p.Handlers {
		at := handlers + 0x400*i
		copy(b[at:], handler(p.Handlers[i]).Code)
		gate(b, timerVector+i, base+uint32(at))
	}
	copy(b[handlers+0x800:], []byte{0x48, 0xcf}) // IRETQ, for spurious interrupts
	gate(b, spuriousVector, base+handlers+0x800)
	binary.LittleEndian.PutUint16(b[imageLen-16:], 256*16-1)
	binary.LittleEndian.PutUint64(b[imageLen-14:], base+idt)
	return b
}

// gate writes an interrupt gate.
func gate(b []byte, v int, to uint32) {
	e := b[idt+16*v:]
	binary.LittleEndian.PutUint16(e, uint16(to))
	binary.LittleEndian.PutUint16(e[2:], sel)
	binary.LittleEndian.PutUint16(e[4:], 0x8e00)
	binary.LittleEndian.PutUint16(e[6:], uint16(to>>16))
}

// Assembly is the program as source text for NASM.
func (p *Program) Assembly() string {
	var s strings.Builder
	fmt.Fprintf(&s, "; nasm -f bin -o guest.bin guest.asm\nbits 64\norg %#x\n", base)
	if !p.Bare {
		s.WriteString(prologue().Text)
	}
	s.WriteString("again:\n")
	for i := range p.Pieces {
		s.WriteString(p.Pieces[i].Text)
	}
	s.WriteString("\tjmp near again\n")
	if p.Bare {
		return s.String()
	}
	for i := range p.Handlers {
		fmt.Fprintf(&s, "times %#x-($-$$) db 0\nhandler%d:\n%s", handlers+0x400*i, i, handler(p.Handlers[i]).Text)
	}
	fmt.Fprintf(&s, "times %#x-($-$$) db 0\nspurious:\n\tiretq\n", handlers+0x800)
	for _, g := range []struct {
		v  int
		at string
	}{{timerVector, fmt.Sprintf("%#x", base+handlers)}, {ipiVector, fmt.Sprintf("%#x", base+handlers+0x400)},
		{spuriousVector, fmt.Sprintf("%#x", base+handlers+0x800)}} {
		fmt.Fprintf(&s, "times %#x-($-$$) db 0\n\tdw %s & 0xffff, %d, 0x8e00, %s >> 16\n", idt+16*g.v, g.at, sel, g.at)
	}
	fmt.Fprintf(&s, "times %#x-($-$$) db 0\n\tdw %d\n\tdq %#x\ntimes %#x-($-$$) db 0\n", imageLen-16, 256*16-1, base+idt, imageLen)
	return s.String()
}
