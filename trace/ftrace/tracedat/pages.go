package tracedat

import (
	"fmt"
	"io"
)

// Pages gives the pages of one CPU.
type Pages struct {
	f      *File
	cpu    CPU
	at     int64 // in the CPU's data
	chunks int   // left; −1 if the data are not packed
	chunk  []byte
	page   []byte
}

// Pages opens the pages of a CPU. The error is an *Error.
func (f *File) Pages(cpu CPU) (*Pages, error) {
	p := &Pages{f: f, cpu: cpu, chunks: -1}
	if f.Version == 7 && f.compressor != "none" && f.compressor != "" {
		p.cpu.size = min(p.cpu.size+4, f.size-p.cpu.offset) // the size leaves the count of chunks out
		b, err := p.read(4)
		if err != nil {
			return nil, err
		}
		p.chunks = int(f.order.Uint32(b))
	}
	return p, nil
}

// Next returns the next page, valid until the next call, and its offset in the
// file (of a packed page, that of its chunk); io.EOF at the end.
func (p *Pages) Next() (page []byte, offset int64, err error) {
	size := p.f.PageSize
	if p.chunks < 0 {
		if p.at >= p.cpu.size {
			return nil, 0, io.EOF
		}
		offset = p.cpu.offset + p.at
		page, err = p.read(int(min(int64(size), p.cpu.size-p.at)))
		return page, offset, err
	}
	for len(p.chunk) == 0 {
		if p.chunks == 0 {
			return nil, 0, io.EOF
		}
		p.chunks--
		offset = p.cpu.offset + p.at
		head, err := p.read(8)
		if err != nil {
			return nil, 0, err
		}
		packed, whole := int(p.f.order.Uint32(head)), int(p.f.order.Uint32(head[4:]))
		if whole > maxSection || packed > maxSection {
			return nil, 0, &Error{offset, fmt.Sprintf("a chunk of %d bytes", max(whole, packed))}
		}
		b, err := p.read(packed)
		if err != nil {
			return nil, 0, err
		}
		if p.chunk, err = unpack(p.f.compressor, b, whole); err != nil {
			return nil, 0, &Error{offset, "a chunk that cannot be unpacked: " + err.Error()}
		}
	}
	n := min(size, len(p.chunk))
	page, p.chunk = p.chunk[:n], p.chunk[n:]
	return page, p.cpu.offset + p.at, nil
}

func (p *Pages) read(n int) ([]byte, error) {
	if int64(n) > p.cpu.size-p.at {
		return nil, &Error{p.cpu.offset + p.at, fmt.Sprintf("the data of CPU %d end within %d bytes", p.cpu.ID, n)}
	}
	if cap(p.page) < n {
		p.page = make([]byte, n)
	}
	b := p.page[:n]
	if m, err := p.f.r.ReadAt(b, p.cpu.offset+p.at); m < n {
		return nil, &Error{p.cpu.offset + p.at, fmt.Sprintf("reading: %v", err)}
	}
	p.at += int64(n)
	return b, nil
}
