package explain_test

import (
	"os"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/internal/golden"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// runner makes a model run of a built-in guest.
func runner(t *testing.T, name, args string, knobs map[trace.Knob]uint64) *session.Runner {
	t.Helper()
	prof, err := model.LoadProfile("generic")
	if err != nil {
		t.Fatal(err)
	}
	p, err := guest.ParseParams(name, args, prof.Hz)
	if err != nil {
		t.Fatal(err)
	}
	img, err := guest.Builtin(name, p)
	if err != nil {
		t.Fatal(err)
	}
	k := vmm.DefaultKnobs()
	for n, v := range knobs {
		if err := k.Set(n, v); err != nil {
			t.Fatal(err)
		}
	}
	r, err := session.NewRunner(func(s trace.Sink) (vmm.Engine, error) {
		return model.New(model.Config{Guest: img, VCPUs: img.MinVCPUs(), Profile: prof, Knobs: k}, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Engine().Close() })
	return r
}

// each runs to n handled deadlines and calls f for every one that closed.
func each(t *testing.T, r *session.Runner, n uint64, f func(*trace.Chain, *trace.State)) {
	t.Helper()
	var seen uint64
	r.Tee(trace.SinkFunc(func(trace.Event) {
		for st := r.State(); seen < st.Chains.N; seen++ {
			f(st.Chains.Get(seen), st)
		}
	}))
	r.SetLimits(session.Limits{Deadlines: n, Exits: 40 * n})
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		t.Fatal(err)
	}
}

var cases = []struct {
	name, guest, args string
	knobs             map[trace.Knob]uint64
	// want is a cause that most deadlines must have; top says that it must be the
	// greatest of most.
	want string
	top  bool
	knob string // proposed for it
}{
	{"the advance is off", "deadline", "mode=spin", map[trace.Knob]uint64{trace.KnobAdvance: 0}, "vm-exit", true,
		"timer-advance=adaptive"},
	{"the wait stands early", "deadline", "mode=spin", map[trace.Knob]uint64{trace.KnobWaitPlacement: uint64(trace.WaitEarly)},
		"early-gap", false, "wait-placement=late"},
	{"the wait is where it should be", "deadline", "mode=spin", nil, "vm-entry", true, "vmentry-advance="},
	{"APICv is off", "deadline", "mode=spin", map[trace.Knob]uint64{trace.KnobAPICv: 0, trace.KnobAdvance: 0}, "outer-loop",
		true, "apicv=on"},
	{"the vCPU sleeps", "deadline", "mode=hlt distance=1000000", map[trace.Knob]uint64{trace.KnobHaltPoll: 0, trace.KnobAdvance: 0},
		"idle-exit", true, "exits-disabled=hlt"},
	{"the timer is an hrtimer", "deadline", "mode=spin", map[trace.Knob]uint64{trace.KnobPreemptionTimer: 0, trace.KnobAdvance: 0},
		"host-timer-irq", false, "preemption-timer=on"},
	{"the deadline had passed", "immediate", "mode=spin distance=4000", nil, "armed-late", true, ""},
	{"the entry advance is too large", "deadline", "mode=spin", map[trace.Knob]uint64{trace.KnobVMEntryAdvance: 2000},
		"vmentry-advance", true, "vmentry-advance="},
	{"a periodic timer", "periodic", "mode=spin", map[trace.Knob]uint64{trace.KnobPreemptionTimer: 0}, "host-timer-irq", false,
		"preemption-timer=on"},
	{"the vCPU handles other exits", "noisy", "", map[trace.Knob]uint64{trace.KnobAdvance: 0}, "other-exit", false, ""},
}

func TestCausesAreNamedAndAddUp(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := runner(t, c.guest, c.args, c.knobs)
			var ran, found, top int
			each(t, r, 120, func(ch *trace.Chain, st *trace.State) {
				if !ch.Ran() {
					return
				}
				x := explain.Explain(r.Header(), st, ch)
				addsUp(t, x, ch)
				ran++
				for i := range x.Causes {
					k := &x.Causes[i]
					if k.ID != c.want {
						continue
					}
					found++
					if i == 0 {
						top++
					}
					if c.knob != "" && k.Knob != "" && !strings.HasPrefix(k.Knob+"="+k.Value, c.knob) {
						t.Errorf("deadline %d: %s proposes %s=%s, want %s", ch.Num, k.ID, k.Knob, k.Value, c.knob)
					}
				}
			})
			need := ran / 2
			if c.want == "other-exit" {
				need = ran / 4
			}
			if ran < 100 || found <= need || c.top && top <= ran/2 {
				t.Errorf("of %d deadlines %d have the cause %s, %d as the greatest", ran, found, c.want, top)
			}
		})
	}
}

// addsUp checks that the causes are a partition of the lateness.
func addsUp(t *testing.T, x *explain.Explanation, c *trace.Chain) {
	t.Helper()
	var cycles int64
	var tenths int
	for i := range x.Causes {
		k := &x.Causes[i]
		if k.Cycles <= 0 {
			t.Errorf("deadline %d: cause %s has %d cycles", c.Num, k.ID, k.Cycles)
		}
		if k.ID == "unknown" {
			t.Errorf("deadline %d: %d cycles are not put down to anything, though every step is known", c.Num, k.Cycles)
		}
		cycles += k.Cycles
		tenths += k.Tenths
	}
	if late := int64(c.Late); cycles != max(late, -late) {
		t.Errorf("deadline %d: causes add up to %d cycles, lateness is %d", c.Num, cycles, late)
	}
	if c.Late != 0 && tenths != 1000 {
		t.Errorf("deadline %d: shares add up to %d tenths of a percent", c.Num, tenths)
	}
}

// TestTextOfAnExplanation explains a deadline of a kernel's trace without costs:
// the guest could take the interrupt only one window later.
func TestTextOfAnExplanation(t *testing.T) {
	text, err := os.ReadFile("testdata/window.events")
	if err != nil {
		t.Fatal(err)
	}
	h := &trace.Header{Engine: "ftrace", Provenance: trace.Measured, Hz: 2_500_000_000, VCPUs: 1}
	h.Knobs[trace.KnobAdvance] = 40
	h.Knobs[trace.KnobFastpath] = 1
	var st trace.State
	st.Reset(h)
	f := explain.NewFinder(explain.Pick{Deadline: 1})
	for line := range strings.Lines(string(text)) {
		e, err := trace.ParseEvent(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		st.Apply(&e)
		f.Look(&st)
	}
	c, s, ok := f.Found()
	if !ok {
		t.Fatal("deadline 1 not found")
	}
	out := explain.Explain(h, s, c).Text()
	for i, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("line %d is %d columns wide: %q", i+1, n, line)
		}
	}
	golden.Equal(t, "testdata/window.txt", []byte(out))
}

func TestFinderPicksByLateness(t *testing.T) {
	r := runner(t, "deadline", "mode=mixed", nil)
	worst, earliest := explain.NewFinder(explain.Pick{}), explain.NewFinder(explain.Pick{Earliest: true})
	var most, least clock.Cycles
	each(t, r, 200, func(c *trace.Chain, st *trace.State) {
		worst.Look(st)
		earliest.Look(st)
		if c.Ran() {
			most, least = max(most, c.Late), min(least, c.Late)
			if st.Deadlines.Count() == 1 {
				most, least = c.Late, c.Late
			}
		}
	})
	if c, _, ok := worst.Found(); !ok || c.Late != most {
		t.Errorf("the latest deadline is %d cycles late, found one of %d", most, c.Late)
	}
	if c, _, ok := earliest.Found(); !ok || c.Late != least {
		t.Errorf("the earliest deadline is %d cycles late, found one of %d", least, c.Late)
	}
}

func TestOverdueDeadlineIsExplained(t *testing.T) {
	// A hand-made run: a deadline is delivered into PIR of a vCPU that goes to
	// sleep, and nothing happens for 50000 cycles.
	h := &trace.Header{Engine: "test", Provenance: trace.Inferred, Hz: 1_000_000_000, VCPUs: 1}
	h.Knobs[trace.KnobFastpath], h.Knobs[trace.KnobRunningShort] = 3, 1
	var st trace.State
	st.Reset(h)
	for _, e := range []trace.Event{
		{TSC: 100, Kind: trace.KindAPIC, A: 0x320, B: 2<<17 | 0xec, C: 1},
		{TSC: 200, Kind: trace.KindArm, A: 5000, B: uint64(trace.TSCDeadline), C: 5000},
		{TSC: 4900, Kind: trace.KindHalt, A: uint64(trace.HaltBlocked)},
		{TSC: 5100, Kind: trace.KindExpire, A: 5000, B: uint64(trace.RoutePosted)},
		{TSC: 5150, Kind: trace.KindDeliver, A: 0xec, B: uint64(trace.DeliverSelf), C: uint64(trace.ClauseRunning),
			D: uint64(trace.SourceTimer)},
		{TSC: 55_000, Kind: trace.KindMark},
	} {
		st.Apply(&e)
	}
	f := explain.NewFinder(explain.Pick{})
	f.Finish(&st)
	c, s, ok := f.Found()
	if !ok {
		t.Fatal("the overdue deadline was not found")
	}
	x := explain.Explain(h, s, c)
	if x.Late != 50_000 || len(x.Causes) == 0 || x.Causes[0].ID != "asleep-with-pir" {
		t.Fatalf("late %d, causes %+v", x.Late, x.Causes)
	}
	if got := x.Causes[0]; got.Clause != "running-vcpu" || got.Knob != "running-shortcut" || got.Value != "in-guest" {
		t.Errorf("cause %+v, want clause running-vcpu and knob running-shortcut=in-guest", got)
	}
}

func TestDeadlinesThatNeverRanSayWhy(t *testing.T) {
	r := runner(t, "storm", "mode=spin", nil)
	words := map[trace.Outcome]string{}
	each(t, r, 20, func(c *trace.Chain, st *trace.State) {
		if !c.Ran() {
			x := explain.Explain(r.Header(), st, c)
			words[c.Outcome] = x.Verdict
			if len(x.Causes) != 0 {
				t.Errorf("deadline %d never ran and has causes %v", c.Num, x.Causes)
			}
		}
	})
	if w := words[trace.OutcomeRearmed]; !strings.Contains(w, "armed another deadline") {
		t.Errorf("a re-armed deadline is explained by %q", w)
	}
}
