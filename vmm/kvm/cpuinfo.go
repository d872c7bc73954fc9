package kvm

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// cpuModel is the CPU's name as /proc/cpuinfo has it.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer f.Close()
	return parseCPUInfo(f).model
}

// cpuInfo is what matters of /proc/cpuinfo's first processor.
type cpuInfo struct {
	model string
	flags map[string]bool
}

func parseCPUInfo(r io.Reader) cpuInfo {
	c := cpuInfo{model: "unknown CPU", flags: map[string]bool{}}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		name, value, ok := strings.Cut(s.Text(), ":")
		switch name = strings.TrimSpace(name); {
		case !ok:
			if len(c.flags) > 0 {
				return c // end of the first processor
			}
		case name == "model name":
			c.model = strings.TrimSpace(value)
		case name == "flags":
			for _, f := range strings.Fields(value) {
				c.flags[f] = true
			}
		}
	}
	return c
}
