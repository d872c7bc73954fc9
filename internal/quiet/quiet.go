// Package quiet keeps the program from asking the terminal for its background
// colour before main begins.
//
// Bubble Tea asks in its own init, for the sake of adaptive colours, and waits
// five seconds where nobody answers: on a serial console, or in a script. The
// screen chooses its theme from the environment and needs no answer. Setting the
// answer beforehand is only possible in an init that runs before Bubble Tea's.
// Go initialises packages by import path as soon as their imports are ready, so
// this package's path must sort before its: the module's path does.
package quiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
