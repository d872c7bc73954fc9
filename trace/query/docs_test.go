package query

import "testing"

func TestEveryNameIsDocumented(t *testing.T) {
	for _, docs := range [][]NameDoc{Conditions().Docs(), RunVocabulary().Docs()} {
		if len(docs) == 0 {
			t.Fatal("a vocabulary without names")
		}
		for _, d := range docs {
			if d.Name == "" || d.Doc == "" {
				t.Errorf("%q has no description", d.Name)
			}
		}
	}
	d := Conditions().Docs()
	if got, want := d[len(d)-2].Name, "knob, knob changed"; got != want {
		t.Errorf("the name with a state is %q, want %q", got, want)
	}
}
