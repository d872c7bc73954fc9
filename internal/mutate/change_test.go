package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `package p

func f(a, b int, ok bool) (n int) {
	if a < b && !ok {
		n = a + b
		g(
			n)
	}
	if a == 0 {
		panic("BUG: a" + "b")
	}
	return n
}

func g(int) bool { return true }
`

func TestChangesAreThoseOfTheTable(t *testing.T) {
	all, err := changes("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range all {
		c := &all[i]
		got = append(got, c.what)
		p := c.apply()
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", p, 0); err != nil {
			t.Errorf("%s does not parse: %v\n%s", c.what, err, p)
		}
		if a, b := strings.Count(sample, "\n"), strings.Count(string(p), "\n"); a != b {
			t.Errorf("%s changes the number of lines from %d to %d", c.what, a, b)
		}
	}
	want := []string{
		`f: "a < b && !ok": "||" for "&&"`, `f: "a < b": "<=" for "<"`, `f: "a < b": ">=" for "<"`, `f: "!ok": "" for "!"`,
		`f: "n = a + b": "" for "n = a + b"`, `f: "a + b": "-" for "+"`, `f: "g( n)": "" for "g( n)"`,
		`f: "a == 0": "!=" for "=="`, `g: "true": "false" for "true"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("changes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAlikeChangesHaveNumbers(t *testing.T) {
	all, err := changes("p.go", []byte("package p\nfunc f(a int) bool { return a == 1 || a == 1 }\n"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i := range all {
		if ids[all[i].id()] {
			t.Errorf("%s comes twice", all[i].id())
		}
		ids[all[i].id()] = true
	}
	if !ids[`p.go f: "a == 1": "!=" for "==" #2`] {
		t.Errorf("ids %v", ids)
	}
}

func TestExcusesNeedAReason(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.txt")
	for text, ok := range map[string]bool{
		"# comment\n\np.go f: x  because both are 0\n": true, "p.go f: x": false, "p.go f: x  because ": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readExcuses(file)
		if (err == nil) != ok || ok && m["p.go f: x"] != "both are 0" {
			t.Errorf("%q gives %v, %v", text, m, err)
		}
	}
}

// A change that a test of the package notices, one that none can, and one that does not
// compile are told apart.
func TestVerdicts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	src, err := os.ReadFile("change.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		old, text string
		want      verdict
	}{{"len(s) > 60", "len(s) < 60", noticed}, {"// short is", "// Short is", survived}, {"len(s) > 60", "len(s) > x", unviable}} {
		at := strings.Index(string(src), tt.old)
		c := change{file: "change.go", src: src, from: at, to: at + len(tt.old), text: tt.text}
		got, err := try(&c, []string{"."}, "Changes", 60e9)
		if err != nil || got != tt.want {
			t.Errorf("%q for %q: verdict %d, %v; want %d", tt.text, tt.old, got, err, tt.want)
		}
	}
}
