package lapic

// Describe says in words what the bits of a register's value mean.
func Describe(r Reg, v uint64) string { return "" }

// DescribeBase does it for IA32_APIC_BASE.
func DescribeBase(v uint64) string { return "" }
