//go:build linux && amd64

package kvm

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Whatever a run changes on the host outside its own process carries the
// process's identity: PID, start time and PID namespace. So a run that was killed
// can be cleaned up after by the next one, and two that live do not disturb each
// other.
const (
	instancePrefix = "ticktrap-" // tracefs instances
	groupPrefix    = "ticktrap_" // groups of kprobe events
	stateDir       = "/run/ticktrap"
)

// ownID is this process's identity, "pid-starttime-namespace".
func ownID() (string, error) {
	start, err := startTime(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("finding this process's start time: %w", err)
	}
	return fmt.Sprintf("%d-%s-%s", os.Getpid(), start, pidNamespace()), nil
}

// pidNamespace is the number of this process's PID namespace, "0" if the kernel
// has none: /proc/self/ns/pid leads to "pid:[4026531836]".
func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

// groupID makes an identity fit for the name of a group of events.
func groupID(id string) string { return strings.ReplaceAll(id, "-", "_") }

// ownThread reports whether a thread is one of this process's, or KVM's for the
// PIT of a VM of its own: no other acts on a VM that this process made.
func ownThread(comm []byte, tid int32) bool {
	if string(comm) == fmt.Sprintf("kvm-pit/%d", os.Getpid()) {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
	return err == nil
}

// startTime is field 22 of /proc/PID/stat, in clock ticks since boot.
func startTime(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The task's name, field 2, may hold blanks and parentheses.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has %d fields after the name, want 20 or more", pid, len(f))
	}
	return f[19], nil
}

// alive reports whether the process of an identity ("123-456-789" or
// "123_456_789") still runs. What does not look like an identity is left alone, as
// is one of another PID namespace, whose processes cannot be seen: alive. Runs
// before 0.2 had no namespace.
func alive(id string) bool {
	part := strings.Split(strings.ReplaceAll(id, "_", "-"), "-")
	if len(part) < 2 || len(part) > 3 || len(part) == 3 && part[2] != pidNamespace() {
		return true
	}
	pid, err := strconv.Atoi(part[0])
	if err != nil {
		return true
	}
	now, err := startTime(pid)
	return err == nil && now == part[1]
}

// Recover undoes what killed runs left on this host: tracefs instances, kprobe
// events and module parameters. It returns a sentence for each.
func Recover() (done []string, err error) {
	var errs []error
	if root, ferr := findTracefs(); ferr == nil {
		dirs, _ := filepath.Glob(filepath.Join(root, "instances", instancePrefix+"*"))
		for _, d := range dirs {
			if alive(strings.TrimPrefix(filepath.Base(d), instancePrefix)) {
				continue
			}
			if err := removeInstance(d); err != nil {
				errs = append(errs, err)
				continue
			}
			done = append(done, "removed the tracefs instance "+filepath.Base(d)+" of a run that was killed")
		}
		for _, g := range probeGroups(root) {
			if alive(strings.TrimPrefix(g, groupPrefix)) {
				continue
			}
			if err := removeProbes(root, g); err != nil {
				errs = append(errs, err)
				continue
			}
			done = append(done, "removed the kprobe events "+g+" of a run that was killed")
		}
	}
	more, err := recoverParameters(stateDir)
	return append(done, more...), errors.Join(append(errs, err)...)
}

// recoverNotes is Recover at the start of a run, with what failed as a sentence.
func recoverNotes() []string {
	notes, err := Recover()
	if err != nil {
		notes = append(notes, "cleaning up after an earlier run: "+err.Error())
	}
	return notes
}

// removeInstance turns an instance's events off and removes it. Readers that
// still have a file of it open keep it busy.
func removeInstance(dir string) error {
	_ = writeFile(filepath.Join(dir, "tracing_on"), "0")
	_ = writeFile(filepath.Join(dir, "events", "enable"), "0")
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the tracefs instance: %w", err)
	}
	return nil
}

// probeGroups lists the groups of kprobe events that runs of this program made.
func probeGroups(root string) []string {
	var groups []string
	seen := map[string]bool{}
	eachProbe(root, func(group, _ string) {
		if strings.HasPrefix(group, groupPrefix) && !seen[group] {
			seen[group] = true
			groups = append(groups, group)
		}
	})
	return groups
}

// eachProbe calls f for each kprobe event: lines "p:group/name symbol …".
func eachProbe(root string, f func(group, name string)) {
	file, err := os.Open(filepath.Join(root, "kprobe_events"))
	if err != nil {
		return
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	for s.Scan() {
		_, rest, ok := strings.Cut(s.Text(), ":")
		if !ok {
			continue
		}
		full, _, _ := strings.Cut(rest, " ")
		if group, name, ok := strings.Cut(full, "/"); ok {
			f(group, name)
		}
	}
}

func removeProbes(root, group string) error {
	var errs []error
	var names []string
	eachProbe(root, func(g, name string) {
		if g == group {
			names = append(names, name)
		}
	})
	for _, n := range names {
		if err := appendTo(filepath.Join(root, "kprobe_events"), "-:"+group+"/"+n); err != nil {
			errs = append(errs, fmt.Errorf("removing the kprobe event %s: %w", n, err))
		}
	}
	return errors.Join(errs...)
}
