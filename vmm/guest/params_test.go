package guest

import (
	"encoding/binary"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

const testHz = clock.Hz(2_500_000_000)

func TestParametersReachTheGuestsBlock(t *testing.T) {
	p, err := ParseParams("deadline", "count=7 distance=0x100 mode=hlt apic=xapic vector=200 end=hlt spread=9 seed=3", testHz)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Builtin("deadline", p)
	if err != nil {
		t.Fatal(err)
	}
	mem := make(ram, 2<<20)
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{
		"P_COUNT": 7, "P_DISTANCE": 0x100, "P_SPREAD": 9, "P_MODE": 1, "P_X2APIC": 0, "P_VECTOR": 200, "P_END": 1, "P_RANDOM": 3,
		"P_MASK": RingSamples - 1, "P_DONE": 0, "P_SAMPLES": 0,
	}
	at := prelude(t)
	for name, v := range want {
		if got := binary.LittleEndian.Uint64(mem[at[name]:]); got != v {
			t.Errorf("%s at %#x = %d, want %d", name, at[name], got, v)
		}
	}
	if g.Args != "count=7 distance=0x100 mode=hlt apic=xapic vector=200 end=hlt spread=9 seed=3" {
		t.Errorf("Args = %q, want the text as given", g.Args)
	}
}

// prelude reads the addresses that the guests' sources use.
func prelude(t *testing.T) map[string]uint64 {
	t.Helper()
	at := map[string]uint64{}
	set := regexp.MustCompile(`\.set\s+(\w+),\s+(P \+ )?(0x[0-9a-f]+)`)
	for _, f := range []string{"builtin/prelude.inc", "builtin/startup.inc"} {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range set.FindAllStringSubmatch(string(src), -1) {
			v, err := strconv.ParseUint(m[3], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			if m[2] != "" {
				v += ParamBlock
			}
			at[m[1]] = v
		}
	}
	return at
}

func TestSourcesUseTheLayoutsAddresses(t *testing.T) {
	at := prelude(t)
	for name, want := range map[string]uint64{
		"P": ParamBlock, "RING": RingBase, "IDT": GuestIDT, "STACK": StackTop, "PAGE": StartupPage, "GDT": BootGDT, "PML4": BootPML4,
		"P_DONE": ParamBlock + resultsAt, "P_SAMPLES": ParamBlock + 0x88, "P_EXTRA": ParamBlock + 0x90, "P_FAULT": ParamBlock + 0x98,
	} {
		if at[name] != want {
			t.Errorf("prelude has %s at %#x, layout.go at %#x", name, at[name], want)
		}
	}
	if RingEnd > 2<<20 {
		t.Errorf("the ring ends at %#x, beyond the smallest RAM", RingEnd)
	}
}

func TestBadParametersAreRefusedInOneSentence(t *testing.T) {
	tests := []struct{ guest, text, want string }{
		{"deadline", "fast", `parameter "fast": expected key=value`},
		{"deadline", "speed=1", `no parameter "speed"; there are count, distance`},
		{"deadline", "variant=tpr", `parameter "variant" means nothing to it`},
		{"deadline", "distance=-1", "expected a number of cycles from 0 to 1099511627776"},
		{"deadline", "distance=99999999999999999999", "expected a number of cycles"},
		{"deadline", "count=x", "expected a number from 0 to"},
		{"deadline", "mode=sleep", "expected one of spin, hlt, mixed, poll"},
		{"deadline", "vector=31", "expected a vector from 32 to 254"},
		{"deadline", "seed=0", "expected a number from 1 on"},
		{"oneshot", "divide=3", "power of two from 1 to 128"},
		{"self-ipi", "via=msr", "expected icr or self"},
		{"self-ipi", "via=self apic=xapic", "has no SELF_IPI register"},
		{"vmexit", "test=x2apic_self_ipi_tpr apic=xapic", "needs apic=x2apic"},
		{"cyclic", "distance=0", "it is the interval"},
		{"oneshot", "distance=0", "0 timer counts"},
		{"oneshot", "distance=1099511627776", "is 439804651110 timer counts"},
		{"periodic", "distance=100000", "is a period of 40000 ns, and KVM stretches what is below 200000 ns"},
		{"sundial", "", `no built-in guest "sundial"; there are deadline, immediate`},
	}
	for _, tt := range tests {
		p, err := ParseParams(tt.guest, tt.text, testHz)
		if err == nil {
			_, err = Builtin(tt.guest, p)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: error %v, want one line with %q", tt.guest, tt.text, err, tt.want)
		}
	}
}

func TestTimerCountsOfParameters(t *testing.T) {
	tests := []struct {
		hz             clock.Hz
		distance       clock.Cycles
		divide         uint8
		initial, scale uint64
		tdcr           uint64
	}{
		{2_500_000_000, 1_000_000, 1, 400_000, 5 << 31, 0xb},
		{2_500_000_000, 1_000_001, 2, 200_000, 5 << 32, 0x0},
		{1_000_000_000, 128, 128, 1, 128 << 32, 0xa},
		{100_000_000, 1000, 16, 625, 6871947673, 0x3}, // 1.6 cycles a count
		{4_000_000_000, 64, 32, 0, 128 << 32, 0x8},
	}
	for _, tt := range tests {
		p := Params{Hz: tt.hz, Distance: tt.distance, Divide: tt.divide}
		if i, s, d := p.initial(), p.scale(), p.tdcr(); i != tt.initial || s != tt.scale || d != tt.tdcr {
			t.Errorf("%d Hz, %d cycles, divide %d: initial %d scale %#x tdcr %#x, want %d, %#x, %#x",
				tt.hz, tt.distance, tt.divide, i, s, d, tt.initial, tt.scale, tt.tdcr)
		}
	}
}

func TestDefaultsOfEachGuestAreValid(t *testing.T) {
	for _, name := range Names() {
		g, err := Builtin(name, DefaultParams(name, testHz))
		if err != nil {
			t.Errorf("%s with its defaults: %v", name, err)
			continue
		}
		if d, _ := Describe(name); g.MinVCPUs() != d.VCPUs || d.Text == "" || d.Sample == "" {
			t.Errorf("%s: %d vCPUs, description %+v, want a complete one", name, g.MinVCPUs(), d)
		}
		if g.Params().Count != 0 {
			t.Errorf("%s ends after %d samples by default, want no end", name, g.Params().Count)
		}
	}
	if Names()[0] != Default {
		t.Errorf("first guest %s, want the default %s", Names()[0], Default)
	}
}

func TestEachKeyOfADescriptionExists(t *testing.T) {
	for _, name := range Names() {
		d, _ := Describe(name)
		for _, k := range d.Keys {
			found := false
			for _, e := range Keys() {
				found = found || e.Name == k
			}
			if !found {
				t.Errorf("%s takes a key %q that is not in the table", name, k)
			}
		}
	}
	for _, k := range Keys() {
		if k.Doc == "" {
			t.Errorf("key %s has no text", k.Name)
		}
	}
}

func TestSamplesAreReadOldestFirst(t *testing.T) {
	g, err := Builtin("deadline", DefaultParams("deadline", testHz))
	if err != nil {
		t.Fatal(err)
	}
	mem := make(ram, 2<<20)
	if err := g.Place(mem); err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	put := func(n, due, seen uint64) {
		at := RingBase + n%RingSamples*sampleSize
		le.PutUint64(mem[at:], due)
		le.PutUint64(mem[at+8:], seen)
		le.PutUint64(mem[ParamBlock+0x88:], n+1)
	}
	put(0, 100, 105)
	put(1, 200, 190)
	s, err := Samples(mem)
	if err != nil || len(s) != 2 || s[0].Lateness() != 5 || s[1].Lateness() != -10 {
		t.Fatalf("Samples = %v, %v, want lateness 5 and -10", s, err)
	}
	put(RingSamples+1, 300, 301) // one overwrote sample 0, this one overwrites sample 1
	r, err := ReadResults(mem)
	if err != nil || len(r.Samples) != RingSamples || r.Samples[RingSamples-1].Due != 300 || r.Fault != -1 || r.Done {
		t.Fatalf("after a wrap: %v, %d samples, last %v, fault %d, done %v", err, len(r.Samples), r.Samples[len(r.Samples)-1], r.Fault, r.Done)
	}
	le.PutUint64(mem[ParamBlock+0x88:], 1)
	le.PutUint64(mem[RingBase:], 64)       // iterations
	le.PutUint64(mem[RingBase+8:], 64_063) // cycles
	le.PutUint64(mem[ParamBlock+0xb0:], 640)
	if r, err = ReadResults(mem); err != nil {
		t.Fatal(err)
	}
	if total, ipi, eoi, ok := r.Score(); total != 1000 || ipi != 10 || eoi != 0 || !ok {
		t.Errorf("score %d, sends %d, EOIs %d, %v, want 1000, 10, 0, true", total, ipi, eoi, ok)
	}
	if _, err := Samples(make(ram, 2<<20)); err == nil || !strings.Contains(err.Error(), "not a built-in guest") {
		t.Errorf("Samples of empty memory: %v, want a refusal", err)
	}
}
