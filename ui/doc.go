// Package ui is ticktrap's screen: a bubbletea program that drives a
// vmm.Session and draws its frames.
//
// The model keeps only what belongs to the view (focus, selection, scroll,
// size, what is being typed). What the guest and its host did comes in a
// vmm.Frame, about thirty times a second, through a command; Update never
// blocks and never reads a clock. Drawing is pure: it turns a frame and a
// rectangle into cells of a canvas, which tests read as text.
//
// Files that begin alike are a room: what the Deadlines pane keeps, draws, takes
// as keys and says in its help is in deadlines_*.go, and so on for each pane, for
// the comparison, the explanation and the opened exit.
//
// All of the package belongs to the goroutine that runs the bubbletea program,
// except link, which commands share.
package ui
