package ringbuf

import (
	"encoding/binary"
	"fmt"
)

// Layout is how a page of the ring buffer is built (events/header_page).
type Layout struct {
	Order      binary.ByteOrder
	CommitSize int // of the commit field, 4 or 8 bytes
	Commit     int // its offset
	Data       int // where the records begin
}

// ParseLayout reads the header_page file.
func ParseLayout(text []byte, order binary.ByteOrder) (Layout, error) {
	f, err := ParseFormat(append([]byte("name: header_page\nID: 0\n"), text...))
	if err != nil {
		return Layout{}, err
	}
	commit, data := f.Field("commit"), f.Field("data")
	if commit == nil || data == nil || commit.Size != 4 && commit.Size != 8 || data.Offset < commit.Offset+commit.Size ||
		commit.Offset < 8 {
		return Layout{}, fmt.Errorf("header_page: no commit and data fields as the kernel has them")
	}
	return Layout{Order: order, CommitSize: commit.Size, Commit: commit.Offset, Data: data.Offset}, nil
}

// Native is the layout of a 64-bit kernel's pages on this machine.
func Native() Layout { return Layout{Order: binary.LittleEndian, CommitSize: 8, Commit: 8, Data: 16} }

// The types of a ring-buffer entry above the data lengths (enum
// ring_buffer_type, include/linux/ring_buffer.h).
const (
	typePadding    = 29
	typeTimeExtend = 30
	typeTimeStamp  = 31
)

// The flags in the commit field of a page that was read
// (kernel/trace/ring_buffer.c, RB_MISSED_EVENTS and RB_MISSED_STORED).
const (
	missedEvents = 1 << 31
	missedStored = 1 << 30
)

// Page gives the records of one page.
type Page struct {
	l      Layout
	data   []byte
	at     int
	time   uint64
	missed bool
	lost   uint64
}

// Open begins a page, which must stay unchanged while it is read. The error says
// what is wrong with it.
func (p *Page) Open(l Layout, page []byte) error {
	*p = Page{l: l}
	if len(page) < l.Data {
		return fmt.Errorf("a page of %d bytes, shorter than its header", len(page))
	}
	p.time = l.Order.Uint64(page)
	commit := uint64(0)
	if l.CommitSize == 8 {
		commit = l.Order.Uint64(page[l.Commit:])
	} else {
		commit = uint64(l.Order.Uint32(page[l.Commit:]))
	}
	size := int(commit & (1<<20 - 1))
	if size > len(page)-l.Data {
		return fmt.Errorf("a page says that %d bytes are used, but holds %d", size, len(page)-l.Data)
	}
	p.data = page[l.Data : l.Data+size]
	if commit&missedEvents != 0 {
		p.missed = true
		if rest := page[l.Data+size:]; commit&missedStored != 0 && len(rest) >= 8 {
			p.lost = l.Order.Uint64(rest)
		}
	}
	return nil
}

// Missed reports whether events were lost before the page, and how many if the
// kernel could say.
func (p *Page) Missed() (missed bool, n uint64) { return p.missed, p.lost }

// Next returns the next record and its time; ok is false at the end of the page.
// data points into the page.
func (p *Page) Next() (time uint64, data []byte, ok bool) {
	for p.at+4 <= len(p.data) {
		head := p.l.Order.Uint32(p.data[p.at:])
		kind, delta := int(head&31), uint64(head>>5)
		if p.l.Order == binary.BigEndian {
			kind, delta = int(head>>27), uint64(head&(1<<27-1))
		}
		word, has := uint64(0), p.at+8 <= len(p.data)
		if has {
			word = uint64(p.l.Order.Uint32(p.data[p.at+4:]))
		}
		switch kind {
		case typePadding:
			if delta == 0 || !has { // the rest of the page is empty
				p.at = len(p.data)
				return 0, nil, false
			}
			p.time += delta
			p.at += 4 + align(int(word))
		case typeTimeExtend:
			p.time += word<<27 + delta
			p.at += 8
		case typeTimeStamp: // 59 bits; the upper ones stay
			p.time = p.time&^(1<<59-1) | (word<<27+delta)&(1<<59-1)
			p.at += 8
		case 0:
			p.time += delta
			n := int(word) - 4
			from := p.at + 8
			if !has || n < 0 || n > len(p.data)-from {
				p.at = len(p.data)
				return 0, nil, false
			}
			p.at = from + align(n)
			return p.time, p.data[from : from+n], true
		default:
			p.time += delta
			from, n := p.at+4, kind*4
			if n > len(p.data)-from {
				p.at = len(p.data)
				return 0, nil, false
			}
			p.at = from + n
			return p.time, p.data[from : from+n], true
		}
	}
	return 0, nil, false
}

func align(n int) int { return (n + 3) &^ 3 }
