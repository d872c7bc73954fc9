package kvm

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// failure says in one sentence why KVM_RUN could not go on.
func failure(x *vmm.Exit) string {
	switch {
	case x.Reason == vmm.ExitFailEntry:
		return fmt.Sprintf("the CPU refused to enter the guest at %#x (hardware reason %#x): its state is not valid; "+
			"check the guest's boot state and the last register change", x.RIP, x.Data)
	case x.Reason == vmm.ExitInternal && x.Addr&internalRunErrno != 0:
		return fmt.Sprintf("KVM_RUN failed at %#x with errno %d: see the kernel log", x.RIP, x.Data)
	case x.Reason == vmm.ExitInternal && x.Addr&internalReason != 0:
		return fmt.Sprintf("KVM_RUN returned at %#x with exit reason %d, which ticktrap does not know", x.RIP,
			x.Addr&^internalReason)
	case x.Reason == vmm.ExitInternal:
		return fmt.Sprintf("KVM gave up at %#x: %s", x.RIP, internalErrors[min(x.Addr, 4)])
	case x.Reason == vmm.ExitTriple:
		return fmt.Sprintf("the guest shut down at %#x (triple fault)", x.RIP)
	}
	return fmt.Sprintf("unexpected exit %d at %#x", x.Reason, x.RIP)
}

// internalErrors are the KVM_INTERNAL_ERROR_* numbers.
var internalErrors = [...]string{"internal error without a suberror",
	"an instruction that its emulator lacks (on CPUs without unrestricted guest real mode is emulated)",
	"simultaneous exceptions that it cannot deliver", "a VM-exit while it delivered an event",
	"an exit reason that it does not know"}

// internalRunErrno marks an ExitInternal whose Data is KVM_RUN's errno,
// internalReason one for an exit reason of KVM_RUN that has no translation; the
// low bits are the reason.
const (
	internalRunErrno = 1 << 32
	internalReason   = 1 << 33
)
