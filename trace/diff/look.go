package diff

// LookOptions are those of a comparison that is made again and again while the
// second side grows: a level high enough that all looks together seldom find a
// change that is not there.
var LookOptions = Options{Level: 0.998, Draws: 4000, Seed: 1}

// FirstLook is how many deadlines the second side has at the first look.
const FirstLook = 2 * MinSamples

// NextLook is how many it has at the look after one at that many, 0 for the first:
// half as many again each time, so that there are few looks.
func NextLook(looked int) int {
	if looked == 0 {
		return FirstLook
	}
	return looked + looked/2
}

// Better reports whether a figure is lower than before, and so better: every
// lateness and every cost is.
func (s *Stat) Better() bool { return s.Significant && s.Delta < 0 }
