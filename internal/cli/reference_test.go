package cli

import (
	"os"
	"strings"
	"testing"
)

func TestCommandReferenceIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole check generates it anew")
	}
	have, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Reference() {
		t.Error("docs/commands.md is stale: go generate ./internal/cli")
	}
}

// The reference must not depend on the machine that writes it.
func TestHelpDependsOnNoMachine(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{dir, os.Getenv("HOME")} {
		if len(word) > 1 && strings.Contains(Reference(), word) {
			t.Errorf("the reference holds %q", word)
		}
	}
}
