package kernel

// capabilities are KVM's capabilities by the release that brought them
// (Documentation/virt/kvm/api.rst and include/uapi/linux/kvm.h of the releases).
var capabilities = map[string]string{
	"KVM_CAP_IRQCHIP": "2.6.20", "KVM_CAP_USER_MEMORY": "2.6.25", "KVM_CAP_MP_STATE": "2.6.25", "KVM_CAP_PIT2": "2.6.31",
	"KVM_CAP_VCPU_EVENTS": "2.6.33", "KVM_CAP_HYPERV_SYNIC": "4.5", "KVM_CAP_IMMEDIATE_EXIT": "4.11",
	"KVM_CAP_SYNC_REGS": "4.17", "KVM_CAP_X86_DISABLE_EXITS": "4.17", "KVM_CAP_X86_USER_SPACE_MSR": "5.10",
	"KVM_CAP_X86_MSR_FILTER": "5.10", "KVM_CAP_HALT_POLL": "5.11", "KVM_CAP_BINARY_STATS_FD": "5.14",
	"KVM_VCPU_TSC_OFFSET": "5.16",
}

// Capability returns the release that brought a capability or an attribute of
// KVM's interface; empty if it is not in the table.
func Capability(name string) string { return capabilities[name] }
