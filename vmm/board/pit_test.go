package board

import (
	"math"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// at is a time after n input clocks of the PIT, rounded up.
func at(t *testing.T, n uint64) clock.TSC {
	t.Helper()
	c, ok := testHz.TickTime(n, pitHz)
	if !ok {
		t.Fatalf("%d PIT clocks do not fit", n)
	}
	return c
}

// load programs a PIT channel at time 0, low byte then high byte.
func load(b *Board, ch, mode, count uint32) {
	out(b, 0x43, ch<<6|0x30|mode<<1, 0x40+ch, count&0xff, 0x40+ch, count>>8)
}

func TestPITCounters(t *testing.T) {
	tests := []struct {
		mode, count uint32
		clocks      uint64
		want        uint32
		out         bool
	}{
		{0, 1000, 0, 1000, false},
		{0, 1000, 999, 1, false},
		{0, 1000, 1000, 0, true},
		{0, 1000, 1001, 0xffff, true}, // goes on below zero
		{1, 1000, 10, 990, true},
		{1, 1000, 1000, 0, false},
		{2, 1000, 0, 1000, false},
		{2, 1000, 1, 999, false},
		{2, 1000, 1000, 1000, true},
		{2, 1000, 2999, 1, false},
		{3, 1000, 1, 998, true}, // by twos
		{3, 1000, 499, 2, true},
		{3, 1000, 500, 1000, false},
		{4, 1000, 1000, 0, true},
		{4, 1000, 1001, 0xffff, false},
		{2, 0, 1, 0xffff, false},                         // 0 counts 65536
		{7, 1000, 500, 1000, false},                      // mode 7 is 3
		{2, 1000, 3_765_000_000_000_000 + 7, 993, false}, // 100 years on
	}
	for _, tt := range tests {
		b, _ := newBoard(t)
		load(b, 2, tt.mode, tt.count)
		now := at(t, tt.clocks)
		b.Out(now, 0x43, 1, 0x80) // latch channel 2
		lo, _ := b.In(now+1e9, 0x42, 1)
		hi, _ := b.In(now+2e9, 0x42, 1)
		if got := hi<<8 | lo; got != tt.want {
			t.Errorf("mode %d count %d after %d clocks: %d, want %d", tt.mode, tt.count, tt.clocks, got, tt.want)
		}
		if v, _ := b.In(now, 0x61, 1); v&0x20 != 0 != tt.out {
			t.Errorf("mode %d count %d after %d clocks: output %v, want %v", tt.mode, tt.count, tt.clocks, v&0x20 != 0, tt.out)
		}
	}
}

func TestPITReadBackAndAccess(t *testing.T) {
	b, _ := newBoard(t)
	out(b, 0x43, 0x94|1, 0x42, 50)  // channel 2, low byte only, mode 2, BCD
	b.Out(at(t, 10), 0x43, 1, 0xc8) // read back count and status of channel 2
	b.Out(at(t, 20), 0x43, 1, 0xc8) // a second latch changes nothing
	now := at(t, 30)
	if s, _ := b.In(now, 0x42, 1); s != 0x15 {
		t.Errorf("status %#x, want output low, low byte, mode 2, BCD: 0x15", s)
	}
	if v, _ := b.In(now, 0x42, 1); v != 40 {
		t.Errorf("latched count %d, want 40", v)
	}
	if v, _ := b.In(now, 0x42, 1); v != 20 {
		t.Errorf("count after the latch was read %d, want the running 20", v)
	}
	out(b, 0x43, 0xa0, 0x42, 1) // high byte only
	if v, _ := b.In(0, 0x42, 1); v != 1 || b.st.pit.ch[2].reload != 0x100 {
		t.Errorf("high byte %d, reload %d, want 1 and 256", v, b.st.pit.ch[2].reload)
	}
	if v := in(b, 0x43); v != 0 {
		t.Errorf("control port reads %#x, want 0", v)
	}
}

func TestPITGateRestartsChannel2(t *testing.T) {
	b, _ := newBoard(t)
	load(b, 2, 1, 1000)
	b.Out(at(t, 500), 0x61, 1, 3)
	if v, _ := b.In(at(t, 1499), 0x61, 1); v&0x23 != 0x23 {
		t.Errorf("port B %#x 999 clocks after the gate, want output, speaker and gate", v)
	}
	if v, _ := b.In(at(t, 1502), 0x61, 1); v&0x20 != 0 {
		t.Errorf("port B %#x 1002 clocks after the gate, want the output low", v)
	}
}

func TestRefreshBitToggles(t *testing.T) {
	b, _ := newBoard(t)
	a, _ := b.In(0, 0x61, 1)
	c, _ := b.In(1<<14, 0x61, 1)
	if a&0x10 == c&0x10 {
		t.Errorf("refresh bit is %#x and %#x 16 us later, want a toggle", a&0x10, c&0x10)
	}
}

func TestPITInterruptsByTheIOAPIC(t *testing.T) {
	b, l := newBoard(t)
	load(b, 0, 2, 1193) // 1 ms
	if b.NextTimer() != clock.Never {
		t.Errorf("timer at %d although both controllers mask IRQ 0", b.NextTimer())
	}
	redirect(b, 2, 0, 0x30)
	for i := uint64(1); i <= 3; i++ {
		if next := b.NextTimer(); next != at(t, 1193*i) {
			t.Fatalf("timer %d at %d, want %d", i, next, at(t, 1193*i))
		}
		b.RunTimers(b.NextTimer() - 1)
		if len(l.messages) != int(i)-1 {
			t.Fatalf("messages %v before timer %d is due", l.messages, i)
		}
		b.RunTimers(b.NextTimer())
		if len(l.messages) != int(i) || l.messages[i-1].Vector != 0x30 {
			t.Fatalf("messages %v after timer %d, want vector 0x30", l.messages, i)
		}
	}
	b.RunTimers(at(t, 1193*10+5)) // seven at once merge
	if len(l.messages) != 4 || b.NextTimer() != at(t, 1193*11) {
		t.Errorf("%d messages, next at %d, want 4 and %d", len(l.messages), b.NextTimer(), at(t, 1193*11))
	}
}

func TestPITWhileMasked(t *testing.T) {
	b, l := newBoard(t)
	initPIC(b, 1)
	out(b, 0x21, 0xff)
	load(b, 0, 2, 1193)
	if b.NextTimer() != clock.Never {
		t.Error("a masked IRQ 0 has a timer")
	}
	now := at(t, 5000)
	if v, _ := b.In(now, 0x20, 1); v&1 == 0 {
		t.Error("IRR does not show the edge that came while masked")
	}
	b.Out(now, 0x21, 1, 0xfe)
	if !l.intr || b.NextTimer() != at(t, 1193*5) {
		t.Errorf("unmasked: INTR %v, timer at %d, want high and %d", l.intr, b.NextTimer(), at(t, 1193*5))
	}
	if v := b.AckPIC(now); v != 0x20 {
		t.Errorf("vector %#x, want 0x20", v)
	}
}

func TestPITModesThatFire(t *testing.T) {
	for mode, want := range map[uint32]int{0: 1, 1: 1, 2: 5, 3: 5, 4: 1, 5: 0} {
		b, l := newBoard(t)
		redirect(b, 2, 0, 0x30)
		load(b, 0, mode, 1000)
		for range 5 {
			if next := b.NextTimer(); next != clock.Never {
				b.RunTimers(next)
			}
		}
		if len(l.messages) != want {
			t.Errorf("mode %d fires %d times in five periods, want %d", mode, len(l.messages), want)
		}
	}
}

func TestPITShortPeriodsAreStretched(t *testing.T) {
	b, l := newBoard(t)
	redirect(b, 2, 0, 0x30)
	load(b, 0, 2, 100) // 84 us
	if next := b.NextTimer(); next != 200_000 {
		t.Errorf("first timer after %d ns, want 200000", next)
	}
	b.RunTimers(1_000_000)
	if next := b.NextTimer(); next != 1_200_000 || len(l.messages) != 1 {
		t.Errorf("after 1 ms: next at %d with %d messages, want 1200000 and 1", next, len(l.messages))
	}
	load(b, 0, 0, 100) // one-shot is not
	if next := b.NextTimer(); next != at(t, 100) {
		t.Errorf("one-shot at %d, want %d", next, at(t, 100))
	}
}

func TestPITAtTheEndOfTime(t *testing.T) {
	l := &lines{}
	b, err := New(Config{VCPUs: 1, RAM: 64 << 20, Hz: testHz, Start: math.MaxUint64 - 1000}, l)
	if err != nil {
		t.Fatal(err)
	}
	redirect(b, 2, 0, 0x30)
	b.Out(math.MaxUint64-1000, 0x43, 1, 0x34)
	b.Out(math.MaxUint64-1000, 0x40, 1, 0xff)
	b.Out(math.MaxUint64-1000, 0x40, 1, 0xff)
	if next := b.NextTimer(); next != clock.Never {
		t.Errorf("timer at %d, beyond the TSC's range; want never", next)
	}
}

func TestPMTimer(t *testing.T) {
	const year = clock.TSC(365 * 86400 * 1_000_000_000)
	tests := []struct {
		name string
		now  clock.TSC
		want uint32
	}{
		{"zero", 0, 0},
		{"first tick", 280, 1}, // 279.37 ns
		{"a second", 1_000_000_000, 3_579_545},
		{"last before the wrap", 4686968596, 0xffffff},
		{"wrapped", 4686969434, 2},
		{"a year", year, 112_884_531_120_000 & 0xffffff},
		{"100 years", 100 * year, 11_288_453_112_000_000 & 0xffffff},
	}
	for _, tt := range tests {
		b, _ := newBoard(t)
		v, where := b.In(tt.now, 0x608, 4)
		if v != tt.want || where != vmm.InUser {
			t.Errorf("%s: %#x, want %#x", tt.name, v, tt.want)
		}
		if c, _ := b.In(tt.now, 0x609, 1); c != tt.want>>8&0xff {
			t.Errorf("%s: second byte %#x, want %#x", tt.name, c, tt.want>>8&0xff)
		}
	}
}

func TestDeviceClocksStartAtPowerUp(t *testing.T) {
	b, err := New(Config{VCPUs: 1, RAM: 64 << 20, Hz: testHz, Start: 1 << 62, Epoch: 1_000_000_000}, &lines{})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := b.In(1<<62+1_000_000_000, 0x608, 4); v != 3_579_545 {
		t.Errorf("PM timer %d a second after power-up, want 3579545", v)
	}
	b.Out(1<<62, 0x70, 1, 0)
	if v, _ := b.In(1<<62+1_000_000_000, 0x71, 1); v != 0x41 {
		t.Errorf("seconds %#x, want 0x41: one after 01:46:40", v)
	}
}

func TestCMOSDates(t *testing.T) {
	tests := []struct {
		name  string
		epoch int64
		want  [8]uint32 // century, year, month, day, weekday, hour, minute, second, in BCD
	}{
		{"default", DefaultEpoch, [8]uint32{0x20, 0x24, 0x01, 0x01, 2, 0, 0, 0}},
		{"leap day of a century", 951_868_799, [8]uint32{0x20, 0x00, 0x02, 0x29, 3, 0x23, 0x59, 0x59}},
		{"after it", 951_868_800, [8]uint32{0x20, 0x00, 0x03, 0x01, 4, 0, 0, 0}},
		{"end of a year", 1_735_689_599, [8]uint32{0x20, 0x24, 0x12, 0x31, 3, 0x23, 0x59, 0x59}},
		{"no leap day in 2100", 4_107_542_400, [8]uint32{0x21, 0x00, 0x03, 0x01, 2, 0, 0, 0}},
	}
	for _, tt := range tests {
		b, err := New(Config{VCPUs: 3, RAM: 64 << 20, Hz: testHz, Epoch: tt.epoch}, &lines{})
		if err != nil {
			t.Fatal(err)
		}
		for i, reg := range []uint32{cmosCentury, cmosYear, cmosMonth, cmosDay, cmosWeekday, cmosHours, cmosMinutes, cmosSeconds} {
			out(b, 0x70, reg)
			if got := in(b, 0x71); got != tt.want[i] {
				t.Errorf("%s: register %#x = %#x, want %#x", tt.name, reg, got, tt.want[i])
			}
		}
	}
}

func TestCMOSSizesAndBinary(t *testing.T) {
	b, _ := newBoard(t)
	word := func(reg uint32) uint32 {
		out(b, 0x70, reg)
		lo := in(b, 0x71)
		out(b, 0x70, reg+1)
		return lo | in(b, 0x71)<<8
	}
	if base, ext, above := word(0x15), word(0x17), word(0x34); base != 640 || ext != 64512 || above != 48<<4 {
		t.Errorf("memory sizes %d, %d KiB, %d × 64 KiB, want 640, 64512, 768", base, ext, above)
	}
	out(b, 0x70, 0x5f)
	if n := in(b, 0x71); n != 1 {
		t.Errorf("CPUs less one: %d, want 1", n)
	}
	out(b, 0x70, 0x0b, 0x71, 6, 0x70, 0x80|cmosYear) // the NMI bit of the index is not part of it
	if y := in(b, 0x71); y != 24 {
		t.Errorf("binary year %d, want 24", y)
	}
	out(b, 0x70, 0x0d, 0x71, 0, 0x70, 0x0d)
	if d := in(b, 0x71); d != 0x80 {
		t.Errorf("register D %#x, want battery good", d)
	}
}
