package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Linux keeps its symbols compressed: each name is a length and that many tokens
// out of a table of 256. Source: scripts/kallsyms.c (write_src) and
// kernel/kallsyms.c (kallsyms_expand_symbol). Before 6.4 the order is
//
//	offsets, relative_base, num_syms, names, markers, token_table, token_index
//
// and from then on
//
//	num_syms, names, markers, token_table, token_index, offsets, relative_base
//
// each aligned to 8 bytes.
const (
	tokens      = 256
	tokenZero   = '0' // the token that stands for itself
	markerEvery = 256
	// kallsymsMax is more than the tables of any kernel take, on either side of
	// the token table.
	kallsymsMax = 16 << 20
)

// ErrNoKallsyms says that guest memory holds no symbols that can be read.
var ErrNoKallsyms = errors.New("no kallsyms in guest memory: not Linux, not booted far enough, or built without them")

// digits is what every token table has: a token for each digit.
var digits = []byte("0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00")

// FromKallsyms finds the symbols of a running Linux in its memory. They are at
// the addresses at which it runs, wherever it has put itself.
func FromKallsyms(mem vmm.Memory) (*Table, error) {
	const chunk = 1 << 20
	buf := make([]byte, chunk+len(digits))
	for at := uint64(0); at < mem.Size(); at += chunk {
		b := buf[:min(uint64(len(buf)), mem.Size()-at)]
		if err := mem.ReadAt(b, at); err != nil {
			return nil, err
		}
		for i := 0; ; i++ {
			j := bytes.Index(b[i:], digits)
			if j < 0 {
				break
			}
			i += j
			if t := readKallsyms(mem, at+uint64(i)); t != nil {
				return t, nil
			}
		}
	}
	return nil, ErrNoKallsyms
}

// kallsyms are the tables around one token table.
type kallsyms struct {
	data        []byte // guest memory from base on
	table       int    // index of the token table
	index       int    // of the token index
	markers     int
	nmarkers    int
	names, syms int // index of names, number of symbols
}

// readKallsyms reads the tables around the token of the digit 0, nil if there
// are none.
func readKallsyms(mem vmm.Memory, zero uint64) *Table {
	base := (zero - min(zero, kallsymsMax)) &^ 0xfff
	k := &kallsyms{data: make([]byte, min(mem.Size(), zero+kallsymsMax)-base)}
	if mem.ReadAt(k.data, base) != nil {
		return nil
	}
	if !k.findTokens(int(zero-base)) || !k.findMarkers() || !k.findNames() {
		return nil
	}
	return k.read()
}

func (k *kallsyms) u16(i int) int    { return int(binary.LittleEndian.Uint16(k.data[i:])) }
func (k *kallsyms) u32(i int) uint32 { return binary.LittleEndian.Uint32(k.data[i:]) }
func align8(i int) int               { return (i + 7) &^ 7 }

// findTokens finds both token tables from the position of the digit 0.
func (k *kallsyms) findTokens(zero int) bool {
	end := zero
	for range tokens - tokenZero {
		n := bytes.IndexByte(k.data[end:], 0)
		if n < 0 || n > 64 {
			return false
		}
		end += n + 1
	}
	k.index = align8(end)
	if k.index+2*tokens > len(k.data) || k.u16(k.index) != 0 {
		return false
	}
	for i := 1; i < tokens; i++ {
		if k.u16(k.index+2*i) <= k.u16(k.index+2*i-2) {
			return false
		}
	}
	k.table = zero - k.u16(k.index+2*tokenZero)
	return k.table >= 0
}

// findMarkers finds the offsets of every 256th name, which end before the token
// table.
func (k *kallsyms) findMarkers() bool {
	i := k.table&^3 - 4
	if i >= 0 && k.u32(i) == 0 {
		i -= 4 // padding
	}
	for ; i >= 4; i -= 4 {
		k.nmarkers++
		if k.u32(i) == 0 {
			k.markers = i
			return k.nmarkers > 1
		}
		if k.u32(i-4) >= k.u32(i) {
			return false
		}
	}
	return false
}

// findNames finds the names, which lie between their number and the markers.
func (k *kallsyms) findNames() bool {
	last := int(k.u32(k.markers + 4*(k.nmarkers-1)))
	for i := (k.markers - last) &^ 7; i >= 8 && i > k.markers-last-markerEvery*512; i -= 8 {
		n := int(k.u32(i - 8))
		if n > markerEvery*(k.nmarkers-1) && n <= markerEvery*k.nmarkers && k.u32(i-4) == 0 && k.fits(i, n) {
			k.names, k.syms = i, n
			return true
		}
	}
	return false
}

// length reads the length of the name at i; next is where its tokens are.
func (k *kallsyms) length(i int) (n, next int) {
	n = int(k.data[i])
	if n&0x80 != 0 && i+1 < len(k.data) {
		return n&0x7f | int(k.data[i+1])<<7, i + 2
	}
	return n, i + 1
}

// fits reports whether n names from i on are where the markers say.
func (k *kallsyms) fits(i, n int) bool {
	at := i
	for s := range n {
		if at >= k.markers || s%markerEvery == 0 && at-i != int(k.u32(k.markers+4*(s/markerEvery))) {
			return false
		}
		l, next := k.length(at)
		at = next + l
	}
	return at <= k.markers
}

// read expands all names and computes their addresses.
func (k *kallsyms) read() *Table {
	offsets := align8(k.index + 2*tokens)
	base := align8(offsets + 4*k.syms)
	kernel := func(i int) bool {
		return i >= 0 && i+8 <= len(k.data) && binary.LittleEndian.Uint64(k.data[i:])>>47 == 1<<17-1
	}
	if !kernel(base) {
		base = k.names - 16
		offsets = base - align8(4*k.syms)
		if !kernel(base) || offsets < 0 {
			return nil
		}
	}
	relative := binary.LittleEndian.Uint64(k.data[base:])
	negative := 0
	for i := range k.syms {
		negative += int(k.u32(offsets+4*i) >> 31)
	}
	var syms []Symbol
	at := k.names
	for i := range k.syms {
		n, next := k.length(at)
		name := k.expand(k.data[next : next+n])
		at = next + n
		off := k.u32(offsets + 4*i)
		addr := relative + uint64(off)
		if negative > k.syms/2 { // CONFIG_KALLSYMS_ABSOLUTE_PERCPU
			if int32(off) >= 0 {
				continue // a per-CPU variable
			}
			addr = relative - 1 - uint64(int64(int32(off)))
		}
		if len(name) > 1 && bytes.IndexByte([]byte("tTwW"), name[0]) >= 0 {
			syms = append(syms, Symbol{addr, name[1:]})
		}
	}
	if len(syms) == 0 {
		return nil
	}
	return newTable(syms)
}

// expand replaces tokens by what they stand for.
func (k *kallsyms) expand(name []byte) string {
	var b []byte
	for _, t := range name {
		s := k.data[min(k.table+k.u16(k.index+2*int(t)), len(k.data)):]
		if n := bytes.IndexByte(s, 0); n >= 0 {
			b = append(b, s[:n]...)
		}
	}
	return string(b)
}
