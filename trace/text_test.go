package trace

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTextFormIsLossless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := drawEvent(rt)
		line := e.String()
		got, err := ParseEvent(line)
		if err != nil || got != e {
			rt.Fatalf("%s\nparses as %v, %v", line, got, err)
		}
		if strings.ContainsAny(line, "\n\x1b") || strings.TrimSpace(line) != line {
			rt.Fatalf("not one plain line: %q", line)
		}
	})
}

func TestTextForm(t *testing.T) {
	tests := []struct {
		name string
		e    Event
		want string
	}{
		{"signed and enumeration", Event{TSC: 12, Kind: KindWait, VCPU: 1, PCPU: 2, A: ^uint64(0), B: 1, C: 300, D: uint64(WaitLate)},
			"12 vcpu=1 pcpu=2 wait delta=-1 waited=1 cap=300 place=late"},
		{"no CPU", Event{Kind: KindLost, VCPU: NoCPU, PCPU: NoCPU, A: 3}, "0 vcpu=- pcpu=- lost count=3"},
		{"inferred", Event{Kind: KindEOI, Flags: FlagInferred, A: 236}, "0 vcpu=0 pcpu=0 flags=inferred eoi vector=236 virtual=0"},
		{"hex", Event{Kind: KindMSR, A: 0x6e0, B: 255, C: 1}, "0 vcpu=0 pcpu=0 msr index=0x6e0 value=0xff write=1 gp=0"},
		{"mask", Event{Kind: KindKick, A: uint64(KickIPI), B: 1, C: 0b010101, D: 255},
			"0 vcpu=0 pcpu=0 kick decision=ipi mode=in-guest steps=rcu|cmpxchg|ipi from=255"},
		{"empty mask", Event{Kind: KindRequest}, "0 vcpu=0 pcpu=0 request set=0 pending=0"},
		{"text", Event{Kind: KindMark, A: 0x0a22_1b41}, `0 vcpu=0 pcpu=0 mark name="A\x1b\"\n"`},
		{"costs", Event{Kind: KindCost, A: PackCosts(PhaseCost{PhaseExit, 9}, PhaseCost{PhaseWait, 1<<24 - 1}),
			B: PackCosts(PhaseCost{PhaseEntry, 5}, PhaseCost{}), C: PackCosts(PhaseCost{}, PhaseCost{PhaseEntry, 5})},
			"0 vcpu=0 pcpu=0 cost p0=exit:9,wait:16777215 p1=entry:5 p2=-,entry:5 p3=-"},
		{"value without a name", Event{Kind: KindHalt, A: 99, B: 0}, "0 vcpu=0 pcpu=0 halt step=?99 poll=0"},
		{"bit without a name", Event{Kind: KindRequest, A: 1 << 40}, "0 vcpu=0 pcpu=0 request set=0x10000000000 pending=0"},
		{"unknown phase", Event{Kind: KindCost, A: PackCosts(PhaseCost{200, 1}, PhaseCost{})},
			"0 vcpu=0 pcpu=0 cost p0=?200:1 p1=- p2=- p3=-"},
	}
	for _, tt := range tests {
		if got := tt.e.String(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		if got, err := ParseEvent(tt.want); err != nil || got != tt.e {
			t.Errorf("%s: parses as %+v, %v", tt.name, got, err)
		}
	}
	if got := (Event{Kind: 200}).String(); got != "0 vcpu=0 pcpu=0 kind(200)" {
		t.Errorf("unknown kind: %s", got)
	}
}

func TestSyntaxErrorsNameTheColumn(t *testing.T) {
	tests := []struct {
		line string
		col  int
		want string
	}{
		{"x vcpu=0 pcpu=0 eoi vector=1 virtual=0", 1, "is not a TSC"},
		{"1 cpu=0 pcpu=0 eoi vector=1 virtual=0", 3, "want vcpu="},
		{"1 vcpu=255 pcpu=0 eoi vector=1 virtual=0", 8, "at most 254"},
		{"1 vcpu=x pcpu=0 eoi vector=1 virtual=0", 8, "a CPU number or -"},
		{"1 vcpu=0 pcpu=0 flags=odd eoi vector=1 virtual=0", 23, `"odd" is not one of inferred`},
		{"1 vcpu=0 pcpu=0 foo vector=1 virtual=0", 17, `called "foo"`},
		{"1 vcpu=0 pcpu=0 bad", 17, `called "bad"`},
		{"1 vcpu=0 pcpu=0 eoi", 20, "want vector="},
		{"1 vcpu=0 pcpu=0 eoi vector=1.5 virtual=0", 28, "signed number"},
		{"1 vcpu=0 pcpu=0 eoi vector=1 virtual=2", 38, "neither 0 nor 1"},
		{"1 vcpu=0 pcpu=0 eoi vector=1 virtual=0 more=1", 40, "more than a eoi event has"},
		{"1 vcpu=0 pcpu=0 halt step=polled poll=0", 27, "not one of bad, polling, blocked"},
		{"1 vcpu=0 pcpu=0 halt step=? poll=0", 28, "is not a number"},
		{"1 vcpu=0 pcpu=0 msr index=6e0 value=0x0 write=0 gp=0", 27, "hexadecimal"},
		{"1 vcpu=0 pcpu=0 msr index=0xzz value=0x0 write=0 gp=0", 27, "hexadecimal"},
		{"1 vcpu=0 pcpu=0 kick decision=ipi mode=in-guest steps=rcu|x from=0", 59, `"x" is not one of`},
		{"1 vcpu=0 pcpu=0 lost count=-1", 28, "is not a number"},
		{`1 vcpu=0 pcpu=0 mark name="ninebytes"`, 27, "up to eight bytes"},
		{"1 vcpu=0 pcpu=0 mark name=plain", 27, "not quoted text"},
		{`1 vcpu=0 pcpu=0 mark name="open`, 27, "not quoted text"},
		{"1 vcpu=0 pcpu=0 cost p0=exit p1=- p2=- p3=-", 25, "not phase:cycles"},
		{"1 vcpu=0 pcpu=0 cost p0=exit:1,foo:2 p1=- p2=- p3=-", 32, "not one of"},
		{"1 vcpu=0 pcpu=0 cost p0=exit:16777216 p1=- p2=- p3=-", 30, "at most 16777215"},
		{"1 vcpu=0 pcpu=0 cost p0=?256:1 p1=- p2=- p3=-", 25, "at most 255"},
	}
	for _, tt := range tests {
		_, err := ParseEvent(tt.line)
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("%s: error %v", tt.line, err)
			continue
		}
		if se.Col != tt.col || se.Line != 1 || !strings.Contains(se.Msg, tt.want) {
			t.Errorf("%s:\n%v, want column %d with %q", tt.line, err, tt.col, tt.want)
		}
	}
}

func TestTextReaderCountsLines(t *testing.T) {
	const good = "1 vcpu=0 pcpu=0 lost count=1\n"
	r := NewTextReader(strings.NewReader("# comment\n\n" + good + "  # another\n" + good + "junk\n"))
	for range 2 {
		if e, err := r.Next(); err != nil || e.Kind != KindLost {
			t.Fatalf("%v, %v", e, err)
		}
	}
	_, err := r.Next()
	var se *SyntaxError
	if !errors.As(err, &se) || se.Line != 6 || err.Error() != `line 6, column 1: "junk" is not a TSC` {
		t.Errorf("error %v, want line 6", err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	r = NewTextReader(strings.NewReader(good + strings.Repeat("x", 2*maxLine)))
	_, _ = r.Next()
	if _, err := r.Next(); !errors.As(err, &se) || se.Line != 2 || !strings.Contains(se.Msg, "too long") {
		t.Errorf("long line: %v", err)
	}
	r = NewTextReader(io.MultiReader(strings.NewReader(good), &failRead{}))
	_, _ = r.Next()
	if _, err := r.Next(); err == nil || err.Error() != "no medium" {
		t.Errorf("read error: %v", err)
	}
}

type failRead struct{}

func (*failRead) Read([]byte) (int, error) { return 0, errors.New("no medium") }

// TestTextAndRecordingTellTheSame: text → events → recording → events → text.
func TestTextAndRecordingTellTheSame(t *testing.T) {
	var before, after bytes.Buffer
	events := guestEvents(500, 6)
	for i := range events {
		before.Write(append(AppendText(nil, &events[i]), '\n'))
	}
	back, err := readAll(openBytes(t, record(t, testHeader(), parseEvents(t, before.String()))))
	if err != nil {
		t.Fatal(err)
	}
	for i := range back {
		after.Write(append(AppendText(nil, &back[i]), '\n'))
	}
	if before.String() != after.String() {
		t.Error("the texts differ")
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, e := range guestEvents(40, 1) {
		f.Add(e.String())
	}
	f.Add(`1 vcpu=- pcpu=- flags=inferred mark name="a b\n"`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseEvent(line)
		if err != nil {
			return
		}
		again, err := ParseEvent(e.String())
		if err != nil || !reflect.DeepEqual(e, again) {
			t.Fatalf("%q\nprints as %s\nparses as %+v, %v", line, e, again, err)
		}
	})
}

func TestValidateNamesTheField(t *testing.T) {
	tests := []struct {
		name string
		e    Event
		want string
	}{
		{"invalid kind", Event{}, "invalid kind 0"},
		{"unknown kind", Event{Kind: numKinds}, "invalid kind"},
		{"unknown flags", Event{Kind: KindEOI, Flags: 2}, "eoi has unknown flags 0x2"},
		{"enumeration", Event{Kind: KindHalt, A: 3}, "halt: step cannot be 0x3"},
		{"bool", Event{Kind: KindEOI, B: 2}, "eoi: virtual cannot be 0x2"},
		{"mask", Event{Kind: KindKick, C: 1 << 6}, "kick: steps cannot be 0x40"},
		{"costs", Event{Kind: KindCost, D: PackCosts(PhaseCost{}, PhaseCost{Phase: NumPhases})}, "cost: p3 cannot be"},
		{"unused argument", Event{Kind: KindMark, D: 1}, "mark has 0x1 in unused argument 3"},
	}
	for _, tt := range tests {
		if err := Validate(&tt.e); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		if e := drawEvent(rt); Validate(&e) != nil {
			rt.Fatalf("%v: %v", e, Validate(&e))
		}
	})
}
