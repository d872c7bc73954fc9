package prose

// Nearest returns the one of names that word was probably meant to be, and false
// if none is near: at most a third of its letters may have to be inserted, left
// out, replaced or swapped with their neighbour.
func Nearest(word string, names []string) (name string, ok bool) {
	best := max(1, len(word)/3) + 1
	for _, n := range names {
		if d := distance(word, n); d < best {
			name, best, ok = n, d, true
		}
	}
	return name, ok
}

// DidYouMean is the end of a sentence about a word that is not one of names: a
// question with the nearest of them, or nothing.
func DidYouMean(word string, names []string) string {
	if n, ok := Nearest(word, names); ok {
		return "; did you mean " + n + "?"
	}
	return ""
}

// distance is the optimal string alignment distance, in bytes.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+unequal(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}

func unequal(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
