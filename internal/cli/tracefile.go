package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"codeberg.org/ticktrap/ticktrap/trace/ftrace"
)

// traceFile is a trace that can be read at any place: a file, or a copy of a
// pipe's or a packed file's text in a temporary one.
type traceFile struct {
	ftrace.Input
	file  *os.File
	spool bool
}

// Close closes the trace and removes its copy.
func (t *traceFile) Close() error {
	err := t.file.Close()
	if t.spool {
		err = errors.Join(err, os.Remove(t.file.Name()))
	}
	return err
}

// packings are the packed and encoded forms of text that are unpacked, by the
// bytes that they begin with.
var packings = []struct {
	name  string
	magic []byte
	open  func(io.Reader) (io.Reader, error)
}{
	{"gzip", []byte{0x1f, 0x8b}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }},
	{"xz", []byte{0xfd, '7', 'z', 'X', 'Z', 0}, func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{"UTF-16", []byte{0xff, 0xfe}, utf16},
	{"UTF-16", []byte{0xfe, 0xff}, utf16},
	{"UTF-8", []byte{0xef, 0xbb, 0xbf}, utf16}, // only its mark is taken off
}

func utf16(r io.Reader) (io.Reader, error) {
	return transform.NewReader(r, unicode.BOMOverride(unicode.UTF8.NewDecoder())), nil
}

// maxNesting is how many packings may be inside each other.
const maxNesting = 4

// openTrace opens a trace by name, - for standard input. What cannot be read at
// any place is copied to a file in dir. If ctx ends, the trace is what was copied
// until then.
func openTrace(ctx context.Context, env *Env, name, dir string, show func(done, total uint64)) (*traceFile, error) {
	var in io.Reader = env.In
	if name != "-" {
		st, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if st.IsDir() {
			return nil, fmt.Errorf("%s is a directory: want a trace, or triage for a folder of them", name)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if st.Mode().IsRegular() {
			head := make([]byte, 8)
			n, _ := f.ReadAt(head, 0)
			if packing(head[:n]) < 0 {
				return &traceFile{Input: ftrace.Input{Name: name, ReaderAt: f, Size: st.Size()}, file: f}, nil
			}
		}
		defer f.Close()
		in = f
	}
	return spoolTrace(ctx, in, name, dir, show)
}

func packing(head []byte) int {
	for i, p := range packings {
		if bytes.HasPrefix(head, p.magic) {
			return i
		}
	}
	return -1
}

func spoolTrace(ctx context.Context, in io.Reader, name, dir string, show func(done, total uint64)) (*traceFile, error) {
	in = bufio.NewReaderSize(&stopReader{ctx: ctx, r: in, show: show}, 1<<16)
	for range maxNesting {
		head, err := in.(*bufio.Reader).Peek(8)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		i := packing(head)
		if i < 0 {
			break
		}
		r, err := packings[i].open(in)
		if err != nil {
			return nil, fmt.Errorf("%s: the %s data cannot be unpacked: %w", name, packings[i].name, err)
		}
		in = bufio.NewReaderSize(r, 1<<16)
	}
	f, err := os.CreateTemp(dir, ".ticktrap-import-*")
	if err != nil {
		return nil, err
	}
	t := &traceFile{Input: ftrace.Input{Name: name, ReaderAt: f}, file: f, spool: true}
	t.Size, err = io.Copy(f, in)
	if err != nil && ctx.Err() == nil {
		return nil, errors.Join(fmt.Errorf("reading %s: after %d bytes: %w", name, t.Size, err), t.Close())
	}
	return t, nil
}

// stopReader ends at the end of ctx, with io.EOF: what was read is kept.
type stopReader struct {
	ctx  context.Context
	r    io.Reader
	done uint64
	show func(done, total uint64)
}

type readResult struct {
	n   int
	err error
}

// Read implements io.Reader. A read that blocks, as of a pipe, does not keep the
// end of ctx waiting.
func (s *stopReader) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, io.EOF
	}
	buf := make([]byte, len(p)) // a read that is left behind may still write to it
	got := make(chan readResult, 1)
	go func() {
		n, err := s.r.Read(buf)
		got <- readResult{n, err}
	}()
	select {
	case r := <-got:
		copy(p, buf[:r.n])
		s.done += uint64(r.n)
		if s.show != nil {
			s.show(s.done, 0)
		}
		return r.n, r.err
	case <-s.ctx.Done():
		return 0, io.EOF
	}
}
