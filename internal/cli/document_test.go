package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for _, v := range []any{struct{}{}, struct {
		A int `json:"a"`
	}{7}} {
		var b bytes.Buffer
		if err := document(&b, "ticktrap.test", v); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if got["format"] != "ticktrap.test 1" || !strings.HasPrefix(got["program"].(string), "ticktrap ") {
			t.Errorf("document says %v", got)
		}
		if b.String()[:2] != "{\n" || !strings.HasSuffix(b.String(), "\n}\n") {
			t.Errorf("not laid out as the others:\n%s", b.String())
		}
	}
}

// Each command that prints JSON names its format first.
func TestEveryJSONNamesItsFormat(t *testing.T) {
	for line, format := range map[string]string{
		"guests --json":    "ticktrap.guests 1",
		"scenarios --json": "ticktrap.scenarios 1",
		"licenses --json":  "ticktrap.licenses 1",
		"doctor --json":    "ticktrap.doctor 1",
		"bench --json --only tscdeadline_immed --seeds 1 --goal 65536":                         "ticktrap.bench 1",
		"sweep --json --deadlines 20 --vary apicv=on,off":                                      "ticktrap.sweep 1",
		"explain --json --checks 0 --live --engine=model --deadlines 20":                       "ticktrap.explain 1",
		"run --json --headless --quiet --engine=model --deadlines 20 --assert p99(late)<1000s": "1",
	} {
		out, _ := invoke(t, strings.Fields(line)...)
		if i := strings.LastIndex(out, "\n}\n"); i >= 0 {
			out = out[:i+2] // the error output comes behind
		}
		if i := strings.Index(out, "{\n"); i > 0 {
			out = out[i:]
		}
		var got struct {
			Format any `json:"format"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("%s: %v\n%.300s", line, err, out)
			continue
		}
		if f, ok := got.Format.(string); ok && f != format || !ok && format != "1" {
			t.Errorf("%s: format %v, want %s", line, got.Format, format)
		}
	}
}
