package lapic

import (
	"fmt"
	"strconv"
	"strings"
)

// bitField is a field of a register for people.
type bitField struct {
	lo, width uint8
	name      string
	// words names the values; an empty word is not said. Without words the value
	// is printed: in hex, or in decimal for fields called vector.
	words []string
}

var (
	fieldVector = bitField{0, 8, "vector", nil}
	fieldMode   = bitField{8, 3, "", DeliveryNames[:]}
	fieldBusy   = bitField{12, 1, "", []string{"", "send pending"}}
	fieldMask   = bitField{16, 1, "", []string{"unmasked", "masked"}}
	fieldsPin   = []bitField{fieldVector, fieldMode, fieldBusy,
		{13, 1, "", []string{"active high", "active low"}}, {14, 1, "", []string{"", "remote IRR"}},
		{15, 1, "", []string{"edge", "level"}}, fieldMask}
	fieldsMode = []bitField{fieldVector, fieldMode, fieldBusy, fieldMask}
)

// registerFields says how values of a register are told; registers without an
// entry are a plain number. ICR and TDCR have a way of their own.
var registerFields = map[Reg][]bitField{
	ID:      {{24, 8, "ID", nil}},
	Version: {{0, 8, "version", nil}, {16, 8, "max LVT", nil}, {24, 1, "", []string{"", "directed EOI"}}},
	TPR:     {{4, 4, "class", nil}, {0, 4, "subclass", nil}},
	PPR:     {{4, 4, "class", nil}, {0, 4, "subclass", nil}},
	LDR:     {{24, 8, "logical ID", nil}},
	DFR: {{28, 4, "", []string{0: "cluster model", 15: "flat model", 1: "invalid", 2: "invalid", 3: "invalid",
		4: "invalid", 5: "invalid", 6: "invalid", 7: "invalid", 8: "invalid", 9: "invalid", 10: "invalid",
		11: "invalid", 12: "invalid", 13: "invalid", 14: "invalid"}}},
	SPIV: {{0, 8, "vector", nil}, {8, 1, "", []string{"software-disabled", "enabled"}},
		{9, 1, "", []string{"", "no focus check"}}, {12, 1, "", []string{"", "no EOI broadcast"}}},
	ESR: {{5, 1, "", []string{"", "sent illegal vector"}}, {6, 1, "", []string{"", "received illegal vector"}},
		{7, 1, "", []string{"", "illegal register address"}}},
	LVTT:       {fieldVector, fieldBusy, fieldMask, {17, 2, "", TimerModeNames[:]}},
	LVTError:   {fieldVector, fieldBusy, fieldMask},
	LVTCMCI:    fieldsMode,
	LVTThermal: fieldsMode,
	LVTPC:      fieldsMode,
	LVT0:       fieldsPin,
	LVT1:       fieldsPin,
	SelfIPI:    {fieldVector},
	ICRLow: {fieldVector, fieldMode, {18, 2, "to", ShorthandNames[:]}, {11, 1, "", []string{"physical", "logical"}},
		fieldBusy, {14, 1, "", []string{"de-assert", "assert"}}, {15, 1, "", []string{"edge", "level"}}},
	ICR2: {{24, 8, "destination", nil}},
}

// baseFields are those of IA32_APIC_BASE.
var baseFields = []bitField{
	{8, 1, "", []string{"", "boot processor"}}, {11, 1, "", []string{"disabled", "enabled"}},
	{10, 1, "", []string{"xAPIC", "x2APIC"}},
}

// Describe says in words what the bits of a register's value mean, as for LVTT
// 0x400ef: "vector 239, unmasked, TSC-deadline". ICR is the 64-bit value with an
// x2APIC destination if its high half is set. Registers that are one number give
// that number in decimal.
func Describe(r Reg, v uint64) string {
	switch fields, ok := registerFields[r]; {
	case r == TDCR:
		return "divide by " + strconv.Itoa(int(Divisor(uint32(v))))
	case r == ICRLow && v>>32 != 0:
		return describe(fields, v) + fmt.Sprintf(", destination %#x", v>>32)
	case ok:
		return describe(fields, v)
	case r >= ISR && r < ESR:
		return describeSet(r, uint32(v))
	}
	return strconv.FormatUint(v, 10)
}

// DescribeBase does it for IA32_APIC_BASE.
func DescribeBase(v uint64) string {
	return describe(baseFields, v) + fmt.Sprintf(", at %#x", v&BaseAddr)
}

func describe(fields []bitField, v uint64) string {
	var parts []string
	for _, f := range fields {
		x := v >> f.lo & (1<<f.width - 1)
		switch {
		case f.words == nil && strings.HasSuffix(f.name, "vector"):
			parts = append(parts, f.name+" "+strconv.FormatUint(x, 10))
		case f.words == nil:
			parts = append(parts, fmt.Sprintf("%s %#x", f.name, x))
		case f.words[x] != "":
			parts = append(parts, strings.TrimSpace(f.name+" "+f.words[x]))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// describeSet lists the vectors of one 32-bit word of ISR, TMR or IRR.
func describeSet(r Reg, v uint32) string {
	var parts []string
	for i := range 32 {
		if v>>i&1 != 0 {
			parts = append(parts, strconv.Itoa(int(r>>4&7)*32+i))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return "vectors " + strings.Join(parts, " ")
}
