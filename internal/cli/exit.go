package cli

import (
	"errors"
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// ExitCode is a status that the program ends with.
type ExitCode int

// The exit codes. They are part of the interface.
const (
	ExitOK       ExitCode = 0
	ExitInternal ExitCode = 1
	ExitUsage    ExitCode = 2
	ExitInput    ExitCode = 3
	ExitHost     ExitCode = 4
	ExitTerminal ExitCode = 5
	ExitAssert   ExitCode = 6
	ExitGuest    ExitCode = 7
	ExitTimeout  ExitCode = 8
	ExitDamaged  ExitCode = 9
	ExitSignal   ExitCode = 10
	// ExitUndecided: too little data for a verdict that was asked for.
	ExitUndecided ExitCode = 11
	// ExitStatus is added to a guest's own non-zero exit status, which counts
	// up to maxStatus.
	ExitStatus ExitCode = 64
)

const maxStatus = 63

// exitCodes is the table of exit codes: help and the documentation print it.
var exitCodes = []struct {
	code ExitCode
	text string
}{
	{ExitOK, "success; a guest that ended by itself reported status 0"},
	{ExitInternal, "an error inside ticktrap"},
	{ExitUsage, "a flag, an argument or a value is wrong"},
	{ExitInput, "an input file cannot be used: guest, recording, profile, configuration"},
	{ExitHost, "the host cannot do it: no engine, no memory, a KVM failure"},
	{ExitTerminal, "the screen needs a terminal, and none was found"},
	{ExitAssert, "an assertion of --assert does not hold, or a limit of --fail-on is exceeded, or check disagrees"},
	{ExitGuest, "the guest crashed: triple fault, unknown instruction, KVM internal error, deadlock; or it reset the machine where that ends the run"},
	{ExitTimeout, "--timeout passed before the guest ended"},
	{ExitDamaged, "a recording is damaged: the report covers what is whole"},
	{ExitSignal, "stopped by SIGINT, SIGTERM or SIGHUP"},
	{ExitUndecided, "a limit of --fail-on looks exceeded, but there is too little data to be sure"},
	{ExitStatus, "and more: 64 plus the guest's own exit status, from 65 to 127"},
}

// Error is an error with the exit code that it ends the program with.
type Error struct {
	Code ExitCode
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail makes an Error.
func fail(code ExitCode, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// with gives err a code, unless it has one.
func with(code ExitCode, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Code: code, Err: err}
}

// codeOf is the exit code of err.
func codeOf(err error) ExitCode {
	var e *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e):
		return e.Code
	}
	return ExitInternal
}

// guestEnd maps the end of a guest to an error, nil if all is well.
func guestEnd(st *trace.State) error {
	e := &st.End
	switch e.How {
	case trace.BadEnd, trace.EndLimit, trace.EndStopped, trace.EndShutdown:
		return nil
	case trace.EndExit:
		if e.Code == 0 {
			return nil
		}
		return fail(ExitStatus+ExitCode(min(e.Code, maxStatus)), "the guest exited with status %d", e.Code)
	case trace.EndTripleFault:
		return fail(ExitGuest, "the guest crashed: triple fault at RIP %#x", e.Detail)
	case trace.EndReset:
		return fail(ExitGuest, "the guest reset the machine, which ends this run")
	case trace.EndUnknown:
		return fail(ExitGuest, "the guest executed an instruction that the interpreter does not support: % x", bytesOf(e.Detail))
	case trace.EndInternal:
		return fail(ExitGuest, "%s", internalError(vmm.InternalError(e.Code), e.Detail))
	case trace.EndDeadlock:
		return fail(ExitGuest, "the guest is stuck: every vCPU is halted and nothing is left to wake one")
	case trace.EndTimeout:
		return fail(ExitTimeout, "the guest did not end before the timeout")
	}
	return fail(ExitHost, "the engine stopped: %s", e.How)
}

// internalError says what KVM would give the guest up for.
func internalError(sub vmm.InternalError, gpa uint64) string {
	if sub == vmm.InternalDelivery {
		return fmt.Sprintf("the guest crashed: delivering an event touched guest-physical %#x, which is not RAM "+
			"(KVM_INTERNAL_ERROR_DELIVERY_EV)", gpa)
	}
	return fmt.Sprintf("the guest crashed: its instruction works only on RAM, and guest-physical %#x is not RAM "+
		"(KVM_INTERNAL_ERROR_EMULATION)", gpa)
}

// bytesOf are the bytes packed into a word, lowest first, without trailing
// zeros.
func bytesOf(w uint64) []byte {
	var b []byte
	for ; w != 0; w >>= 8 {
		b = append(b, byte(w))
	}
	return b
}
