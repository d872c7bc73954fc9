// Package kernel knows what each release of Linux does about a guest's local APIC
// timer: which code there was, under which conditions it ran, and what it printed.
// No other package knows a release.
//
// The history is a list of upstream changes. Each row names the release that
// brought the change, the stable releases that took it back, the commit as far as
// it is known, the function, and what it sets. At folds the rows that a release
// has into one Kernel; the loop executes it, the screen shows it, importers ask it
// which releases print a line in the form they read.
//
// To add what a new release does, add a row. Proposals that were never merged are
// rows too, of a kind of their own: no release has them.
package kernel
