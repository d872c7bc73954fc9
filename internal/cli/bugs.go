package cli

import (
	"slices"
	"sync"

	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/trace/explain"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// bugWatch looks for known bugs in a run on the screen. Emit belongs to the run's
// goroutine, findings to any.
type bugWatch struct {
	r *session.Runner
	w explain.Watcher
	n int

	mu    sync.Mutex
	found []explain.Finding // guarded by mu
}

// watchEvery is how many events pass between two looks at what was found.
const watchEvery = 64

// watchScreen watches r from now on.
func watchScreen(r *session.Runner) *bugWatch {
	b := &bugWatch{r: r}
	r.Tee(b)
	return b
}

// Emit implements trace.Sink.
func (b *bugWatch) Emit(e trace.Event) {
	b.w.Look(&e, b.r.State())
	if b.n++; b.n%watchEvery != 0 {
		return
	}
	found := b.w.Findings(b.r.State())
	b.mu.Lock()
	b.found = found
	b.mu.Unlock()
}

// findings are those so far.
func (b *bugWatch) findings() []explain.Finding {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.found)
}
