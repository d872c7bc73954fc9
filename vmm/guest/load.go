package guest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxFile is the largest guest file that is read, in bytes.
const MaxFile = 512 << 20

// Open reads and loads a guest file.
func Open(path string, o Options) (*Image, error) {
	data, err := ReadFile("guest", path)
	if err != nil {
		return nil, err
	}
	return Load(path, data, o)
}

// ReadFile reads a file that is what its name says, of at most MaxFile+1 bytes.
func ReadFile(what, path string) ([]byte, error) {
	switch st, err := os.Stat(path); { // before it is opened: a pipe would wait for its writer
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", what, err)
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory, not a file for the %s", path, what)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file, so it cannot be the %s", path, what)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", what, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	return data, nil
}

// Load makes an image of a guest file's bytes, which it keeps. Name is for
// messages; its last element becomes the guest's argv[0].
func Load(name string, data []byte, o Options) (*Image, error) {
	g := &Image{Name: name, Args: o.Append, SHA256: sha256.Sum256(data), env: o.Env, Initrd: o.Initrd}
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty", name)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", name, MaxFile>>20)
	case len(o.Env) > EnvTextMax:
		return nil, fmt.Errorf("environment text has %d bytes, more than %d", len(o.Env), EnvTextMax)
	case strings.ContainsRune(o.Env, 0) || strings.ContainsRune(o.Append, 0):
		return nil, errors.New("command line and environment must not contain a zero byte")
	}
	g.cmdline = filepath.Base(name)
	if o.Append != "" {
		g.cmdline += " " + o.Append
	}
	if n := bootInfoSize - bootInfoArgs - 1; len(g.cmdline) > n {
		return nil, fmt.Errorf("command line has %d bytes, more than %d", len(g.cmdline), n)
	}
	var err error
	if o.Initrd != "" {
		if g.disk, err = ReadFile("initial RAM disk", o.Initrd); err != nil {
			return nil, err
		}
		if len(g.disk) == 0 || len(g.disk) > MaxFile {
			return nil, fmt.Errorf("%s: an initial RAM disk of %d bytes, expected 1 to %d MiB", o.Initrd, len(g.disk), MaxFile>>20)
		}
	}
	load, err := recognise(name, data, o.Format)
	if err != nil {
		return nil, err
	}
	if err := load(g, data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(g.disk) > 0 {
		if g.boot == nil {
			return nil, fmt.Errorf("%s: %w", name, errNoDisk)
		}
		g.SHA256 = sha256.Sum256(append(g.SHA256[:], g.disk...))
	}
	if err := g.settle(); err != nil {
		return nil, err
	}
	return g, nil
}

// recognise chooses the loader of a file.
func recognise(name string, data []byte, as Format) (func(*Image, []byte) error, error) {
	switch as {
	case Flat:
		return loadFlat, nil
	case BootRecord:
		return loadBootRecord, nil
	}
	_, hasHeader := findMultiboot(data)
	switch {
	case isBzImage(data):
		return loadBzImage, nil
	case hasHeader:
		return loadMultiboot, nil
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		return loadELF, nil
	case len(data) >= 512 && data[510] == 0x55 && data[511] == 0xaa && len(data) <= 512:
		return loadBootRecord, nil
	case strings.EqualFold(filepath.Ext(name), ".bin"):
		return loadFlat, nil
	}
	return nil, fmt.Errorf("%s is not a guest image: it begins with %s, and has neither an ELF nor a multiboot header "+
		"(a flat binary is recognised by its name, *.bin)", name, firstBytes(data))
}

// firstBytes shows the start of a file in hex.
func firstBytes(data []byte) string {
	return fmt.Sprintf("% x", data[:min(len(data), 4)])
}

// loadFlat takes the file as 64-bit code at CodeBase.
func loadFlat(g *Image, data []byte) error {
	g.Format, g.bits, g.entry = Flat, 64, CodeBase
	g.segments = []segment{{CodeBase, data, uint64(len(data)), "the flat binary"}}
	return nil
}

// loadBootRecord takes the file as real-mode code at BootSector.
func loadBootRecord(g *Image, data []byte) error {
	if len(data) > lowEnd-BootSector {
		return fmt.Errorf("real-mode code of %d bytes does not fit between %#x and %#x", len(data), BootSector, lowEnd)
	}
	g.Format, g.bits, g.entry = BootRecord, 16, BootSector
	g.segments = []segment{{BootSector, data, uint64(len(data)), "the boot sector"}}
	return nil
}
