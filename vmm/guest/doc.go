// Package guest makes guest programs ready to run: it loads multiboot and ELF
// images and flat binaries, and holds the built-in guests.
//
// An Image is an immutable description: what goes where in guest RAM and in
// which state the boot CPU starts. Where things lie is said in one file,
// layout.go. Built-in guests are assembly in src, with the assembled bytes in
// bin beside it; they take their parameters from a block in guest memory and
// leave their samples there, so that reporting causes no exit.
package guest

//go:generate go test -run TestCodeMatchesSource -update .
