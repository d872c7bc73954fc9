//go:build ignore

// Command gen writes the pictures of the docs into docs/images.
package main

import (
	"fmt"
	"os"

	"codeberg.org/ticktrap/ticktrap/screenshots"
)

func main() {
	for _, sc := range screenshots.Scenes() {
		if len(os.Args) > 2 && os.Args[2] != sc.Name {
			continue
		}
		if err := sc.Write(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
