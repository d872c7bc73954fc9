package vmm

// Memory is guest-physical RAM. Addresses start at 0. An access that is not
// wholly inside RAM is an error and changes nothing.
type Memory interface {
	// Size is the amount of RAM in bytes, a multiple of 4096.
	Size() uint64
	ReadAt(p []byte, gpa uint64) error
	WriteAt(p []byte, gpa uint64) error
}
