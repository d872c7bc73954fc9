package l1

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"text/template"
	"time"

	"github.com/creack/pty"
)

// bochsrc configures a CPU with VMX at 100 million instructions per second, so
// that the TSC counts instructions. The pluginctrl line silences devices that
// Debian's build would open on the host. The build of bochs.sh has none of
// them, and stops at a power-off; it hangs now and then if it logs from a
// signal's handler.
var bochsrc = template.Must(template.New("bochsrc").Parse(
	`cpu: model={{.Model}}, count={{.CPUs}}{{if gt .CPUs 1}}, quantum=16{{end}}, ips=100000000, reset_on_triple_fault=0
memory: guest=1024, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path={{.Dir}}/l1.iso, status=inserted
boot: cdrom
com1: enabled=1, mode={{.Mode}}, dev={{.Console}}
com2: enabled=1, mode=file, dev={{.Dir}}/serial2
log: {{.Dir}}/bochs.log
clock: sync=none, time0=local
pci: enabled=1, chipset=i440fx
{{if .Built}}display_library: nogui
panic: action=fatal
error: action=ignore
info: action=ignore
{{else}}sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
plugin_ctrl: sb16=0, es1370=0, speaker=0, unmapped=1
display_library: term
{{end}}`))

// grubCfg boots L1. Without tsc_early_khz the kernel believes CPUID's 3.5 GHz
// and turns the preemption timer off. Bochs' sizes of XSAVE areas are
// inconsistent: kernels from 6.18 on crash on them, hence noxsave.
const grubCfg = `set timeout=0
linux /boot/vmlinuz console=ttyS0,115200 panic=-1 quiet nokaslr mitigations=off tsc_early_khz=100000 lpj=4000000 audit=0 noxsave hpet=disable no5lvl
initrd /boot/initrd
boot
`

// The CPUs of the machines: that of the packaged Bochs, without posted
// interrupts, and that of the built one, with.
const (
	cpuPlain = "corei7_skylake_x"
	cpuAPICv = "corei7_icelake_u"
)

// BochsEnv names the environment variable that holds the directory of the
// Bochs that bochs.sh builds.
const BochsEnv = "TICKTRAP_BOCHS"

// builtBochs finds the Bochs that bochs.sh builds.
func builtBochs() (string, error) {
	dir := os.Getenv(BochsEnv)
	if dir == "" {
		c, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding Bochs: %w", err)
		}
		dir = filepath.Join(c, "ticktrap", "bochs")
	}
	bin := filepath.Join(dir, "bochs")
	if _, err := os.Stat(bin); err != nil {
		return "", fmt.Errorf("no %s (vmm/vmmtest/l1/bochs.sh builds it): %w", bin, ErrUnavailable)
	}
	return bin, nil
}

// findBochs finds the emulator of a machine: the built one, which alone has
// APICv and is the faster one, else the packaged one.
func (m Machine) findBochs() (bin string, built bool, err error) {
	bin, err = builtBochs()
	if err == nil || m.Vendor == VMXAPICv {
		return bin, true, err
	}
	if bin, err = exec.LookPath("bochs-bin"); err != nil {
		return "", false, fmt.Errorf("no bochs-bin (packages bochs, bochs-term, bochsbios, vgabios): %w", ErrUnavailable)
	}
	return bin, false, nil
}

// bochs prepares Bochs with kvm-intel's VMX emulated.
func (m Machine) bochs(ctx context.Context, dir, initrd string, job Job) (*emulator, error) {
	bin, built, err := m.findBochs()
	if err != nil {
		return nil, err
	}
	model := cpuPlain
	if built {
		model = cpuAPICv
	}
	if err := m.iso(ctx, dir, initrd); err != nil {
		return nil, err
	}
	port := filePort(filepath.Join(dir, "serial1"))
	if job.Stdin != nil {
		if port, err = ttyPort(job.Stdin); err != nil {
			return nil, err
		}
	}
	var rc bytes.Buffer
	if err := bochsrc.Execute(&rc, struct {
		CPUs                      int
		Built                     bool
		Model, Dir, Mode, Console string
	}{m.CPUs, built, model, dir, port.mode, port.path}); err != nil {
		return nil, fmt.Errorf("writing bochsrc: %w", err)
	}
	conf := filepath.Join(dir, "bochsrc")
	if err := os.WriteFile(conf, rc.Bytes(), 0o644); err != nil {
		return nil, fmt.Errorf("writing bochsrc: %w", err)
	}
	args := []string{"-q", "-f", conf}
	if !built { // Debian's build starts in its debugger: "c" continues
		cont := filepath.Join(dir, "rc")
		if err := os.WriteFile(cont, []byte("c\n"), 0o644); err != nil {
			return nil, fmt.Errorf("writing the debugger's start file: %w", err)
		}
		args = append(args, "-rc", cont)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	withParent(cmd)
	e := &emulator{cmd: cmd, files: filepath.Join(dir, "serial2")}
	e.run = func(ctx context.Context, follow func(io.Reader) error) error {
		return runBochs(ctx, cmd, port, follow)
	}
	return e, nil
}

// iso makes a bootable image with kernel and initramfs.
func (m Machine) iso(ctx context.Context, dir, initrd string) error {
	mk, err := exec.LookPath("grub-mkrescue")
	if err != nil {
		return fmt.Errorf("no grub-mkrescue (packages grub-common, grub-pc-bin, xorriso, mtools): %w", ErrUnavailable)
	}
	root := filepath.Join(dir, "iso")
	if err := os.MkdirAll(filepath.Join(root, "boot", "grub"), 0o755); err != nil {
		return fmt.Errorf("making the boot image: %w", err)
	}
	kernel, err := os.ReadFile(m.Kernel.Image)
	if err != nil {
		return fmt.Errorf("making the boot image: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, "boot", "vmlinuz"), kernel, 0o644); err != nil {
		return fmt.Errorf("making the boot image: %w", err)
	}
	if err := os.Rename(initrd, filepath.Join(root, "boot", "initrd")); err != nil {
		return fmt.Errorf("making the boot image: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, "boot", "grub", "grub.cfg"), []byte(grubCfg), 0o644); err != nil {
		return fmt.Errorf("making the boot image: %w", err)
	}
	out, err := exec.CommandContext(ctx, mk, "-o", filepath.Join(dir, "l1.iso"), root).CombinedOutput()
	if err != nil {
		return fmt.Errorf("making the boot image: %w\n%s", err, out)
	}
	return nil
}

// port is the emulated machine's first serial port: how Bochs is told of it and
// how its output is read while the process runs.
type port struct {
	mode, path string
	open       func(ctx context.Context, exited <-chan struct{}) io.Reader
}

// filePort is a port that writes to a file and gets no input.
func filePort(path string) port {
	return port{"file", path, func(ctx context.Context, exited <-chan struct{}) io.Reader {
		return &tail{ctx: ctx, path: path, exited: exited}
	}}
}

// ttyPort is a port that is a terminal, with in as what is typed.
func ttyPort(in io.Reader) (port, error) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		return port{}, fmt.Errorf("opening a terminal for the console: %w", err)
	}
	go func() { _, _ = io.Copy(ptmx, in) }()
	return port{"term", tty.Name(), func(ctx context.Context, exited <-chan struct{}) io.Reader {
		// While tty is open here, a read waits for Bochs to open it and to write.
		go func() {
			select {
			case <-exited:
			case <-ctx.Done():
			}
			tty.Close()
			ptmx.Close()
		}()
		return ptmx
	}}, nil
}

// termPTY is the terminal that the term display writes to, as named on stderr.
var termPTY = regexp.MustCompile(`/dev/pts/\d+`)

// runBochs runs the emulator under a terminal of its own, drains that and the
// display's, and follows the serial port.
//
// Bochs ignores SIGTERM, and would block once a terminal that nobody reads is
// full.
func runBochs(ctx context.Context, cmd *exec.Cmd, p port, follow func(io.Reader) error) error {
	tty, err := pty.Start(cmd)
	if err != nil {
		return fmt.Errorf("starting Bochs: %w", err)
	}
	defer tty.Close()
	go drain(tty)
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	err = follow(p.open(ctx, exited))
	_ = cmd.Process.Kill()
	<-exited
	return err
}

// drain discards a terminal's output. The first terminal named in it is the
// display's; that one is drained too.
func drain(tty io.Reader) {
	var once sync.Once
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		if name := termPTY.Find(buf[:n]); name != nil {
			once.Do(func() {
				if f, err := os.Open(string(name)); err == nil {
					go func() { _, _ = io.Copy(io.Discard, f) }()
				}
			})
		}
		if err != nil {
			return
		}
	}
}

// tail reads a file that another process is still writing. It ends when that
// process has.
type tail struct {
	ctx    context.Context
	path   string
	f      *os.File
	exited <-chan struct{}
	gone   bool // the process is
}

const tailInterval = 50 * time.Millisecond

// Read implements io.Reader.
func (t *tail) Read(p []byte) (int, error) {
	for {
		if t.f == nil {
			t.f, _ = os.Open(t.path)
		}
		if t.f != nil {
			if n, err := t.f.Read(p); n > 0 || (err != nil && err != io.EOF) {
				return n, err
			}
		}
		if t.gone {
			return 0, io.EOF
		}
		select {
		case <-t.exited:
			t.gone = true
		case <-t.ctx.Done():
			return 0, t.ctx.Err()
		case <-time.After(tailInterval):
		}
	}
}
