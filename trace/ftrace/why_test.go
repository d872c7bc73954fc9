package ftrace

import (
	"strings"
	"testing"
)

// Rows composed from the format tables: an exit that vmx_vcpu_run or
// svm_vcpu_run reports as not fast, and why.
func TestExitThatIsNotFastSaysTheFirstClauseThatFailed(t *testing.T) {
	v612 := Options{Kernel: V(6, 12), NextRIP: No}
	tests := []struct {
		name, exit, msr string
		o               Options
		want            string
	}{
		{"no next RIP comes before the MSR", "msr", "msr_write 808 = 0x0", v612, "no-next-rip"},
		{"next RIP, another MSR", "msr", "msr_write 808 = 0x0", Options{Kernel: V(6, 12), NextRIP: Yes}, "other-msr"},
		{"next RIP, deadline", "msr", "msr_write 6e0 = 0x1000", Options{Kernel: V(6, 12), NextRIP: Yes}, "no-hv-timer"},
		{"no next RIP, not looked at yet", "msr", "msr_write 6e0 = 0x1000", Options{Kernel: V(6, 1), NextRIP: No}, "no-hv-timer"},
		{"no next RIP, halt", "hlt", "", v612, "no-next-rip"},
		{"no handler at all", "io", "", v612, "no-handler"},
		{"ICR to oneself", "MSR_WRITE", "msr_write 830 = 0x400b0", Options{Kernel: V(6, 12)}, "shorthand"},
		{"ICR, logical", "MSR_WRITE", "msr_write 830 = 0x1000008b0", Options{Kernel: V(6, 12)}, "logical-dest"},
		{"INIT", "MSR_WRITE", "msr_write 830 = 0x100004500", Options{Kernel: V(6, 12)}, "not-fixed"},
		{"ICR to all", "MSR_WRITE", "msr_write 830 = 0xffffffff000000b0", Options{Kernel: V(6, 12)}, "broadcast"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := []string{
				"vm-7 [000] d..1. 100: kvm_entry: vcpu 0, rip 0x1000",
				"vm-7 [000] d..1. 200: kvm_exit: vcpu 0 reason " + tt.exit + " rip 0x1000 info1 0x0000000000000001 " +
					"info2 0x0000000000000000 intr_info 0x00000000 error_code 0x00000000",
				"vm-7 [000] d..1. 210: vrun: (kvm_arch_vcpu_ioctl_run+0x7f9/0x1760 [kvm] <- svm_vcpu_run) ret=0",
				"vm-7 [000] ..... 220: exit_in: (svm_handle_exit+0x4/0x140 [kvm_amd]) vcpu=0xff134ed741ffd4f0 fp=0",
			}
			if tt.msr != "" {
				lines = append(lines, "vm-7 [000] ..... 230: kvm_msr: "+tt.msr)
			}
			lines = append(lines, "vm-7 [000] d..1. 300: kvm_entry: vcpu 0, rip 0x1002")
			events, _ := decode(t, strings.Join(lines, "\n"), tt.o)
			for _, e := range interesting(events) {
				if strings.Contains(e, " fastpath ") {
					if !strings.Contains(e, "result=none clause="+tt.want+" ") {
						t.Errorf("%s; want result none by %s", e, tt.want)
					}
					return
				}
			}
			t.Errorf("no fastpath event in %q", interesting(events))
		})
	}
}

// With halt polling at 0 the kernel blocks at once: nobody polls.
func TestHaltWithoutPollingBlocksAtOnce(t *testing.T) {
	const halt = "vm-7 [000] ..... 220: halt: (kvm_vcpu_halt+0x4/0x300 [kvm]) vcpu=0xff134ed741ffd4f0\n" +
		"vm-7 [000] ..... 230: block: (kvm_vcpu_block+0x4/0x100 [kvm]) vcpu=0xff134ed741ffd4f0\n"
	const grow = "vm-7 [000] ..... 150: kvm_halt_poll_ns: vcpu 0: halt_poll_ns 10000 (grow 0)\n"
	const entry = "vm-7 [000] d..1. 100: kvm_entry: vcpu 0, rip 0x1000\n"
	for _, tt := range []struct {
		name, text string
		steps      string
	}{{"off", entry + halt, "blocked"}, {"on", entry + grow + halt, "polling blocked"}} {
		t.Run(tt.name, func(t *testing.T) {
			events, _ := decode(t, tt.text, Options{})
			var steps []string
			for _, e := range interesting(events) {
				if _, rest, ok := strings.Cut(e, " halt step="); ok {
					word, _, _ := strings.Cut(rest, " ")
					steps = append(steps, word)
				}
			}
			if got := strings.Join(steps, " "); got != tt.steps {
				t.Errorf("halt steps %q, want %q", got, tt.steps)
			}
		})
	}
}
