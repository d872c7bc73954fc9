package ftrace

import "bytes"

// meta takes lines that are no events: headers, notes about lost events and
// about buffers. known is true if b was one; gap if events were lost before it.
func (p *parser) meta(b []byte) (known, gap bool, lost uint64) {
	switch {
	case b[0] == '#':
		lost = overwritten(b)
		return true, lost > 0, lost
	case bytes.HasPrefix(b, []byte("cpus=")):
		p.facts.Printer = TraceCmd
	case bytes.HasPrefix(b, []byte("version = ")):
	case bytes.HasPrefix(b, []byte("CPU:")):
		gap, lost = lostOnCPU(b)
	case bytes.HasPrefix(b, []byte("Lost events: ")):
		readDec(b[len("Lost events: "):], &lost)
		gap = true
	default:
		return false, false, 0
	}
	return true, gap, lost
}

// overwritten reads the two numbers of "entries-in-buffer/entries-written": where
// they differ, the ring buffer has overwritten the rest.
func overwritten(b []byte) uint64 {
	const key = "entries-in-buffer/entries-written: "
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return 0
	}
	var in, written uint64
	rest := b[i+len(key):]
	n, ok := readDec(rest, &in)
	if !ok || n >= len(rest) || rest[n] != '/' {
		return 0
	}
	if _, ok := readDec(rest[n+1:], &written); ok && written > in {
		return written - in
	}
	return 0
}

// lostOnCPU reads "CPU:3 [LOST 128 EVENTS]" (ftrace), "CPU:3 [128 EVENTS DROPPED]"
// and "CPU:3 [EVENTS DROPPED]" (trace-cmd).
func lostOnCPU(b []byte) (gap bool, n uint64) {
	if !bytes.Contains(b, []byte("LOST")) && !bytes.Contains(b, []byte("DROPPED")) {
		return false, 0
	}
	for i := bytes.IndexByte(b, '['); i >= 0 && i < len(b); i++ {
		if b[i] >= '0' && b[i] <= '9' {
			readDec(b[i:], &n)
			break
		}
	}
	return true, n
}
