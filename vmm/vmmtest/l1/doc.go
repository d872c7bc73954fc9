// Package l1 boots an emulated machine whose Linux owns a real /dev/kvm and runs
// programs in it: kvm-amd under QEMU's TCG, kvm-intel under Bochs. It serves
// tests on machines without KVM of their own.
//
// "L1" is the Linux of the emulated machine: the host that KVM sees. Guests of
// the tests run inside it. Kernels are packaged ones, unpacked into a directory
// (see prepare.sh); nothing of them is installed.
//
// Everything here may be used from one goroutine at a time.
package l1
