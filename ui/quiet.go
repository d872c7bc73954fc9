package ui

import _ "boot.ticktrap/quiet" // before Bubble Tea's init
