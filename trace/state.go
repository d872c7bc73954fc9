package trace

// State is the fold of events.
type State struct{}
