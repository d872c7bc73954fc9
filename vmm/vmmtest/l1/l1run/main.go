//go:build linux

// Command l1run boots an emulated machine with a real /dev/kvm and runs one
// program in it, with the console on standard output:
//
//	go run ./vmm/vmmtest/l1/l1run -vendor svm -kernel 6.12 -program ./ticktrap -- doctor
//	go run ./vmm/vmmtest/l1/l1run -test ./vmm/kvm -- -test.v -test.run Probe
//
// With -commands FILE it runs a list of programs that -pack brings along, one
// after the other: a JSON array of objects with Argv, Env and Fetch. With -i
// standard input goes to the machine's serial console. It exits with the exit
// code of the first program that failed, else 0.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1"
)

type options struct {
	vendor, kernel, program, test string
	commands                      string
	cpus                          int
	params, files, fetch, env     listFlag
	out                           string
	interactive                   bool
	rows, cols                    uint
	timeout                       time.Duration
}

// listFlag is a flag that may be given several times.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var o options
	flag.StringVar(&o.vendor, "vendor", "svm", "svm (QEMU), vmx or vmx-apicv (Bochs)")
	flag.StringVar(&o.kernel, "kernel", "6.12", "kernel series")
	flag.StringVar(&o.program, "program", "", "static program to run")
	flag.StringVar(&o.test, "test", "", "package whose tests to run")
	flag.StringVar(&o.commands, "commands", "", "file with a list of commands to run")
	flag.IntVar(&o.cpus, "cpus", 1, "CPUs of the machine, 1 or 2")
	flag.Var(&o.params, "param", "module parameter, MODULE:NAME=VALUE; may be repeated")
	flag.Var(&o.files, "pack", "file to pack, HERE:THERE; may be repeated")
	flag.Var(&o.fetch, "fetch", "file to bring back, by its path there; may be repeated")
	flag.Var(&o.env, "env", "environment of the program, NAME=VALUE; may be repeated")
	flag.StringVar(&o.out, "out", ".", "folder for the files brought back")
	flag.BoolVar(&o.interactive, "i", false, "connect standard input to the console")
	flag.UintVar(&o.rows, "rows", 24, "console lines")
	flag.UintVar(&o.cols, "cols", 80, "console columns")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "give up after this time")
	flag.Parse()
	code, err := run(o, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "l1run:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(o options, args []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "ticktrap-l1run-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	initBinary := filepath.Join(dir, "init")
	if err := l1.BuildInit(ctx, initBinary); err != nil {
		return 0, err
	}
	program := o.program
	if o.test != "" {
		program = filepath.Join(dir, "test")
		if err := l1.BuildTest(ctx, program, o.test); err != nil {
			return 0, err
		}
	}
	kernel, err := l1.FindKernel(o.kernel)
	if err != nil {
		return 0, err
	}
	vendor, err := l1.ParseVendor(o.vendor)
	if err != nil {
		return 0, err
	}
	m := l1.Machine{Vendor: vendor, Kernel: kernel, CPUs: o.cpus, ModuleParams: map[string]string{}, Timeout: o.timeout}
	for _, p := range o.params {
		module, param, _ := strings.Cut(p, ":")
		m.ModuleParams[module] = strings.TrimSpace(m.ModuleParams[module] + " " + param)
	}
	job := l1.Job{Files: map[string]string{}, Console: os.Stdout, Rows: uint16(o.rows), Cols: uint16(o.cols)}
	if program != "" {
		job.Files["/program"] = program
		job.Commands = []l1.Command{{Argv: append([]string{"/program"}, args...), Env: o.env, Fetch: o.fetch}}
	}
	if o.commands != "" {
		more, err := readCommands(o.commands)
		if err != nil {
			return 0, err
		}
		job.Commands = append(job.Commands, more...)
	}
	for _, f := range o.files {
		here, there, _ := strings.Cut(f, ":")
		job.Files[there] = here
	}
	if o.interactive {
		job.Stdin = os.Stdin
		if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
			state, err := term.MakeRaw(fd)
			if err != nil {
				return 0, err
			}
			defer term.Restore(fd, state)
		}
	}
	r, err := m.Run(ctx, initBinary, job)
	for name, content := range r.Files { // of the commands that ended, if the machine did not
		if werr := os.WriteFile(filepath.Join(o.out, filepath.Base(name)), content, 0o644); werr != nil {
			return 0, errors.Join(err, werr)
		}
	}
	if err != nil {
		return 0, err
	}
	for _, c := range r.Codes {
		if c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

func readCommands(path string) (commands []l1.Command, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &commands); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return commands, nil
}
