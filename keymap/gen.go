//go:build ignore

// Command gen writes docs/keys.md.
package main

import (
	"log"
	"os"

	"codeberg.org/ticktrap/ticktrap/keymap"
)

func main() {
	if err := os.WriteFile("../docs/keys.md", []byte(keymap.Markdown(keymap.Default())), 0o644); err != nil {
		log.Fatal(err)
	}
}
