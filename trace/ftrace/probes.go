package ftrace

import "strings"

// Probe is a kprobe event that tells what no tracepoint does. The names are
// those under which a Decoder understands it.
type Probe struct {
	Name string
	// Return is true for a probe at the function's return.
	Return bool
	// Symbols are the functions that may carry it, the first that exists is
	// taken; their names changed over time.
	Symbols []string
	// Args are the fetch arguments, as kprobe_events takes them.
	Args string
	// Tells says what it is good for.
	Tells  string
	handle func(*Decoder, *rawLine, *probeArgs)
}

// Probes is the table of kprobe events. Where a symbol does not exist or is
// inlined its fact stays unknown; the report says so.
var Probes = []Probe{
	{Name: "vrun", Return: true, Symbols: []string{"vmx_vcpu_run", "svm_vcpu_run"}, Args: "ret=$retval:u32",
		Tells: "the fastpath's result of each exit", handle: (*Decoder).probeRun},
	{Name: "exit_in", Symbols: []string{"vmx_handle_exit", "svm_handle_exit"}, Args: "vcpu=%di:x64 fp=%si:u32",
		Tells: "the fastpath's result after the bail-out test", handle: (*Decoder).probeHandleExit},
	{Name: "set_dl", Symbols: []string{"kvm_set_lapic_tscdeadline_msr"}, Args: "vcpu=%di:x64 data=%si:x64",
		Tells: "writes of the TSC-deadline MSR, before their effects", handle: (*Decoder).probeDeadline},
	{Name: "restart", Symbols: []string{"restart_apic_timer", "start_sw_timer"}, Args: "apic=%di:x64",
		Tells: "which LAPIC belongs to which vCPU", handle: (*Decoder).probeAPIC},
	{Name: "timer_fn", Symbols: []string{"apic_timer_fn"}, Args: "timer=%di:x64",
		Tells: "when the hrtimer fired", handle: (*Decoder).probeTimerFn},
	{Name: "expired", Symbols: []string{"apic_timer_expired"}, Args: "apic=%di:x64 from_fn=%si:u8",
		Tells: "expiry and whether it came from the timer callback", handle: (*Decoder).probeExpired},
	{Name: "halt", Symbols: []string{"kvm_vcpu_halt"}, Args: "vcpu=%di:x64",
		Tells: "when a vCPU begins to poll or block", handle: (*Decoder).probeHalt},
	{Name: "block", Symbols: []string{"kvm_vcpu_block"}, Args: "vcpu=%di:x64",
		Tells: "when it stops polling and blocks", handle: (*Decoder).probeBlock},
	{Name: "to_sw", Symbols: []string{"kvm_lapic_switch_to_sw_timer"}, Args: "vcpu=%di:x64",
		Tells: "the switch to the hrtimer at a halt", handle: (*Decoder).probeToSW},
	{Name: "kick", Symbols: []string{"__kvm_vcpu_kick", "kvm_vcpu_kick"}, Args: "vcpu=%di:x64",
		Tells: "kicks", handle: (*Decoder).probeKick},
	{Name: "should_kick", Return: true, Symbols: []string{"kvm_arch_vcpu_should_kick"}, Args: "ret=$retval:u8",
		Tells: "whether a kick found its target in the guest", handle: (*Decoder).probeShouldKick},
}

// aliases are other names of the same probes in traces made by hand.
var aliases = map[string]string{"srun": "vrun", "vmx_exit_in": "exit_in", "svm_exit_in": "exit_in",
	"timer_fn_entry": "timer_fn", "start_sw": "restart"}

// Definition is the line for kprobe_events that makes the probe at a symbol.
func (p *Probe) Definition(group, symbol string) string {
	kind := "p"
	if p.Return {
		kind = "r"
	}
	return strings.Join([]string{kind + ":" + group + "/" + p.Name, symbol, p.Args}, " ")
}

// probeArgs are the arguments of a probe's line.
type probeArgs struct {
	ptr uint64 // vcpu, apic or timer
	val uint64 // ret, fp, data or from_fn
	ok  bool   // val is set
}

// parseProbe reads "(symbol+0x4/0x60 [kvm]) vcpu=0x… fp=0".
func parseProbe(body []byte) (a probeArgs) {
	i := 0
	for i < len(body) && body[i] != ')' {
		i++
	}
	for rest := body[min(i+1, len(body)):]; ; {
		rest, _ = trimLeft(rest, 0)
		tok := token(rest)
		if len(tok) == 0 {
			return a
		}
		rest = rest[len(tok):]
		for j := range tok {
			if tok[j] == '=' {
				a.argument(tok[:j], tok[j+1:])
				break
			}
		}
	}
}

// number takes an argument of a binary record.
func (a *probeArgs) number(name string, n uint64) {
	switch name {
	case "vcpu", "apic", "timer":
		a.ptr = n
	case "ret", "fp", "from_fn", "data":
		a.val, a.ok = n, true
	}
}

func (a *probeArgs) argument(name, value []byte) {
	switch string(name) {
	case "vcpu", "apic", "timer":
		_, _ = readHex(value, &a.ptr)
	case "ret", "fp", "from_fn":
		_, a.ok = readDec(value, &a.val)
	case "data":
		_, a.ok = readHex(value, &a.val)
	}
}
