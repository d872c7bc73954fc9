// Command mutate changes the code of a package one place at a time, runs its tests on
// each change, and lists the changes that no test notices.
//
//	go run ./internal/mutate [-n 200] [-seed 1] [-tests ./pkg,...] ./lapic
//
// The tree is not touched: the changed file is laid over it (go build -overlay). A change
// is a comparison with another bound, && for ||, + for -, a condition turned round, or a
// statement left out. What does not compile is not counted. Survivors that are no gap in
// the tests, because both programs do the same, are listed in survivors.txt with a reason.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", 0, "try so many places, drawn at random; 0 is all")
	seed := flag.Uint64("seed", 1, "of the draw")
	tests := flag.String("tests", "", "packages whose tests run, by comma (default the package itself)")
	run := flag.String("run", "", "tests to run, as go test has it")
	limit := flag.Duration("timeout", time.Minute, "of the tests of one change: a change that makes them hang is noticed")
	reasons := flag.String("reasons", "internal/mutate/survivors.txt", "survivors with a reason")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "mutate: want one package")
		os.Exit(2)
	}
	if err := mutate(flag.Arg(0), *n, *seed, *tests, *run, *limit, *reasons); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// tally counts what became of the changes.
type tally struct{ killed, survived, excused, unviable int }

func (t *tally) String() string {
	all := t.killed + t.survived + t.excused
	return fmt.Sprintf("%d changes: %d noticed, %d survived, %d excused with a reason (%.1f %% survive); %d more do not compile",
		all, t.killed, t.survived, t.excused, 100*float64(t.survived)/float64(max(1, all)), t.unviable)
}

func mutate(pkg string, n int, seed uint64, tests, run string, limit time.Duration, reasons string) error {
	excuses, err := readExcuses(reasons)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return err
	}
	var all []change
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		c, err := changes(f, src)
		if err != nil {
			return err
		}
		all = append(all, c...)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if n > 0 && n < len(all) {
		all = all[:n]
	}
	if tests == "" {
		tests = "./" + filepath.Clean(pkg)
	}
	t := &tally{}
	for i := range all {
		c := &all[i]
		switch out, err := try(c, strings.Split(tests, ","), run, limit); {
		case err != nil:
			return err
		case out == unviable:
			t.unviable++
		case out == noticed:
			t.killed++
		case excuses[c.id()] != "":
			t.excused++
		default:
			t.survived++
			fmt.Printf("%s:%d: %s\n", c.file, c.line, c.id())
		}
	}
	fmt.Printf("%s: %s\n", pkg, t)
	return nil
}

// verdict is what the tests say of a change.
type verdict int

const (
	survived verdict = iota
	noticed
	unviable
)

// try runs the tests with the change laid over the tree.
func try(c *change, tests []string, run string, limit time.Duration) (verdict, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	abs, err := filepath.Abs(c.file)
	if err != nil {
		return 0, err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	js, err := json.Marshal(map[string]any{"Replace": map[string]string{abs: changed}})
	if err == nil {
		err = os.WriteFile(overlay, js, 0o600)
	}
	if err == nil {
		err = os.WriteFile(changed, c.apply(), 0o600)
	}
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute)
	defer cancel()
	args := []string{"test", "-short", "-vet=off", "-failfast", "-overlay", overlay, "-timeout", limit.String()}
	if run != "" {
		args = append(args, "-run", run)
	}
	out, err := exec.CommandContext(ctx, "go", append(args, tests...)...).CombinedOutput()
	switch {
	case err == nil:
		return survived, nil
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return unviable, nil
	}
	return noticed, nil
}

// readExcuses reads lines of "id: reason"; # begins a comment.
func readExcuses(name string) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		id, reason, ok := strings.Cut(line, "  because ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: want \"change  because reason\"", name, i+1)
		}
		m[strings.TrimSpace(id)] = reason
	}
	return m, nil
}
