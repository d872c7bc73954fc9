package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// readAll returns the events of a recording up to its end or the first error.
func readAll(rec *Recording) (events []Event, err error) {
	c := rec.Cursor()
	for {
		e, err := c.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func TestRecordingGivesBackWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 50).Draw(rt, "events")
		rec := openBytes(t, record(t, testHeader(), events))
		if w := rec.Warning(); w != "" {
			rt.Fatalf("warning %q", w)
		}
		if *rec.Header() != *testHeader() {
			rt.Fatalf("header %+v, want %+v", rec.Header(), testHeader())
		}
		got, err := readAll(rec)
		if err != nil || !reflect.DeepEqual(got, append([]Event(nil), events...)) {
			rt.Fatalf("read %v, %v\nwant %v", got, err, events)
		}
	})
}

func TestLongRecordingSeeksAnywhere(t *testing.T) {
	const n = 2*snapshotEvents + 3*chunkEvents + 77
	events := guestEvents(n, 1)
	p := record(t, testHeader(), events)
	rec := openBytes(t, p)
	if rec.Warning() != "" || rec.Events() != n || rec.Last() != events[n-1].TSC {
		t.Fatalf("warning %q, %d events, last at %d", rec.Warning(), rec.Events(), rec.Last())
	}
	if len(rec.snaps) != 2 {
		t.Errorf("%d snapshots, want 2", len(rec.snaps))
	}
	c := rec.Cursor()
	var s State
	for _, at := range []Seq{0, 1, chunkEvents, snapshotEvents - 1, snapshotEvents, snapshotEvents + 1, n, 5, n - 1} {
		if err := c.StateAt(at, &s); err != nil {
			t.Fatal(err)
		}
		if d := diffStates(foldAll(testHeader(), events[:at]), &s); d != "" {
			t.Errorf("state at %d: %s", at, d)
		}
		if c.Seq() != at {
			t.Errorf("cursor is at %d, want %d", c.Seq(), at)
		}
		checkNext(t, c, events, at)
	}
	if err := c.StateAt(n+1, &s); err == nil {
		t.Error("a state behind the end was given")
	}
}

func checkNext(t *testing.T, c *Cursor, events []Event, at Seq) {
	t.Helper()
	e, err := c.Next()
	if at == Seq(len(events)) {
		if err != io.EOF {
			t.Errorf("at the end: Next gives %v, %v", e, err)
		}
		return
	}
	if err != nil || e != events[at] {
		t.Errorf("event %d is %v, %v, want %v", at, e, err, events[at])
	}
}

// diffStates names the first top-level field in which two states differ.
func diffStates(a, b *State) string {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !bytes.Equal(appendValue(nil, x.Field(i)), appendValue(nil, y.Field(i))) {
			return x.Type().Field(i).Name + " differs"
		}
	}
	return ""
}

func TestAdvanceFoldsOn(t *testing.T) {
	events := guestEvents(2000, 3)
	rec := openBytes(t, record(t, testHeader(), events))
	c := rec.Cursor()
	var s State
	if err := c.StateAt(100, &s); err != nil {
		t.Fatal(err)
	}
	if err := c.Advance(1500, &s); err != nil {
		t.Fatal(err)
	}
	if d := diffStates(foldAll(testHeader(), events[:1500]), &s); d != "" {
		t.Error(d)
	}
	if err := c.Advance(1000, &s); err == nil {
		t.Error("Advance went back")
	}
	if err := c.Advance(2001, &s); err == nil {
		t.Error("Advance went behind the end")
	}
}

func TestRecordingBegunInTheMiddle(t *testing.T) {
	const at, n = 700, 3000
	events := guestEvents(n, 3)
	var b bytes.Buffer
	w, err := NewWriterAt(&b, testHeader(), foldAll(testHeader(), events[:at]))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events[at:] {
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec := openBytes(t, b.Bytes())
	if rec.Warning() != "" || rec.First() != at || rec.Events() != n {
		t.Errorf("warning %q, events %d to %d", rec.Warning(), rec.First(), rec.Events())
	}
	got, err := readAll(rec)
	if err != nil || !reflect.DeepEqual(got, events[at:]) {
		t.Errorf("%d events, %v", len(got), err)
	}
	c := rec.Cursor()
	var s State
	for _, to := range []Seq{at, at + 1, n} {
		if err := c.StateAt(to, &s); err != nil {
			t.Fatal(err)
		}
		if d := diffStates(foldAll(testHeader(), events[:to]), &s); d != "" {
			t.Errorf("state at %d: %s", to, d)
		}
	}
	if err := errors.Join(c.StateAt(at-1, &s), c.SeekSeq(5)); err == nil || !strings.Contains(err.Error(), "holds events 700 to 3000") {
		t.Errorf("before the beginning: %v", err)
	}
	if err := c.SeekTSC(0); err != nil || c.Seq() != at {
		t.Errorf("SeekTSC(0) goes to %d, %v", c.Seq(), err)
	}
	for cut := 0; cut < b.Len(); cut += 211 {
		if rec, err := Open(bytes.NewReader(b.Bytes()[:cut]), int64(cut)); err == nil && rec.Warning() == "" {
			t.Fatalf("cut at %d: no warning", cut)
		}
	}
}

func TestBeginningThatCannotBeReadIsTold(t *testing.T) {
	h, err := encodeHeader(testHeader())
	if err != nil {
		t.Fatal(err)
	}
	good := appendState(nil, foldAll(testHeader(), guestEvents(9, 1)))
	for name, p := range map[string]placement{"other layout": {first: 9, layout: 1}, "other place": {first: 8, layout: stateLayout()}} {
		b := appendBlock(appendPreamble(nil), blockHeader, nil, h, nil)
		b = appendBlock(b, blockSnapshot, &p, good, nil)
		rec := openBytes(t, b)
		if !strings.Contains(rec.Warning(), "cannot read: figures are those since then") {
			t.Errorf("%s: warning %q", name, rec.Warning())
		}
		var s State
		if err := rec.Cursor().StateAt(p.first, &s); err != nil || s.Events != p.first || s.Exits.N != 0 {
			t.Errorf("%s: state at %d, %v", name, s.Events, err)
		}
	}
}

func TestSeekByTSC(t *testing.T) {
	var events []Event
	for i := range 3*chunkEvents + 5 {
		// vCPU 1 lags behind: times are not in order.
		events = append(events, Event{TSC: clock.TSC(1000 + 10*i - 500*(i%2)), Kind: KindEOI, VCPU: uint8(i % 2)})
	}
	c := openBytes(t, record(t, testHeader(), events)).Cursor()
	for _, at := range []clock.TSC{0, 500, 1000, 1001, 100_000, 200_005, events[len(events)-1].TSC, 1 << 40} {
		if err := c.SeekTSC(at); err != nil {
			t.Fatal(err)
		}
		want := Seq(0)
		for want < Seq(len(events)) && events[want].TSC < at {
			want++
		}
		if c.Seq() != want {
			t.Errorf("SeekTSC(%d) goes to %d, want %d", at, c.Seq(), want)
		}
	}
	if err := c.SeekSeq(Seq(len(events)) + 1); err == nil {
		t.Error("SeekSeq behind the end is accepted")
	}
	if err := c.SeekSeq(7); err != nil || c.Seq() != 7 {
		t.Errorf("SeekSeq(7): at %d, %v", c.Seq(), err)
	}
}

// smallRecording has every kind of block.
func smallRecording(t testing.TB) ([]byte, []Event) {
	t.Helper()
	events := guestEvents(60, 2)
	var b bytes.Buffer
	w, err := NewWriter(&b, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		w.Emit(e)
		switch i {
		case 19:
			w.Act("speed", "0.5")
		case 39:
			w.Flush()
			w.snapshot()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), events
}

func TestActionsKeepTheirPlace(t *testing.T) {
	p, _ := smallRecording(t)
	rec := openBytes(t, p)
	want := []Action{{Seq: 20, TSC: rec.Actions()[0].TSC, Verb: "speed", Text: "0.5"}}
	if got := rec.Actions(); !reflect.DeepEqual(got, want) || got[0].TSC == 0 {
		t.Errorf("actions %+v, want %+v", got, want)
	}
}

// checkDamaged is what holds for a damaged recording: it is refused in one
// sentence, or opens with a warning; what it gives are events that were written, with
// their numbers, and one event for each gap; its state is theirs. It returns how many
// events there are.
func checkDamaged(t *testing.T, p []byte, events []Event, what string, at int) (have Seq) {
	t.Helper()
	rec, err := Open(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s at %d: error of several lines: %v", what, at, err)
		}
		return 0
	}
	if rec.Warning() == "" {
		t.Errorf("%s at %d: opens without a warning", what, at)
	}
	var folded State
	folded.Reset(testHeader())
	missing := Seq(0)
	for c := rec.Cursor(); ; {
		seq := c.Seq()
		e, err := c.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s at %d: event %d: %v", what, at, seq, err)
		}
		folded.Apply(&e)
		if e.Flags&FlagGap != 0 {
			missing += Seq(e.A)
		} else if have++; seq >= Seq(len(events)) || e != events[seq] {
			t.Fatalf("%s at %d: event %d is %v", what, at, seq, e)
		}
		if c.Seq() != folded.Events {
			t.Fatalf("%s at %d: the state after event %d is that after %d events", what, at, seq, folded.Events)
		}
	}
	if missing != rec.Missing() || have+missing != rec.Events() || folded.Lost.Events != uint64(missing) {
		t.Errorf("%s at %d: %d events, %d missing in the events and %d in the state; says %d, %d missing", what, at, have, missing,
			folded.Lost.Events, rec.Events(), rec.Missing())
	}
	if at%64 != 0 {
		return have // the states take longest
	}
	var s State
	if err := rec.Cursor().StateAt(rec.Events(), &s); err != nil {
		t.Errorf("%s at %d: %v", what, at, err)
	} else if s.Events != rec.Events() {
		t.Errorf("%s at %d: the state is that after %d events of %d", what, at, s.Events, rec.Events())
	}
	return have
}

func TestCutRecordingOpensUpToTheCut(t *testing.T) {
	p, events := smallRecording(t)
	last := Seq(0)
	for n := range p {
		have := checkDamaged(t, p[:n], events, "cut", n)
		if have < last {
			t.Fatalf("cut at %d: %d events, %d with fewer bytes", n, have, last)
		}
		last = have
	}
	if last != Seq(len(events)) {
		t.Errorf("cut in the index: %d events, want all %d", last, len(events))
	}
}

func TestEveryChangedByteIsFound(t *testing.T) {
	p, events := smallRecording(t)
	q := make([]byte, len(p))
	for i := range p {
		for _, x := range []byte{0x01, 0x80} {
			copy(q, p)
			q[i] ^= x
			if have := checkDamaged(t, q, events, "changed", i); have < 20 {
				t.Errorf("changed at %d: %d events of %d are left: more is lost than one block", i, have, len(events))
			}
		}
	}
}

// A large recording with damage at random places loses the blocks that are damaged and
// no other. Its figures are those of the run, or say that events are missing.
func TestDamageTakesNoWholeBlock(t *testing.T) {
	const n = 2*snapshotEvents + 3*chunkEvents + 77
	events := guestEvents(n, 1)
	p := record(t, testHeader(), events)
	whole := foldAll(testHeader(), events)
	good := openBytes(t, p)
	r := rand.New(rand.NewPCG(1, 2))
	tries := 60
	if testing.Short() {
		tries = 12
	}
	for range tries {
		q := bytes.Clone(p)
		lost, at := map[Seq]uint32{}, []int{}
		for range 1 + r.IntN(6) {
			i := r.IntN(len(q))
			at = append(at, i)
			for j := i; j < min(i+1+r.IntN(300), len(q)); j++ {
				q[j] ^= byte(1 + r.IntN(255))
				for k := range good.chunks {
					if b := &good.chunks[k]; int64(j) >= b.offset && int64(j) < b.end() {
						lost[b.place.first] = b.place.count
					}
				}
			}
		}
		rec, err := Open(bytes.NewReader(q), int64(len(q)))
		if err != nil {
			t.Fatalf("damage at %d: %v", at, err)
		}
		missing := Seq(0)
		for _, n := range lost {
			missing += Seq(n)
		}
		if rec.Missing() != missing && rec.Events()+missing != n+rec.Missing() {
			t.Errorf("damage at %d: %d events are missing, %d were damaged: %s", at, rec.Missing(), missing, rec.Warning())
		}
		if rec.Warning() == "" || missing > 0 && !strings.Contains(rec.Warning(), "missing") {
			t.Errorf("damage at %d takes %d events: warning %q", at, missing, rec.Warning())
		}
		var s State
		if err := rec.Cursor().StateAt(rec.Events(), &s); err != nil {
			t.Errorf("damage at %d: %v", at, err)
		}
		if rec.Events() == n && s.Lost.Events == 0 && s.Exits.N != whole.Exits.N {
			t.Errorf("damage at %d: %d exits of %d, and no loss is told", at, s.Exits.N, whole.Exits.N)
		}
	}
}

func TestBlocksThatAreGoneAreTold(t *testing.T) {
	const n = 4 * chunkEvents
	events := guestEvents(n, 1)
	p := record(t, testHeader(), events)
	b := openBytes(t, p).chunks[1]
	q := append(bytes.Clone(p[:b.offset]), p[b.end():]...)
	rec := openBytes(t, q)
	want := []Damage{{From: b.offset, To: b.offset, Why: "blocks are missing", First: chunkEvents, Events: chunkEvents}}
	if d := rec.Damage(); !reflect.DeepEqual(d, want) {
		t.Errorf("damage %+v, want %+v", d, want)
	}
	if !strings.Contains(rec.Warning(), "events 16384 to 32767 are missing") || rec.Whole() != chunkEvents {
		t.Errorf("warning %q, %d events before", rec.Warning(), rec.Whole())
	}
	c := rec.Cursor()
	var s State
	for _, at := range []Seq{chunkEvents, chunkEvents + 1, 2*chunkEvents - 1, 2 * chunkEvents, n} {
		to := at
		if at > chunkEvents && at < 2*chunkEvents {
			to = chunkEvents // in the gap
		}
		if err := c.StateAt(at, &s); err != nil || s.Events != to || c.Seq() != to {
			t.Errorf("state at %d: %d events, cursor at %d, %v; want %d", at, s.Events, c.Seq(), err, to)
		}
	}
	if err := c.SeekSeq(chunkEvents + 5); err != nil {
		t.Fatal(err)
	}
	gap, err := c.Next()
	if err != nil || gap.Kind != KindLost || gap.A != chunkEvents || c.Seq() != 2*chunkEvents {
		t.Errorf("in the gap: %v, %v, then at %d", gap, err, c.Seq())
	}
	if err := Validate(&gap); err == nil {
		t.Error("a gap could be written to a file")
	}
}

func TestBytesBehindTheEndAreTold(t *testing.T) {
	p, events := smallRecording(t)
	rec := openBytes(t, append(bytes.Clone(p), "more"...))
	if !strings.Contains(rec.Warning(), "4 bytes follow") || rec.Events() != Seq(len(events)) {
		t.Errorf("warning %q, %d events", rec.Warning(), rec.Events())
	}
}

func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	newer := appendPreamble(nil)
	binary.LittleEndian.PutUint16(newer[8:], FormatVersion+1)
	binary.LittleEndian.PutUint32(newer[12:], checksum(newer[:12]))
	tests := []struct {
		name string
		data string
		is   error
		want string
	}{
		{"empty", "", ErrEmpty, "empty file"},
		{"text", "# tracer: nop\n#\n# entries-in-buffer", ErrNotRecording, "not a ticktrap recording"},
		{"short", "\x89PN", ErrNotRecording, "not a ticktrap recording"},
		{"newer", string(newer) + "xxxxxxxxxxxxxxxx", ErrNewer, "format 3, this program knows up to 2"},
		{"magic only", magic, ErrDamaged, "only 8 bytes are left"},
		{"preamble only", string(appendPreamble(nil)), ErrDamaged, "cut in its header"},
		{"first block", string(appendBlock(appendPreamble(nil), blockIndex, nil, nil, nil)), ErrDamaged, `kind 'X'`},
		{"header of another kind", string(appendBlock(appendPreamble(nil), blockHeader, nil, []byte("[]"), nil)), ErrDamaged,
			"header"},
		{"header without provenance", string(appendBlock(appendPreamble(nil), blockHeader, nil, []byte("{}"), nil)),
			ErrDamaged, "provenance"},
		{"too many vCPUs", string(appendBlock(appendPreamble(nil), blockHeader, nil,
			[]byte(`{"vcpus":1000,"provenance":"modelled"}`), nil)), ErrDamaged, "1000 vCPUs"},
	}
	for _, tt := range tests {
		_, err := Open(strings.NewReader(tt.data), int64(len(tt.data)))
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %v with %q", tt.name, err, tt.is, tt.want)
		}
	}
}

func TestOpenFileNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	empty, good := filepath.Join(dir, "empty"), filepath.Join(dir, "good")
	p, events := smallRecording(t)
	if err := errors.Join(os.WriteFile(empty, nil, 0o666), os.WriteFile(good, p, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, empty, filepath.Join(dir, "none")} {
		if _, _, err := OpenFile(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, _, err := OpenFile(dir); !errors.Is(err, ErrNotRecording) || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	rec, closer, err := OpenFile(good)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if got, err := readAll(rec); err != nil || len(got) != len(events) {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// hostile makes a recording whose checksums are right and whose block is not.
func hostile(t *testing.T, k blockKind, p placement, body []byte) []byte {
	t.Helper()
	h, err := encodeHeader(testHeader())
	if err != nil {
		t.Fatal(err)
	}
	b := appendBlock(appendPreamble(nil), blockHeader, nil, h, nil)
	return appendBlock(b, k, &p, body, nil)
}

func TestImpossibleBlocksAreNamed(t *testing.T) {
	var c columns
	good := []Event{{TSC: 5, Kind: KindEOI, A: 1}, {TSC: 6, Kind: KindEOI, A: 2}}
	bad := []Event{{TSC: 5, Kind: KindEOI, A: 1}, {TSC: 6, Kind: KindHalt, A: 99}}
	place := placement{count: 2, min: 5, max: 6}
	tests := []struct {
		name string
		kind blockKind
		p    placement
		body []byte
		want string // of the warning, or of the error of Next
	}{
		{"value outside its enumeration", blockEvents, place, c.encode(nil, bad, FormatVersion), "event 1: halt: step cannot be 0x63"},
		{"gap without end", blockEvents, placement{first: 1 << 40, count: 2, min: 5, max: 6}, c.encode(nil, good, FormatVersion),
			"belongs at event 1099511627776"},
		{"gap in the numbers", blockEvents, placement{first: 9, count: 2, min: 5, max: 6}, c.encode(nil, good, FormatVersion),
			"events 0 to 8 are missing"},
		{"no events", blockEvents, placement{}, nil, "do not follow"},
		{"more events than bytes", blockEvents, placement{count: 1 << 31}, c.encode(nil, good, FormatVersion), "do not follow"},
		{"wrong times", blockEvents, placement{count: 2, min: 5, max: 7}, c.encode(nil, good, FormatVersion), "other times"},
		{"column too short", blockEvents, placement{count: 3, min: 5, max: 6}, c.encode(nil, good, FormatVersion), "too short"},
		{"bytes left", blockEvents, place, append(c.encode(nil, good, FormatVersion), 0), "too many"},
		{"action of the future", blockAction, placement{first: 3}, []byte("{}"), "events 0 to 2 are missing"},
		{"action that is no JSON", blockAction, placement{}, []byte("x"), "action:"},
		{"wrong index", blockIndex, placement{}, []byte{9}, "other blocks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := openBytes(t, hostile(t, tt.kind, tt.p, tt.body))
			_, err := readAll(rec)
			said := rec.Warning()
			if err != nil {
				said = err.Error()
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("%v is not ErrDamaged", err)
				}
			}
			if !strings.Contains(said, tt.want) {
				t.Errorf("says %q, want %q", said, tt.want)
			}
		})
	}
}

func TestUnusableSnapshotsAreFoldedOver(t *testing.T) {
	events := guestEvents(100, 4)
	var c columns
	h, err := encodeHeader(testHeader())
	if err != nil {
		t.Fatal(err)
	}
	other := foldAll(testHeader(), events[:50])
	broken := foldAll(testHeader(), events)
	broken.Rates.Width = 0
	tests := []struct {
		name   string
		layout uint64
		body   []byte
	}{
		{"other layout", stateLayout() + 1, appendState(nil, foldAll(testHeader(), events))},
		{"no state", stateLayout(), []byte("nonsense")},
		{"empty", stateLayout(), nil},
		{"state of another place", stateLayout(), appendState(nil, other)},
		{"state that cannot be", stateLayout(), appendState(nil, broken)},
		{"bytes left", stateLayout(), append(appendState(nil, other), 0)},
	}
	for _, tt := range tests {
		b := appendBlock(appendPreamble(nil), blockHeader, nil, h, nil)
		place := placement{count: 100, min: events[0].TSC, max: events[0].TSC}
		for _, e := range events {
			place.min, place.max = min(place.min, e.TSC), max(place.max, e.TSC)
		}
		b = appendBlock(b, blockEvents, &place, c.encode(nil, events, FormatVersion), nil)
		b = appendBlock(b, blockSnapshot, &placement{first: 100, layout: tt.layout}, tt.body, nil)
		var s State
		if err := openBytes(t, b).Cursor().StateAt(100, &s); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := diffStates(foldAll(testHeader(), events), &s); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

type failAfter struct{ left int }

func (f *failAfter) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errors.New("disk full")
	}
	f.left -= len(p)
	return len(p), nil
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	if _, err := NewWriter(&failAfter{10}, testHeader()); err == nil {
		t.Error("a header that cannot be written is no error")
	}
	w, err := NewWriter(&failAfter{1000}, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range guestEvents(3*chunkEvents, 1) {
		w.Emit(e)
	}
	n := w.Events()
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "at byte 1000: disk full") {
		t.Errorf("error is %v", err)
	}
	w.Emit(Event{Kind: KindEOI})
	w.Act("speed", "1")
	if w.Events() != n {
		t.Error("events are taken after an error")
	}
	if err := w.Close(); err == nil {
		t.Error("Close forgot the error")
	}
	if err := w.Close(); err == nil {
		t.Error("a second Close forgot the error")
	}
}

func TestWriterRefusesImpossibleEvents(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	w.Emit(Event{Kind: KindEOI})
	w.Emit(Event{Kind: KindHalt, A: 77})
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "recording event 1: halt: step cannot be 0x4d") {
		t.Errorf("error is %v", err)
	}
}

func TestReportOfARecordingIsTheReportOfTheRun(t *testing.T) {
	events := guestEvents(snapshotEvents+chunkEvents+9, 5)
	live, err := NewReport(testHeader(), foldAll(testHeader(), events)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	rec := openBytes(t, record(t, testHeader(), events))
	var s State
	if err := rec.Cursor().StateAt(rec.Events(), &s); err != nil {
		t.Fatal(err)
	}
	if got, _ := NewReport(rec.Header(), &s).JSON(); !bytes.Equal(got, live) {
		t.Error("the reports differ")
	}
}

// withChecksums makes the checksums of p's blocks right, as far as their lengths lead from
// one to the next: a changed byte would else never get past them.
func withChecksums(p []byte) []byte {
	p = bytes.Clone(p)
	if len(p) < preambleLen {
		return p
	}
	binary.LittleEndian.PutUint32(p[12:], checksum(p[:12]))
	for at := preambleLen; at+blockHeadLen <= len(p); {
		end := at + blockHeadLen + int(binary.LittleEndian.Uint32(p[at+4:]))
		if end > len(p) || end < at {
			break
		}
		binary.LittleEndian.PutUint32(p[at+12:], checksum(p[at:at+12], p[at+blockHeadLen:end]))
		if blockKind(p[at]) == blockIndex {
			break // the trailer follows
		}
		at = end
	}
	return p
}

func TestChecksumsAreRepaired(t *testing.T) {
	p, events := smallRecording(t)
	if got := withChecksums(p); !bytes.Equal(got, p) {
		t.Error("a whole recording is changed")
	}
	q := bytes.Clone(p)
	copy(q[12:], "xxxx")
	copy(q[preambleLen+12:], "xxxx")
	if rec := openBytes(t, withChecksums(q)); rec.Warning() != "" || rec.Events() != Seq(len(events)) {
		t.Errorf("%d events: %s", rec.Events(), rec.Warning())
	}
}

func FuzzOpen(f *testing.F) {
	p, _ := smallRecording(f)
	f.Add(p)
	f.Add(p[:len(p)-1])
	f.Add(p[:100])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, p []byte) {
		p = withChecksums(p)
		rec, err := Open(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		events, err := readAll(rec)
		if err != nil {
			return
		}
		var s State
		if err := rec.Cursor().StateAt(rec.Events(), &s); err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, &s)
		n := rec.First()
		for i := range events {
			if n++; events[i].Flags&FlagGap != 0 {
				n += Seq(events[i].A) - 1
			}
		}
		if n != rec.Events() {
			t.Fatalf("%d events, says %d", n, rec.Events())
		}
	})
}

func FuzzColumns(f *testing.F) {
	var c columns
	f.Add(c.encode(nil, guestEvents(20, 1), FormatVersion), 20)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		var d, e columns
		events, err := d.decode(nil, body, n, FormatVersion)
		if err != nil {
			return
		}
		again, err := d.decode(nil, e.encode(nil, events, FormatVersion), n, FormatVersion)
		if err != nil || !reflect.DeepEqual(events, again) {
			t.Fatalf("%v, %v", again, err)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	f.Add(appendState(nil, foldAll(testHeader(), guestEvents(200, 1))))
	f.Fuzz(func(t *testing.T, p []byte) {
		var s, u State
		if decodeState(p, &s) != nil {
			return
		}
		for _, e := range guestEvents(100, 2) {
			s.Apply(&e)
		}
		s.CopyTo(&u)
		NewReport(testHeader(), &s)
	})
}
