package cli

import (
	"fmt"
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

// A figure that is printed beside another in a second unit is the same time.
func TestOpenDeadlineIsAsLongInNanosecondsAsInCycles(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "x.tt")
	// sti; hlt for ever is enough of a guest where the timer is masked: LVTT as it
	// is after a reset, TMICT 100000.
	image := filepath.Join(t.TempDir(), "masked.bin")
	code := "\xbf\x00\x00\xe0\xfe" + "\xc7\x87\xf0\x00\x00\x00\xff\x01\x00\x00" + "\xc7\x87\x80\x03\x00\x00\xa0\x86\x01\x00" + "\xfb\xf4\xeb\xfd"
	if err := os.WriteFile(image, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	invoke(t, "run", "--engine=model", "--headless", "--for", "5ms", image, "--record", rec)
	out, _ := invoke(t, "explain", rec)
	var cycles, ns int64
	if _, err := fmt.Sscanf(out[max(0, strings.Index(out, "The deadline passed")):], "The deadline passed %d cycles (%d ns)", &cycles, &ns); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if want := cycles * 2 / 5; ns < want-1 || ns > want+1 { // 2.5 GHz
		t.Errorf("%d cycles are said to be %d ns, want %d", cycles, ns, want)
	}
}
