package board

// firmwareBase is where the board's firmware begins, resetVector where a CPU
// finds it after INIT or reset (F000:FFF0). Both lie in the area that the ACPI
// tables share.
const (
	firmwareBase = 0xfff00
	resetVector  = 0xffff0
)

// What a PC/AT's firmware does with the shutdown byte in CMOS: shutdownByte says
// how the CPU came to be reset, and resumeVector holds the far address to go on
// at. IBM PC/AT Technical Reference, "BIOS listing: Test 1".
const (
	shutdownByte = 0x0f
	shutdownJump = 0x0a
	resumeVector = 0x467
)

// firmware is what runs at the reset vector after an INIT of the boot processor:
// it goes on at resumeVector if the shutdown byte says so, and else resets the
// machine by its reset control register, as SeaBIOS does. Nothing of it runs when
// the machine is reset: the guest is loaded and booted anew.
var firmware = []byte{
	0xfa,                           // cli
	0xb0, shutdownByte, 0xe6, 0x70, // mov al, 0fh; out 70h, al
	0xe4, 0x71, // in al, 71h
	0x3c, shutdownJump, // cmp al, 0ah
	0x75, 0x09, // jne reset
	0x31, 0xc0, // xor ax, ax
	0x8e, 0xd8, // mov ds, ax
	0xff, 0x2e, resumeVector & 0xff, resumeVector >> 8, // jmp far [467h]
	0x90,             // nop
	0xba, 0xf9, 0x0c, // reset: mov dx, 0cf9h
	0xb0, 0x06, // mov al, 6
	0xee,       // out dx, al
	0xf4,       // hlt
	0xeb, 0xfd, // jmp to hlt
}

// resetJump is the instruction at the reset vector: jmp F000:FF00.
var resetJump = []byte{0xea, firmwareBase & 0xff, firmwareBase >> 8 & 0xff, 0x00, 0xf0}

// Reboot puts all devices into the state in which firmware hands a machine that
// was reset to its guest. CMOS is battery-backed: its RAM stays, but for the
// shutdown byte, which has been dealt with.
func (b *Board) Reboot() {
	ram, typist := b.st.cmos.ram, b.st.typist
	b.Reset()
	b.st.cmos.ram, b.st.typist = ram, typist
	b.st.cmos.ram[shutdownByte] = 0
	b.hot = nil
}
