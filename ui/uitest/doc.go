// Package uitest helps tests of the screen: a session that plays a list of
// events, and synthetic streams of events that look like a guest's timers.
// Production code does not import it.
package uitest
