//go:build ignore

// Command genlicenses writes licenses.tsv: the modules that are linked into the
// program with their licences, read from their own files.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// marks are what the texts of licences say that no other says.
var marks = []struct{ spdx, text string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"BSD-3-Clause", "may be used to endorse or promote"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
}

func main() {
	// All systems that the program is built for, so that the list is the same
	// wherever it is made.
	rows := map[string]string{}
	for _, system := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "../..")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			log.Fatal(err)
		}
		for line := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }) {
			f := strings.Split(line, "\t")
			if rows[f[0]] == "" {
				rows[f[0]] = fmt.Sprintf("%s\t%s\t%s\n", f[0], f[1], license(f[0], f[2]))
			}
		}
	}
	var b bytes.Buffer
	paths := make([]string, 0, len(rows))
	for p := range rows {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		b.WriteString(rows[p])
	}
	if err := os.WriteFile("licenses.tsv", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// license names the licence of the module in dir; without one that is known the
// list is not written.
func license(path, dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "LICEN[SC]E*"))
	if err != nil || len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(dir, "COPYING*"))
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			log.Fatal(err)
		}
		words := strings.Join(strings.Fields(string(text)), " ")
		for _, m := range marks {
			if strings.Contains(words, m.text) {
				return m.spdx
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "README.md")); err == nil && bytes.Contains(text, []byte("MIT")) {
		return "MIT" // said there only
	}
	log.Fatalf("%s: no licence found in %s", path, dir)
	return ""
}
