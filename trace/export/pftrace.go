package export

import (
	"strconv"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// The fields of Perfetto's trace format that are written, by message. Source:
// protos/perfetto/trace/*.proto and track_event/*.proto.
const (
	tracePacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDefaults   = 59
	packetDescriptor = 60
	packetFirst      = 87

	defaultsClock = 58

	descUUID    = 1
	descName    = 2
	descProcess = 3
	descThread  = 4
	descParent  = 5
	descCounter = 8

	processPID     = 1
	processCmdline = 2
	processName    = 6
	processLabels  = 8

	threadPID  = 1
	threadTID  = 2
	threadName = 5

	counterUnit = 3

	eventCategory = 3
	eventArg      = 4
	eventType     = 9
	eventNameID   = 10
	eventTrack    = 11
	eventName     = 23
	eventCounter  = 30
	eventFlow     = 47
	eventFlowEnd  = 48

	internedCategories = 1
	internedNames      = 2
	internedArgs       = 3

	argNameID  = 1
	argUint    = 3
	argInt     = 4
	argString  = 6
	argPointer = 7
)

const (
	clockBoottime    = 6
	flagsCleared     = 1
	flagsNeedState   = 2
	unitTimeNS       = 1
	theSequence      = 1
	typeSliceBegin   = 1
	typeSliceEnd     = 2
	typeInstant      = 3
	typeCounter      = 4
	internKinds      = 3
	internCategories = 0
	internNames      = 1
	internArgs       = 2
)

// pfWriter writes packets of one sequence. Names that come from tables are
// interned; names that are made for one event stand in it.
type pfWriter struct {
	out
	hz       clock.Hz
	declared map[uint64]bool
	interned [internKinds]map[string]uint64
	fresh    message // InternedData of the next packet
	ev       message // TrackEvent of the next packet
	msg      message
}

func (w *pfWriter) begin() {
	w.declared = map[uint64]bool{}
	for i := range w.interned {
		w.interned[i] = map[string]uint64{}
	}
	w.packet(func(m *message) {
		m.uint(packetFirst, 1)
		m.uint(packetFlags, flagsCleared)
		m.nested(packetDefaults, func() { m.uint(defaultsClock, clockBoottime) })
	})
}

func (w *pfWriter) packet(f func(*message)) {
	w.msg.b = w.b
	w.msg.nested(tracePacket, func() {
		f(&w.msg)
		w.msg.uint(packetSequence, theSequence)
	})
	w.b = w.msg.b
}

// intern returns the number of a string and announces it when it is new.
func (w *pfWriter) intern(kind int, s string) uint64 {
	if id := w.interned[kind][s]; id != 0 {
		return id
	}
	id := uint64(len(w.interned[kind]) + 1)
	w.interned[kind][s] = id
	m := &w.fresh
	m.nested([internKinds]int{internedCategories, internedNames, internedArgs}[kind], func() {
		m.uint(1, id)
		m.string(2, s)
	})
	return id
}

// track declares a track the first time that it is used.
func (w *pfWriter) track(uuid uint64, f func(*message)) uint64 {
	if !w.declared[uuid] {
		w.declared[uuid] = true
		w.packet(func(m *message) {
			m.nested(packetDescriptor, func() {
				m.uint(descUUID, uuid)
				f(m)
			})
		})
	}
	return uuid
}

// start begins an event on a track; the caller adds to it and calls emit.
func (w *pfWriter) start(typ, track uint64) {
	w.ev.b = w.ev.b[:0]
	w.ev.uint(eventType, typ)
	w.ev.uint(eventTrack, track)
}

func (w *pfWriter) category(s string) { w.ev.uint(eventCategory, w.intern(internCategories, s)) }
func (w *pfWriter) name(s string)     { w.ev.uint(eventNameID, w.intern(internNames, s)) }

// named gives the event a name of its own: prefix and number.
func (w *pfWriter) named(prefix string, n uint64) {
	w.ev.string(eventName, prefix+" "+strconv.FormatUint(n, 10))
}

func (w *pfWriter) flow(id uint64)    { w.ev.fixed(eventFlow, id) }
func (w *pfWriter) flowEnd(id uint64) { w.ev.fixed(eventFlowEnd, id) }

func (w *pfWriter) arg(name string, f func(*message)) {
	id := w.intern(internArgs, name)
	w.ev.nested(eventArg, func() {
		w.ev.uint(argNameID, id)
		f(&w.ev)
	})
}

func (w *pfWriter) argUint(name string, v uint64) {
	w.arg(name, func(m *message) { m.uint(argUint, v) })
}
func (w *pfWriter) argInt(name string, v int64) { w.arg(name, func(m *message) { m.int(argInt, v) }) }
func (w *pfWriter) argHex(name string, v uint64) {
	w.arg(name, func(m *message) { m.uint(argPointer, v) })
}
func (w *pfWriter) argText(name, v string) { w.arg(name, func(m *message) { m.string(argString, v) }) }

// emit writes the event at t. Time stamps are nanoseconds since TSC 0.
func (w *pfWriter) emit(t clock.TSC) {
	w.packet(func(m *message) {
		m.uint(packetTimestamp, uint64(nanosOf(w.hz, t)))
		m.uint(packetFlags, flagsNeedState)
		if len(w.fresh.b) > 0 {
			m.string(packetInterned, string(w.fresh.b))
			w.fresh.b = w.fresh.b[:0]
		}
		m.string(packetEvent, string(w.ev.b))
	})
}

// The tracks. Each kind has its own range of numbers.
const (
	uuidVM       = 1
	uuidHost     = 2
	uuidKnobs    = 3
	uuidMarks    = 4
	uuidVCPU     = 0x100
	uuidPCPU     = 0x200
	uuidAdvance  = 0x300
	uuidLateness = 0x400
	uuidLane     = 0x1000 // + vCPU × maxLanes + lane
	pidVM        = 1
	pidHost      = 2
	tidFirst     = 100
)

// process declares the virtual machine and the host as processes.
func (w *pfWriter) processes(h *trace.Header) {
	w.track(uuidVM, func(m *message) {
		m.nested(descProcess, func() {
			m.int(processPID, pidVM)
			m.string(processCmdline, "ticktrap")
			m.string(processCmdline, h.Guest)
			m.string(processName, "VM "+h.Guest)
			m.string(processLabels, h.Provenance.String())
			m.string(processLabels, "engine "+h.Engine+", local APIC in "+h.LAPIC)
			m.string(processLabels, "TSC "+strconv.FormatUint(uint64(h.Hz), 10)+" Hz")
		})
	})
	w.track(uuidHost, func(m *message) {
		m.nested(descProcess, func() {
			m.int(processPID, pidHost)
			m.string(processName, "host CPUs")
			m.string(processLabels, h.Host)
		})
	})
}

func (w *pfWriter) thread(uuid uint64, pid, tid int64, name string) uint64 {
	return w.track(uuid, func(m *message) {
		m.nested(descThread, func() {
			m.int(threadPID, pid)
			m.int(threadTID, tid)
			m.string(threadName, name)
		})
	})
}

func (w *pfWriter) vcpu(n uint8) uint64 {
	return w.thread(uuidVCPU+uint64(n), pidVM, tidFirst+int64(n), "vCPU "+strconv.Itoa(int(n)))
}

func (w *pfWriter) pcpu(n uint8) uint64 {
	return w.thread(uuidPCPU+uint64(n), pidHost, 2*tidFirst+0x100+int64(n), "pCPU "+strconv.Itoa(int(n)))
}

// child declares a track below a process; unit is 0 for slices.
func (w *pfWriter) child(uuid, parent uint64, name string, unit uint64) uint64 {
	return w.track(uuid, func(m *message) {
		m.uint(descParent, parent)
		m.string(descName, name)
		if unit != 0 {
			m.nested(descCounter, func() { m.uint(counterUnit, unit) })
		}
	})
}

// count writes a counter's value.
func (w *pfWriter) count(t clock.TSC, track uint64, v int64) {
	w.start(typeCounter, track)
	w.ev.int(eventCounter, v)
	w.emit(t)
}
