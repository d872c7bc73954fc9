package session

import (
	"fmt"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// toldBy is the kind of event that tells a figure.
var toldBy = [vmm.NumFigures]trace.Kind{vmm.FigureBacking: trace.KindBacking, vmm.FigureDelta: trace.KindWait,
	vmm.FigureAdvance: trace.KindTune, vmm.FigureLateness: trace.KindGuestIRQ, vmm.FigureHostFire: trace.KindHostFire,
	vmm.FigureExpiry: trace.KindExpire, vmm.FigureDelivery: trace.KindDeliver, vmm.FigureEOI: trace.KindEOI,
	vmm.FigureFastpath: trace.KindFastpath, vmm.FigureKicks: trace.KindKick, vmm.FigureHalt: trace.KindWake}

// inferences says which figures of a recording rest on inferred events: no more
// is known of how it was made.
func inferences(st *trace.State) (k vmm.KnownFigures) {
	for n, kind := range toldBy {
		all, inferred := st.Kinds[kind], st.Inferred[kind]
		if kind != trace.BadKind && inferred > 0 && 2*inferred >= all {
			k[n] = vmm.Known{Basis: vmm.OnInference, By: fmt.Sprintf("%d of %d %s events were deduced", inferred, all, kind)}
		}
	}
	return k
}
