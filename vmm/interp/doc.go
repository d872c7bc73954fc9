// Package interp executes x86-64 guest code in software: it implements vmm.CPU
// and vmm.Memory. Time is what Run is given plus the cost of what was executed,
// so the same guest, memory and calls give the same state to the bit.
//
// Three stages: decode turns bytes into an op of fixed size, the exec files turn
// an op into its effect, and the table says which encodings exist. Decoded
// blocks are cached by physical address until somebody writes to their bytes.
// The TLB is a pure cache, too: a write to a page table empties it, so a guest
// sees a processor without one.
//
// All CPUs of a machine share one Memory and are run from one goroutine; nothing
// here locks.
//
// Floating point is exact: the x87, MMX and SSE up to SSE4.2 round and report
// exceptions as hardware does, by package softfloat or, where nothing can differ,
// by the host's arithmetic. The x87's transcendental functions alone are good to
// about 52 of their 64 bits, and RCPPS and RSQRTPS to the 12 that the manual
// promises. The hardware vectors in testdata/hw, measured on a real processor,
// are the referee for all of it; what they show beyond the manual is followed and
// said where it is done. AVX, BMI and ADX do not exist, and CPUID says so.
package interp
