// Package keymap is the one table of the screen's actions: which keys ask for
// them, where, and what they do in words. The screen matches actions and never
// key strings; its key bar, its help, its palette and docs/keys.md are generated
// from this table.
//
// The package knows no terminal: keys are named as strings ("ctrl+c", "enter",
// "shift+tab", " "). Everything here is constant data and pure functions, safe
// for concurrent use.
package keymap
