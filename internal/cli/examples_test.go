package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The exercises of docs/os-developers.md have the answers that it gives.
func TestExercisesAreExplained(t *testing.T) {
	for _, tool := range []string{"as", "ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: the examples of docs/os-developers.md are not assembled", tool)
		}
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		symbol, says string
	}{
		{"NOEOI", "no EOI was written"},
		{"MASKED", "LVTT is 0x50040: bit 16 (mask) is set"},
		{"TPR", "TPR is 0x50"},
	} {
		image, rec := filepath.Join(dir, tt.symbol+".bin"), filepath.Join(dir, tt.symbol+".tt")
		object := filepath.Join(dir, "tick.o")
		for _, cmd := range [][]string{{"as", "--defsym", tt.symbol + "=1", "-o", object, "../../docs/examples/tick.s"},
			{"ld", "-Ttext", "0x100000", "--oformat", "binary", "-o", image, object}} {
			if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, out)
			}
		}
		if out, code := invoke(t, "run", "--engine=model", "--headless", "--for", "20ms", image, "--record", rec); ExitCode(code) != ExitGuest {
			t.Errorf("%s ended with %d, want %d: %s", tt.symbol, code, ExitGuest, out)
		}
		out, _ := invoke(t, "explain", rec)
		if !strings.Contains(strings.Join(strings.Fields(out), " "), tt.says) {
			t.Errorf("%s: %q is not said:\n%s", tt.symbol, tt.says, out)
		}
	}
}

// The suite of docs/kvm-patches.md passes with another seed.
func TestExampleSuitePasses(t *testing.T) {
	if testing.Short() {
		t.Skip("twelve runs")
	}
	text, err := os.ReadFile("../../docs/examples/suite.toml")
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(t.TempDir(), "suite.toml")
	if err := os.WriteFile(suite, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := invoke(t, "gate", suite, "--update"); code != 0 {
		t.Fatalf("gate --update: %d\n%s", code, out)
	}
	if out, code := invoke(t, "gate", suite, "--seed", "2"); code != 0 {
		t.Errorf("gate with another seed: %d\n%s", code, out)
	}
}
