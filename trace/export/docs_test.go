package export

import (
	"os"
	"strings"
	"testing"
)

func TestDocumentationNamesEveryFormatAndColumn(t *testing.T) {
	data, err := os.ReadFile("../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, f := range Formats {
		if !strings.Contains(doc, "| `"+f.Name+"` |") {
			t.Errorf("docs/export.md has no row for %s", f.Name)
		}
	}
	for _, columns := range [][]string{deadlineColumns, exitColumns, kickColumns} {
		for _, c := range columns {
			if !strings.Contains(doc, "`"+c+"`") {
				t.Errorf("docs/export.md does not name the column %s", c)
			}
		}
	}
}
