package lapic

// Divisor decodes TDCR bits 3, 1 and 0.
//
//	bits 3,1,0   000 001 010 011 100 101 110 111
//	divisor        2   4   8  16  32  64 128   1
//
// Intel SDM vol. 3A, 10.5.4 "APIC Timer".
func Divisor(tdcr uint32) uint32 {
	n := tdcr&3 | tdcr&8>>1
	return 1 << ((n + 1) & 7)
}
