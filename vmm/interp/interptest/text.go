package interptest

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// GPRNames are the general registers by encoding number, as vectors name them.
var GPRNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// patch is one explicit value of the input.
type patch struct{ key, val string }

// Set gives a part of the input a value; the text form keeps it. Keys are those
// of the text form.
func (v *Vector) Set(key, val string) {
	if err := v.In.set(key, val); err != nil {
		panic("BUG: " + err.Error())
	}
	v.patches = append(v.patches, patch{key, val})
}

// SetGPR is Set for a general register.
func (v *Vector) SetGPR(n int, x uint64) { v.Set(GPRNames[n], strconv.FormatUint(x, 16)) }

// New returns a vector whose input is what the seed stands for.
func New(name string, kind Kind, seed uint64, code []byte) *Vector {
	return &Vector{Name: name, Mode: 64, Code: code, Kind: kind, Seed: seed, In: Seeded(kind, seed)}
}

// set changes one part of the state. Keys: register names, fl, mx, cw, sw, tw,
// rip (offset in the code page), xN (high and low half), sN (significand and
// exponent), fill (every byte) and mN (bytes from offset N, hex).
func (s *State) set(key, val string) error {
	for i, n := range GPRNames {
		if n == key {
			return hexInto(val, 64, func(x uint64) { s.GPR[i] = x })
		}
	}
	switch key {
	case "fl":
		return hexInto(val, 64, func(x uint64) { s.Flags = x })
	case "mx":
		return hexInto(val, 32, func(x uint64) { s.MXCSR = uint32(x) })
	case "cw":
		return hexInto(val, 16, func(x uint64) { s.FCW = uint16(x) })
	case "sw":
		return hexInto(val, 16, func(x uint64) { s.FSW = uint16(x) })
	case "tw":
		return hexInto(val, 8, func(x uint64) { s.FTW = uint8(x) })
	case "rip":
		return hexInto(val, 64, func(x uint64) { s.RIP = CodeBase + x })
	case "fill":
		return hexInto(val, 8, func(x uint64) {
			for i := range s.Mem {
				s.Mem[i] = byte(x)
			}
		})
	}
	return s.setIndexed(key, val)
}

func (s *State) setIndexed(key, val string) error {
	if len(key) < 2 {
		return fmt.Errorf("unknown key %q", key)
	}
	base := 10
	if key[0] == 'm' {
		base = 16
	}
	n, err := strconv.ParseUint(key[1:], base, 8)
	if err != nil {
		return fmt.Errorf("unknown key %q", key)
	}
	a, b, _ := strings.Cut(val, ":")
	switch {
	case key[0] == 'x' && n < 16:
		if err := hexInto(a, 64, func(x uint64) { s.XMM[n][1] = x }); err != nil {
			return err
		}
		return hexInto(b, 64, func(x uint64) { s.XMM[n][0] = x })
	case key[0] == 's' && n < 8:
		if err := hexInto(a, 16, func(x uint64) { s.ST[n].Exp = uint16(x) }); err != nil {
			return err
		}
		return hexInto(b, 64, func(x uint64) { s.ST[n].Mant = x })
	case key[0] == 'm':
		p, err := hex.DecodeString(val)
		if err != nil || int(n)+len(p) > len(s.Mem) {
			return fmt.Errorf("bytes of %s: %q is not hex that fits", key, val)
		}
		copy(s.Mem[n:], p)
		return nil
	}
	return fmt.Errorf("unknown key %q", key)
}

func hexInto(val string, bits int, f func(uint64)) error {
	x, err := strconv.ParseUint(val, 16, bits)
	if err != nil {
		return fmt.Errorf("value %q: %w", val, err)
	}
	f(x)
	return nil
}

// Diff lists what differs from a to b as key=value of b, in a fixed order. RIP is
// not part of it.
func Diff(a, b *State) []string {
	var d []string
	add := func(differ bool, format string, args ...any) {
		if differ {
			d = append(d, fmt.Sprintf(format, args...))
		}
	}
	for i, n := range GPRNames {
		add(a.GPR[i] != b.GPR[i], "%s=%x", n, b.GPR[i])
	}
	add(a.Flags != b.Flags, "fl=%x", b.Flags)
	add(a.MXCSR != b.MXCSR, "mx=%x", b.MXCSR)
	add(a.FCW != b.FCW, "cw=%x", b.FCW)
	add(a.FSW != b.FSW, "sw=%x", b.FSW)
	add(a.FTW != b.FTW, "tw=%x", b.FTW)
	for i := range a.ST {
		add(a.ST[i] != b.ST[i], "s%d=%x:%x", i, b.ST[i].Exp, b.ST[i].Mant)
	}
	for i := range a.XMM {
		add(a.XMM[i] != b.XMM[i], "x%d=%x:%x", i, b.XMM[i][1], b.XMM[i][0])
	}
	for i := 0; i < len(a.Mem); i++ {
		j := i
		for j < len(a.Mem) && a.Mem[j] != b.Mem[j] {
			j++
		}
		add(j > i, "m%x=%x", i, b.Mem[i:j])
		i = j
	}
	return d
}

// String is the text form of a vector: name, code, kind and seed, then input
// values; after ">" the output.
func (v *Vector) String() string {
	f := []string{v.Name, hex.EncodeToString(v.Code), string(rune(v.Kind)) + strconv.FormatUint(v.Seed, 16)}
	if v.Mode != 64 {
		f = append(f, "mode="+strconv.Itoa(v.Mode))
	}
	for _, p := range v.patches {
		f = append(f, p.key+"="+p.val)
	}
	f = append(f, ">")
	if v.Undef != 0 {
		f = append(f, fmt.Sprintf("u=%x", v.Undef))
	}
	if v.UndefFSW != 0 {
		f = append(f, fmt.Sprintf("us=%x", v.UndefFSW))
	}
	switch v.Out.Vector {
	case 3:
	case 14:
		f = append(f, fmt.Sprintf("ex=%d:%x:%x", v.Out.Vector, v.Out.Code, v.Out.CR2))
	default:
		f = append(f, fmt.Sprintf("ex=%d:%x", v.Out.Vector, v.Out.Code))
	}
	if v.Out.RIP != v.In.RIP+uint64(len(v.Code)) {
		f = append(f, fmt.Sprintf("rip=%x", v.Out.RIP-CodeBase))
	}
	return strings.Join(append(f, Diff(&v.In, &v.Out.State)...), " ")
}

// Parse reads one vector.
func Parse(line string) (*Vector, error) {
	f := strings.Fields(line)
	if len(f) < 4 || f[2] == "" {
		return nil, fmt.Errorf("vector %q: fewer than four fields", line)
	}
	code, err := hex.DecodeString(f[1])
	if err != nil {
		return nil, fmt.Errorf("vector %q: code: %w", line, err)
	}
	seed, err := strconv.ParseUint(f[2][1:], 16, 64)
	if err != nil {
		return nil, fmt.Errorf("vector %q: seed: %w", line, err)
	}
	v := New(f[0], Kind(f[2][0]), seed, code)
	out := false
	for _, kv := range f[3:] {
		key, val, _ := strings.Cut(kv, "=")
		switch {
		case key == ">":
			v.Out = Outcome{State: v.In, Vector: 3}
			v.Out.RIP = v.In.RIP + uint64(len(code))
			out = true
			continue
		case out:
			err = v.setOut(key, val)
		case key == "mode":
			v.Mode, err = strconv.Atoi(val)
		default:
			if err = v.In.set(key, val); err == nil {
				v.patches = append(v.patches, patch{key, val})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("vector %q: %w", line, err)
		}
	}
	if !out {
		return nil, fmt.Errorf("vector %q: no output", line)
	}
	return v, nil
}

func (v *Vector) setOut(key, val string) error {
	switch key {
	case "u":
		return hexInto(val, 64, func(x uint64) { v.Undef = x })
	case "us":
		return hexInto(val, 16, func(x uint64) { v.UndefFSW = uint16(x) })
	case "ex":
		p := strings.Split(val+":0:0", ":")
		n, err := strconv.ParseUint(p[0], 10, 8)
		if err != nil {
			return fmt.Errorf("exception %q: %w", val, err)
		}
		v.Out.Vector = uint8(n)
		if err := hexInto(p[1], 32, func(x uint64) { v.Out.Code = uint32(x) }); err != nil {
			return err
		}
		return hexInto(p[2], 64, func(x uint64) { v.Out.CR2 = x })
	}
	return v.Out.set(key, val)
}

// ReadAll reads vectors, one a line. Lines that begin with # are comments.
func ReadAll(r io.Reader) ([]*Vector, error) {
	var all []*Vector
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if line := sc.Text(); line != "" && line[0] != '#' {
			v, err := Parse(line)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	return all, sc.Err()
}
