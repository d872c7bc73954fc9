// Package ftrace reads KVM traces and turns them into trace.Events: as text the
// kernel's own trace and trace_pipe, trace-cmd report and perf script, and in
// binary trace.dat and the pages of the ring buffer, of every kernel since 4.9.
//
// Readers make records of lines and of binary entries: time, CPU, thread, event
// and named fields. Open looks over a trace once: whose it is, where times go
// back, how its clock is tied to the guests' TSC. Decode reads it again, merges
// its parts by time, and gives each VM's records to a Decoder of its own.
//
// What a line looks like depends on the printer, what an event's body looks like
// on the kernel, so both are tables: the forms of a body are rows of forms, each
// with the kernels that print it. The rows that match narrow down the kernel,
// and Report says which kernel, which printer, what is missing and what cannot
// be concluded for that.
//
// The event stream says what the trace says. What has to be deduced (that a
// handler starts at the VM-entry after an injection, that an expiry went the
// pending way) carries trace.FlagInferred, and what cannot be known is left out.
//
// A Decoder belongs to one goroutine. The package reads no clock and opens no file.
package ftrace
