package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// headless starts the program without a terminal on a guest that does not end, and
// waits until its recording holds more than the header.
func headless(t *testing.T) (cmd *exec.Cmd, out *bytes.Buffer, record string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The test binary is the program when it is called by its name (see TestMain).
	name := filepath.Join(dir, "ticktrap")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	record, out = filepath.Join(dir, "r.tt"), new(bytes.Buffer)
	// Few events in much wall time: no block fills up in the time of the test.
	cmd = exec.Command(name, "run", "--engine=model", "--headless", "--record", record, "--no-skip", "deadline", "--append", "mode=spin distance=3000000")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var first int64
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if fi, err := os.Stat(record); err == nil && first == 0 {
			first = fi.Size()
		} else if err == nil && fi.Size() > first {
			return cmd, out, record
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("nothing was flushed after %s: %s", time.Since(start), out)
		}
	}
}

func TestSignalsEndARunWithItsReport(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd, out, record := headless(t)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != int(ExitSignal) {
				t.Fatalf("the program ended with %v, want exit code %d: %s", err, ExitSignal, out)
			}
			if !bytes.Contains(out.Bytes(), []byte("\nend        stopped")) {
				t.Errorf("the report is not there:\n%s", out)
			}
			rec, f, err := trace.OpenFile(record)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if rec.Warning() != "" || rec.Events() < 10 {
				t.Errorf("recording of %d events: %s", rec.Events(), rec.Warning())
			}
		})
	}
}

// What SIGKILL leaves is all but the last second.
func TestKilledRunKeepsItsRecording(t *testing.T) {
	cmd, _, record := headless(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	rec, f, err := trace.OpenFile(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rec.Events() < 10 {
		t.Errorf("%d events are left: %s", rec.Events(), rec.Warning())
	}
}
