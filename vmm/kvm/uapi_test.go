package kvm

import (
	"testing"
	"unsafe"
)

func TestIoctlNumbersMatchHeader(t *testing.T) {
	tests := []struct {
		name string
		got  uintptr
		want uintptr // literal value from linux/kvm.h on x86-64
	}{
		{"KVM_GET_API_VERSION", _KVM_GET_API_VERSION, 0xAE00},
		{"KVM_CREATE_VM", _KVM_CREATE_VM, 0xAE01},
		{"KVM_GET_MSR_INDEX_LIST", _KVM_GET_MSR_INDEX_LIST, 0xC004AE02},
		{"KVM_CHECK_EXTENSION", _KVM_CHECK_EXTENSION, 0xAE03},
		{"KVM_GET_VCPU_MMAP_SIZE", _KVM_GET_VCPU_MMAP_SIZE, 0xAE04},
		{"KVM_GET_SUPPORTED_CPUID", _KVM_GET_SUPPORTED_CPUID, 0xC008AE05},
		{"KVM_CREATE_VCPU", _KVM_CREATE_VCPU, 0xAE41},
		{"KVM_SET_USER_MEMORY_REGION", _KVM_SET_USER_MEMORY_REGION, 0x4020AE46},
		{"KVM_SET_TSS_ADDR", _KVM_SET_TSS_ADDR, 0xAE47},
		{"KVM_SET_IDENTITY_MAP_ADDR", _KVM_SET_IDENTITY_MAP_ADDR, 0x4008AE48},
		{"KVM_CREATE_IRQCHIP", _KVM_CREATE_IRQCHIP, 0xAE60},
		{"KVM_REINJECT_CONTROL", _KVM_REINJECT_CONTROL, 0xAE71},
		{"KVM_IRQ_LINE", _KVM_IRQ_LINE, 0x4008AE61},
		{"KVM_GET_IRQCHIP", _KVM_GET_IRQCHIP, 0xC208AE62},
		{"KVM_SET_IRQCHIP", _KVM_SET_IRQCHIP, 0x8208AE63},
		{"KVM_CREATE_PIT2", _KVM_CREATE_PIT2, 0x4040AE77},
		{"KVM_SET_CLOCK", _KVM_SET_CLOCK, 0x4030AE7B},
		{"KVM_GET_CLOCK", _KVM_GET_CLOCK, 0x8030AE7C},
		{"KVM_GET_PIT2", _KVM_GET_PIT2, 0x8070AE9F},
		{"KVM_SET_PIT2", _KVM_SET_PIT2, 0x4070AEA0},
		{"KVM_ENABLE_CAP", _KVM_ENABLE_CAP, 0x4068AEA3},
		{"KVM_X86_SET_MSR_FILTER", _KVM_X86_SET_MSR_FILTER, 0x4188AEC6},
		{"KVM_RUN", _KVM_RUN, 0xAE80},
		{"KVM_GET_REGS", _KVM_GET_REGS, 0x8090AE81},
		{"KVM_SET_REGS", _KVM_SET_REGS, 0x4090AE82},
		{"KVM_GET_SREGS", _KVM_GET_SREGS, 0x8138AE83},
		{"KVM_SET_SREGS", _KVM_SET_SREGS, 0x4138AE84},
		{"KVM_INTERRUPT", _KVM_INTERRUPT, 0x4004AE86},
		{"KVM_GET_MSRS", _KVM_GET_MSRS, 0xC008AE88},
		{"KVM_SET_MSRS", _KVM_SET_MSRS, 0x4008AE89},
		{"KVM_GET_FPU", _KVM_GET_FPU, 0x81A0AE8C},
		{"KVM_SET_FPU", _KVM_SET_FPU, 0x41A0AE8D},
		{"KVM_GET_LAPIC", _KVM_GET_LAPIC, 0x8400AE8E},
		{"KVM_SET_LAPIC", _KVM_SET_LAPIC, 0x4400AE8F},
		{"KVM_SET_CPUID2", _KVM_SET_CPUID2, 0x4008AE90},
		{"KVM_GET_MP_STATE", _KVM_GET_MP_STATE, 0x8004AE98},
		{"KVM_SET_MP_STATE", _KVM_SET_MP_STATE, 0x4004AE99},
		{"KVM_NMI", _KVM_NMI, 0xAE9A},
		{"KVM_GET_VCPU_EVENTS", _KVM_GET_VCPU_EVENTS, 0x8040AE9F},
		{"KVM_SET_VCPU_EVENTS", _KVM_SET_VCPU_EVENTS, 0x4040AEA0},
		{"KVM_GET_DEBUGREGS", _KVM_GET_DEBUGREGS, 0x8080AEA1},
		{"KVM_SET_DEBUGREGS", _KVM_SET_DEBUGREGS, 0x4080AEA2},
		{"KVM_GET_TSC_KHZ", _KVM_GET_TSC_KHZ, 0xAEA3},
		{"KVM_GET_XSAVE", _KVM_GET_XSAVE, 0x9000AEA4},
		{"KVM_SET_XSAVE", _KVM_SET_XSAVE, 0x5000AEA5},
		{"KVM_GET_XCRS", _KVM_GET_XCRS, 0x8188AEA6},
		{"KVM_SET_XCRS", _KVM_SET_XCRS, 0x4188AEA7},
		{"KVM_GET_SREGS2", _KVM_GET_SREGS2, 0x8140AECC},
		{"KVM_SET_SREGS2", _KVM_SET_SREGS2, 0x4140AECD},
		{"KVM_GET_STATS_FD", _KVM_GET_STATS_FD, 0xAECE},
		{"KVM_SET_DEVICE_ATTR", _KVM_SET_DEVICE_ATTR, 0x4018AEE1},
		{"KVM_GET_DEVICE_ATTR", _KVM_GET_DEVICE_ATTR, 0x4018AEE2},
		{"KVM_HAS_DEVICE_ATTR", _KVM_HAS_DEVICE_ATTR, 0x4018AEE3},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s = %#x, want %#x", tt.name, tt.got, tt.want)
		}
	}
}

func TestStructsHaveKernelLayout(t *testing.T) {
	var (
		run  runPage
		io   exitIO
		mmio exitMMIO
		msr  exitMSR
		fail exitFailEntry
		intl exitInternal
		ev   vcpuEvents
		sr   kvmSregs
		sr2  kvmSregs2
		seg  kvmSegment
		fpu  kvmFPU
		cap  enableCap
		filt msrFilter
		clk  clockData
		xc   xcrs
		ms   msrs
		cp   cpuid2
	)
	tests := []struct {
		name string
		got  uintptr
		want uintptr
	}{
		{"kvm_run.exit_reason", unsafe.Offsetof(run.ExitReason), 8},
		{"kvm_run.ready_for_interrupt_injection", unsafe.Offsetof(run.ReadyForInterruptInjection), 12},
		{"kvm_run.if_flag", unsafe.Offsetof(run.IfFlag), 13},
		{"kvm_run.cr8", unsafe.Offsetof(run.CR8), 16},
		{"kvm_run.apic_base", unsafe.Offsetof(run.APICBase), 24},
		{"kvm_run union", unsafe.Offsetof(run.Exit), 32},
		{"kvm_run.kvm_valid_regs", unsafe.Offsetof(run.ValidRegs), 288},
		{"kvm_run.kvm_dirty_regs", unsafe.Offsetof(run.DirtyRegs), 296},
		{"kvm_run.s.regs", unsafe.Offsetof(run.Sync), 304},
		{"io.count", unsafe.Offsetof(io.Count), 4},
		{"io.data_offset", unsafe.Offsetof(io.DataOffset), 8},
		{"mmio.len", unsafe.Offsetof(mmio.Len), 16},
		{"mmio.is_write", unsafe.Offsetof(mmio.IsWrite), 20},
		{"msr.reason", unsafe.Offsetof(msr.Reason), 8},
		{"msr.index", unsafe.Offsetof(msr.Index), 12},
		{"msr.data", unsafe.Offsetof(msr.Data), 16},
		{"fail_entry.cpu", unsafe.Offsetof(fail.CPU), 8},
		{"internal.data", unsafe.Offsetof(intl.Data), 8},
		{"vcpu_events.interrupt", unsafe.Offsetof(ev.InterruptInjected), 8},
		{"vcpu_events.nmi", unsafe.Offsetof(ev.NMIInjected), 12},
		{"vcpu_events.sipi_vector", unsafe.Offsetof(ev.SIPIVector), 16},
		{"vcpu_events.flags", unsafe.Offsetof(ev.Flags), 20},
		{"vcpu_events.smi", unsafe.Offsetof(ev.SMISMM), 24},
		{"vcpu_events.exception_has_payload", unsafe.Offsetof(ev.ExceptionHasPayload), 55},
		{"vcpu_events", unsafe.Sizeof(ev), 64},
		{"sregs.gdt", unsafe.Offsetof(sr.GDT), 192},
		{"sregs.cr0", unsafe.Offsetof(sr.CR0), 224},
		{"sregs.apic_base", unsafe.Offsetof(sr.APICBase), 272},
		{"sregs2.flags", unsafe.Offsetof(sr2.Flags), 280},
		{"segment.type", unsafe.Offsetof(seg.Type), 14},
		{"segment", unsafe.Sizeof(seg), 24},
		{"fpu.fcw", unsafe.Offsetof(fpu.FCW), 128},
		{"fpu.xmm", unsafe.Offsetof(fpu.XMM), 152},
		{"fpu.mxcsr", unsafe.Offsetof(fpu.MXCSR), 408},
		{"enable_cap.args", unsafe.Offsetof(cap.Args), 8},
		{"msr_filter.ranges", unsafe.Offsetof(filt.Ranges), 8},
		{"msr_filter_range.bitmap", unsafe.Offsetof(filt.Ranges[0].Bitmap), 16},
		{"clock_data.host_tsc", unsafe.Offsetof(clk.HostTSC), 24},
		{"xcrs.xcrs", unsafe.Offsetof(xc.XCRs), 8},
		{"msrs.entries", unsafe.Offsetof(ms.Entries), 8},
		{"msr_entry.data", unsafe.Offsetof(ms.Entries[0].Data), 8},
		{"cpuid2.entries", unsafe.Offsetof(cp.Entries), 8},
		{"cpuid_entry2", unsafe.Sizeof(cp.Entries[0]), 40},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s at %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}
