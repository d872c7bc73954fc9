package interp

import "unsafe"

// width returns the size of T in bytes. It reads no memory, and the compiler
// turns it into a constant.
func width[T sint]() uint64 { return uint64(unsafe.Sizeof(T(0))) }
