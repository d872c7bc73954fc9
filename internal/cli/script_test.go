package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ticktrap": func() { os.Exit(Main(os.Args[1:], OS())) }})
}

// The scripts run the program as a user does, without a terminal.
func TestScripts(t *testing.T) {
	traces, err := filepath.Abs("../../trace/ftrace/testdata")
	if err != nil {
		t.Fatal(err)
	}
	guests, err := filepath.Abs("testdata/guests")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("FTRACE", traces)
		e.Setenv("GUESTS", guests)
		e.Setenv("CASES", filepath.Join(traces, "cases"))
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"status": status,
		"bytes":  writeBytes,
		"damage": damageByte,
	}})
}

// status CODE COMMAND… runs a command and wants its exit code.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = exitCodeOf(err)
	}
	if code != args[0] {
		ts.Fatalf("%v ended with %s, want %s\nstderr: %s", args[1:], code, args[0], ts.ReadFile("stderr"))
	}
}

func exitCodeOf(err error) string {
	const prefix = "exit status "
	if s := err.Error(); len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):]
	}
	return err.Error()
}

// writeBytes FILE HEX… writes a binary file.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: bytes FILE HEX…")
	}
	var b []byte
	for _, h := range args[1:] {
		for i := 0; i+1 < len(h); i += 2 {
			b = append(b, nibble(h[i])<<4|nibble(h[i+1]))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	default:
		return c - 'a' + 10
	}
}

// damage FILE OFFSET changes one byte of a file.
func damageByte(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE OFFSET")
	}
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	p, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if at >= len(p) {
		ts.Fatalf("%s has %d bytes only", args[0], len(p))
	}
	p[at] ^= 0x10
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), p, 0o600))
}
