// Package crash turns a panic, which is a bug of this program, into an error that can be
// carried to where the user is told.
package crash

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Error is a panic that was caught.
type Error struct {
	Value any    // of the panic
	Where string // function, file and line in this program
	Stack []byte
}

// Error says what happened in one line.
func (e *Error) Error() string { return fmt.Sprintf("internal error: %v (at %s)", e.Value, e.Where) }

// Catch, deferred, stores a panic in *err. Without one it does nothing.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = of(v)
	}
}

// of is the Error of a panic that was just recovered. One that was caught before, and
// thrown again in another goroutine, stays what it was.
func of(v any) *Error {
	if e, ok := v.(*Error); ok {
		return e
	}
	return &Error{Value: v, Where: where(), Stack: debug.Stack()}
}

// where is the place of the panic: the first frame below the runtime's.
func where() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		runtimes := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !runtimes {
			return fmt.Sprintf("%s, %s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown place"
		}
	}
}
