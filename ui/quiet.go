package ui

import _ "codeberg.org/ticktrap/ticktrap/internal/quiet" // before Bubble Tea's init
