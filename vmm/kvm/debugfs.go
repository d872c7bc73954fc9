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
// made the VM and the descriptor's number (virt/kvm/kvm_main.c,
// kvm_create_vm_debugfs).
func (vm *VM) debugfsDir() (string, error) {
	dirs, _ := filepath.Glob(filepath.Join(debugfsKVM, "*-"+strconv.Itoa(vm.fd)))
	for _, d := range dirs {
		if vm.owns(d) {
			return d, nil
		}
	}
	return "", &UnavailableError{What: noDebugfs}
}

// owns reports whether a folder is this VM's. Threads of other PID namespaces
// have numbers of their own: what tells a VM for sure is the TSC offset of its
// first vCPU, where it can be asked for.
func (vm *VM) owns(dir string) bool {
	if len(vm.cpus) > 0 {
		if want, err := vm.cpus[0].askOffset(); err == nil {
			got, err := debugfsNumber(dir, vm.cpus[0].id, "tsc-offset")
			return err == nil && uint64(got) == want
		}
	}
	tid, _, _ := strings.Cut(filepath.Base(dir), "-")
	return tid == strconv.Itoa(vm.maker)
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
