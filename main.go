// Command ticktrap is an interactive terminal debugger for vCPU timers.
package main

import (
	"os"

	"codeberg.org/ticktrap/ticktrap/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OS())) }
