// Command linuxguest makes an initial RAM disk for Linux guests from Debian's
// packages busybox-static and rt-tests: its init runs cyclictest and powers off.
//
//	linuxguest DIR
//
// It writes DIR/initrd. Packages are fetched with apt-get and unpacked, not
// installed; libraries that cyclictest needs come from the packages in DIR and
// else from this machine. Words on the kernel's command line choose what init
// does: TEST=shell gives a shell, CYCLICTEST="…" other arguments (underscores
// stand for blanks).
package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/cavaliergopher/cpio"
)

// packages are what is unpacked.
var packages = []string{"busybox-static", "rt-tests", "libnuma1"}

// init runs as the first process of the guest.
const initScript = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
$b mkdir -p /dev/shm
$b mount -t tmpfs shm /dev/shm
echo "linux guest: user space"
case $TEST in
shell)
	export PATH=/bin PS1='guest# '
	$b mkdir -p /bin && $b --install -s /bin
	$b setsid $b cttyhack $b sh
	;;
none) ;;
*)
	set -- $(echo "${CYCLICTEST:--m_-p95_-i1000_-l1000_-q}" | $b tr _ ' ')
	echo "cyclictest $*"
	/bin/cyclictest "$@"
	;;
esac
echo "linux guest: power off"
$b poweroff -f
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linuxguest DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "linuxguest:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	root := filepath.Join(dir, "packages")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := unpack(root); err != nil {
		return err
	}
	files := map[string]string{"bin/busybox": "bin/busybox", "bin/cyclictest": "usr/bin/cyclictest"}
	contents := map[string][]byte{"init": []byte(initScript)}
	for name, src := range files {
		p := filepath.Join(root, src)
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) && name == "bin/busybox" {
			p = filepath.Join(root, "usr/bin/busybox")
			b, err = os.ReadFile(p)
		}
		if err != nil {
			return err
		}
		contents[name] = b
		if err := libraries(contents, root, p); err != nil {
			return err
		}
	}
	out := filepath.Join(dir, "initrd")
	if err := pack(out, contents); err != nil {
		return err
	}
	fmt.Println(out)
	return nil
}

// unpack fetches the packages that are not there yet.
func unpack(root string) error {
	if _, err := os.Stat(filepath.Join(root, "usr/bin/cyclictest")); err == nil {
		return nil
	}
	tmp, err := os.MkdirTemp("", "linuxguest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	get := exec.Command("apt-get", append([]string{"download", "-q"}, packages...)...)
	get.Dir, get.Stdout, get.Stderr = tmp, os.Stderr, os.Stderr
	if err := get.Run(); err != nil {
		return fmt.Errorf("apt-get download: %w", err)
	}
	debs, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil {
		return err
	}
	for _, d := range debs {
		if b, err := exec.Command("dpkg", "-x", d, root).CombinedOutput(); err != nil {
			return fmt.Errorf("dpkg -x %s: %w: %s", filepath.Base(d), err, b)
		}
	}
	return nil
}

// libraryDirs are where shared libraries lie, below the packages and on this
// machine.
var libraryDirs = []string{"lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64"}

// libraries adds the shared libraries of a program, and its loader.
func libraries(contents map[string][]byte, root, program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err != nil {
				return err
			}
			path := string(b[:len(b)-1])
			if contents[path[1:]], err = os.ReadFile(path); err != nil {
				return err
			}
		}
	}
	for _, n := range names {
		to := "lib/x86_64-linux-gnu/" + n
		if _, have := contents[to]; have || contents["lib64/"+n] != nil {
			continue
		}
		path, err := findLibrary(root, n)
		if err != nil {
			return err
		}
		if contents[to], err = os.ReadFile(path); err != nil {
			return err
		}
		if err := libraries(contents, root, path); err != nil {
			return err
		}
	}
	return nil
}

func findLibrary(root, name string) (string, error) {
	for _, base := range []string{root, "/"} {
		for _, d := range libraryDirs {
			p := filepath.Join(base, d, name)
			if _, err := os.Stat(p); err == nil {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("no library %s in the packages or on this machine", name)
}

// pack writes a newc archive, uncompressed: unpacking costs the guest more than
// reading. The same contents give the same bytes.
func pack(path string, contents map[string][]byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := cpio.NewWriter(f)
	add := func(h *cpio.Header, data []byte) error {
		h.Size = int64(len(data))
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	dirs := []string{"bin", "dev", "lib", "lib/x86_64-linux-gnu", "lib64", "proc", "sys", "tmp"}
	for _, d := range dirs {
		if err := add(&cpio.Header{Name: d, Mode: cpio.TypeDir | 0o755}, nil); err != nil {
			return err
		}
	}
	var names []string
	for n := range contents {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		if err := add(&cpio.Header{Name: n, Mode: cpio.TypeReg | 0o755}, contents[n]); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}
