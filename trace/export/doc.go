// Package export writes a recording in the forms that other programs read: JSON
// lines, CSV tables, a Perfetto trace, and ftrace's text.
//
// An export goes through the recording once and keeps nothing but the State of
// the moment, so its memory does not grow with the recording. Formats is the
// table of forms; docs/export.md describes each.
//
// The package reads no clock and no file: times are the recording's. An Exporter
// belongs to one goroutine.
package export
