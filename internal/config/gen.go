//go:build ignore

// Command gen writes docs/config.md.
package main

import (
	"log"
	"os"

	"codeberg.org/ticktrap/ticktrap/internal/config"
)

func main() {
	if err := os.WriteFile("../../docs/config.md", []byte(config.Markdown()), 0o644); err != nil {
		log.Fatal(err)
	}
}
