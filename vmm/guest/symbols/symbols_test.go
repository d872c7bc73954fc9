package symbols

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// ram is guest memory for tests.
type ram []byte

func (r ram) Size() uint64                     { return uint64(len(r)) }
func (r ram) ReadAt(p []byte, a uint64) error  { copy(p, r[a:]); return nil }
func (r ram) WriteAt(p []byte, a uint64) error { copy(r[a:], p); return nil }

const testBase = 0xffffffff81000000

// kernelRAM is memory with the kallsyms of n functions f0, f1, …, 16 bytes apart
// from testBase on, in the order of a kernel before or after 6.4.
func kernelRAM(n int, after64, percpu bool) ram {
	le := binary.LittleEndian
	pad := func(b []byte) []byte {
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		return b
	}
	var table, index []byte
	for c := range tokens {
		tok := string(rune(c))
		if c >= 0x80 || c == 0 {
			tok = fmt.Sprintf("unused%d", c)
		}
		if c == 200 {
			tok = "Tf"
		}
		index = le.AppendUint16(index, uint16(len(table)))
		table = append(append(table, tok...), 0)
	}
	var names, markers, offsets []byte
	for i := range n {
		if i%markerEvery == 0 {
			markers = le.AppendUint32(markers, uint32(len(names)))
		}
		num := fmt.Sprint(i)
		names = append(append(append(names, byte(1+len(num))), 200), num...)
		off := uint32(16 * i)
		if percpu {
			off = uint32(-1 - int32(off))
			if i == 3 {
				off = 77 // a per-CPU variable
			}
		}
		offsets = le.AppendUint32(offsets, off)
	}
	base := le.AppendUint64(nil, testBase)
	num := le.AppendUint64(nil, uint64(n))
	var all []byte
	add := func(parts ...[]byte) {
		for _, p := range parts {
			all = pad(append(all, p...))
		}
	}
	if after64 {
		add(num, names, markers, table, index, offsets, base)
	} else {
		add(offsets, base, num, names, markers, table, index)
	}
	mem := make(ram, 4<<20)
	copy(mem[0x5000:], digits) // something that only looks like it
	copy(mem[0x123450:], all)
	return mem
}

func TestKallsymsAreReadFromMemory(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, percpu := range []bool{false, true} {
			tab, err := FromKallsyms(kernelRAM(1000, after, percpu))
			if err != nil {
				t.Errorf("after 6.4 %v, per-CPU %v: %v", after, percpu, err)
				continue
			}
			want := 1000
			if percpu {
				want--
			}
			name, off, ok := tab.Find(testBase + 16*500 + 5)
			if tab.Len() != want || !ok || name != "f500" || off != 5 {
				t.Errorf("after 6.4 %v, per-CPU %v: %d symbols, %s+%d %v, want %d and f500+5", after, percpu, tab.Len(), name, off, ok, want)
			}
		}
	}
}

func TestMemoryWithoutKallsymsSaysSo(t *testing.T) {
	damaged := kernelRAM(1000, true, true)
	for i := range damaged[0x123450:0x123458] { // the number of symbols
		damaged[0x123450+i] = 0xff
	}
	for _, mem := range []ram{make(ram, 1<<20), damaged} {
		if _, err := FromKallsyms(mem); !errors.Is(err, ErrNoKallsyms) {
			t.Errorf("error %v, want ErrNoKallsyms", err)
		}
	}
}

func TestSystemMap(t *testing.T) {
	tab, err := Read("m", []byte("ffffffff81000000 T start\nffffffff81000100 t inner\nffffffff81000200 D data\n"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		addr uint64
		name string
		ok   bool
	}{
		{0xffffffff80ffffff, "", false}, {0xffffffff81000000, "start", true}, {0xffffffff810000ff, "start", true},
		{0xffffffff81000250, "inner", true}, {0xffffffff91000000, "", false},
	}
	for _, tt := range tests {
		if name, _, ok := tab.Find(tt.addr); name != tt.name || ok != tt.ok {
			t.Errorf("Find(%#x) = %q, %v, want %q, %v", tt.addr, name, ok, tt.name, tt.ok)
		}
	}
	if a, ok := tab.Addr("inner"); !ok || a != 0xffffffff81000100 {
		t.Errorf("Addr(inner) = %#x, %v", a, ok)
	}
	for _, bad := range []string{"", "ffffffffffffffff B The real System.map is elsewhere\n", "x T y\n", "1 T\n", "\x7fELFx"} {
		if _, err := Read("m", []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "m: ") {
			t.Errorf("Read(%q): %v, want an error that names the file", bad, err)
		}
	}
}

func FuzzFromKallsyms(f *testing.F) {
	f.Add(uint16(0x10), byte(1))
	f.Fuzz(func(t *testing.T, at uint16, v byte) {
		mem := kernelRAM(600, at&1 == 0, at&2 == 0)
		mem[0x123450+int(at)%0x3000] ^= v
		_, _ = FromKallsyms(mem) // must not panic
	})
}
