package ftrace

import "bytes"

// Printer is the program that printed a trace.
type Printer uint8

// The printers. AnyPrinter is "not known" in a report and "any" in a row.
const (
	AnyPrinter Printer = iota
	Kernel             // trace, trace_pipe, or trace-cmd report -N
	TraceCmd           // trace-cmd report with its plugins
	Perf               // perf script
	Bare               // pasted lines without task and CPU
	TraceDat           // the file of trace-cmd record
)

var printerNames = [...]string{"unknown", "the kernel", "trace-cmd report", "perf script", "bare lines", "trace-cmd record"}

// String names the printer as reports do.
func (p Printer) String() string { return printerNames[p] }

// Unit is what a time stamp counts.
type Unit uint8

// The units.
const (
	NoUnit Unit = iota
	Nanos       // seconds with a fraction: local, global, mono, perf, …
	Cycles      // an integer: x86-tsc
)

// rawLine is a line taken apart. The slices point into the line.
type rawLine struct {
	comm  []byte
	pid   int32  // −1 if not printed
	file  []byte // of the merged files the one it is from, nil if not printed
	tgid  int32  // process of the thread, 0 if not printed
	cpu   int16  // −1 if not printed
	flags []byte
	unit  Unit
	ts    uint64
	event []byte
	body  []byte
	// bodyAt is the column of the body, counted from 0.
	bodyAt  int
	printer Printer
}

// irq reports whether the line was printed from interrupt context.
func (l *rawLine) irq() bool { return len(l.flags) > 2 && (l.flags[2] == 'h' || l.flags[2] == 'H') }

// parseLine takes a line apart. ok is false if it has no event; col is then the
// column that could not be read.
//
//	kernel     comm-pid    [cpu] flags ts: event: body
//	trace-cmd  comm-pid    [cpu] flags ts: event: body      (flags optional)
//	  -l       comm-pid    cpuflags ts: event: body
//	perf       comm pid/tid [cpu] ts: period system:event: body
//	bare       ts: event: body   or   event: body
func parseLine(b []byte, l *rawLine) (ok bool, col int) {
	*l = rawLine{pid: -1, cpu: -1}
	whole := len(b)
	b = unquote(b)
	if ok, col = l.parse(b); !ok {
		if l.perfTrace(b) {
			return true, 0
		}
		col += whole - len(b)
	}
	l.bodyAt += whole - len(b)
	return ok, col
}

// perfTrace reads a line of perf trace: "12.345 comm/tid system:event(fields)", the
// time in milliseconds, after which the length of a system call may stand.
func (l *rawLine) perfTrace(b []byte) bool {
	*l = rawLine{pid: -1, cpu: -1, printer: Perf}
	rest, _ := trimLeft(b, 0)
	stamp := token(rest)
	dot := bytes.IndexByte(stamp, '.')
	if dot <= 0 || len(stamp)-dot != 4 || !allDigits(stamp[:dot]) || !allDigits(stamp[dot+1:]) {
		return false
	}
	ns, unit, ok := parseStamp(stamp)
	if !ok {
		return false
	}
	l.unit = unit
	l.ts = ns / 1000 // parsed as seconds
	rest = rest[len(stamp):]
	open := bytes.IndexByte(rest, '(')
	if bytes.HasPrefix(bytes.TrimSpace(rest), []byte("(")) { // ( 0.010 ms):
		end := bytes.Index(rest, []byte("):"))
		if end < 0 {
			return false
		}
		rest = rest[end+2:]
		open = bytes.IndexByte(rest, '(')
	}
	if open < 0 || rest[len(rest)-1] != ')' {
		return false
	}
	name := rest[:open]
	from := bytes.LastIndexByte(name, ' ')
	colon := bytes.LastIndexByte(name, ':')
	if from < 0 || colon < from || !isName(name[colon+1:]) {
		return false
	}
	l.event, l.body = name[colon+1:], rest[open+1:len(rest)-1]
	task := bytes.TrimSpace(name[:from])
	if i := bytes.LastIndexByte(task, '/'); i >= 0 && allDigits(task[i+1:]) {
		l.comm, l.pid = task[:i], atoi(task[i+1:])
	}
	return true
}

func (l *rawLine) parse(b []byte) (ok bool, col int) {
	head := 0
	if at, end, cpu, found := findCPU(b); found {
		l.cpu = cpu
		l.task(b[:at])
		head = end
	} else if at, found := findStamp(b); found {
		l.latencyHead(b[:at])
		head = at
	} else {
		l.printer = Bare
	}
	rest, at := trimLeft(b[head:], head)
	if n := latencyStamp(rest); n > 0 {
		if l.ts, l.unit, ok = microseconds(rest[:n]); !ok {
			return false, at
		}
		rest, at = trimLeft(rest[n:], at+n)
		return l.eventAndBody(rest, at)
	}
	if l.cpu >= 0 && len(rest) > 0 && !startsStamp(rest) {
		tok := token(rest)
		l.flags = tok
		rest, at = trimLeft(rest[len(tok):], at+len(tok))
	}
	if startsStamp(rest) {
		tok := token(rest)
		if l.ts, l.unit, ok = parseStamp(tok[:len(tok)-1]); !ok {
			return false, at
		}
		rest, at = trimLeft(rest[len(tok):], at+len(tok))
		if len(rest) > 1 && rest[0] == '(' && rest[1] == '+' { // --ts-diff
			tok := token(rest)
			rest, at = trimLeft(rest[len(tok):], at+len(tok))
		}
	} else if l.printer != Bare {
		return false, at
	}
	if l.printer == AnyPrinter && l.pid < 0 && l.cpu < 0 && len(l.comm) == 0 {
		l.printer = Bare
	}
	return l.eventAndBody(rest, at)
}

// eventAndBody takes "[period] [system:]event: body". A period is perf's.
func (l *rawLine) eventAndBody(rest []byte, at int) (bool, int) {
	if tok := token(rest); allDigits(tok) {
		rest, at = trimLeft(rest[len(tok):], at+len(tok))
	}
	tok := token(rest)
	if len(tok) < 2 || tok[len(tok)-1] != ':' {
		return false, at
	}
	name := tok[:len(tok)-1]
	if i := bytes.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
		l.printer = Perf
	}
	if len(name) == 0 || !isName(name) {
		return false, at
	}
	l.event = name
	body := rest[len(tok):]
	at += len(tok)
	padded := len(body) > 1 && body[0] == ' ' && body[1] == ' '
	l.body, l.bodyAt = trimLeft(body, at)
	if l.printer == AnyPrinter {
		l.printer = Kernel
		if padded {
			l.printer = TraceCmd // names are padded to a column
		}
	}
	l.body = bytes.TrimRight(l.body, " \t\r\n")
	return true, 0
}

// findCPU finds "[digits]" followed by a blank: the CPU. Task names may hold
// brackets, so the rest must go on like a trace line.
func findCPU(b []byte) (at, end int, cpu int16, ok bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '[' || i+2 >= len(b) {
			continue
		}
		n, j := 0, i+1
		for j < len(b) && b[j] >= '0' && b[j] <= '9' && n < 1<<14 {
			n = n*10 + int(b[j]-'0')
			j++
		}
		if j > i+1 && j+1 < len(b) && b[j] == ']' && (b[j+1] == ' ' || b[j+1] >= '0' && b[j+1] <= '9') {
			return i, j + 1, int16(min(n, 1<<15-1)), true
		}
	}
	return 0, 0, 0, false
}

// findStamp finds the first token "number:" of a line without a CPU.
func findStamp(b []byte) (at int, ok bool) {
	for i := 0; i < len(b); {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		tok := token(b[i:])
		if startsStamp(tok) || latencyStamp(b[i:]) > 0 {
			return i, true
		}
		if len(tok) > 0 && tok[len(tok)-1] == ':' && !bytes.HasSuffix(tok, []byte(".dat:")) {
			return 0, false // an event's name: there is no time stamp
		}
		i += len(tok)
		if len(tok) == 0 {
			break
		}
	}
	return 0, false
}

// task reads what stands before the CPU: "comm-pid" or perf's "comm pid[/tid]",
// perhaps after trace-cmd's "file.dat: ".
func (l *rawLine) task(b []byte) {
	b = bytes.TrimSpace(b)
	if i := bytes.Index(b, []byte(".dat: ")); i >= 0 && bytes.IndexByte(b[:i], ' ') < 0 {
		l.printer = TraceCmd
		l.file = b[:i+len(".dat")]
		b = bytes.TrimSpace(b[i+len(".dat: "):])
	}
	i := len(b)
	for i > 0 && b[i-1] >= '0' && b[i-1] <= '9' {
		i--
	}
	if i == len(b) || i == 0 {
		l.comm = b
		return
	}
	l.pid = atoi(b[i:])
	switch b[i-1] {
	case '-':
		l.comm = bytes.TrimSpace(b[:i-1])
	case '/': // perf: pid/tid; the thread is what counts
		j := bytes.LastIndexByte(b[:i-1], ' ')
		if p := b[max(j+1, 0) : i-1]; allDigits(p) {
			l.tgid = max(0, atoi(p))
		}
		l.comm, l.printer = bytes.TrimSpace(b[:max(j, 0)]), Perf
	default:
		l.comm, l.printer = bytes.TrimSpace(b[:i]), Perf
	}
}

// latencyHead reads the head of a line without a CPU in brackets: "comm-pid
// 0d.h1." of trace-cmd report -l, or perf's "comm" alone.
func (l *rawLine) latencyHead(b []byte) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return
	}
	i := bytes.LastIndexByte(b, ' ')
	tail := b[i+1:]
	n := 0
	for n < len(tail) && tail[n] >= '0' && tail[n] <= '9' {
		n++
	}
	if i > 0 && n > 0 && n < len(tail) && len(tail)-n >= 4 && n <= 4 {
		l.cpu, l.flags, l.printer = int16(atoi(tail[:n])), tail[n:], TraceCmd
		l.task(b[:i])
		l.printer = TraceCmd
		return
	}
	l.task(b)
	l.printer = Perf
}

// unquote takes off what mail and the kernel's log put before a line: "> ", and
// "[   12.345678] ", which a syslog's "host kernel: " may precede.
func unquote(b []byte) []byte {
	for len(b) > 0 && b[0] == '>' {
		b = bytes.TrimPrefix(b[1:], []byte(" "))
	}
	from := 0
	if i := bytes.Index(b, []byte("kernel: [")); i >= 0 {
		from = i + len("kernel: ")
	}
	if from >= len(b) || b[from] != '[' {
		return b
	}
	i, dot := from+1, false
	for ; i < len(b) && (b[i] == ' ' || b[i] >= '0' && b[i] <= '9' || b[i] == '.'); i++ {
		dot = dot || b[i] == '.'
	}
	if dot && i+1 < len(b) && b[i] == ']' && b[i+1] == ' ' {
		return b[i+2:]
	}
	return b
}

// latencyStamp is the length of a time as the latency format prints it: "123us : ",
// with a mark for long gaps before the colon; 0 if b does not begin with one.
func latencyStamp(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == 0 || !bytes.HasPrefix(b[i:], []byte("us")) {
		return 0
	}
	for i += len("us"); i < len(b) && bytes.IndexByte([]byte(" +!#*@$"), b[i]) >= 0; i++ {
	}
	if i >= len(b) || b[i] != ':' {
		return 0
	}
	return i + 1
}

// microseconds reads the time that latencyStamp found.
func microseconds(b []byte) (ns uint64, u Unit, ok bool) {
	n, ok := readDec(b, &ns)
	if !ok || n == 0 || ns > (1<<64-1)/1000 {
		return 0, NoUnit, false
	}
	return ns * 1000, Nanos, true
}

func token(b []byte) []byte {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return b[:i]
	}
	return b
}

func trimLeft(b []byte, at int) ([]byte, int) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return b[i:], at + i
}

// startsStamp reports whether b begins with digits, perhaps a dot and digits,
// and a colon.
func startsStamp(b []byte) bool {
	i, dots := 0, 0
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
		if b[i] == '.' {
			dots++
		}
		i++
	}
	return i > 0 && i < len(b) && b[i] == ':' && dots <= 1 && b[0] != '.' &&
		(i+1 == len(b) || b[i+1] == ' ' || b[i+1] == '\t')
}

// parseStamp reads a time stamp: nanoseconds if it has a fraction, else cycles.
// ok is false if it overflows.
func parseStamp(b []byte) (v uint64, u Unit, ok bool) {
	frac := -1
	for _, c := range b {
		if c == '.' {
			frac = 0
			continue
		}
		if frac >= 0 {
			if frac == 9 {
				continue
			}
			frac++
		}
		if v > (1<<64-1-9)/10 {
			return 0, NoUnit, false
		}
		v = v*10 + uint64(c-'0')
	}
	if frac < 0 {
		return v, Cycles, true
	}
	for ; frac < 9; frac++ {
		if v > (1<<64-1)/10 {
			return 0, NoUnit, false
		}
		v *= 10
	}
	return v, Nanos, true
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

func isName(b []byte) bool {
	for _, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

// atoi reads a decimal number that fits 31 bits; −1 if it does not.
func atoi(b []byte) int32 {
	n := int64(0)
	for _, c := range b {
		n = n*10 + int64(c-'0')
		if n > 1<<31-1 {
			return -1
		}
	}
	return int32(n)
}
