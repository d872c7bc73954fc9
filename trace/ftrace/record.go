package ftrace

import "sync"

// record is one event of a trace: what a reader makes of a line of text or of a
// binary entry, and all that the decoder sees of it.
type record struct {
	rawLine
	match
	ev   *event
	row  *row      // the form that fitted; nil for probes and counted events
	args probeArgs // of probes
	line int       // line number, or number of the record in its file
	// gap says that events were lost before here, as many as lost if that is
	// known; the record holds nothing else then.
	gap  bool
	lost uint64
}

// event is one kind of records: the rows of one event name.
type event struct {
	id    int
	name  string
	forms []form
	probe *Probe
}

type eventTable struct {
	byName map[string]*event
	byID   []*event
}

// events is the table of all events that are known, made of forms, Probes and
// counted once.
var events = sync.OnceValue(func() *eventTable {
	t := &eventTable{byName: make(map[string]*event, len(forms)+len(Probes)+len(counted))}
	for i := range forms {
		r := &forms[i]
		f := form{row: r, pieces: compile(r.form)}
		for _, o := range r.options {
			f.options = append(f.options, compile(o))
		}
		e := t.add(r.event)
		e.forms = append(e.forms, f)
	}
	for i := range Probes {
		t.add(Probes[i].Name).probe = &Probes[i]
	}
	for alias, name := range aliases {
		t.add(alias).probe = t.byName[name].probe
	}
	for _, n := range counted {
		t.add(n)
	}
	return t
})

func (t *eventTable) add(name string) *event {
	e := t.byName[name]
	if e == nil {
		e = &event{id: len(t.byID), name: name}
		t.byName[name] = e
		t.byID = append(t.byID, e)
	}
	return e
}
