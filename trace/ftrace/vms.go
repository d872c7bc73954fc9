package ftrace

import (
	"slices"
	"strings"
)

// VM is one virtual machine of a trace: the threads that run its vCPUs.
type VM struct {
	Threads []VCPUThread
	// Exits counts its VM-exits.
	Exits uint64
	// Inferred is true if only the order of thread numbers and names tells which
	// threads belong together.
	Inferred bool
	// Time ties the trace's stamps to the VM's guest TSC, as far as it is known.
	Time TimeFit

	threads []*thread
}

// Name is what the threads of the VM are called together: the name of the first,
// and its thread number.
func (v *VM) Name() string {
	if len(v.Threads) == 0 {
		return "no vCPU"
	}
	return v.Threads[0].Comm
}

// VCPUs is one more than the greatest vCPU number.
func (v *VM) VCPUs() int {
	n := 0
	for _, t := range v.Threads {
		n = max(n, t.VCPU+1)
	}
	return n
}

// Has reports whether a thread runs one of the VM's vCPUs.
func (v *VM) Has(pid int32) bool {
	return slices.ContainsFunc(v.threads, func(t *thread) bool { return t.pid == pid })
}

// group sorts the threads into VMs. Where the trace tells the process, that
// decides; else threads of like names belong together in the order of their
// numbers as long as the vCPU numbers rise: VMMs make vCPU threads in that order.
func (s *survey) group() []*VM {
	ts := make([]*thread, 0, len(s.threads))
	for _, t := range s.threads {
		ts = append(ts, t)
	}
	slices.SortFunc(ts, func(a, b *thread) int {
		if a.tgid != b.tgid {
			return int(a.tgid) - int(b.tgid)
		}
		return int(a.pid) - int(b.pid)
	})
	var vms []*VM
	var open []*VM // that may get more threads
	for _, t := range ts {
		home := homeOf(open, t)
		if home == nil {
			home = &VM{}
			vms, open = append(vms, home), append(open, home)
		} else if t.tgid == 0 {
			home.Inferred = true
		}
		home.threads = append(home.threads, t)
	}
	for _, v := range vms {
		for _, t := range v.threads {
			v.Exits += t.exits
			for n := t.low; n >= 0 && n <= t.high; n++ {
				if t.vcpus[n] {
					v.Threads = append(v.Threads, VCPUThread{n, t.pid, t.comm})
				}
			}
		}
		slices.SortFunc(v.Threads, func(a, b VCPUThread) int { return a.VCPU - b.VCPU })
	}
	return vms
}

// homeOf finds the VM that a thread belongs to, nil for a new one. A thread whose
// name is like no other's and whose vCPU is not number 0 joins the last VM that
// has no such vCPU.
func homeOf(open []*VM, t *thread) *VM {
	var like, any *VM
	for _, v := range open {
		last := v.threads[len(v.threads)-1]
		switch {
		case t.tgid != 0 || last.tgid != 0:
			if t.tgid == last.tgid {
				return v
			}
		case t.low > last.high && family(t.comm) == family(last.comm):
			like = v
		case t.low > last.high:
			any = v
		}
	}
	if like != nil {
		return like
	}
	for _, v := range open {
		if family(v.threads[0].comm) == family(t.comm) {
			return nil
		}
	}
	return any
}

// family is a thread's name without its numbers.
func family(comm string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, comm)
}
