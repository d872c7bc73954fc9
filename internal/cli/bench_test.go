package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runBench runs the command line and returns its exit code and output.
func runBench(args ...string) (ExitCode, string, string) {
	var out, errs bytes.Buffer
	code := Main(append([]string{"bench"}, args...), &Env{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: os.Getenv})
	return ExitCode(code), out.String(), errs.String()
}

func TestBenchPrintsATableAndJSON(t *testing.T) {
	args := []string{"--only", "s004v3-immed-off", "--seeds", "1"}
	code, out, errs := runBench(args...)
	if code != ExitOK || errs != "" {
		t.Fatalf("exit code %d, errors %q", code, errs)
	}
	for _, want := range []string{"2885", "2431.25", "−453.75", "calibrated hit", "host cycles per iteration"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	code, out, errs = runBench(append(args, "--json")...)
	var doc struct {
		Rows []struct {
			ID      string   `json:"id"`
			Verdict string   `json:"verdict"`
			After   *float64 `json:"after"`
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != ExitOK || errs != "" {
		t.Fatalf("exit code %d, errors %q, JSON: %v", code, errs, err)
	}
	rows := doc.Rows
	if len(rows) != 1 || rows[0].ID != "s004v3-immed-off" || rows[0].Verdict != "hit" || rows[0].After == nil {
		t.Errorf("JSON rows: %+v", rows)
	}
}

func TestBenchRefusesWhatItCannotDo(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "vmexit.flat")
	if err := os.WriteFile(broken, []byte("\x7fELF"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		code ExitCode
		text string
	}{
		{"an unknown profile", []string{"--profile", "z80"}, ExitUsage, "skylake-server"},
		{"no such row", []string{"--only", "nothing"}, ExitUsage, "nothing"},
		{"rounds that are too short", []string{"--goal", "10"}, ExitUsage, "--goal"},
		{"no runs", []string{"--seeds", "0"}, ExitUsage, "--seeds"},
		{"an argument", []string{"x"}, ExitUsage, ""},
		{"an image that is not there", []string{"--guest", broken + ".gone"}, ExitInput, "gone"},
		{"a broken image", []string{"--guest", broken}, ExitInput, "vmexit.flat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := runBench(tt.args...)
			if code != tt.code || !strings.Contains(errs, tt.text) || out != "" {
				t.Errorf("exit code %d, output %q, errors %q; want code %d and %q", code, out, errs, tt.code, tt.text)
			}
		})
	}
}
