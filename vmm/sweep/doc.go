// Package sweep runs one guest over a grid of knob settings, several points at a
// time, and says which setting is best, where more of it stops helping, and
// whether it is worth having at all.
//
// Points are independent runs of an engine that repeats itself, so their order
// does not matter and an interrupted sweep can go on: finished points are lines
// of a file that is only ever appended to.
//
// The goal is a percentile of the distance from the deadline, early or late:
// signed lateness would praise a setting for interrupting too early. The best of
// many points is partly the luckiest, so it is run again with another seed
// before anything is said about it.
package sweep
