package ui

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"ticktrap/ui/uitest"
)

func TestDump(t *testing.T) {
	if os.Getenv("DUMP") == "" {
		t.Skip()
	}
	w, _ := strconv.Atoi(os.Getenv("W"))
	h, _ := strconv.Atoi(os.Getenv("H"))
	n, _ := strconv.Atoi(os.Getenv("N"))
	s := uitest.New(uitest.Header(), uitest.Stream(400))
	s.Play(n)
	m := New(s, Options{Theme: "mono"})
	m.Update(m.Init()())
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	for _, k := range os.Args[len(os.Args)-1] {
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{k}}
		if k == '\n' {
			key = tea.KeyMsg{Type: tea.KeyEnter}
		}
		m.Update(key)
	}
	m.View()
	fmt.Print(m.canvas.text())
}
