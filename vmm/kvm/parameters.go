//go:build linux && amd64

package kvm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// parameterPath is the file of a module parameter.
func parameterPath(module, name string) string {
	return filepath.Join(parametersRoot, module, "parameters", name)
}

// parameter reads a module parameter; ok is false if there is none such.
func parameter(module, name string) (value string, ok bool) {
	b, err := os.ReadFile(parameterPath(module, name))
	return strings.TrimSpace(string(b)), err == nil
}

// writable reports whether a module parameter can be changed while the module
// is loaded.
func writable(module, name string) bool {
	st, err := os.Stat(parameterPath(module, name))
	return err == nil && st.Mode().Perm()&0o200 != 0
}

// hostChanges are the module parameters that this run has changed. Before each
// change the old value goes to a file named after this process, so that the next
// run can put it back if this one is killed.
type hostChanges struct {
	dir string
	old map[string]string // path to value
}

// set changes a parameter for the whole host until restore.
func (h *hostChanges) set(module, name, value string) error {
	path := parameterPath(module, name)
	old, ok := parameter(module, name)
	if !ok {
		return fmt.Errorf("this kernel has no module parameter %s.%s", module, name)
	}
	if h.old == nil {
		h.old = map[string]string{}
	}
	if _, changed := h.old[path]; !changed {
		if first, ok := h.others()[path]; ok {
			old = first // another run has changed it already
		}
		h.old[path] = old
		if err := h.save(); err != nil {
			delete(h.old, path)
			return err
		}
	}
	if err := writeFile(path, value); err != nil {
		return fmt.Errorf("setting %s.%s to %s: %w", module, name, value, err)
	}
	return nil
}

func (h *hostChanges) file() (string, error) {
	id, err := ownID()
	return filepath.Join(h.dir, id+".json"), err
}

// save writes the file before the parameter changes: a run that is killed in
// between restores a value that is there already.
func (h *hostChanges) save() error {
	path, err := h.file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return fmt.Errorf("noting the host's settings: %w", err)
	}
	b, err := json.Marshal(h.old)
	if err != nil {
		return fmt.Errorf("noting the host's settings: %w", err)
	}
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return fmt.Errorf("noting the host's settings: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("noting the host's settings: %w", err)
	}
	return nil
}

// restore puts every changed parameter back.
func (h *hostChanges) restore() error {
	if len(h.old) == 0 {
		return nil
	}
	others := h.others()
	for path := range h.old {
		if _, ok := others[path]; ok {
			delete(h.old, path) // the last run that needs it puts it back
		}
	}
	if err := putBack(h.old); err != nil {
		return err
	}
	h.old = nil
	path, err := h.file()
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// others are the values from before any change that other living runs noted.
func (h *hostChanges) others() map[string]string {
	own, _ := h.file()
	files, _ := filepath.Glob(filepath.Join(h.dir, "*.json"))
	all := map[string]string{}
	for _, f := range files {
		if f == own || !alive(strings.TrimSuffix(filepath.Base(f), ".json")) {
			continue
		}
		b, err := os.ReadFile(f)
		var noted map[string]string
		if err != nil || json.Unmarshal(b, &noted) != nil {
			continue
		}
		for path, value := range noted {
			all[path] = value
		}
	}
	return all
}

// isParameter reports whether a path is a module parameter's file: what a note in
// stateDir names is written to as root.
func isParameter(path string) bool {
	ok, err := filepath.Match(parametersRoot+"/*/parameters/*", path)
	return err == nil && ok && filepath.Clean(path) == path
}

// parametersRoot is where modules show their parameters; a test has its own.
var parametersRoot = "/sys/module"

func putBack(old map[string]string) error {
	var errs []error
	for path, value := range old {
		if !isParameter(path) {
			errs = append(errs, fmt.Errorf("restoring the host's settings: %s is no module parameter and is left alone", path))
			continue
		}
		if err := writeFile(path, value); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("restoring the host's settings: %w", err))
		}
	}
	return errors.Join(errs...)
}

// recoverParameters restores what runs noted in dir that are no longer alive.
func recoverParameters(dir string) (done []string, err error) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	var errs []error
	for _, f := range files {
		if alive(strings.TrimSuffix(filepath.Base(f), ".json")) {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var old map[string]string
		if err := json.Unmarshal(b, &old); err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", f, err))
			continue
		}
		for path := range (&hostChanges{dir: dir}).others() {
			delete(old, path) // a living run will put it back
		}
		if err := putBack(old); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f, err))
			continue
		}
		errs = append(errs, os.Remove(f))
		for path, value := range old {
			done = append(done, fmt.Sprintf("set %s back to %s, which a run that was killed had changed", path, value))
		}
	}
	return done, errors.Join(errs...)
}

// restoreOne puts one changed parameter back.
func (h *hostChanges) restoreOne(module, name string) error {
	path := parameterPath(module, name)
	old, ok := h.old[path]
	if !ok {
		return nil
	}
	if err := writeFile(path, old); err != nil {
		return fmt.Errorf("restoring %s.%s: %w", module, name, err)
	}
	delete(h.old, path)
	if len(h.old) > 0 {
		return h.save()
	}
	file, err := h.file()
	if err != nil {
		return err
	}
	return os.Remove(file)
}
