package ui

import "strings"

// asciiRunes are the signs of the screen and what stands for them on a terminal
// that shows ASCII alone.
var asciiRunes = func() map[rune]byte {
	m := map[rune]byte{}
	for _, row := range []struct {
		from string
		to   string
	}{
		{"╭╮╰╯┌┐└┘├┤┬┴┼┃", "++++++++||++++"[:14]},
		{"─━│║╌╎", "--||-|"},
		{"█▇▆▅▄▃▂▁", "##==--__"},
		{"░▒▓▚▟▙▛▜▞▀▌▐", ".:%x%%%%x\"||"},
		{"→←↑↓", "><^v"},
		{"▶◂▸◀▲▼△▽", "><><^v^v"},
		{"×−…·•●○◆◇■□‖✗✓≈±µ≤≥≠›‹–—┊", "x-~.**o*o##|!+~+u<>!><--|"},
	} {
		to := []byte(row.to)
		for i, r := range []rune(row.from) {
			m[r] = to[min(i, len(to)-1)]
		}
	}
	return m
}()

// asciiOf is what stands for a rune in ASCII.
func asciiOf(r rune) byte {
	switch {
	case r >= ' ' && r < 0x7f:
		return byte(r)
	case r >= 0x2800 && r < 0x2900: // braille: dots of a chart
		if r == 0x2800 {
			return ' '
		}
		return '*'
	}
	if b, ok := asciiRunes[r]; ok {
		return b
	}
	return '?'
}

// asciiOnly reports whether a terminal is known to show no more than ASCII: by the
// locale (LC_ALL goes before LC_CTYPE and LANG, as setlocale(3) has it), or because
// the Linux console has no glyphs for most signs of the screen.
func asciiOnly(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			u := strings.ToUpper(v)
			return !strings.Contains(u, "UTF-8") && !strings.Contains(u, "UTF8")
		}
	}
	return false
}
