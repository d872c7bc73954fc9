package explain_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
)

// synth writes the events of one deadline after the other, as a trace of a host
// without kprobes tells them, and knows what made each late.
type synth struct {
	b   strings.Builder
	now int64
	rnd *rand.Rand
}

func (s *synth) line(format string, args ...any) {
	s.now += 5 + s.rnd.Int64N(40)
	s.at(s.now, format, args...)
}

func (s *synth) at(tsc int64, format string, args ...any) {
	fmt.Fprintf(&s.b, "%d ", tsc)
	fmt.Fprintf(&s.b, format+"\n", args...)
}

// lateBy is a delay that dwarfs all the steps around it.
func (s *synth) lateBy() int64 { return 100_000 + s.rnd.Int64N(900_000) }

// causes are what a synthesized deadline can be late by. Each writes the events
// from the moment at which the deadline is due to the wake-up or the exit, and
// returns the length of its own delay.
var synthCauses = []struct {
	id, detail string
	run        func(s *synth, due int64) int64
}{
	{"held-off", "hog, pid 71", func(s *synth, due int64) int64 {
		s.now = due
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=5 waking by=0 target=5")
		s.line("vcpu=- pcpu=- task pid=71 comm0=%q comm1=%q prio=97", "hog", "")
		s.line("vcpu=- pcpu=5 sched in=1 pcpu=5 task=71")
		d := s.lateBy()
		s.now += d
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=71")
		return d
	}},
	{"runnable", "", func(s *synth, due int64) int64 { // the hog's events are left out
		s.now = due
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=- waking by=0 target=5")
		d := s.lateBy()
		s.now += d
		s.line("vcpu=0 pcpu=- sched in=1 pcpu=255 task=0")
		return d
	}},
	{"idle-exit", "", func(s *synth, due int64) int64 {
		d := s.lateBy()
		s.now = due + d
		s.line("vcpu=- pcpu=5 host_idle in=0 state=3")
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=5 waking by=0 target=5")
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=0")
		return d
	}},
	{"user-space", "KVM_EXIT_IO, port 0x71", func(s *synth, due int64) int64 {
		s.now = due
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=5 waking by=0 target=5")
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=0")
		s.line("vcpu=0 pcpu=5 user_exit reason=IO address=0x71 write=1 errno=0")
		d := s.lateBy()
		s.now += d
		s.line("vcpu=0 pcpu=5 user_entry immediate=0")
		return d
	}},
	{"stopped", "", func(s *synth, due int64) int64 {
		s.now = due
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=5 waking by=0 target=5")
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=0")
		s.line("vcpu=0 pcpu=5 sched in=0 pcpu=5 task=0 state=stopped")
		d := s.lateBy()
		s.now += d
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=0")
		return d
	}},
	{"host-interrupt", "device", func(s *synth, due int64) int64 {
		s.now = due
		s.line("vcpu=0 pcpu=5 host_fire backing=sw programmed=%d", due)
		s.line("vcpu=0 pcpu=5 waking by=0 target=5")
		s.line("vcpu=0 pcpu=5 sched in=1 pcpu=5 task=0")
		s.line("vcpu=- pcpu=5 host_irq in=1 what=device number=16 name=%q", "nic")
		d := s.lateBy()
		s.now += d
		s.line("vcpu=- pcpu=5 host_irq in=0 what=device number=16 name=%q", "nic")
		return d
	}},
}

// deadline writes a whole chain: a halt, and what cause does to its end.
func (s *synth) deadline(run func(*synth, int64) int64) int64 {
	due := s.now + 50_000 + s.rnd.Int64N(50_000)
	s.line("vcpu=0 pcpu=5 exit reason=MSR_WRITE rip=0x10 info1=0x6e0 info2=0x0")
	s.line("vcpu=0 pcpu=5 arm target=%d mode=tsc-deadline value=%d period=0", due, due)
	s.line("vcpu=0 pcpu=5 entry rip=0x12 vector=0 hv=0 reentry=0")
	s.line("vcpu=0 pcpu=5 exit reason=HLT rip=0x20 info1=0x0 info2=0x0")
	s.line("vcpu=0 pcpu=5 backing backing=sw clause=blocked fire=%d advance=0", due)
	s.line("vcpu=0 pcpu=5 halt step=blocked poll=0")
	s.line("vcpu=0 pcpu=5 sched in=0 pcpu=5 task=0 state=sleeping")
	s.line("vcpu=- pcpu=5 host_idle in=1 state=3")
	d := run(s, due)
	s.line("vcpu=0 pcpu=5 wake why=timer halted=1 polled=0 poll=0")
	s.line("vcpu=0 pcpu=5 expire target=%d route=pending clause=none callback=0", due)
	s.line("vcpu=0 pcpu=5 deliver vector=236 route=irr+request clause=none source=timer")
	s.line("vcpu=0 pcpu=5 inject vector=236 reinjected=0 window=0")
	s.line("vcpu=0 pcpu=5 entry rip=0x21 vector=236 hv=0 reentry=0")
	s.line("vcpu=0 pcpu=5 guest_irq vector=236 virtual=0 rip=0x40")
	s.line("vcpu=0 pcpu=5 exit reason=MSR_WRITE rip=0x44 info1=0x80b info2=0x0")
	s.line("vcpu=0 pcpu=5 eoi vector=236 virtual=0")
	s.line("vcpu=0 pcpu=5 entry rip=0x46 vector=0 hv=0 reentry=0")
	return d
}

// TestKnownCausesAreNamed: 200 random traces of ten deadlines, of each of which the
// cause of the delay is known: it comes first, with its share to within two points.
func TestKnownCausesAreNamed(t *testing.T) {
	for seed := range uint64(200) {
		s := &synth{now: 1000, rnd: rand.New(rand.NewPCG(seed, 7))}
		var want []int
		var delays []int64
		s.at(990, "vcpu=0 pcpu=5 entry rip=0x0 vector=0 hv=0 reentry=0")
		for range 10 {
			k := s.rnd.IntN(len(synthCauses))
			want = append(want, k)
			delays = append(delays, s.deadline(synthCauses[k].run))
		}
		h := &trace.Header{Engine: "ftrace", Provenance: trace.Measured, VCPUs: 1, Hz: 1_000_000_000, Knobs: trace.UnknownKnobs()}
		var st trace.State
		st.Reset(h)
		r := trace.NewTextReader(strings.NewReader(s.b.String()))
		n := uint64(0)
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, s.b.String())
			}
			st.Apply(&e)
			for ; n < st.Chains.N; n++ {
				c := synthCauses[want[n]]
				x := explain.Explain(h, &st, st.Chains.Get(n))
				checkSum(t, x, st.Chains.Get(n))
				share := 1000 * float64(delays[n]) / float64(x.Late)
				top := &x.Causes[0]
				if top.ID != c.id || !strings.Contains(top.Words, c.detail) {
					t.Errorf("seed %d, deadline %d: %s (%s), want %s (%s)\n%s", seed, n, top.ID, top.Words, c.id, c.detail, x.Text())
				} else if d := float64(top.Tenths) - share; d < -20 || d > 20 {
					t.Errorf("seed %d, deadline %d: %s has %d tenths of a percent, want %.0f", seed, n, top.ID, top.Tenths, share)
				}
				if t.Failed() {
					return
				}
			}
		}
		if n != 10 {
			t.Fatalf("seed %d: %d deadlines", seed, n)
		}
	}
}
