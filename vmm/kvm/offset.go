//go:build linux && amd64

package kvm

import (
	"errors"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace/kernel"
)

// With KVM_VCPU_TSC_OFFSET a vCPU's TSC offset can be set and asked for. Before, KVM
// chooses it: the TSC of a new vCPU starts at 0, and a TSC that is written is
// taken for a try to synchronize vCPUs if it lies within a second of what the
// last one written would be by now; else it counts from the time of the write
// (arch/x86/kvm/x86.c, kvm_synchronize_tsc). The offset stands in debugfs.

// farTSC is a value of the TSC that is no try to synchronize it with any
// value in use.
const farTSC = 1 << 62

// startOffset makes the guest's TSC the common line, of a new vCPU. Where KVM
// chooses the offset, the line starts where the first vCPU's TSC does.
func (c *CPU) startOffset() error {
	if c.setAttr(0) == nil {
		return nil
	}
	raw, err := c.lookOffset()
	if err != nil {
		return err
	}
	if c.id == 0 {
		c.vm.zero = -raw
	}
	c.offset = clock.Cycles(raw + c.vm.zero)
	return nil
}

// setOffset sets guest TSC minus common line. Without that attribute the guest's TSC
// is off by the time that the write takes; guestOffset tells.
func (c *CPU) setOffset(o clock.Cycles) error {
	if c.setAttr(o) == nil {
		return nil
	}
	// What is written first matches the other vCPUs, if it is near; where that is
	// not what is wanted, a far value in between makes KVM count from the write.
	for _, via := range []uint64{0, farTSC} {
		if via != 0 && !c.WriteMSR(msrTSC, via) || !c.WriteMSR(msrTSC, uint64(c.vm.Now().Add(o))) {
			return errors.New("KVM refuses a value of the TSC")
		}
		raw, err := c.lookOffset()
		if err != nil {
			return err
		}
		c.offset = clock.Cycles(raw + c.vm.zero)
		if off := c.offset - o; -c.nearTSC() < off && off < c.nearTSC() {
			break
		}
	}
	return nil
}

// nearTSC is how far the TSC may be from what was asked for: a millisecond, more
// than a write takes on a busy host.
func (c *CPU) nearTSC() clock.Cycles { return clock.Cycles(c.vm.hz / 1000) }

// setAttr is setOffset by the attribute; KVM wants guest minus
// host TSC.
func (c *CPU) setAttr(o clock.Cycles) error {
	v := uint64(o) - c.vm.zero
	err := deviceAttrU64(c.fd, _KVM_SET_DEVICE_ATTR, _KVM_VCPU_TSC_CTRL, _KVM_VCPU_TSC_OFFSET, &v)
	if err == nil {
		c.offset = o
	}
	return err
}

// askOffset asks KVM for guest minus host TSC.
func (c *CPU) askOffset() (v uint64, err error) {
	err = deviceAttrU64(c.fd, _KVM_GET_DEVICE_ATTR, _KVM_VCPU_TSC_CTRL, _KVM_VCPU_TSC_OFFSET, &v)
	return v, err
}

// lookOffset reads guest minus host TSC in debugfs.
func (c *CPU) lookOffset() (uint64, error) {
	dir, err := c.vm.debugfsDir()
	if err == nil {
		var v int64
		if v, err = debugfsNumber(dir, c.id, "tsc-offset"); err == nil {
			return uint64(v), nil
		}
	}
	return 0, &UnavailableError{What: "this kernel has no interface for a vCPU's TSC offset, and debugfs does not have it either",
		Cure: "mount -t debugfs debugfs /sys/kernel/debug and run as root, or use Linux " + kernel.Capability("KVM_VCPU_TSC_OFFSET") + " or later", Err: err}
}

// guestOffset is guest TSC minus common line as KVM has it: with the LAPIC in
// the kernel a guest that writes its TSC changes it there.
func (c *CPU) guestOffset() clock.Cycles {
	v, err := c.askOffset()
	if err != nil {
		v, err = c.lookOffset()
	}
	if err != nil {
		return c.offset
	}
	return clock.Cycles(v + c.vm.zero)
}
