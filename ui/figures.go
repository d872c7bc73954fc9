package ui

import "strings"

// figures writes the numbers of a sentence as the screen writes its own: a comma
// between groups of three digits, a real minus. What is part of a word, such as a
// setting or a version, stays as it is.
func figures(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = figureWord(w)
	}
	return strings.Join(words, " ")
}

func figureWord(w string) string {
	lead := len(w) - len(strings.TrimLeft(w, "(+-"))
	from := w[lead:]
	n := 0
	for n < len(from) && from[n] >= '0' && from[n] <= '9' {
		n++
	}
	rest := from[n:]
	if n == 0 || strings.Trim(rest, "%),.;:0123456789") != "" {
		return w
	}
	digits := from[:n]
	for i := n - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return strings.ReplaceAll(w[:lead], "-", "−") + digits + rest
}
