// Package screenshots makes the pictures of the docs from the real screen: a
// scene is a size, a theme, a session and the keys pressed, and its frame is
// written as SVG and PNG. Tests re-check every scene as text.
//
// Frames are drawn with Go Mono; box lines, blocks, braille and signs that the
// font lacks are shapes, the same in both formats. Nothing here reads a clock,
// a terminal or a font of the host, so the same scene gives the same bytes.
package screenshots

//go:generate go run gen.go ../docs/images
