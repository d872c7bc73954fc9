package ui

import "os"

// resized is nil: a console tells its size with its input, which Bubble Tea reads.
var resized os.Signal
