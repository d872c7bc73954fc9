// Package tracedat reads trace.dat files, as trace-cmd writes them: versions 6 and
// 7, the latter with compressed sections and chunks. It gives the kernel's format
// files and, for each CPU, the pages of the ring buffer one after the other.
//
// Source of the format: trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
package tracedat

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace/ringbuf"
)

// Magic is what a trace.dat begins with.
var Magic = []byte("\x17\x08\x44tracing")

// File is an open trace.dat.
type File struct {
	Version  int
	PageSize int
	Layout   ringbuf.Layout
	Formats  map[int]*ringbuf.Format // by event number
	Kallsyms []byte
	Comms    map[int32]string
	// Clock is the name of the trace clock, empty if the file does not tell.
	Clock string
	// Hz is the TSC rate that option TSC2NSEC tells, 0 without it.
	Hz uint64
	// Guests are the guests that were traced at the same time: their vCPUs'
	// threads on this host.
	Guests []Guest
	CPUs   []CPU

	r          io.ReaderAt
	size       int64
	order      binary.ByteOrder
	compressor string
}

// Guest is one guest of a host's trace.
type Guest struct {
	Name string
	PIDs map[int]int32 // of the threads, by vCPU
}

// CPU is where the pages of a CPU lie.
type CPU struct {
	ID           int
	offset, size int64
}

// Error is what is wrong with a file, and where.
type Error struct {
	Offset int64
	What   string
}

// Error returns "at byte N: what".
func (e *Error) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.What) }

// The ids of options and sections (trace-cmd.dat.v7(5)).
const (
	optDone       = 0
	optBuffer     = 3
	optClock      = 4
	optGuest      = 13
	optTSC2NS     = 14
	optHeaderInfo = 16
	optFtrace     = 17
	optEvents     = 18
	optKallsyms   = 19
	optCmdlines   = 21
)

// maxSection bounds what is read into memory at once: tables, not trace data.
const maxSection = 256 << 20

// Open reads the tables of a file. The error says what is wrong and where.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	f = &File{r: r, size: size, order: binary.LittleEndian, Formats: map[int]*ringbuf.Format{}, Comms: map[int32]string{}}
	c := f.cursor(0, size)
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(*Error)
			if !ok {
				panic(p)
			}
			f, err = nil, e
		}
	}()
	if !bytes.Equal(c.bytes(len(Magic)), Magic) {
		c.fail("no trace.dat: it does not begin with 17 08 44 tracing")
	}
	switch v := c.text(); v {
	case "6":
		f.Version = 6
	case "7":
		f.Version = 7
	default:
		c.fail(fmt.Sprintf("trace.dat version %q: versions 6 and 7 are read", v))
	}
	if c.bytes(1)[0] != 0 {
		f.order = binary.BigEndian
		c.order = f.order
	}
	c.bytes(1) // size of the host's long
	f.PageSize = int(c.u32())
	if f.PageSize < 256 || f.PageSize > 1<<20 {
		c.fail(fmt.Sprintf("a page size of %d bytes", f.PageSize))
	}
	if f.Version == 6 {
		f.version6(c)
	} else {
		f.version7(c)
	}
	if f.Layout.Order == nil {
		c.fail("no header_page")
	}
	if len(f.CPUs) == 0 {
		c.fail("no trace data")
	}
	return f, nil
}

func (f *File) version6(c *cursor) {
	f.headerInfo(c)
	f.ftraceFormats(c)
	f.eventFormats(c)
	f.Kallsyms = bytes.Clone(c.bytes(int(c.u32())))
	c.bytes(int(c.u32())) // formats of trace_printk
	f.comms(c.bytes(int(c.u64())))
	cpus := int(c.u32())
	if cpus > 1<<16 {
		c.fail(fmt.Sprintf("%d CPUs", cpus))
	}
	kind := string(c.bytes(10))
	if strings.HasPrefix(kind, "options") {
		for {
			id := c.u16()
			if id == optDone {
				break
			}
			f.option(c, id, c.sub(int64(c.u32())))
		}
		kind = string(c.bytes(10))
	}
	if !strings.HasPrefix(kind, "flyrecord") {
		c.fail(fmt.Sprintf("trace data of kind %q, want flyrecord (as record makes them)", strings.TrimRight(kind, " \x00")))
	}
	for i := range cpus {
		f.addCPU(c, i, int64(c.u64()), int64(c.u64()))
	}
}

func (f *File) addCPU(c *cursor, id int, offset, size int64) {
	if offset < 0 || size < 0 || offset > f.size {
		c.fail(fmt.Sprintf("the data of CPU %d lie at byte %d, beyond the end", id, offset))
	}
	if size > 0 {
		f.CPUs = append(f.CPUs, CPU{id, offset, min(size, f.size-offset)})
	}
}

func (f *File) version7(c *cursor) {
	f.compressor = c.text()
	c.text() // its version
	if f.compressor != "none" && f.compressor != "zlib" && f.compressor != "zstd" && f.compressor != "" {
		c.fail(fmt.Sprintf("compressed with %q: zlib and zstd are unpacked", f.compressor))
	}
	next := int64(c.u64())
	for n := 0; next != 0; n++ {
		if n > 1<<12 {
			c.fail("options without end")
		}
		o := f.section(next)
		next = 0
		for o.at < o.end {
			id := o.u16()
			b := o.sub(int64(o.u32()))
			if id == optDone {
				next = int64(b.u64())
				break
			}
			f.option(o, id, b)
		}
	}
}

// section opens a section of version 7, unpacked.
func (f *File) section(at int64) *cursor {
	c := f.cursor(at, f.size)
	c.u16()
	flags := c.u16()
	c.u32()
	size := int64(c.u64())
	if flags&1 == 0 {
		return c.sub(size)
	}
	packed, whole := int(c.u32()), int(c.u32())
	if whole > maxSection {
		c.fail(fmt.Sprintf("a section of %d bytes", whole))
	}
	b, err := unpack(f.compressor, c.bytes(packed), whole)
	if err != nil {
		c.fail("a section that cannot be unpacked: " + err.Error())
	}
	return &cursor{r: bytes.NewReader(b), end: int64(len(b)), order: f.order, base: at}
}

func unpack(how string, b []byte, size int) ([]byte, error) {
	switch how {
	case "zstd":
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSection), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return d.DecodeAll(b, make([]byte, 0, min(size, maxSection)))
	case "zlib":
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(z, int64(size)))
	}
	return nil, fmt.Errorf("packed, but the file names no compressor")
}

// option takes an option. Those of version 7 may point to a section.
func (f *File) option(c *cursor, id uint16, o *cursor) {
	switch id {
	case optBuffer:
		if f.Version == 7 {
			f.buffer(o)
		}
	case optClock:
		if o.at < o.end {
			f.clock(string(bytes.TrimRight(o.rest(), "\x00\n ")))
		}
	case optGuest:
		g := Guest{Name: o.text(), PIDs: map[int]int32{}}
		o.u64()
		for n := min(o.u32(), 1<<16); n > 0; n-- {
			cpu, pid := int(o.u32()), int32(o.u32())
			g.PIDs[cpu] = pid
		}
		f.Guests = append(f.Guests, g)
	case optTSC2NS:
		mult, shift := uint64(o.u32()), o.u32()
		if mult != 0 && shift < 34 {
			f.Hz = (1_000_000_000<<shift + mult/2) / mult
		}
	case optHeaderInfo:
		f.headerInfo(f.section(int64(o.u64())))
	case optFtrace:
		f.ftraceFormats(f.section(int64(o.u64())))
	case optEvents:
		f.eventFormats(f.section(int64(o.u64())))
	case optKallsyms:
		s := f.section(int64(o.u64()))
		f.Kallsyms = bytes.Clone(s.bytes(int(s.u32())))
	case optCmdlines:
		s := f.section(int64(o.u64()))
		f.comms(s.bytes(int(s.u64())))
	}
}

// clock takes the content of trace_clock, "local global [x86-tsc]", or a name.
func (f *File) clock(s string) {
	if _, after, ok := strings.Cut(s, "["); ok {
		s, _, _ = strings.Cut(after, "]")
	}
	f.Clock = strings.TrimSpace(s)
}

// buffer takes the pages of the top instance, or of the first if that has none.
func (f *File) buffer(o *cursor) {
	o.u64()
	name, clock := o.text(), o.text()
	if len(f.CPUs) > 0 && name != "" {
		return
	}
	f.CPUs = nil
	if clock != "" {
		f.clock(clock)
	}
	f.PageSize = int(o.u32())
	if f.PageSize < 256 || f.PageSize > 1<<20 {
		o.fail(fmt.Sprintf("a page size of %d bytes", f.PageSize))
	}
	n := o.u32()
	if n > 1<<16 {
		o.fail(fmt.Sprintf("%d CPUs", n))
	}
	for range n {
		f.addCPU(o, int(o.u32()), int64(o.u64()), int64(o.u64()))
	}
}

func (f *File) headerInfo(c *cursor) {
	if c.text() != "header_page" {
		c.fail("no header_page where it has to be")
	}
	page := bytes.Clone(c.bytes(int(c.u64())))
	if c.text() != "header_event" {
		c.fail("no header_event where it has to be")
	}
	c.bytes(int(c.u64()))
	var err error
	if f.Layout, err = ringbuf.ParseLayout(page, f.order); err != nil {
		c.fail(err.Error())
	}
}

func (f *File) ftraceFormats(c *cursor) {
	for n := c.u32(); n > 0; n-- {
		f.format(c)
	}
}

func (f *File) eventFormats(c *cursor) {
	for n := c.u32(); n > 0; n-- {
		c.text() // the system
		for m := c.u32(); m > 0; m-- {
			f.format(c)
		}
	}
}

// format takes a format file; one that cannot be read is left out: its records
// are then unknown.
func (f *File) format(c *cursor) {
	x, err := ringbuf.ParseFormat(c.bytes(int(c.u64())))
	if err == nil && len(f.Formats) < 1<<16 {
		f.Formats[x.ID] = x
	}
}

// comms takes lines "PID NAME".
func (f *File) comms(b []byte) {
	for line := range bytes.Lines(b) {
		pid, name, ok := strings.Cut(strings.TrimRight(string(line), "\x00\n"), " ")
		n := int32(0)
		if _, err := fmt.Sscan(pid, &n); ok && err == nil {
			f.Comms[n] = name
		}
	}
}

// cursor reads numbers and texts one after the other. It fails by panicking with
// an *Error, which Open returns.
type cursor struct {
	r       io.ReaderAt
	at, end int64
	base    int64 // of an unpacked section in the file
	order   binary.ByteOrder
}

func (f *File) cursor(at, end int64) *cursor {
	return &cursor{r: f.r, at: at, end: end, order: f.order}
}

func (c *cursor) fail(what string) { panic(&Error{c.base + c.at, what}) }

func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > maxSection || int64(n) > c.end-c.at {
		c.fail(fmt.Sprintf("the file ends within %d bytes that have to be here", n))
	}
	b := make([]byte, n)
	if m, err := c.r.ReadAt(b, c.at); m < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		c.fail(err.Error())
	}
	c.at += int64(n)
	return b
}

func (c *cursor) u16() uint16  { return c.order.Uint16(c.bytes(2)) }
func (c *cursor) u32() uint32  { return c.order.Uint32(c.bytes(4)) }
func (c *cursor) u64() uint64  { return c.order.Uint64(c.bytes(8)) }
func (c *cursor) rest() []byte { return c.bytes(int(c.end - c.at)) }

// text reads up to a zero.
func (c *cursor) text() string {
	var b []byte
	for {
		x := c.bytes(1)[0]
		if x == 0 {
			return string(b)
		}
		if b = append(b, x); len(b) > 1<<12 {
			c.fail("a text without end")
		}
	}
}

// sub is the next n bytes, which are skipped.
func (c *cursor) sub(n int64) *cursor {
	if n < 0 || n > c.end-c.at {
		c.fail(fmt.Sprintf("the file ends within %d bytes that have to be here", n))
	}
	s := &cursor{r: c.r, at: c.at, end: c.at + n, order: c.order, base: c.base}
	c.at += n
	return s
}
