package tracedat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/cases/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// contents are the bytes of a CPU's pages.
func contents(t testing.TB, f *File, c CPU) (out []byte) {
	t.Helper()
	p, err := f.Pages(c)
	if err != nil {
		t.Fatal(err)
	}
	for {
		page, _, err := p.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, page...)
	}
}

func TestBothVersionsHoldTheSame(t *testing.T) {
	six, err := open(load(t, "version6.dat"))
	if err != nil {
		t.Fatal(err)
	}
	seven, err := open(load(t, "version7-zstd.dat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*File{six, seven} {
		if f.Clock != "x86-tsc" || f.PageSize != 4096 || len(f.CPUs) != 1 || f.Comms[92] != "vm" || len(f.Formats) < 10 {
			t.Errorf("version %d: clock %q, pages of %d, %d CPUs, thread 92 %q, %d formats", f.Version, f.Clock, f.PageSize,
				len(f.CPUs), f.Comms[92], len(f.Formats))
		}
	}
	if a, b := contents(t, six, six.CPUs[0]), contents(t, seven, seven.CPUs[0]); !bytes.Equal(a, b) || len(a) == 0 {
		t.Errorf("%d bytes of pages in version 6, %d in version 7: want the same", len(a), len(b))
	}
}

func TestBrokenFilesAreErrorsWithAPlace(t *testing.T) {
	six, seven := load(t, "version6.dat"), load(t, "version7-zstd.dat")
	change := func(b []byte, at int, with ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], with)
		return b
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "at byte 0"},
		{"another magic", change(six, 0, 1), "no trace.dat"},
		{"version 5", change(six, 10, '5'), "versions 6 and 7"},
		{"cut in its tables", six[:3000], "the file ends"},
		{"a page size of 0", change(six, 14, 0, 0, 0, 0), "page size"},
		{"another compressor", change(seven, 18, 'l', 'z', 'm', 'a'), "lzma"},
	} {
		_, err := open(tt.b)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestAChunkThatCannotBeUnpackedIsAnError(t *testing.T) {
	b := bytes.Clone(load(t, "version7-zstd.dat"))
	f, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	b[f.CPUs[0].offset+12] ^= 0xff // the packed data begin after three numbers
	p, err := f.Pages(f.CPUs[0])
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, _, err = p.Next(); !errors.As(err, &e) || !strings.Contains(e.What, "unpacked") {
		t.Errorf("%v, want an error about unpacking", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(load(f, "version7-zstd.dat")[:2048])
	f.Add(load(f, "version6.dat")[:4096])
	f.Fuzz(func(_ *testing.T, b []byte) {
		x, err := open(b)
		if err != nil {
			return
		}
		for _, c := range x.CPUs {
			p, err := x.Pages(c)
			for n := 0; err == nil && n < 100; n++ {
				_, _, err = p.Next()
			}
		}
	})
}
