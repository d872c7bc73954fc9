package kvm

import (
	"io/fs"

	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// Vendor is the module that runs guests.
type Vendor uint8

// The vendors. VendorUnknown is the zero value.
const (
	VendorUnknown Vendor = iota
	Intel                // kvm_intel
	AMD                  // kvm_amd
	PVM                  // kvm_pvm: runs only guests written for it
)

// vendorModules are the names under /sys/module, by Vendor.
var vendorModules = [...]string{VendorUnknown: "", Intel: "kvm_intel", AMD: "kvm_amd", PVM: "kvm_pvm"}

// String returns the module's name.
func (v Vendor) String() string {
	if v == VendorUnknown {
		return "unknown"
	}
	return vendorModules[v]
}

// history is the vendor as the history of kernels knows it.
func (v Vendor) history() kernel.Vendor {
	if v == AMD {
		return kernel.AMD
	}
	return kernel.Intel
}

// findVendor looks for the loaded vendor module; modules is /sys/module.
func findVendor(modules fs.FS) Vendor {
	for v := Intel; v <= PVM; v++ {
		if _, err := fs.Stat(modules, vendorModules[v]); err == nil {
			return v
		}
	}
	return VendorUnknown
}

func (v Vendor) unusable() error {
	switch v {
	case PVM:
		return &UnavailableError{What: "this machine's KVM is kvm_pvm, which runs only guests written for it",
			Cure: "use a machine with VT-x or AMD-V (kvm_intel or kvm_amd), or --engine=model"}
	case VendorUnknown:
		return &UnavailableError{What: "neither kvm_intel nor kvm_amd is loaded",
			Cure: "load the one for this CPU with modprobe, or --engine=model"}
	}
	return nil
}

// WithoutNextRIP is said of kvm_amd where the CPU gives no next RIP, which the
// fastpath needs.
const WithoutNextRIP = "without nrips"
