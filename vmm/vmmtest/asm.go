package vmmtest

import "encoding/binary"

// Where a probe keeps what it finds, in guest memory.
const (
	codeBase  = 0x100000 // where flat guests start
	idtOffset = 0x2000   // of the IDT in the image
	results   = 0x20000  // of 64-bit results
	logCount  = 0x21000  // number of vectors logged, 64 bits
	logBytes  = 0x21010  // the vectors, in the order of their handlers
	maxLog    = 64
)

// asm assembles a probe: 64-bit code at codeBase with an IDT behind it. Calls
// append instructions; comments give them in Intel syntax.
type asm struct {
	code  []byte
	stubs map[byte]int // vector to the offset of its handler
	slots int
}

func (a *asm) b(bytes ...byte) { a.code = append(a.code, bytes...) }

func (a *asm) imm32(v uint32) { a.code = binary.LittleEndian.AppendUint32(a.code, v) }

// raxIs is mov rax, v.
func (a *asm) raxIs(v uint64) {
	a.b(0x48, 0xb8)
	a.code = binary.LittleEndian.AppendUint64(a.code, v)
}

// keep is mov [results + 8 × next slot], rax.
func (a *asm) keep() {
	a.b(0x48, 0x89, 0x04, 0x25)
	a.imm32(uint32(results + 8*a.slots))
	a.slots++
}

// wrmsr writes v to an MSR.
func (a *asm) wrmsr(msr uint32, v uint64) {
	a.b(0xb9) // mov ecx, msr
	a.imm32(msr)
	a.b(0xb8) // mov eax, low
	a.imm32(uint32(v))
	a.b(0xba) // mov edx, high
	a.imm32(uint32(v >> 32))
	a.b(0x0f, 0x30)
}

// rdmsr reads an MSR into rax.
func (a *asm) rdmsr(msr uint32) {
	a.b(0xb9)
	a.imm32(msr)
	a.b(0x0f, 0x32)             // rdmsr
	a.b(0x48, 0xc1, 0xe2, 0x20) // shl rdx, 32
	a.b(0x48, 0x09, 0xd0)       // or rax, rdx
}

// keepMSR keeps the value of an MSR.
func (a *asm) keepMSR(msr uint32) { a.rdmsr(msr); a.keep() }

// rdtsc reads the TSC into rax.
func (a *asm) rdtsc() {
	a.b(0x0f, 0x31)
	a.b(0x48, 0xc1, 0xe2, 0x20) // shl rdx, 32
	a.b(0x48, 0x09, 0xd0)       // or rax, rdx
}

// keepLogged keeps the number of vectors logged so far.
func (a *asm) keepLogged() {
	a.b(0x48, 0x8b, 0x04, 0x25) // mov rax, [logCount]
	a.imm32(logCount)
	a.keep()
}

func (a *asm) sti() { a.b(0xfb) }
func (a *asm) cli() { a.b(0xfa) }
func (a *asm) nop() { a.b(0x90) }
func (a *asm) hlt() { a.b(0xf4) }

// end ends the guest with status 0.
func (a *asm) end() { a.b(0xb0, 0x00, 0xe6, 0xf4, 0xeb, 0xfe) } // mov al, 0; out 0xf4, al; jmp $

// x2apic turns the local APIC on in x2APIC mode, spurious vector 0xff.
func (a *asm) x2apic() {
	a.rdmsr(0x1b)
	a.b(0x0d) // or eax, 0xc00
	a.imm32(0xc00)
	a.b(0x31, 0xd2, 0x0f, 0x30) // xor edx, edx; wrmsr
	a.wrmsr(0x80f, 0x1ff)
	a.wrmsr(0x808, 0)
}

// self sends a fixed interrupt to the vCPU itself.
func (a *asm) self(vector byte) { a.wrmsr(0x830, 1<<18|1<<14|uint64(vector)) }

// handler installs a handler that logs its vector and, with eoi, writes EOI. The
// handler of #GP steps over the two bytes of the instruction that faulted.
func (a *asm) handler(vector byte, eoi bool) {
	over := len(a.code)
	a.b(0xe9) // jmp past the handler
	a.imm32(0)
	start := len(a.code)
	a.b(0x50, 0x53, 0x51, 0x52) // push rax; push rbx; push rcx; push rdx
	a.b(0x48, 0x8b, 0x1c, 0x25) // mov rbx, [logCount]
	a.imm32(logCount)
	a.b(0xc6, 0x83) // mov byte [rbx + logBytes], vector
	a.imm32(logBytes)
	a.b(vector)
	a.b(0x48, 0xff, 0x04, 0x25) // inc qword [logCount]
	a.imm32(logCount)
	if eoi {
		a.wrmsr(0x80b, 0)
	}
	a.b(0x5a, 0x59, 0x5b, 0x58) // pop rdx; pop rcx; pop rbx; pop rax
	if vector == vectorGP {
		a.b(0x48, 0x83, 0xc4, 0x08)       // add rsp, 8: the error code
		a.b(0x48, 0x83, 0x04, 0x24, 0x02) // add qword [rsp], 2
	}
	a.b(0x48, 0xcf) // iretq
	binary.LittleEndian.PutUint32(a.code[over+1:], uint32(len(a.code)-over-5))
	if a.stubs == nil {
		a.stubs = map[byte]int{}
	}
	a.stubs[vector] = start
}

const vectorGP = 13

// lidt loads the IDT's register.
func (a *asm) lidt() {
	a.b(0x0f, 0x01, 0x1c, 0x25) // lidt [pointer]
	a.imm32(codeBase + idtOffset + 256*16)
}

// image is the finished guest.
func (a *asm) image() []byte {
	if len(a.code) > idtOffset {
		panic("BUG: a probe's code runs into its IDT")
	}
	img := make([]byte, idtOffset+256*16+16)
	copy(img, a.code)
	for v, at := range a.stubs {
		addr := uint64(codeBase + at)
		gate := img[idtOffset+int(v)*16:]
		binary.LittleEndian.PutUint16(gate, uint16(addr))
		gate[2] = 8    // code segment
		gate[5] = 0x8e // present, interrupt gate
		binary.LittleEndian.PutUint16(gate[6:], uint16(addr>>16))
	}
	p := img[idtOffset+256*16:]
	binary.LittleEndian.PutUint16(p, 256*16-1)
	binary.LittleEndian.PutUint64(p[2:], codeBase+idtOffset)
	return img
}
