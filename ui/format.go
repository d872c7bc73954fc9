package ui

import (
	"math"
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// group3 writes n with a comma between groups of three digits.
func group3(n uint64) string {
	s := strconv.FormatUint(n, 10)
	if len(s) <= 3 {
		return s
	}
	var buf [27]byte
	out := buf[:0]
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, s[i])
	}
	return string(out)
}

// signed3 is group3 with a sign: "+1,234", "−88", "0".
func signed3(n int64) string {
	switch {
	case n > 0:
		return "+" + group3(uint64(n))
	case n < 0:
		return "−" + group3(uint64(-n))
	}
	return "0"
}

// signedIn is signed3, shortened where that is wider than w: "+129M".
func signedIn(w int, n int64) string {
	s := signed3(n)
	switch {
	case textWidth(s) <= w:
		return s
	case n < 0:
		return "−" + short(uint64(-n))
	}
	return "+" + short(uint64(n))
}

// plain3 is group3 of a signed number, without a plus sign.
func plain3(n int64) string {
	if n < 0 {
		return "−" + group3(uint64(-n))
	}
	return group3(uint64(n))
}

// duration writes nanoseconds in three or four significant digits: "412 ns",
// "41.2 us", "1.204 ms", "2.000 s".
func duration(ns clock.Nanos) string {
	neg := ""
	if ns < 0 {
		neg, ns = "−", -ns
	}
	v := float64(ns)
	switch {
	case v < 1e3:
		return neg + strconv.FormatInt(int64(ns), 10) + " ns"
	case v < 1e6:
		return neg + digits4(v/1e3) + " us"
	case v < 1e9:
		return neg + digits4(v/1e6) + " ms"
	}
	return neg + digits4(v/1e9) + " s"
}

func digits4(v float64) string {
	prec := 3
	if v >= 10 {
		prec = 2
	}
	if v >= 100 {
		prec = 1
	}
	if v >= 1000 {
		prec = 0
	}
	return strconv.FormatFloat(v, 'f', prec, 64)
}

// cyclesToNanos converts a signed distance at frequency f; 0 if f is 0.
func cyclesToNanos(f clock.Hz, c clock.Cycles) clock.Nanos {
	neg := c < 0
	if neg {
		c = -c
	}
	ns, ok := f.ToNanos(clock.TSC(c))
	if !ok {
		return 0
	}
	if neg {
		return -ns
	}
	return ns
}

// short writes a count in at most five characters: "812", "12.4k", "3.10M".
func short(n uint64) string {
	v := float64(n)
	switch {
	case n < 10000:
		return strconv.FormatUint(n, 10)
	case v < 999.5e3: // what rounds to 1000k is 1.00M
		return digits3(v/1e3) + "k"
	case v < 999.5e6:
		return digits3(v/1e6) + "M"
	}
	return digits3(v/1e9) + "G"
}

func digits3(v float64) string {
	prec := 2
	if v >= 10 {
		prec = 1
	}
	if v >= 100 {
		prec = 0
	}
	return strconv.FormatFloat(v, 'f', prec, 64)
}

// percent writes part/whole with one decimal, "–" if there is no whole.
func percent(part, whole uint64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// hex writes v as 0x… without leading zeros.
func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// hex16 writes v with all sixteen digits.
func hex16(v uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[15-i] = digits[v>>(4*i)&15]
	}
	return string(b[:])
}

// virtualTime writes a position as seconds with the given frequency:
// "1.234 567 890 s".
func virtualTime(f clock.Hz, t clock.TSC) string {
	ns, ok := f.ToNanos(t)
	if !ok {
		return "? s"
	}
	frac := strconv.FormatInt(int64(ns)%1e9+1e9, 10)[1:]
	return group3(uint64(ns)/1e9) + "." + frac[:3] + " " + frac[3:6] + " " + frac[6:] + " s"
}

// speed writes guest time per wall time.
func speed(s float64) string {
	switch {
	case s <= 0:
		return "max"
	case s >= 100:
		return strconv.FormatFloat(s, 'f', 0, 64) + "×"
	case s >= 0.0001:
		return strconv.FormatFloat(s, 'g', 2, 64) + "×"
	}
	return "1/" + group3(uint64(math.Round(1/s))) + "×"
}

// bytesSize writes a size: "812 B", "12.4 kB".
func bytesSize(n int64) string {
	if n < 10000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	s := short(uint64(n))
	return s[:len(s)-1] + " " + s[len(s)-1:] + "B"
}
