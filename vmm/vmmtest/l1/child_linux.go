package l1

import (
	"os/exec"
	"syscall"
)

// withParent makes the kernel end cmd's process when this one is gone, however
// that came about: an emulator left alone would run for ever.
func withParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
