package ftrace

import "bytes"

// parser makes records of lines of text.
type parser struct {
	strict bool
	fixed  bool // the kernel is known, so forms do not narrow it down
	line   int
	last   []uint8 // the form that fitted last, by event: it is tried first
	facts  *Facts
	only   string // the file of a merged report whose lines count; empty: all
	// brief makes a survey's parser: bodies are read of the first records of each
	// event, which tell the kernel, and of the events that the survey looks at.
	brief  bool
	counts []uint32
}

func newParser(f *Facts, o Options) *parser {
	return &parser{strict: o.Strict, fixed: o.Kernel != 0, facts: f, only: o.only, last: make([]uint8, len(events().byID))}
}

// newBrief returns the parser of a survey.
func newBrief(f *Facts, o Options) *parser {
	p := newParser(f, o)
	p.brief, p.counts = true, make([]uint32, len(p.last))
	return p
}

// briefBodies is how many bodies of an event are read to tell the kernel.
const briefBodies = 256

// parse takes the next line. ok is false if it holds no record; bad says what
// cannot be read. The record points into b.
func (p *parser) parse(b []byte, r *record) (ok bool, bad *ParseError) {
	p.line++
	b = bytes.TrimRight(b, " \t\r\n")
	r.line, r.gap = p.line, false
	text := unquote(b)
	if len(text) == 0 {
		return false, nil
	}
	if known, gap, lost := p.meta(text); known {
		r.gap, r.lost = gap, lost
		return gap, nil
	}
	if ok, col := parseLine(b, &r.rawLine); !ok {
		return false, p.bad(col, "not a trace line")
	}
	if p.only != "" && string(r.file) != p.only {
		p.facts.OtherFile++
		return false, nil
	}
	return p.body(r)
}

// body finds the event and the form of its body.
func (p *parser) body(r *record) (ok bool, bad *ParseError) {
	f := p.facts
	if f.Printer == AnyPrinter || f.Printer == Kernel {
		f.Printer = r.printer
	}
	if f.Unit == NoUnit {
		f.Unit = r.unit
	}
	r.row = nil
	if r.ev = events().byName[string(r.event)]; r.ev == nil {
		f.unknown(r.event)
		f.Lines++
		return false, nil
	}
	f.Lines++
	switch {
	case r.ev.probe != nil:
		r.args = parseProbe(r.rawLine.body)
		return true, nil
	case len(r.ev.forms) == 0:
		return true, nil
	}
	if p.brief && !surveyed[r.ev.name] {
		if p.counts[r.ev.id]++; p.counts[r.ev.id] > briefBodies {
			return true, nil
		}
	}
	e, best := r.ev, 0
	last := int(p.last[e.id])
	for i := range e.forms {
		n := i // last first, then the others in order
		if i == 0 {
			n = last
		} else if i <= last {
			n = i - 1
		}
		fm := &e.forms[n]
		fits, at := fm.match(r.rawLine.body, &r.match)
		if !fits {
			best = max(best, at)
			continue
		}
		p.last[e.id] = uint8(n)
		r.row = fm.row
		p.narrow(fm.row)
		return true, nil
	}
	if b := bound(e.name); b != nil && pairs(r.rawLine.body, b, r) {
		r.row = e.forms[0].row
		return true, nil
	}
	f.Lines--
	return false, p.bad(r.bodyAt+best, "no known form of "+e.name+" fits from here on")
}

// narrow draws from a form that fitted which printer and kernel it was.
func (p *parser) narrow(r *row) {
	if r.printer != AnyPrinter {
		p.facts.Printer = r.printer
	}
	if p.fixed {
		return
	}
	if n, ok := p.facts.Kernel.Narrow(r.era); ok {
		p.facts.Kernel = n
	} else {
		p.facts.Contradicts = true
	}
}

func (p *parser) bad(col int, msg string) *ParseError {
	return &ParseError{File: p.facts.File, Line: p.line, Col: col + 1, Msg: msg}
}

// reject counts a line that cannot be read; it is an error if the parser is
// strict.
func (p *parser) reject(bad *ParseError) error {
	p.facts.bad(bad)
	if p.strict {
		return bad
	}
	return nil
}
