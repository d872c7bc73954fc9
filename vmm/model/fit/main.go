package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

func main() {
	dir := flag.String("dir", "vmm/model/profiles", "where the profiles are written")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := profiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name+".tsv"), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is a profile as it is written.
type file struct{ name, text string }

// profiles fits all specs, each on the profile that it begins from.
func profiles() ([]file, error) {
	generic, err := model.LoadProfile("generic")
	if err != nil {
		return nil, err
	}
	done := map[string]*model.Profile{"generic": generic}
	var files []file
	for i := range specs {
		s := &specs[i]
		base := done[s.base]
		if s.generic {
			mixed := *base
			mixed.Phases = generic.Phases
			base = &mixed
		}
		p, err := fit(s, base)
		if err != nil {
			return nil, err
		}
		f := file{s.name, text(s, base, p)}
		if done[s.name], err = model.ParseProfile(s.name, f.text); err != nil {
			return nil, fmt.Errorf("what was just written cannot be read: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}
