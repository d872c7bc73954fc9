// Package symbols names the functions of a guest: from a System.map, from the
// symbol table of an ELF file, or from the kallsyms that a Linux kernel carries
// in its own memory.
package symbols

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Symbol is a named address.
type Symbol struct {
	Addr uint64
	Name string
}

// Table is a set of symbols, ascending. Its zero value is empty.
type Table struct{ syms []Symbol }

// maxGap is how far behind the last symbol an address may lie: the size of the
// largest function of a kernel, generously.
const maxGap = 1 << 20

// newTable sorts symbols; of several at one address the first is kept.
func newTable(syms []Symbol) *Table {
	slices.SortStableFunc(syms, func(a, b Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	syms = slices.CompactFunc(syms, func(a, b Symbol) bool { return a.Addr == b.Addr })
	return &Table{syms}
}

// Len is the number of symbols.
func (t *Table) Len() int { return len(t.syms) }

// Find returns the function that an address lies in, and the distance from its
// start.
func (t *Table) Find(addr uint64) (name string, off uint64, ok bool) {
	i, found := slices.BinarySearchFunc(t.syms, addr, func(s Symbol, a uint64) int { return cmp.Compare(s.Addr, a) })
	if !found {
		i--
	}
	if i < 0 || addr-t.syms[i].Addr > maxGap {
		return "", 0, false
	}
	return t.syms[i].Name, addr - t.syms[i].Addr, true
}

// Addr returns the address of a symbol.
func (t *Table) Addr(name string) (uint64, bool) {
	for _, s := range t.syms {
		if s.Name == name {
			return s.Addr, true
		}
	}
	return 0, false
}

// Read reads a System.map or an ELF file with a symbol table, by its contents.
// Name is for messages.
func Read(name string, data []byte) (*Table, error) {
	var t *Table
	var err error
	if bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		t, err = readELF(data)
	} else {
		t, err = readMap(bytes.NewReader(data))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// readMap reads lines of address, type letter and name.
func readMap(r io.Reader) (*Table, error) {
	var syms []Symbol
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		f := strings.Fields(sc.Text())
		if len(f) == 0 {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("line %d: want address, type and name", n)
		}
		a, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: address %q is no hexadecimal number", n, f[0])
		}
		if strings.Contains("tTwW", f[1]) {
			syms = append(syms, Symbol{a, f[2]})
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(syms) == 0 {
		return nil, errors.New("no function: Debian's System.map is a placeholder; leave --symbols out, and kallsyms in the guest's memory is read")
	}
	return newTable(syms), nil
}

func readELF(data []byte) (*Table, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	all, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	var syms []Symbol
	for _, s := range all {
		if t := elf.ST_TYPE(s.Info); (t == elf.STT_FUNC || t == elf.STT_NOTYPE) && s.Section != elf.SHN_UNDEF && s.Name != "" {
			syms = append(syms, Symbol{s.Value, s.Name})
		}
	}
	if len(syms) == 0 {
		return nil, errors.New("no function in the symbol table")
	}
	return newTable(syms), nil
}
