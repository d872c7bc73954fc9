package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// document writes v as one JSON document whose first members say what it is: the
// format with its version, and the program that wrote it. v is an object; a list
// is given with the name of its member. Members are added in later versions and
// never renamed; a change that breaks a reader is another version.
func document(w io.Writer, format string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", format, err)
	}
	head, err := json.Marshal(format + " 1")
	if err != nil {
		return err
	}
	program, err := json.Marshal(programName())
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": %s,\n  \"program\": %s", head, program)
	if rest := bytes.TrimPrefix(body, []byte("{")); len(bytes.TrimSpace(rest)) > 1 {
		b.WriteByte(',')
		b.Write(rest)
	} else {
		b.WriteString("\n}")
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// programName is the program with its version, and the commit where the build
// knows it.
func programName() string {
	name := "ticktrap " + version()
	if c := commit(); c != "" {
		name += " (" + c + ")"
	}
	return name
}

// version is that of the module where it was installed by its version, else that
// of the source.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return Version
}

// commit is the revision of the source, marked if the tree was changed.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+"
		}
	}
	if rev == "" {
		return ""
	}
	return rev + dirty
}
