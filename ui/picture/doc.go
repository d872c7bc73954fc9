// Package picture draws a screen, given as text with escape sequences, as an SVG.
// Box lines, blocks, braille and signs that fonts lack are shapes.
//
// It reads no clock and no font of the host: the same frame gives the same
// bytes.
package picture
