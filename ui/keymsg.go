package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// namedKeys are the keys that are not a rune, by the name that keymap uses.
var namedKeys = map[string]tea.KeyType{
	" ": tea.KeySpace, "enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp,
	"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "f1": tea.KeyF1, "backspace": tea.KeyBackspace,
	"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "ctrl+b": tea.KeyCtrlB, "ctrl+f": tea.KeyCtrlF,
}

// KeyMsg is the message that pressing a key sends, for scripted scenes. The key
// is named as keymap names it.
func KeyMsg(key string) tea.KeyMsg {
	if t, ok := namedKeys[key]; ok {
		if key == " " {
			return tea.KeyMsg{Type: t, Runes: []rune{' '}}
		}
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
}
