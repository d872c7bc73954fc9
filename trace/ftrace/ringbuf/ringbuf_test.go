package ringbuf

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// page builds a page of the native layout.
type page struct{ body []byte }

func (p *page) word(v uint32) *page {
	p.body = binary.LittleEndian.AppendUint32(p.body, v)
	return p
}

func (p *page) small(delta uint32, data ...byte) *page {
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	p.word(delta<<5 | uint32(len(data)/4))
	p.body = append(p.body, data...)
	return p
}

func (p *page) bytes(time, flags uint64, tail ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, time)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(p.body))|flags)
	return append(append(b, p.body...), tail...)
}

type got struct {
	time uint64
	data string
}

func all(t *testing.T, b []byte) (out []got, p Page) {
	t.Helper()
	if err := p.Open(Native(), b); err != nil {
		t.Fatal(err)
	}
	for {
		time, data, ok := p.Next()
		if !ok {
			return out, p
		}
		out = append(out, got{time, string(data)})
	}
}

func TestPageGivesRecordsWithTheirTimes(t *testing.T) {
	p := (&page{}).small(5, 'a', 'b', 'c', 'd').
		word(7<<5|typeTimeExtend).word(2). // 2 << 27 + 7
		small(1, 'e', 'f', 'g', 'h').
		word(3 << 5).word(4 + 8) // a long record: its length is in the next word
	p.body = append(p.body, "longdata"...)
	p.word(9<<5|typePadding).word(8).word(0xdead). // a record that was discarded
							small(1, 'i', 'j', 'k', 'l').
							word(11<<5|typeTimeStamp).word(1). // absolute: 1 << 27 + 11
							small(0, 'm', 'n', 'o', 'p')
	out, _ := all(t, p.bytes(100, 0))
	want := []got{{105, "abcd"}, {105 + 2<<27 + 7 + 1, "efgh"}, {116 + 2<<27, "longdata"}, {126 + 2<<27, "ijkl"},
		{1<<27 + 11, "mnop"}}
	if len(out) != len(want) {
		t.Fatalf("%d records, want %d: %v", len(out), len(want), out)
	}
	for i := range want {
		if out[i] != want[i] {
			t.Errorf("record %d: %v, want %v", i, out[i], want[i])
		}
	}
}

func TestPageEndsAtItsEmptyRest(t *testing.T) {
	p := (&page{}).small(1, 'a').word(typePadding).small(1, 'b')
	if out, _ := all(t, p.bytes(0, 0)); len(out) != 1 {
		t.Errorf("%d records, want the one before the empty rest", len(out))
	}
}

func TestPageTellsLosses(t *testing.T) {
	p := (&page{}).small(1, 'a')
	_, q := all(t, p.bytes(0, missedEvents|missedStored, 42, 0, 0, 0, 0, 0, 0, 0))
	if missed, n := q.Missed(); !missed || n != 42 {
		t.Errorf("missed %v, %d; want true, 42", missed, n)
	}
	_, q = all(t, p.bytes(0, missedEvents))
	if missed, n := q.Missed(); !missed || n != 0 {
		t.Errorf("missed %v, %d; want true and an unknown number", missed, n)
	}
	if _, q = all(t, p.bytes(0, 0)); q.missed {
		t.Error("a page without losses tells some")
	}
}

func TestBrokenPagesAreRefusedOrEnd(t *testing.T) {
	var p Page
	if err := p.Open(Native(), make([]byte, 15)); err == nil {
		t.Error("a page shorter than its header is opened")
	}
	b := (&page{}).small(1, 'a').bytes(0, 0)
	binary.LittleEndian.PutUint64(b[8:], 4096)
	if err := p.Open(Native(), b); err == nil {
		t.Error("a page that says it holds more than it does is opened")
	}
	out, _ := all(t, (&page{}).word(1<<5|28).bytes(0, 0)) // 112 bytes that are not there
	if len(out) != 0 {
		t.Errorf("a record beyond the end of its page: %v", out)
	}
}

const entryFormat = `name: kvm_entry
ID: 312
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned int vcpu_id;	offset:8;	size:4;	signed:0;
	field:char comm[4];	offset:12;	size:4;	signed:0;
	field:__data_loc char[] name;	offset:16;	size:4;	signed:0;
	field:s64 delta;	offset:24;	size:8;	signed:1;

print fmt: "vcpu %u", REC->vcpu_id
`

func TestFormatFilesDescribeRecords(t *testing.T) {
	f, err := ParseFormat([]byte(entryFormat))
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "kvm_entry" || f.ID != 312 || len(f.Fields) != 7 {
		t.Errorf("read as %q, %d, %d fields; want kvm_entry, 312, 7", f.Name, f.ID, len(f.Fields))
	}
	data := make([]byte, 32, 40)
	data[4], data[5] = 0x39, 0x30 // 12345
	data[8] = 7
	copy(data[12:], "ab\x00d")
	binary.LittleEndian.PutUint32(data[16:], 5<<16|32)
	binary.LittleEndian.PutUint64(data[24:], 1<<64-9)
	data = append(data, "hello"...)
	order := binary.LittleEndian
	for name, want := range map[string]uint64{"common_pid": 12345, "vcpu_id": 7, "delta": 1<<64 - 9} {
		if got := f.Field(name).Uint(data, order); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if got := f.Field("comm").Bytes(data, order); string(got) != "ab" {
		t.Errorf("comm is %q, want ab", got)
	}
	if got := f.Field("name").Bytes(data, order); string(got) != "hello" {
		t.Errorf("name is %q, want hello", got)
	}
	if got := f.Field("delta").Uint(data[:20], order); got != 0 {
		t.Errorf("a field beyond the record is %d, want 0", got)
	}
	if f.Field("nothing") != nil {
		t.Error("a field that is not there is found")
	}
}

func TestFormatFilesThatLackSomethingAreErrors(t *testing.T) {
	for _, s := range []string{"", "name: x\n", "ID: 3\n", "name: x\nID: many\n", "name: x\nID: 1\n\tfield:int a;\toffset:b;\n"} {
		if _, err := ParseFormat([]byte(s)); err == nil {
			t.Errorf("%q is read without an error", s)
		}
	}
}

func TestLayoutComesFromHeaderPage(t *testing.T) {
	const page32 = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n" +
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n"
	l, err := ParseLayout([]byte(page32), binary.BigEndian)
	if err != nil || l.CommitSize != 4 || l.Data != 12 {
		t.Errorf("a 32-bit kernel's pages: %+v, %v", l, err)
	}
	if _, err := ParseLayout([]byte("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"), binary.LittleEndian); err == nil {
		t.Error("a header_page without data is taken")
	}
}

func FuzzPage(f *testing.F) {
	f.Add((&page{}).small(5, 'a').word(7<<5|typeTimeExtend).word(2).bytes(100, 0))
	f.Add((&page{}).word(0).word(8).word(1).bytes(1, missedEvents))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Page
		if p.Open(Native(), b) != nil {
			return
		}
		for n := 0; ; n++ {
			if _, data, ok := p.Next(); !ok {
				return
			} else if len(data) > len(b) || n > len(b) {
				t.Fatalf("record %d of %d bytes in a page of %d", n, len(data), len(b))
			}
		}
	})
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(entryFormat), []byte("12345678901234567890123456789012"))
	f.Fuzz(func(_ *testing.T, text, data []byte) {
		x, err := ParseFormat(text)
		if err != nil {
			return
		}
		for i := range x.Fields {
			x.Fields[i].Uint(data, binary.LittleEndian)
			_ = bytes.Clone(x.Fields[i].Bytes(data, binary.LittleEndian))
		}
	})
}
