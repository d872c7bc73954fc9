package crash

import (
	"errors"
	"strings"
	"testing"
)

func fall(p []int) int { return p[len(p)] }

func caught(f func()) (err error) {
	defer Catch(&err)
	f()
	return errors.New("no panic")
}

func TestCatch(t *testing.T) {
	err := caught(func() { fall(nil) })
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("caught %v", err)
	}
	if !strings.Contains(e.Where, "crash.fall, crash_test.go:") || !strings.Contains(string(e.Stack), "crash.fall") {
		t.Errorf("it was at %s\n%s", e.Where, e.Stack)
	}
	if s := e.Error(); !strings.Contains(s, "index out of range") || strings.Contains(s, "\n") {
		t.Errorf("it says %q", s)
	}
	if again := caught(func() { panic(e) }); again != err {
		t.Errorf("thrown again it is %v", again)
	}
	if err := caught(func() {}); err == nil || err.Error() != "no panic" {
		t.Errorf("without a panic: %v", err)
	}
}
