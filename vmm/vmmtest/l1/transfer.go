package l1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Files leave the machine through its second serial port, each as a line
// "name size" with a quoted name, followed by size bytes.

// WriteFile sends one file.
func WriteFile(w io.Writer, name string, content []byte) error {
	if _, err := fmt.Fprintf(w, "%q %d\n", name, len(content)); err != nil {
		return fmt.Errorf("sending %s: %w", name, err)
	}
	if _, err := w.Write(content); err != nil {
		return fmt.Errorf("sending %s: %w", name, err)
	}
	return nil
}

// readFiles reads what the machine sent.
func (r *Result) readFiles(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the files sent: %w", err)
	}
	defer f.Close()
	b := bufio.NewReader(f)
	for {
		var name string
		var size int
		if _, err := fmt.Fscanf(b, "%q %d\n", &name, &size); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return fmt.Errorf("reading the header of a file sent: %w", err)
		}
		content := make([]byte, size)
		if _, err := io.ReadFull(b, content); err != nil {
			return fmt.Errorf("reading %s, %d bytes: %w", name, size, err)
		}
		r.Files[name] = content
	}
}
