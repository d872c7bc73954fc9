package board

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// act does one random access, at a port or address of the map or a near miss,
// and returns what was seen of it.
func act(r *rand.Rand, b *Board, now clock.TSC) string {
	v := r.Uint64() >> r.IntN(64)
	size := uint8(1) << r.IntN(3)
	rs := Ranges()
	row := rs[r.IntN(len(rs))]
	addr := row.First + r.Uint64N(row.Last-row.First+2)
	switch r.IntN(8) {
	case 0:
		b.RunTimers(now)
	case 1:
		return fmt.Sprint("ack ", b.AckPIC(now))
	case 2:
		b.EOI(now, uint8(v))
	case 3, 4:
		if row.Memory {
			v, where := b.ReadMem(now, addr, size)
			return fmt.Sprint("read ", v, where)
		}
		v, where := b.In(now, uint16(addr), size)
		return fmt.Sprint("in ", v, where)
	default:
		if row.Memory {
			b.WriteMem(now, addr, size, v)
		} else {
			b.Out(now, uint16(addr), size, uint32(v))
		}
	}
	return fmt.Sprint("next ", b.NextTimer())
}

// run does n random accesses with growing time and returns what was seen, lines
// included.
func run(b *Board, l *lines, seed uint64, start clock.TSC, n int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	now := start
	var seen []string
	for range n {
		now += clock.TSC(r.Uint64() >> (20 + r.IntN(44)))
		seen = append(seen, act(r, b, now))
		for _, m := range l.messages {
			seen = append(seen, fmt.Sprintf("%+v", m))
		}
		l.messages = nil
		seen = append(seen, l.take()...)
		if next := b.NextTimer(); next <= now && next+1 != 0 && r.IntN(2) == 0 {
			b.RunTimers(now)
			if b.NextTimer() <= now {
				seen = append(seen, fmt.Sprintf("BUG: timer at %d not run at %d", b.NextTimer(), now))
			}
		}
	}
	return seen
}

func TestRestoredBoardRepeatsItself(t *testing.T) {
	for seed := range uint64(50) {
		b, l := newBoard(t)
		run(b, l, seed, 0, 200)
		s := b.Save()
		first := run(b, l, seed+1000, 1<<50, 200)
		b.Restore(s)
		second := run(b, l, seed+1000, 1<<50, 200)
		if !slices.Equal(first, second) {
			t.Fatalf("seed %d: a restored board behaves differently", seed)
		}
		for _, s := range first {
			if s[:2] == "BU" {
				t.Fatalf("seed %d: %s", seed, s)
			}
		}
	}
}

func TestAccessesDoNotAllocate(t *testing.T) {
	b, _ := newBoard(t)
	load(b, 0, 2, 1000)
	now := clock.TSC(0)
	if n := testing.AllocsPerRun(100, func() {
		now += 100_000
		b.In(now, 0x608, 4)
		b.In(now, 0x1234, 4)
		b.Out(now, 0x4d0, 1, 0)
		b.Out(now, 0x80, 1, 0)
		b.In(now, 0x3fd, 1)
		b.ReadMem(now, 0xfec00000, 4)
		b.RunTimers(now)
	}); n != 0 {
		t.Errorf("accesses allocate %v times", n)
	}
}

func BenchmarkPMTimer(b *testing.B) {
	bd, err := New(Config{VCPUs: 1, RAM: 64 << 20, Hz: 2_500_000_000}, &lines{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		bd.In(clock.TSC(i), 0x608, 4)
	}
}

func BenchmarkSaveRestore(b *testing.B) {
	bd, err := New(Config{VCPUs: 1, RAM: 64 << 20, Hz: 2_500_000_000}, &lines{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		bd.Restore(bd.Save())
	}
}
