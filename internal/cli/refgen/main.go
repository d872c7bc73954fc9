// Command refgen writes docs/commands.md, or, given a directory, the manual pages
// into it.
package main

import (
	"log"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"codeberg.org/ticktrap/ticktrap/internal/cli"
)

func main() {
	if len(os.Args) > 1 {
		// The date is fixed, so that the same source gives the same pages.
		date := time.Unix(0, 0).UTC()
		head := &doc.GenManHeader{Section: "1", Date: &date, Source: "ticktrap " + cli.Version, Manual: "ticktrap"}
		if err := doc.GenManTree(cli.Command(), head, os.Args[1]); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := os.WriteFile("../../docs/commands.md", []byte(cli.Reference()), 0o644); err != nil {
		log.Fatal(err)
	}
}
