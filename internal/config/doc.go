// Package config reads the user's configuration file: what the screen looks like,
// which keys ask for which actions, and what runs start with.
//
// Settings is the table of settings: reading, printing, the annotated default
// file and docs/config.md walk it. An error names the file and the line. The
// package reads no environment: where the file is found is a function of what
// the caller passes in.
package config
