package ftrace

import (
	"bytes"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
)

// survey is what the first pass over a trace collects: who runs vCPUs, how the
// stamps behave, and where two clocks are known at once. Its size depends on the
// number of threads, not on the length of the trace.
type survey struct {
	opts    Options
	threads map[int32]*thread
	files   map[string]uint64  // KVM's records by the file of a merged report
	merged  bool               // there is such a file
	byTimer map[uint64]*thread // addresses of LAPIC timers
	shared  map[uint64]bool    // those of more than one thread
	nows    points             // stamp by CLOCK_MONOTONIC, as hrtimer interrupts read it
	clock   clockClass
	offsets []offsetWrite
	vendor  vendor
	kvm     uint64 // records of KVM's events
	back    uint64 // times that go back
	start   uint64 // the first stamp
	first   uint64
	last    uint64
	any     bool
}

// thread is a thread that ran a vCPU.
type thread struct {
	pid, tgid int32 // tgid 0 if not known
	comm      string
	vcpus     [trace.MaxVCPUs]bool
	low, high int // numbers of its vCPUs, −1 before the first
	exits     uint64
	armed     bool
	deadline  uint64
	entering  bool // an injection waits for its entry
	vector    uint64
	lvtt      uint64             // vector of LVTT, 0 if not known
	vectors   [256]bool          // entered since the deadline was armed
	started   points             // deadline by the expiry of the hrtimer started for it
	waits     points             // stamp by the guest's TSC
	entries   map[uint64]*points // stamps of entries by deadline, by vector
}

// offsetWrite is a kvm_write_tsc_offset.
type offsetWrite struct {
	pid    int32
	vcpu   uint64
	stamp  uint64
	offset uint64
}

// surveyed are the events whose bodies the survey reads.
var surveyed = map[string]bool{"kvm_entry": true, "kvm_msr": true, "set_dl": true, "kvm_apic": true,
	"kvm_apic_accept_irq": true, "kvm_inj_virq": true, "kvm_wait_lapic_expire": true, "hrtimer_start": true,
	"hrtimer_expire_entry": true, "kvm_write_tsc_offset": true}

const (
	maxFiles   = 64
	maxOffsets = 1 << 10
	maxTimers  = 1 << 16
)

func newSurvey(o Options) *survey {
	return &survey{opts: o, threads: map[int32]*thread{}, byTimer: map[uint64]*thread{}, shared: map[uint64]bool{}, files: map[string]uint64{}}
}

// host is the file of a merged report that has most of KVM's records.
func (s *survey) host() (file string) {
	most := uint64(0)
	for name, n := range s.files {
		if n > most || n == most && name < file {
			file, most = name, n
		}
	}
	return file
}

// differences reports whether the stamps are distances from the line before, as
// perf script --deltatime prints them: they begin at 0 and go back all the time.
func (s *survey) differences() bool { return s.start == 0 && s.back*8 > s.clock.n }

// take looks at one record.
func (s *survey) take(r *record) {
	if r.gap || r.unit == NoUnit {
		if !r.gap {
			s.events(r)
		}
		return
	}
	if !s.any {
		s.any, s.first, s.start = true, r.ts, r.ts
	}
	s.first, s.last = min(s.first, r.ts), max(s.last, r.ts)
	s.clock.take(r.ts)
	s.events(r)
}

func (s *survey) events(r *record) {
	s.merged = s.merged || r.file != nil
	if r.ev.probe != nil || strings.HasPrefix(r.ev.name, "kvm") {
		s.kvm++
		if r.file != nil && (s.files[string(r.file)] > 0 || len(s.files) < maxFiles) {
			s.files[string(r.file)]++
		}
	}
	switch r.ev.name {
	case "kvm_entry":
		if t := s.runs(r); t != nil {
			t.entered(r)
		}
	case "kvm_exit":
		if t := s.threads[r.pid]; t != nil {
			t.exits++
		}
		if r.row != nil {
			if n := lookUpExit(r.text[fReason]); n.vendor != vendorUnknown {
				s.vendor = n.vendor
			}
		}
	case "kvm_msr":
		if t := s.threads[r.pid]; t != nil && r.num[fIndex] == msrTSCDeadline && string(r.text[fWord]) == "write" && !r.set(fMark) {
			t.arm(r.num[fValue])
		}
	case "set_dl":
		if t := s.threads[r.pid]; t != nil && r.args.ok && !r.irq() {
			t.arm(r.args.val)
		}
	case "kvm_apic":
		if t := s.threads[r.pid]; t != nil && string(r.text[fWord]) == "write" && string(r.text[fWhat]) == "APIC_LVTT" {
			t.lvtt = r.num[fValue] & 0xff
		}
	case "kvm_apic_accept_irq", "kvm_inj_virq":
		if t := s.threads[r.pid]; t != nil && !r.irq() {
			t.entering, t.vector = true, r.num[fVec]&0xff
		}
	case "kvm_wait_lapic_expire":
		if t := s.threads[r.pid]; t != nil && t.armed {
			t.waits.add(r.ts, t.deadline+r.num[fDelta])
		}
	case "hrtimer_start":
		if t := s.threads[r.pid]; t != nil && !r.irq() && bytes.HasPrefix(r.text[fWhat], apicTimerFn) {
			s.timer(r.num[fPtr], t)
			if t.armed {
				t.started.add(r.num[fTime], t.deadline)
			}
		}
	case "hrtimer_expire_entry":
		s.nows.add(r.num[fNow], r.ts)
	case "kvm_write_tsc_offset":
		if len(s.offsets) < maxOffsets {
			s.offsets = append(s.offsets, offsetWrite{r.pid, r.num[fVCPU], r.ts, r.num[fValue]})
		}
	}
}

// timer notes whose LAPIC timer lies at an address. Where two threads start one at
// the same, as two VMs may in traces of hashed addresses, only the CPU tells them
// apart.
func (s *survey) timer(ptr uint64, t *thread) {
	switch o := s.byTimer[ptr]; {
	case o == nil && len(s.byTimer) < maxTimers:
		s.byTimer[ptr] = t
	case o != nil && o != t:
		s.shared[ptr] = true
	}
}

// runs notes that the record's thread runs a vCPU, and returns the thread.
func (s *survey) runs(r *record) *thread {
	t := s.threads[r.pid]
	if t == nil {
		if !r.set(fVCPU) || r.num[fVCPU] >= trace.MaxVCPUs || len(s.threads) == maxThreads {
			return nil
		}
		t = &thread{pid: r.pid, tgid: r.tgid, comm: string(r.comm), low: -1, high: -1}
		s.threads[r.pid] = t
	}
	if r.set(fVCPU) && r.num[fVCPU] < trace.MaxVCPUs {
		n := int(r.num[fVCPU])
		t.vcpus[n] = true
		if t.low < 0 || n < t.low {
			t.low = n
		}
		t.high = max(t.high, n)
	}
	return t
}

// maxVectors bounds for how many vectors of a thread entries are kept.
const maxVectors = 8

// entered is a VM-entry: with the timer's vector it comes after the deadline, by
// no less than the way into the guest takes.
func (t *thread) entered(r *record) {
	if !t.entering || !t.armed {
		return
	}
	t.entering = false
	if t.lvtt != 0 && t.lvtt != t.vector || t.vectors[t.vector] {
		return
	}
	t.vectors[t.vector] = true
	p := t.entries[t.vector]
	if p == nil {
		if len(t.entries) == maxVectors {
			return
		}
		if t.entries == nil {
			t.entries = map[uint64]*points{}
		}
		p = &points{}
		t.entries[t.vector] = p
	}
	p.add(t.deadline, r.ts)
}

func (t *thread) arm(deadline uint64) {
	t.armed, t.deadline, t.entering, t.vectors = deadline != 0, deadline, false, [256]bool{}
}

// clockClass tells the clocks that count events or jiffies from a TSC: both are
// printed as integers.
type clockClass struct {
	last        uint64
	n           uint64
	same, next  uint64
	initialized bool
}

func (c *clockClass) take(ts uint64) {
	if c.initialized {
		c.n++
		switch ts - c.last {
		case 0:
			c.same++
		case 1:
			c.next++
		}
	}
	c.initialized, c.last = true, ts
}

// minStamps is how many stamps it takes to judge a clock.
const minStamps = 8

// notTime says what the stamps count if that is no time that a TSC keeps; the
// empty string if they may be cycles.
func (c *clockClass) notTime() string {
	switch {
	case c.n < minStamps:
		return ""
	case c.next*10 >= c.n*9:
		return "counter"
	case c.same*2 >= c.n && (c.same+c.next)*20 >= c.n*19:
		return "uptime"
	}
	return ""
}
