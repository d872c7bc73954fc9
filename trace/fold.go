package trace

// Apply takes the next event of the run.
func (s *State) Apply(e *Event) {
	s.Events++
}
