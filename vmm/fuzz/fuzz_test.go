package fuzz

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

var (
	cases = flag.Uint64("cases", 24, "generated guests per test")
	seed  = flag.Uint64("seed", 1, "of the guests")
)

func invariants(t testing.TB, texts ...string) (inv []*Invariant) {
	for _, s := range texts {
		i, err := ParseInvariant(s)
		if err != nil {
			t.Fatal(err)
		}
		inv = append(inv, i)
	}
	return inv
}

// No hostile guest makes the model panic or hang, and every way to run it comes to the
// same.
func TestHostileGuests(t *testing.T) {
	sweep(t, "hostile", invariants(t, Same))
}

// Nor does a guest that uses its timer as it may; it loses no deadline.
func TestTimerGuests(t *testing.T) {
	sweep(t, "timer", invariants(t, Same, "no lost"))
}

func sweep(t *testing.T, kind string, inv []*Invariant) {
	n := *cases
	if testing.Short() {
		n = min(n, 8)
	}
	start, slowest := time.Now(), time.Duration(0)
	for i := range n {
		began := time.Now()
		c := New(Generators[kind], *seed, i)
		err := c.Check(inv, 500_000, nil)
		if d := time.Since(began); d > slowest {
			slowest = d
			t.Logf("%s guest %d of seed %d takes %s", kind, i, *seed, d.Round(time.Millisecond))
		}
		var b *Broken
		if errors.As(err, &b) {
			c, b = c.Shrink(b, inv, 500_000, nil)
			t.Errorf("%s guest %d of seed %d: %v\n%s\n%s", kind, i, *seed, b, c.Command("guest.bin", "200us"), c.Program.Assembly())
		}
	}
	t.Logf("%d %s guests in %s, the slowest %s", n, kind, time.Since(start).Round(time.Millisecond), slowest.Round(time.Millisecond))
}

// What broke an invariant once: a guest that goes silent before the limit, a notification
// whose cost the guest pays, an end while other vCPUs are on their way into the guest, and one in the middle of a line.
func TestWhatWasFoundStaysRepaired(t *testing.T) {
	for _, find := range []struct {
		kind    string
		seed, n uint64
	}{{"hostile", 1, 2}, {"timer", 100, 2}, {"timer", 100, 586}, {"hostile", 100, 292}, {"hostile", 100, 309},
		{"hostile", 100, 1012}} {
		if err := New(Generators[find.kind], find.seed, find.n).Check(invariants(t, Same), 500_000, nil); err != nil {
			t.Errorf("%s guest %d of seed %d: %v", find.kind, find.n, find.seed, err)
		}
	}
}

// A stop is taken at once, whatever the guest does.
func TestHostileGuestsCanBeStopped(t *testing.T) {
	n := min(*cases, 40)
	for i := range n {
		c := New(Generators["hostile"], *seed, i)
		last, longest, turns := time.Now(), time.Duration(0), 0
		_, err := c.run(straight, clock.Never, func() bool {
			longest, last = max(longest, time.Since(last)), time.Now()
			turns++
			return turns >= 3000
		})
		if err != nil {
			t.Errorf("guest %d: %v", i, err)
		}
		if longest > 2*time.Second {
			t.Errorf("guest %d: %s between two chances to stop", i, longest)
		}
	}
}

func TestCasesFollowFromTheirSeed(t *testing.T) {
	for i := range uint64(50) {
		for _, gen := range Generators {
			a, b := New(gen, 7, i), New(gen, 7, i)
			if !bytes.Equal(a.Program.Image(), b.Program.Image()) || a.Command("x", "1s") != b.Command("x", "1s") {
				t.Fatalf("case %d is not the same twice", i)
			}
			if n := len(a.Program.Image()); n > imageLen {
				t.Fatalf("case %d has %d bytes", i, n)
			}
		}
	}
}

func TestEverySettingIsAKnobs(t *testing.T) {
	for _, s := range settings {
		for _, at := range []uint64{0, 5} {
			if _, _, err := (&Case{Turns: []Turn{{at, s}}}).start(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A find is shrunk to what it takes.
func TestShrinkLeavesOutWhatIsNotNeeded(t *testing.T) {
	inv := invariants(t, "handlers < 1")
	var c *Case
	var b *Broken
	for n := uint64(0); b == nil; n++ {
		c = New(Timer, 3, n)
		c.Turns = []Turn{{0, "apicv=off"}, {3, "kick=ka"}}
		errors.As(c.Check(inv, 500_000, nil), &b)
	}
	d, x := c.Shrink(b, inv, 500_000, nil)
	if len(d.Program.Pieces) > 2 || len(d.Turns) != 0 || d.VCPUs != 1 || x.Invariant != "handlers < 1" {
		t.Errorf("%d pieces, %d turns, %d vCPUs are left: %v\n%s", len(d.Program.Pieces), len(d.Turns), d.VCPUs, x, d.Program.Assembly())
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
