//go:build linux

// Command l1init is PID 1 of the emulated machines of package l1: it mounts the
// kernel's file systems, loads the modules, runs the commands of the plan and
// powers off.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "l1init: not the first process of a machine")
		os.Exit(2)
	}
	settle := 500
	if err := boot(&settle); err != nil {
		fmt.Printf("%s%v\n", l1.MarkFail, err)
	} else {
		fmt.Println(l1.MarkDone)
	}
	_ = unix.IoctlSetInt(1, unix.TCSBRK, 1) // wait until the port has sent it all
	time.Sleep(time.Duration(settle) * time.Millisecond)
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func boot(settle *int) error {
	for _, m := range mounts {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.fs, m.at, m.fs, 0, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", m.at, err)
		}
	}
	b, err := os.ReadFile(l1.PlanPath)
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	var p l1.Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	*settle = p.Settle
	for _, m := range p.Modules {
		if err := load(m); err != nil {
			return err
		}
	}
	if p.HoldVM {
		if err := holdVM(); err != nil {
			return err
		}
	}
	if p.Rows != 0 {
		ws := &unix.Winsize{Row: p.Rows, Col: p.Cols}
		if err := unix.IoctlSetWinsize(1, unix.TIOCSWINSZ, ws); err != nil {
			return fmt.Errorf("sizing the console: %w", err)
		}
	}
	for i, c := range p.Commands {
		if err := run(i, c); err != nil {
			return err
		}
	}
	return nil
}

var mounts = []struct{ fs, at string }{
	{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"tmpfs", "/run"},
	{"tracefs", "/sys/kernel/tracing"}, {"debugfs", "/sys/kernel/debug"},
}

func load(m l1.Module) error {
	f, err := os.Open(m.Path)
	if err != nil {
		return fmt.Errorf("loading %s: %w", m.Path, err)
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), m.Params, 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("loading %s %s: %w", m.Path, m.Params, err)
	}
	return nil
}

// holdVM leaves a VM with one vCPU without a LAPIC open until power-off.
func holdVM() error {
	const createVM, createVCPU = 0xAE01, 0xAE41
	kvm, err := unix.Open("/dev/kvm", unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("holding a VM: %w", err)
	}
	vm, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(kvm), createVM, 0)
	if errno != 0 {
		return fmt.Errorf("holding a VM: %w", errno)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, vm, createVCPU, 0); errno != 0 {
		return fmt.Errorf("holding a VM: %w", errno)
	}
	return nil
}

func run(i int, c l1.Command) error {
	fmt.Printf("%s%d\n", l1.MarkRun, i)
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append([]string{"PATH=/", "HOME=/tmp", "TERM=xterm-256color"}, c.Env...)
	cmd.Dir = "/tmp"
	err := cmd.Run()
	code := cmd.ProcessState.ExitCode()
	if err != nil && code < 0 {
		fmt.Println(err)
	}
	fmt.Printf("\n%s%d %d\n", l1.MarkExit, i, code)
	return send(c.Fetch)
}

func send(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	tty, err := os.OpenFile("/dev/ttyS1", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("sending files: %w", err)
	}
	defer tty.Close()
	if err := raw(int(tty.Fd())); err != nil {
		return err
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			fmt.Printf("sending %s: %v\n", p, err)
			continue
		}
		if err := l1.WriteFile(tty, p, b); err != nil {
			return err
		}
	}
	return unix.IoctlSetInt(int(tty.Fd()), unix.TCSBRK, 1) // drain
}

func raw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("setting up the second serial port: %w", err)
	}
	t.Oflag &^= unix.OPOST
	t.Cflag = t.Cflag&^unix.CBAUD | unix.B115200 // Bochs keeps to the rate
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return fmt.Errorf("setting up the second serial port: %w", err)
	}
	return nil
}
