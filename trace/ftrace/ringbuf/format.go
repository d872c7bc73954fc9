// Package ringbuf reads the kernel's trace ring buffer: the pages that
// trace_pipe_raw gives and trace-cmd records, and the records in them by the
// kernel's own format files.
//
// It knows no file format and no event. A Reader belongs to one goroutine.
package ringbuf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Format is an event's format file (events/SYSTEM/EVENT/format).
type Format struct {
	Name   string
	ID     int
	Fields []Field
}

// Field is a field of a record.
type Field struct {
	Name         string
	Offset, Size int
	Signed       bool
	// Text is true for an array of characters, DataLoc for text elsewhere in the
	// record: the field then holds its place.
	Text, DataLoc bool
	relative      bool // __rel_loc: the place counts from after the field
}

// ParseFormat reads a format file. The error says what is missing.
func ParseFormat(text []byte) (*Format, error) {
	f := &Format{ID: -1}
	for line := range bytes.Lines(text) {
		s := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(s, "name:"):
			f.Name = strings.TrimSpace(s[len("name:"):])
		case strings.HasPrefix(s, "ID:"):
			id, err := strconv.ParseUint(strings.TrimSpace(s[len("ID:"):]), 10, 16)
			if err != nil {
				return nil, fmt.Errorf("format of %q: %q is no event number", f.Name, s)
			}
			f.ID = int(id)
		case strings.HasPrefix(s, "field:"):
			field, err := parseField(s)
			if err != nil {
				return nil, fmt.Errorf("format of %q: %w", f.Name, err)
			}
			f.Fields = append(f.Fields, field)
		case strings.HasPrefix(s, "print fmt:"):
			return f, f.check()
		}
	}
	return f, f.check()
}

func (f *Format) check() error {
	if f.Name == "" || f.ID < 0 {
		return fmt.Errorf("format without a name or a number (name %q)", f.Name)
	}
	return nil
}

// parseField reads "field:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;".
func parseField(s string) (Field, error) {
	var f Field
	decl := ""
	for part := range strings.SplitSeq(s, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		if key == "field" {
			decl = value
			continue
		}
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return f, fmt.Errorf("%q is no number in %q", value, s)
		}
		switch key {
		case "offset":
			f.Offset = int(n)
		case "size":
			f.Size = int(n)
		case "signed":
			f.Signed = n != 0
		}
	}
	words := strings.Fields(decl)
	if len(words) == 0 {
		return f, fmt.Errorf("a field without a name in %q", s)
	}
	name := words[len(words)-1]
	name, _, array := strings.Cut(name, "[")
	f.Name = strings.TrimLeft(name, "*")
	f.DataLoc = strings.HasPrefix(decl, "__data_loc") || strings.HasPrefix(decl, "__rel_loc")
	f.relative = strings.HasPrefix(decl, "__rel_loc")
	f.Text = array && strings.Contains(decl, "char") && !f.DataLoc
	return f, nil
}

// Field finds a field by name, nil if there is none.
func (f *Format) Field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Uint reads the field as a number, sign-extended to 64 bits if it is signed; 0 if
// the record is too short for it.
func (f *Field) Uint(data []byte, order binary.ByteOrder) uint64 {
	if f.Offset < 0 || f.Size < 0 || f.Offset+f.Size > len(data) {
		return 0
	}
	b := data[f.Offset : f.Offset+f.Size]
	switch f.Size {
	case 1:
		if f.Signed {
			return uint64(int64(int8(b[0])))
		}
		return uint64(b[0])
	case 2:
		if v := order.Uint16(b); f.Signed {
			return uint64(int64(int16(v)))
		} else {
			return uint64(v)
		}
	case 4:
		if v := order.Uint32(b); f.Signed {
			return uint64(int64(int32(v)))
		} else {
			return uint64(v)
		}
	case 8:
		return order.Uint64(b)
	}
	return 0
}

// Bytes reads the field as text up to its terminating zero. It points into data.
func (f *Field) Bytes(data []byte, order binary.ByteOrder) []byte {
	from, size := f.Offset, f.Size
	if f.DataLoc {
		if f.Offset+4 > len(data) {
			return nil
		}
		loc := order.Uint32(data[f.Offset:])
		from, size = int(loc&0xffff), int(loc>>16)
		if f.relative {
			from += f.Offset + 4
		}
	}
	if from < 0 || from > len(data) {
		return nil
	}
	b := data[from:min(len(data), from+size)]
	if size == 0 && !f.DataLoc { // char buf[]: to the end of the record
		b = data[from:]
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}
