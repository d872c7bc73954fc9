package interp

import "encoding/binary"

// peek reads a T at offset off of p. The value does not cross the page's end.
func peek[T sint](p *page, off uint64) T {
	switch width[T]() {
	case 1:
		return T(p[off&pageMask])
	case 2:
		return T(binary.LittleEndian.Uint16(p[off&pageMask:]))
	case 4:
		return T(binary.LittleEndian.Uint32(p[off&pageMask:]))
	}
	return T(binary.LittleEndian.Uint64(p[off&pageMask:]))
}

// poke writes a T at offset off of p.
func poke[T sint](p *page, off uint64, v T) {
	switch width[T]() {
	case 1:
		p[off&pageMask] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p[off&pageMask:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p[off&pageMask:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(p[off&pageMask:], uint64(v))
	}
}

// peekN and pokeN do the same for size bytes.
func peekN(p *page, off uint64, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(p[off&pageMask])
	case 2:
		return zx(peek[int16](p, off))
	case 4:
		return zx(peek[int32](p, off))
	}
	return zx(peek[int64](p, off))
}

func pokeN(p *page, off uint64, size uint8, v uint64) {
	switch size {
	case 1:
		p[off&pageMask] = byte(v)
	case 2:
		poke(p, off, int16(v))
	case 4:
		poke(p, off, int32(v))
	default:
		poke(p, off, int64(v))
	}
}
