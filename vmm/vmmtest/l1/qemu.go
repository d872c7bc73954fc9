package l1

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
)

// emulator is a started-to-be process and where its ports end.
type emulator struct {
	cmd   *exec.Cmd
	files string // path that the second serial port writes to
	// run starts the process, hands its console to follow and waits for its end.
	run func(ctx context.Context, follow func(console io.Reader) error) error
}

// qemu prepares QEMU with kvm-amd's SVM emulated by TCG.
func (m Machine) qemu(ctx context.Context, dir, initrd string, job Job) (*emulator, error) {
	bin, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		return nil, fmt.Errorf("no qemu-system-x86_64 (package qemu-system-x86): %w", ErrUnavailable)
	}
	files := filepath.Join(dir, "serial2")
	accel := "tcg"
	if m.CPUs > 1 {
		// On two TCG threads the kernel dies now and then while it patches its own
		// code (static keys, kprobes): "int3" in a function being patched.
		accel += ",thread=single"
	}
	cmd := exec.CommandContext(ctx, bin,
		"-accel", accel, "-cpu", "max,+svm,+npt", "-smp", strconv.Itoa(m.CPUs), "-m", "1G",
		"-display", "none", "-monitor", "none", "-no-reboot",
		"-serial", "stdio", "-serial", "file:"+files, "-nic", "none",
		"-kernel", m.Kernel.Image, "-initrd", initrd,
		"-append", "console=ttyS0 panic=-1 tsc=reliable quiet mitigations=off audit=0")
	withParent(cmd)
	if job.Stdin != nil {
		// Not the file itself: QEMU would make it non-blocking, and with it
		// whatever else shares the terminal. Nobody waits for the copy: it ends
		// with the input.
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("preparing QEMU: %w", err)
		}
		go func() { _, _ = io.Copy(in, job.Stdin) }()
	}
	e := &emulator{cmd: cmd, files: files}
	e.run = func(_ context.Context, follow func(io.Reader) error) error {
		out, err := cmd.StdoutPipe()
		if err != nil {
			return fmt.Errorf("starting QEMU: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("starting QEMU: %w", err)
		}
		err = follow(out)
		if err != nil {
			_ = cmd.Process.Kill()
		}
		_, _ = io.Copy(io.Discard, out)
		if werr := cmd.Wait(); werr != nil && err == nil {
			err = fmt.Errorf("running QEMU: %w", werr)
		}
		return err
	}
	return e, nil
}
