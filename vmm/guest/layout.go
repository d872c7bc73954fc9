package guest

// The guest-physical layout that loaders and built-in guests share.
//
//	0x00000–0x00fff  free (real-mode vectors of a boot sector), but for the BIOS
//	                 data area at 0x400, which package board fills
//	0x01000  BootGDT      null, code64, data, code32
//	0x02000  BootPML4     identity map of 4 GiB in 2 MiB pages: PML4,
//	0x03000  BootPDPT     PDPT,
//	0x04000  BootPD       and four page directories, up to 0x7fff
//	0x08000  StartupPage  real-mode code for application processors (SIPI vector 8)
//	0x09000  BootInfo     multiboot information, memory map, command line
//	0x0a000  ParamBlock   parameters and results of a built-in guest
//	0x0b000  GuestIDT     its interrupt descriptors
//	0x0c000  …            its stacks: 4 KiB for each of up to 4 vCPUs, to 0xffff
//	0x10000  EnvText      multiboot module: environment text, up to 16 KiB
//	0x80000  BootMoved    distance that BootInfo and EnvText move up if a
//	                      multiboot image fills their places
//	0xf0000  …            ACPI tables (package board)
//	0x100000 CodeBase     code of built-in guests, of flat binaries, usual for ELF
//	0x110000 RingBase     sample ring of a built-in guest
const (
	BootGDT     = 0x1000
	BootPML4    = 0x2000
	BootPDPT    = 0x3000
	BootPD      = 0x4000
	StartupPage = 0x8000
	BootInfo    = 0x9000
	ParamBlock  = 0xa000
	GuestIDT    = 0xb000
	StackTop    = 0xd000 // of vCPU 0; vCPU i has StackTop + i × StackSize
	StackSize   = 0x1000
	EnvText     = 0x10000
	EnvTextMax  = 0x4000
	BootMoved   = 0x80000
	CodeBase    = 0x100000
	RingBase    = 0x110000
	BootSector  = 0x7c00
)

// Offsets inside the BootInfo page.
const (
	bootInfoMap    = 0x080
	bootInfoModule = 0x100
	bootInfoLoader = 0x140
	bootInfoArgs   = 0x180
	bootInfoSize   = 0x1000
)

// The selectors of BootGDT.
const (
	selCode64 = 0x08
	selData   = 0x10
	selCode32 = 0x18
)

// lowEnd and the hole say where conventional memory ends: the memory map calls
// what lies between reserved.
const (
	lowEnd       = 0x9fc00
	firmwareBase = 0xf0000 // the ACPI tables' 64 KiB, which package board fills
	highBase     = 0x100000
)
