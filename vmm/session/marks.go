package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Marks are the bookmarks of a recording, in a file beside it. The file is text:
// a line for each with its TSC, a blank and its name; empty lines and those that
// begin with # are left alone. A bookmark is appended to what the file holds at
// that moment, and the file is replaced as a whole, so nothing is ever lost: a
// file that cannot be read is not touched.
type Marks struct {
	path string
	list []vmm.Mark
}

// MarksPath is where the bookmarks of a recording are kept.
func MarksPath(recording string) string { return recording + ".marks" }

// maxMarks bounds the file in bytes.
const maxMarks = 1 << 20

// LoadMarks reads a file of bookmarks; one that does not exist holds none, and
// with an empty path nothing is saved. With an error, which is one sentence, the
// Marks are empty and may be used.
func LoadMarks(path string) (*Marks, error) {
	m := &Marks{path: path}
	if path == "" {
		return m, nil
	}
	data, err := readMarks(path)
	if err == nil {
		m.list, err = ParseMarks(data)
	}
	if err != nil {
		return m, fmt.Errorf("bookmarks in %s cannot be read, and will not be changed: %w", path, err)
	}
	return m, nil
}

// List are the bookmarks by time.
func (m *Marks) List() []vmm.Mark { return m.list }

// Add sets a bookmark and saves it. If it cannot be saved it is kept for this
// session only, and the error says so.
func (m *Marks) Add(at clock.TSC, name string) error {
	if err := checkMark(name); err != nil {
		return err
	}
	mark := vmm.Mark{At: at, Name: name}
	i := len(m.list)
	for i > 0 && m.list[i-1].At > at {
		i--
	}
	m.list = slices.Insert(m.list, i, mark)
	if m.path == "" {
		return nil
	}
	if err := m.save(mark); err != nil {
		return fmt.Errorf("bookmark %s is kept for this session only: %w", name, err)
	}
	return nil
}

func checkMark(name string) error {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return errors.New("a bookmark needs a name without blanks around it")
	case len(name) > 200:
		return errors.New("the name of a bookmark has at most 200 bytes")
	case !utf8.ValidString(name) || strings.IndexFunc(name, unicode.IsControl) >= 0:
		return errors.New("the name of a bookmark must be text on one line")
	}
	return nil
}

// save appends a bookmark to the file as it is now.
func (m *Marks) save(mark vmm.Mark) error {
	data, err := readMarks(m.path)
	if err != nil {
		return err
	}
	if _, err := ParseMarks(data); err != nil {
		return fmt.Errorf("%s cannot be read, so it is not changed: %w", m.path, err)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	data = fmt.Appendf(data, "%d %s\n", mark.At, mark.Name)
	return replaceFile(m.path, data)
}

// replaceFile puts data in the place of a file at once. A link stays one.
func replaceFile(path string, data []byte) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("saving bookmarks: %w", err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("saving bookmarks: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}

func readMarks(path string) ([]byte, error) {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case fi.Size() > maxMarks:
		return nil, fmt.Errorf("it has %d bytes, more than the %d of any file of bookmarks", fi.Size(), maxMarks)
	}
	return os.ReadFile(path)
}

// ParseMarks reads the text of a file of bookmarks and returns them by time. The
// error names the line.
func ParseMarks(data []byte) ([]vmm.Mark, error) {
	var marks []vmm.Mark
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		tsc, name, ok := strings.Cut(text, " ")
		at, err := strconv.ParseUint(tsc, 10, 64)
		if !ok || err != nil || checkMark(name) != nil {
			return nil, fmt.Errorf("line %d is not a TSC, a blank and a name", n)
		}
		marks = append(marks, vmm.Mark{At: clock.TSC(at), Name: name})
	}
	slices.SortStableFunc(marks, func(a, b vmm.Mark) int { return cmp.Compare(a.At, b.At) })
	return marks, nil
}
