package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "codeberg.org/ticktrap/ticktrap"

// arrows is the table of allowed imports between packages of this module, for
// non-test files. A new arrow is a change of this table.
var arrows = map[string]string{
	".":                     "internal/cli",
	"internal/clock":        "",
	"internal/quiet":        "",
	"internal/crash":        "",
	"internal/prose":        "",
	"internal/golden":       "",
	"internal/config":       "keymap internal/clock",
	"keymap":                "",
	"keymap/gen":            "keymap",
	"lapic":                 "internal/clock",
	"trace":                 "trace/kernel/rule internal/clock internal/prose",
	"trace/kernel":          "trace trace/kernel/rule lapic internal/clock internal/prose",
	"trace/kernel/rule":     "",
	"trace/ftrace":          "trace trace/ftrace/ringbuf trace/ftrace/tracedat internal/clock",
	"trace/ftrace/ringbuf":  "",
	"trace/ftrace/tracedat": "trace/ftrace/ringbuf",
	"trace/export":          "trace internal/clock",
	"trace/interval":        "trace internal/clock",
	"trace/explain":         "trace trace/interval internal/clock internal/prose",
	"trace/check":           "trace trace/kernel trace/kernel/rule lapic internal/clock",
	"trace/diff":            "trace trace/explain internal/clock internal/prose",
	"trace/tracetest":       "trace internal/clock",
	"trace/query":           "trace internal/clock",
	"vmm":                   "lapic trace trace/kernel trace/kernel/rule internal/clock",
	"vmm/session":           "vmm trace trace/query internal/clock internal/crash",
	"vmm/board":             "vmm internal/clock",
	"vmm/guest":             "vmm internal/clock",
	"vmm/guest/symbols":     "vmm",
	"vmm/interp":            "vmm vmm/interp/softfloat internal/clock",
	"vmm/interp/softfloat":  "",
	"vmm/interp/interptest": "vmm vmm/interp internal/clock",
	"vmm/model":             "vmm vmm/interp vmm/board vmm/guest lapic trace trace/kernel internal/clock",
	"vmm/bench":             "vmm vmm/model vmm/guest lapic trace trace/kernel internal/clock internal/prose",
	"vmm/kvm":               "vmm vmm/board vmm/guest lapic trace trace/kernel trace/ftrace internal/clock",
	"vmm/rerun":             "vmm trace internal/clock",
	"vmm/scenario":          "vmm vmm/model vmm/guest lapic trace trace/kernel internal/clock",
	"vmm/fuzz":              "vmm vmm/model vmm/guest vmm/session trace trace/query internal/clock internal/crash",
	"vmm/sweep":             "vmm vmm/session trace trace/kernel internal/clock internal/prose",
	"vmm/vmmtest":           "*",
	"ui":                    "internal/quiet ui/picture vmm trace trace/kernel trace/kernel/rule trace/explain trace/diff trace/query lapic keymap internal/clock internal/prose",
	"ui/picture":            "",
	"ui/uitest":             "ui vmm trace keymap internal/clock",
	"screenshots":           "ui ui/picture ui/uitest vmm vmm/session vmm/rerun vmm/model vmm/guest trace trace/explain trace/query keymap internal/clock",
	"internal/cli":          "*",
}

// foreign is the table of modules that packages may import beside the standard
// library; a package not listed may import none.
var foreign = map[string]string{
	"internal/config": "github.com/pelletier/go-toml",
	"internal/cli": "github.com/pelletier/go-toml github.com/spf13/ golang.org/x/term github.com/charmbracelet/x/ansi " +
		"github.com/klauspost/compress github.com/ulikunitz/xz golang.org/x/text",
	"trace": "github.com/klauspost/compress github.com/HdrHistogram/ github.com/charmbracelet/x/ansi",
	"ui": "github.com/charmbracelet/ github.com/NimbleMarkets/ntcharts golang.org/x/arch github.com/muesli/termenv " +
		"github.com/lrstanley/bubblezone github.com/sahilm/fuzzy",
	"trace/ftrace/tracedat": "github.com/klauspost/compress",
	"vmm/kvm":               "golang.org/x/sys",
	"internal/quiet":        "github.com/charmbracelet/",
	"internal/prose":        "github.com/charmbracelet/x/ansi",
	"internal/golden":       "github.com/google/go-cmp",
	"vmm/vmmtest":           "*",
	"screenshots":           "*",
}

// fences are imports that only the named packages may have.
var fences = map[string]string{
	"unsafe": "vmm/kvm vmm/vmmtest vmm/interp", // vmm/interp: Sizeof of type parameters only
	"time":   "internal/cli vmm/kvm vmm/session vmm/vmmtest ui screenshots trace/ftrace trace/export internal/golden",
}

func rowOf(table map[string]string, pkg string) (row string, ok bool) {
	for p := pkg; ; p = path.Dir(p) {
		if row, ok = table[p]; ok || p == "." {
			return row, ok && (p != "." || pkg == ".")
		}
	}
}

func allows(row, imp string) bool {
	for _, a := range strings.Fields(row) {
		if a == "*" || a == imp || strings.HasPrefix(imp, strings.TrimSuffix(a, "/")+"/") && !strings.HasPrefix(a, "vmm") &&
			!strings.HasPrefix(a, "trace") && !strings.HasPrefix(a, "ui") {
			return true
		}
	}
	return false
}

func TestImportsFollowTheTable(t *testing.T) {
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" && path.Dir(file) != "." {
			return nil // generators and tools
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, filepath.ToSlash(filepath.Dir(file)), file, imp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, pkg, file, imp string) {
	t.Helper()
	row, ok := rowOf(arrows, pkg)
	if !ok {
		t.Errorf("%s: package %s has no row in the table of arrows", file, pkg)
		return
	}
	if inner, ours := strings.CutPrefix(imp, module+"/"); ours {
		if !allows(row, inner) {
			t.Errorf("%s: %s may not import %s: see the table of arrows", file, pkg, inner)
		}
		return
	}
	if fence, fenced := fences[imp]; fenced {
		if _, in := rowOf(map[string]string{}, pkg); !in && !fencedIn(fence, pkg) {
			t.Errorf("%s: %s may not import %q", file, pkg, imp)
		}
	}
	if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
		if mods, _ := rowOf(foreign, pkg); !allows(mods, imp) {
			t.Errorf("%s: %s may not import module %s", file, pkg, imp)
		}
	}
}

func fencedIn(fence, pkg string) bool {
	for _, f := range strings.Fields(fence) {
		if pkg == f || strings.HasPrefix(pkg, f+"/") {
			return true
		}
	}
	return pkg == "."
}
