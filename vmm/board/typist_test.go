package board

import (
	"strings"
	"testing"
)

func typingBoard(t *testing.T, inputs ...Input) *Board {
	t.Helper()
	b, err := New(Config{VCPUs: 1, RAM: 2 << 20, Hz: testHz, Inputs: inputs}, &lines{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// say writes to the serial port, heard reads all that was typed.
func say(b *Board, s string) {
	for i := range len(s) {
		b.Out(0, 0x3f8, 1, uint32(s[i]))
	}
}

func heard(b *Board) string {
	var s []byte
	for in(b, 0x3fd)&1 != 0 {
		s = append(s, byte(in(b, 0x3f8)))
	}
	return string(s)
}

func TestInputsAreTypedInOrderWhenTheirPatternsCome(t *testing.T) {
	long := strings.Repeat("0123456789", 30) // more than the receiver holds
	b := typingBoard(t, Input{"root\n", "login: "}, Input{long, "# "}, Input{"bye", "# "})
	say(b, "# welcome\nhost login:")
	if got := heard(b); got != "" {
		t.Errorf("typed %q before the pattern came", got)
	}
	say(b, " ")
	if got := heard(b); got != "root\n" {
		t.Errorf("typed %q, want the first text", got)
	}
	say(b, "login: # ")
	if got := heard(b); got != long {
		t.Errorf("typed %d bytes, want the %d of the second text", len(got), len(long))
	}
	say(b, strings.Repeat("x", 100)+"# ")
	if got := heard(b); got != "bye" {
		t.Errorf("typed %q, want the third text", got)
	}
	say(b, "login: # ")
	if got := heard(b); got != "" {
		t.Errorf("typed %q after the last text", got)
	}
}

func TestParseInput(t *testing.T) {
	tests := []struct {
		in, text, pattern string
		ok                bool
	}{
		{`root\n@login: `, "root\n", "login: ", true},
		{`a@b@$`, "a@b", "$", true},
		{`say "hi"\x1b@#`, "say \"hi\"\x1b", "#", true},
		{`text`, "", "", false}, {`@x`, "", "", false}, {`x@`, "", "", false}, {`\q@x`, "", "", false},
		{"x@" + strings.Repeat("p", MaxPattern+1), "", "", false},
	}
	for _, tt := range tests {
		i, err := ParseInput(tt.in)
		if (err == nil) != tt.ok || tt.ok && (i.Text != tt.text || i.Pattern != tt.pattern) {
			t.Errorf("ParseInput(%q) = %q, %v", tt.in, i, err)
		}
		if again, err := ParseInput(i.String()); tt.ok && (err != nil || again != i) {
			t.Errorf("%q is written as %q and read as %q, %v", i, i.String(), again, err)
		}
	}
}
