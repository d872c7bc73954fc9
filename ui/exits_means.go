package ui

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
)

// exitMeans are mean cycles by reason over the exits that are kept: of host work,
// and from exit to entry, in which a halted vCPU polls or sleeps.
type exitMeans struct {
	host, whole   [trace.NumExits]clock.Cycles // sums
	nHost, nWhole [trace.NumExits]clock.Cycles
	known         bool // the source splits costs
}

func meansOf(st *trace.State) (c exitMeans) {
	for i := range st.Exits.Len() {
		x := st.Exits.At(i)
		if x.EntryAt == 0 {
			continue
		}
		c.whole[x.Reason] += x.Cycles()
		c.nWhole[x.Reason]++
		if t := x.Costs.Total(); t > 0 {
			c.host[x.Reason] += t
			c.nHost[x.Reason]++
			c.known = true
		}
	}
	return c
}

// meanWord is a mean, "–" if there is nothing to take it of.
func meanWord(sum, n clock.Cycles) string {
	if n == 0 {
		return "–"
	}
	return group3(uint64(sum / n))
}
