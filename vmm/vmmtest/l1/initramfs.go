package l1

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/cavaliergopher/cpio"
	"github.com/klauspost/compress/zstd"
)

// Plan is what PID 1 of the emulated machine does. It travels as PlanPath in the
// initramfs.
type Plan struct {
	Modules  []Module
	Commands []Command
	// HoldVM keeps one idle VM open while the commands run, so that KVM never
	// flips its static keys: on two TCG threads that patching kills the kernel
	// now and then.
	HoldVM bool
	// Rows and Cols are the size of the console, 0 to leave it alone.
	Rows, Cols uint16
	// Settle is how long PID 1 waits before it powers off, in milliseconds:
	// Bochs cuts the serial output at power-off.
	Settle int
}

// PlanPath is where the initramfs holds the Plan.
const PlanPath = "/l1.json"

// Module is a kernel module to load.
type Module struct {
	Path, Params string
}

// Command is a program to run, in order.
type Command struct {
	Argv []string
	Env  []string
	// Fetch are files that are sent out through the second serial port when the
	// command has ended.
	Fetch []string
}

// The lines that PID 1 prints around commands.
const (
	MarkRun  = "L1-RUN "  // followed by the number of the command
	MarkExit = "L1-EXIT " // followed by its number and exit code
	MarkDone = "L1-DONE"
	MarkFail = "L1-FAIL " // followed by a sentence; the machine powers off
)

// writeInitramfs writes a zstd-compressed newc archive with the given files
// (path in the archive to contents) and the directories that hold them.
func writeInitramfs(w io.Writer, files map[string][]byte) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return fmt.Errorf("compressing the initramfs: %w", err)
	}
	c := cpio.NewWriter(z)
	for _, d := range directories(files) {
		if err := c.WriteHeader(&cpio.Header{Name: d, Mode: cpio.TypeDir | 0o755}); err != nil {
			return fmt.Errorf("packing directory %s: %w", d, err)
		}
	}
	for _, name := range sorted(files) {
		h := &cpio.Header{Name: strings.TrimPrefix(name, "/"), Mode: cpio.TypeReg | 0o755, Size: int64(len(files[name]))}
		if err := c.WriteHeader(h); err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
		if _, err := c.Write(files[name]); err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := c.Close(); err != nil {
		return fmt.Errorf("packing the initramfs: %w", err)
	}
	return z.Close()
}

// mountPoints are the directories that PID 1 mounts on.
var mountPoints = []string{"dev", "proc", "sys", "tmp", "run"}

func directories(files map[string][]byte) []string {
	set := map[string]bool{}
	for _, d := range mountPoints {
		set[d] = true
	}
	for name := range files {
		for d := path.Dir(strings.TrimPrefix(name, "/")); d != "." && d != "/"; d = path.Dir(d) {
			set[d] = true
		}
	}
	dirs := make([]string, 0, len(set))
	for d := range set {
		dirs = append(dirs, d)
	}
	sort.Strings(dirs)
	return dirs
}

func sorted(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// pack writes the initramfs of a job to path.
func pack(path string, k Kernel, plan Plan, params map[string]string, modules []string, files map[string]string) error {
	contents := map[string][]byte{}
	for name, src := range files {
		b, err := os.ReadFile(src)
		if err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
		contents[name] = b
	}
	for _, m := range modules {
		b, err := k.Module(m)
		if err != nil {
			return err
		}
		p := "/modules/" + m + ".ko"
		contents[p] = b
		plan.Modules = append(plan.Modules, Module{p, params[m]})
	}
	b, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("packing the plan: %w", err)
	}
	contents[PlanPath] = b
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("creating the initramfs: %w", err)
	}
	if err := writeInitramfs(f, contents); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
