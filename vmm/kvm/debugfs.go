//go:build linux && amd64

package kvm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const debugfsKVM = "/sys/kernel/debug/kvm"

// debugfsDir finds the VM's folder. The kernel names it after the thread that
// made the VM and the descriptor's number.
func (vm *VM) debugfsDir() (string, error) {
	dirs, _ := filepath.Glob(filepath.Join(debugfsKVM, "*-"+strconv.Itoa(vm.fd)))
	for _, d := range dirs {
		tid, _, _ := strings.Cut(filepath.Base(d), "-")
		if _, err := os.Stat("/proc/self/task/" + tid); err == nil {
			return d, nil
		}
	}
	if len(dirs) == 1 { // the thread has ended
		return dirs[0], nil
	}
	return "", &UnavailableError{What: noDebugfs}
}

const noDebugfs = "debugfs has no folder of this VM (mount -t debugfs debugfs /sys/kernel/debug, and run as root)"

// debugfsNumber reads one number of a vCPU, such as lapic_timer_advance_ns.
func debugfsNumber(dir string, vcpu int, name string) (int64, error) {
	b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("vcpu%d", vcpu), name))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}
