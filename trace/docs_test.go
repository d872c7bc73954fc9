package trace

import (
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/golden"
)

func TestEventDocsAreUpToDate(t *testing.T) {
	golden.Equal(t, "../docs/events.md", []byte(Docs()))
}

func TestEventDocsNameEverything(t *testing.T) {
	doc := Docs()
	for k := BadKind + 1; k < numKinds; k++ {
		if !strings.Contains(doc, "\n## "+Specs[k].Name+"\n") {
			t.Errorf("%v has no section", k)
		}
		for _, f := range Specs[k].Fields {
			if f.Form == NoField {
				continue
			}
			if formNames[f.Form] == "" {
				t.Errorf("form %d of %v.%s has no name", f.Form, k, f.Name)
			}
			for _, n := range f.Names {
				if !strings.Contains(doc, "`"+n+"`") {
					t.Errorf("%v.%s: %q is missing", k, f.Name, n)
				}
			}
		}
	}
}
