package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// FileFormat is the version of the results file.
const FileFormat = 1

// head is the first line of a results file: what the points belong to.
type head struct {
	Format int    `json:"format"`
	Sweep  string `json:"sweep"`
}

// File is a results file: one JSON document a line, the first saying what the
// sweep is, each other one point. It is only appended to, so a line cut off by
// the end of the program is the last one; it is ignored.
type File struct {
	w io.Writer
}

// Resume reads what f holds of the sweep that about describes and returns the
// points in it. A file with other results is refused. f must be open for reading
// and appending.
func Resume(f io.ReadWriter, about string, g Grid) (*File, map[string]*Point, error) {
	done := map[string]*Point{}
	r := bufio.NewReader(f)
	first, whole, err := line(r)
	if err != nil {
		return nil, nil, err
	}
	if len(first) == 0 || !whole {
		if len(first) != 0 {
			return nil, nil, fmt.Errorf("its first line is cut: it holds no results yet, remove it")
		}
		out := &File{w: f}
		return out, done, out.write(head{FileFormat, about})
	}
	var h head
	switch err := json.Unmarshal(first, &h); {
	case err != nil || h.Format == 0:
		return nil, nil, fmt.Errorf("not a file of sweep results")
	case h.Format != FileFormat:
		return nil, nil, fmt.Errorf("format %d: this program reads format %d", h.Format, FileFormat)
	case h.Sweep != about:
		return nil, nil, fmt.Errorf("it holds another sweep (%s), this one is %s", h.Sweep, about)
	}
	for n := 2; ; n++ {
		text, whole, err := line(r)
		if err != nil {
			return nil, nil, err
		}
		if !whole {
			out := &File{w: f}
			if len(text) > 0 { // end the cut line, so that the next one is whole
				_, err = io.WriteString(f, "\n")
			}
			return out, done, err
		}
		var p Point
		if err := json.Unmarshal(text, &p); err != nil {
			continue // a line that was cut before
		}
		done[p.Key(g)] = &p
	}
}

// line reads a line without its end; whole is false at the end of the file.
func line(r *bufio.Reader) (text []byte, whole bool, err error) {
	text, err = r.ReadBytes('\n')
	if err == io.EOF {
		return text, false, nil
	}
	return bytes.TrimSuffix(text, []byte("\n")), err == nil, err
}

// Keep appends a point in one write.
func (f *File) Keep(p *Point) error { return f.write(p) }

func (f *File) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.w.Write(append(b, '\n'))
	return err
}
