package export

import (
	"encoding/binary"
	"fmt"
	"sort"
	"testing"
)

// This is a second reader of the Perfetto format, written for the test: it
// shares nothing with the writer but the field numbers of the format.

// pfField is a field of a protocol buffer message.
type pfField struct {
	num   int
	value uint64 // of varint and fixed fields
	bytes []byte // of length-delimited ones
}

func pfFields(t *testing.T, b []byte) (fs []pfField) {
	t.Helper()
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("bad tag at % x", b[:min(len(b), 8)])
		}
		b = b[n:]
		f := pfField{num: int(tag >> 3)}
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				t.Fatalf("bad varint in field %d", f.num)
			}
			f.value, b = v, b[n:]
		case 1:
			f.value, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			l, n := binary.Uvarint(b)
			if n <= 0 || uint64(len(b)-n) < l {
				t.Fatalf("field %d claims %d bytes of %d", f.num, l, len(b)-n)
			}
			f.bytes, b = b[n:n+int(l)], b[n+int(l):]
		default:
			t.Fatalf("field %d has wire type %d", f.num, tag&7)
		}
		fs = append(fs, f)
	}
	return fs
}

// pfEvent is a TrackEvent with its names resolved.
type pfEvent struct {
	ts       uint64
	typ      int
	track    uint64
	name     string
	category string
	args     map[string]string
	counter  int64
	flows    []uint64
	ends     []uint64
}

// pfTrack is a track's descriptor.
type pfTrack struct {
	name    string
	parent  uint64
	counter bool
}

// pfFile is a decoded trace, its events in the order in which a reader that
// sorts by time sees them.
type pfFile struct {
	events []pfEvent
	tracks map[uint64]pfTrack
}

func pfDecode(t *testing.T, data []byte) *pfFile {
	t.Helper()
	f := &pfFile{tracks: map[uint64]pfTrack{}}
	var interned [4]map[uint64]string
	for i := range interned {
		interned[i] = map[uint64]string{}
	}
	for i, p := range pfFields(t, data) {
		if p.num != 1 {
			t.Fatalf("the trace has field %d, want packets only", p.num)
		}
		var ts, seq, flags uint64
		var event []byte
		for _, x := range pfFields(t, p.bytes) {
			switch x.num {
			case 8:
				ts = x.value
			case 10:
				seq = x.value
			case 13:
				flags = x.value
			case 11:
				event = x.bytes
			case 12:
				for _, in := range pfFields(t, x.bytes) {
					s := pfFields(t, in.bytes)
					if len(s) != 2 || interned[in.num][s[0].value] != "" {
						t.Fatalf("packet %d: interned string %v twice, or without a name", i, s)
					}
					interned[in.num][s[0].value] = string(s[1].bytes)
				}
			case 60:
				f.descriptor(t, x.bytes)
			}
		}
		if seq != 1 || i == 0 && flags != 1 || event != nil && flags != 2 {
			t.Fatalf("packet %d: sequence %d, flags %d", i, seq, flags)
		}
		if event != nil {
			f.events = append(f.events, f.event(t, ts, event, interned[:]))
		}
	}
	sort.SliceStable(f.events, func(i, j int) bool { return f.events[i].ts < f.events[j].ts })
	return f
}

func (f *pfFile) descriptor(t *testing.T, b []byte) {
	t.Helper()
	var uuid uint64
	var tr pfTrack
	for _, x := range pfFields(t, b) {
		switch x.num {
		case 1:
			uuid = x.value
		case 2:
			tr.name = string(x.bytes)
		case 3:
			for _, p := range pfFields(t, x.bytes) {
				if p.num == 6 {
					tr.name = string(p.bytes)
				}
			}
		case 4:
			for _, p := range pfFields(t, x.bytes) {
				if p.num == 5 {
					tr.name = string(p.bytes)
				}
			}
		case 5:
			tr.parent = x.value
		case 8:
			tr.counter = true
		default:
			t.Fatalf("track descriptor has field %d", x.num)
		}
	}
	if _, twice := f.tracks[uuid]; twice || uuid == 0 || tr.name == "" {
		t.Fatalf("track %d %+v: declared before: %v", uuid, tr, twice)
	}
	f.tracks[uuid] = tr
}

func (f *pfFile) event(t *testing.T, ts uint64, b []byte, interned []map[uint64]string) pfEvent {
	t.Helper()
	e := pfEvent{ts: ts, args: map[string]string{}}
	look := func(kind int, id uint64) string {
		s, ok := interned[kind][id]
		if !ok {
			t.Fatalf("event at %d uses string %d of kind %d before it is interned", ts, id, kind)
		}
		return s
	}
	for _, x := range pfFields(t, b) {
		switch x.num {
		case 3:
			e.category = look(1, x.value)
		case 4:
			var name, val string
			for _, a := range pfFields(t, x.bytes) {
				switch a.num {
				case 1:
					name = look(3, a.value)
				case 3, 7:
					val = fmt.Sprint(a.value)
				case 4:
					val = fmt.Sprint(int64(a.value))
				case 6:
					val = string(a.bytes)
				}
			}
			e.args[name] = val
		case 9:
			e.typ = int(x.value)
		case 10:
			e.name = look(2, x.value)
		case 11:
			e.track = x.value
		case 23:
			e.name = string(x.bytes)
		case 30:
			e.counter = int64(x.value)
		case 47:
			e.flows = append(e.flows, x.value)
		case 48:
			e.ends = append(e.ends, x.value)
		default:
			t.Fatalf("track event has field %d", x.num)
		}
	}
	if _, ok := f.tracks[e.track]; !ok {
		t.Fatalf("event at %d is on track %d, which is not declared", ts, e.track)
	}
	return e
}

// pfSlice is a slice made of its begin and its end.
type pfSlice struct {
	pfEvent
	end   uint64
	depth int
}

// slices pairs begins and ends by track, and fails where they do not nest.
func (f *pfFile) slices(t *testing.T) (out []pfSlice) {
	t.Helper()
	stacks := map[uint64][]pfSlice{}
	for _, e := range f.events {
		st := stacks[e.track]
		switch e.typ {
		case 1:
			stacks[e.track] = append(st, pfSlice{pfEvent: e, depth: len(st)})
		case 2:
			if len(st) == 0 {
				t.Fatalf("%s: a slice ends at %d that has not begun", f.tracks[e.track].name, e.ts)
			}
			s := st[len(st)-1]
			stacks[e.track] = st[:len(st)-1]
			s.end = e.ts
			for k, v := range e.args {
				s.args[k] = v
			}
			out = append(out, s)
		}
	}
	for track, st := range stacks {
		if len(st) != 0 {
			t.Errorf("%s: %d slices have no end, the first is %s", f.tracks[track].name, len(st), st[0].name)
		}
	}
	return out
}
