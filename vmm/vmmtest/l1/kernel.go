package l1

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/ulikunitz/xz"
)

// ErrUnavailable is wrapped by every error that says that this machine lacks an
// emulator or a kernel. Tests skip on it and on nothing else.
var ErrUnavailable = errors.New("not available on this machine")

// KernelDirEnv names the environment variable that holds the directory of
// unpacked kernel packages.
const KernelDirEnv = "TICKTRAP_KERNELS"

// Kernel is an unpacked kernel package.
type Kernel struct {
	Release string // as uname -r prints it
	Image   string // path of vmlinuz
	modules string // path of lib/modules/Release/kernel
}

// KernelDir returns the directory of unpacked kernels: $TICKTRAP_KERNELS, or
// ticktrap/kernels in the user's cache directory.
func KernelDir() (string, error) {
	if d := os.Getenv(KernelDirEnv); d != "" {
		return d, nil
	}
	c, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the kernel directory: %w", err)
	}
	return filepath.Join(c, "ticktrap", "kernels"), nil
}

// FindKernel returns the newest unpacked kernel of a series such as "6.12".
func FindKernel(series string) (Kernel, error) {
	dir, err := KernelDir()
	if err != nil {
		return Kernel{}, err
	}
	images, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-"+series+".*"))
	if err != nil {
		return Kernel{}, fmt.Errorf("finding kernel %s: %w", series, err)
	}
	if len(images) == 0 {
		return Kernel{}, fmt.Errorf("no %s kernel in %s (vmm/vmmtest/l1/prepare.sh puts one there): %w",
			series, dir, ErrUnavailable)
	}
	sort.Strings(images)
	image := images[len(images)-1]
	release := strings.TrimPrefix(filepath.Base(image), "vmlinuz-")
	return Kernel{release, image, filepath.Join(dir, "lib", "modules", release, "kernel")}, nil
}

// Module returns the unpacked contents of a kernel module, named without its
// suffix.
func (k Kernel) Module(name string) ([]byte, error) {
	path, err := k.modulePath(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading module %s: %w", name, err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".xz") {
		if r, err = xz.NewReader(f); err != nil {
			return nil, fmt.Errorf("unpacking module %s: %w", name, err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking module %s: %w", name, err)
	}
	return b, nil
}

func (k Kernel) modulePath(name string) (string, error) {
	var found string
	err := filepath.WalkDir(k.modules, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if base == name+".ko" || base == name+".ko.xz" {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("finding module %s: %w", name, err)
	}
	if found == "" {
		return "", fmt.Errorf("kernel %s has no module %s", k.Release, name)
	}
	return found, nil
}
