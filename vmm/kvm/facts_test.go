//go:build linux && amd64

package kvm

import "testing"

func TestStableReleaseIsReadFromDebiansVersion(t *testing.T) {
	tests := []struct{ release, version, want string }{
		{"5.10.0-32-cloud-amd64", "#1 SMP Debian 5.10.223-1 (2024-08-10)", "5.10.223"},
		{"6.1.0-57-cloud-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-11-20)", "6.1.192"},
		{"6.12.117+deb12-cloud-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.117-1~deb12u1 (2026-10-01)", ""},
		{"6.8.0-40-generic", "#40-Ubuntu SMP PREEMPT_DYNAMIC Fri Jul  5 10:34:03 UTC 2024", ""},
		{"7.3.4", "#1 SMP", ""},
	}
	for _, tt := range tests {
		if got := stableRelease(tt.release, tt.version); got != tt.want {
			t.Errorf("stableRelease(%q, %q) = %q, want %q", tt.release, tt.version, got, tt.want)
		}
	}
}
