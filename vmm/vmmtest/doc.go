// Package vmmtest compares the engines: the same guests and small architecture
// probes must give the same guest-visible results on the model, on KVM with the
// LAPIC in the VMM and on KVM with the LAPIC in the kernel.
//
// Its own tests boot emulated machines (package l1) whose Linux owns a real
// /dev/kvm and run the tests of vmm/kvm and of this package in them. That takes
// minutes, so it has to be asked for. They need an emulator and an unpacked
// kernel and are skipped, with the reason, where one is missing;
// TICKTRAP_REQUIRE_KVM makes that a failure:
//
//	sh vmm/vmmtest/l1/prepare.sh bochs
//	TICKTRAP_REQUIRE_KVM=1 go test -timeout 30m ./vmm/vmmtest -run TestOnSVM
//	TICKTRAP_REQUIRE_KVM=1 TICKTRAP_VMX=1 go test -timeout 30m ./vmm/vmmtest -run TestOnVMX
package vmmtest
