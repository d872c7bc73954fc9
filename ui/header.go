package ui

import (
	"path/filepath"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// provenanceWords says what the word in the header means.
var provenanceWords = map[trace.Provenance]string{
	trace.Measured: "MEASURED", trace.Modelled: "MODELLED", trace.Inferred: "INFERRED",
}

// presentHeader draws the two lines on top.
func presentHeader(s *scene, a area) {
	h, st := &s.f.Header, &s.f.Status
	state := append(badgePieces(s), statePieces(st)...)
	right := piecesWidth(state, 9)
	word := provenanceWords[h.Provenance]
	if word == "" {
		word = "UNKNOWN"
	}
	room := max(a.w-right-2, 0)
	name := " ticktrap "
	if room < 46 {
		name = ""
	}
	// what follows the guest is never cut
	guest := cutString(filepath.Base(h.Guest), max(room-textWidth(name)-textWidth(word)-textWidth(h.Engine)-7, 6))
	a.pieces(0, 0, room, []piece{
		{name, brand, 0}, {" ", text, 0}, {guest, value | strong, 0}, {argsWord(h.Args), dim, 7},
		{"  ", text, 0}, {" " + word + " ", badge, 0}, {"  ", text, 0}, {"engine ", label, 2}, {h.Engine, value, 0},
		{"  LAPIC in ", label, 1}, {h.LAPIC, value, 1}, {"  ", text, 3}, {vcpuCount(h, len(s.state().VCPUs)), value, 3},
		{seedWord(h), dim, 5}, {profileLabel(h), label, 6}, {h.Profile, value, 6},
	})
	a.pieces(a.w-right, 0, right, state)
	lost := []piece{}
	if l := s.state().Lost; l.Gaps > 0 {
		lost = append(lost, piece{"  lost ", bad, 0}, piece{lossWord(l), bad, 0})
	}
	session := sessionPieces(s)
	x := a.pieces(1, 1, a.w-1-piecesWidth(session, 0), append([]piece{
		{"t ", label, 0}, {virtualTime(h.Hz, st.Now), value, 0}, {"  TSC ", label, 0}, {group3(uint64(st.Now)), value, 0},
		{"  " + hzWord(uint64(h.Hz)), dim, 2}, {"  exits ", label, 1}, {group3(s.state().Exits.N), value, 1},
		{"  deadlines ", label, 3}, {group3(s.state().Deadlines.Count()), value, 3},
		{"  events ", label, 4}, {group3(uint64(s.state().Events)), value, 4},
	}, lost...))
	x = a.pieces(x, 1, a.w-x, session)
	if host := h.Host; host != "" && a.w-x > textWidth(host)/2+6 {
		a.cut(x+2, 1, a.w-x-3, dim, host)
	}
}

// seedWord is the seed of the model's noise; a real host has none.
func seedWord(h *trace.Header) string {
	if h.Provenance != trace.Modelled {
		return ""
	}
	return "  seed " + strconv.FormatUint(h.Seed, 10)
}

// sessionPieces says where the session stands: branch, replay, break condition.
func sessionPieces(s *scene) (ps []piece) {
	st := &s.f.Status
	if st.Branch > 0 {
		ps = append(ps, piece{"  branch " + strconv.Itoa(st.Branch), knobMark | strong, 1})
	}
	switch {
	case st.Past:
		ps = append(ps, pastPieces(s)...)
	case st.File != "":
		ps = append(ps, piece{"  recording", early, 0}, piece{" " + filepath.Base(st.File), value, 2}, piece{" up to TSC " + group3(uint64(st.Head)), dim, 3})
	case st.Replaying && st.Now < st.Head:
		ps = append(ps, piece{"  in the past", early, 0}, piece{", the run goes on to TSC " + group3(uint64(st.Head)), dim, 3})
	}
	ps = append(ps, aheadPieces(st)...)
	if st.Break != "" {
		ps = append(ps, piece{"  break when ", label, 2}, piece{st.Break, warn, 2})
	}
	return ps
}

func argsWord(args string) string {
	if args == "" {
		return ""
	}
	return " " + args
}

// vcpuCount is how many vCPUs there are: an imported trace tells them by its events.
func vcpuCount(h *trace.Header, seen int) string {
	s := plural(max(h.VCPUs, seen), "vCPU")
	if h.PCPUs > 0 {
		s += " on " + plural(h.PCPUs, "pCPU")
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

func profileLabel(h *trace.Header) string {
	if h.Profile == "" {
		return ""
	}
	return "  profile "
}

func hzWord(hz uint64) string {
	return "@ " + strconv.FormatFloat(float64(hz)/1e9, 'f', 3, 64) + " GHz"
}

func lossWord(l trace.Loss) string {
	s := group3(l.Events) + " events"
	if l.Unknown {
		s += " or more"
	}
	return s
}

// statePieces says whether the guest runs, how fast, and whether it is recorded.
func statePieces(st *vmm.Status) []piece {
	var ps []piece
	if st.Recording != "" {
		ps = append(ps, piece{"● rec ", recording, 0}, piece{bytesSize(st.RecBytes) + "  ", recording, 0})
	}
	switch st.Run {
	case vmm.Running:
		ps = append(ps, piece{"▶ running", running, 0})
	case vmm.Paused:
		ps = append(ps, piece{"‖ paused", paused, 0})
	case vmm.Ended:
		ps = append(ps, piece{"■ " + pickString(st.End == trace.BadEnd, "at ", "ended: ") + endWords(st), paused, 0})
	default:
		ps = append(ps, piece{"? starting", dim, 0})
	}
	sp := "  " + speed(st.Speed)
	if far := st.Rate/st.Speed < 0.95 || st.Rate/st.Speed > 1.05; st.Run == vmm.Running && st.Rate > 0 && (st.Speed <= 0 || far) {
		sp += " (" + rateWord(st.Rate) + ")"
	}
	return append(ps, piece{sp, value, 0}, piece{" ", text, 0})
}

// rateWord writes guest seconds per wall second.
func rateWord(r float64) string {
	s := speed(r)
	return strings.TrimSpace(s) + " reached"
}
