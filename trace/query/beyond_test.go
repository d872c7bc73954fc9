package query

import "testing"

func TestImpossibleComparisonsAreFound(t *testing.T) {
	counts := map[string]int{"vcpu": 2}
	for src, bad := range map[string]bool{
		"vcpu == 99": true, "vcpu == 2": true, "vcpu > 1": true, "late > 20us && vcpu == 7": true, "!(vcpu == 3) || exit == HLT": true,
		"vcpu == 1": false, "vcpu != 0": false, "vcpu >= 1": false, "vcpu < 2": true, "late > 99": false, "no condition": false, "": false,
	} {
		if got := Beyond(src, counts); (got != nil) != bad {
			t.Errorf("Beyond(%q) = %v, want an error: %v", src, got, bad)
		}
	}
	if got := Beyond("late > 5 && vcpu == 99", counts); got == nil || got.Col != 21 {
		t.Errorf("the error stands at %+v, want the column of 99", got)
	}
}
