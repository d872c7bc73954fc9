package ui

import (
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// presentKnobs lists the knobs; below, what the selected one is and the turns so
// far, as far as there is room.
func presentKnobs(s *scene, a area, sel int) {
	from := max(min(sel-a.h/2, len(knobRows)-a.h), 0)
	for i := from; i < len(knobRows) && i-from < a.h; i++ {
		knobLine(s, a.sub(0, i-from, a.w, 1), &knobRows[i])
		if i == sel && s.focused {
			a.mark(i-from, selected)
		}
	}
	if rest := len(knobRows) - from - a.h; rest > 0 {
		a.right(a.w, a.h-1, dim, " ↓ "+strconv.Itoa(rest)+" more")
	}
	y := len(knobRows) + 1
	if y+3 <= a.h {
		about := knobAbout(s, &knobRows[sel], a.w)
		about = about[:min(len(about), a.h-y)]
		a.hline(0, y-1, a.w, '─', faint)
		for i, ps := range about {
			a.pieces(1, y+i, a.w-1, ps)
		}
		y += len(about) + 1
	}
	presentTurns(s, a.sub(0, y, a.w, a.h-y))
}

// presentTurns lists the last turns of knobs, newest first.
func presentTurns(s *scene, a area) {
	if a.h < 3 {
		return
	}
	a.hline(0, 0, a.w, '─', faint)
	a.text(1, 0, label, " turned in this run ")
	r := &s.state().KnobTurns
	if r.N == 0 {
		a.cut(1, 1, a.w-1, dim, "no knob has been turned yet; each turn is an event and marks the charts with its key")
		return
	}
	for i := 0; i < r.Len() && i+1 < a.h; i++ {
		k := r.Last(i)
		a.text(1, 1+i, knobMark|strong, knobLetter(s, k))
		x := a.text(5, 1+i, dim, "TSC "+group3(uint64(k.At))+"  ")
		x = a.text(x, 1+i, text, k.Knob.String()+" ")
		a.text(x, 1+i, value, showKnob(k.Knob, k.Old)+" → "+showKnob(k.Knob, k.Value))
	}
}

// knobKeys are the keys that turn a knob, as the pane shows them.
func knobKeys(s *scene, r *knobRow) string {
	keys := s.keys.Key(r.action)
	switch r.knob {
	case trace.KnobAdvance:
		return "+ - A"
	case trace.KnobFastpath:
		return "f " + keys
	case trace.KnobKick:
		return "x " + keys
	}
	return keys
}

func knobLine(s *scene, a area, r *knobRow) {
	ks := s.knob(r.knob)
	can := turnable(ks)
	a.text(0, 0, pick(can, keyHint, dim), knobKeys(s, r))
	a.cut(6, 0, 16, pick(can || s.f.Status.File != "", text, dim), r.knob.String())
	shown := showKnob(r.knob, ks.Value)
	if r.knob == trace.KnobAdvance && ks.Value == trace.AdvanceAdaptive && len(s.state().VCPUs) > 0 {
		shown += " " + group3(uint64(max(s.state().VCPUs[0].AdvanceNS, 0))) + " ns"
	}
	x := a.cut(23, 0, a.w-23, knobStyle(ks, shown), shown)
	tag := vmm.TagNames[min(int(ks.Tag), len(vmm.TagNames)-1)]
	if s.f.Status.File != "" { // said once, in the title
		tag = ""
	}
	why := knobBrief(r.knob, ks.Value)
	switch {
	case ks.Tag == vmm.TagLive && ks.Why == "":
		tag = ""
	case tag != "" && ks.Why != "":
		why = ks.Why
	}
	at := max(x+1, 40)
	if a.w-40 < 31 && ks.Why == "" { // briefs would be cut: better none
		if a.w-x > len(tag) {
			a.right(a.w, 0, pick(can, dim, warn), tag)
		}
		return
	}
	if tag != "" {
		at = a.text(at, 0, pick(can, dim, warn), tag) + 1
	}
	at = a.cut(at, 0, a.w-at, dim, why)
	first, _, _ := strings.Cut(knobTexts[r.knob].about, ". ")
	if x := max(at+2, 74); textWidth(first) < a.w-x {
		a.text(x, 0, faint, strings.TrimSuffix(first, "."))
	}
}

func knobStyle(ks vmm.KnobState, shown string) style {
	if shown == "off" || shown == "none" || shown == "0 ns" {
		return dim
	}
	return value | strong
}

func stripKnobs(s *scene, a area) {
	var ps []piece
	brief := map[trace.Knob]string{trace.KnobAPICv: "apicv", trace.KnobPostedTimer: "posted", trace.KnobPreemptionTimer: "hv",
		trace.KnobAdvance: "adv", trace.KnobVMEntryAdvance: "vmentry", trace.KnobWaitPlacement: "wait",
		trace.KnobFastpath: "fp", trace.KnobKick: "kick", trace.KnobHaltPoll: "poll", trace.KnobExitsDisabled: "no-exit",
		trace.KnobTuning: "tune", trace.KnobRunningShort: "short"}
	order := map[trace.Knob]int{trace.KnobFastpath: 1, trace.KnobKick: 2, trace.KnobPreemptionTimer: 3, trace.KnobVMEntryAdvance: 3,
		trace.KnobWaitPlacement: 4, trace.KnobHaltPoll: 5, trace.KnobExitsDisabled: 6, trace.KnobTuning: 7, trace.KnobRunningShort: 7}
	for i := range knobRows {
		k := knobRows[i].knob
		v := s.knob(k).Value
		shown := showKnob(k, v)
		ps = append(ps, piece{brief[k] + " ", label, order[k]},
			piece{shown + "  ", knobStyle(vmm.KnobState{}, shown), order[k]})
	}
	a.pieces(0, 0, a.w, ps)
}
