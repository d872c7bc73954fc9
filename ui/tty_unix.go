//go:build !windows

package ui

import (
	"os"
	"syscall"
)

// resized is the signal that the size of the terminal has changed.
var resized os.Signal = syscall.SIGWINCH
