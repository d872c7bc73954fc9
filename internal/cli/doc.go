// Package cli is the command line: it parses flags, opens an engine or a
// recording, runs the screen or a headless run, and maps errors to exit codes.
// It decides nothing about timers.
package cli

//go:generate go run ./refgen
//go:generate go run genlicenses.go
