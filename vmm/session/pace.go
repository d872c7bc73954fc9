package session

import (
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
)

// pace keeps virtual time in step with the wall clock.
type pace struct {
	tsc  clock.TSC
	wall time.Time
}

// restart makes now the moment from which both are counted.
func (p *pace) restart(tsc clock.TSC, now time.Time) { p.tsc, p.wall = tsc, now }

// behind is how far virtual time may fall back before it stops trying to catch
// up: a slow machine must not owe seconds.
const behind = 100 * time.Millisecond

// until is the virtual time that the wall clock allows.
func (p *pace) until(now time.Time, speed float64, hz clock.Hz) clock.TSC {
	if speed <= 0 {
		return clock.Never
	}
	return p.tsc + clock.TSC(now.Sub(p.wall).Seconds()*speed*float64(hz))
}

// ahead is how long to sleep before virtual time may go on: up to one slice of
// wall time is let pass at once.
func (p *pace) ahead(tsc clock.TSC, now time.Time, speed float64, hz clock.Hz) time.Duration {
	if speed <= 0 {
		return 0
	}
	lead := time.Duration(float64(tsc.Sub(p.until(now, speed, hz))) / (speed * float64(hz)) * 1e9)
	if lead < -behind {
		p.restart(tsc, now)
		return 0
	}
	if lead < -slice {
		return 0
	}
	return lead + slice
}

// meter measures the pace that is reached.
type meter struct {
	tsc       clock.TSC
	wall      time.Time
	perSecond float64 // cycles
}

func (m *meter) restart(tsc clock.TSC, now time.Time) { *m = meter{tsc: tsc, wall: now} }

// update takes a reading twice a second, and reports whether it did.
func (m *meter) update(tsc clock.TSC, now time.Time) bool {
	d := now.Sub(m.wall)
	if d < 500*time.Millisecond {
		return false
	}
	m.perSecond = float64(tsc.Sub(m.tsc)) / d.Seconds()
	m.tsc, m.wall = tsc, now
	return true
}

// rate is guest seconds per wall second.
func (m *meter) rate(hz clock.Hz) float64 { return m.perSecond / float64(hz) }
