package trace

// format is the part of Specs that one version of the recording format has: its
// kinds below Kinds, and of the kinds that have grown since only the first
// fields.
type format struct {
	kinds  Kind
	fields map[Kind]int
}

// formats binds every version to its part of the table. A kind or a field that is
// added belongs to the version being written; once that has been released, a new
// row comes first.
var formats = [FormatVersion + 1]format{
	1: {kinds: KindTask, fields: map[Kind]int{KindSched: 2, KindLost: 1}},
	2: {kinds: numKinds},
}

// formatFields is how many fields each kind has in each version.
var formatFields = func() (n [FormatVersion + 1][numKinds]uint8) {
	for v := 1; v <= FormatVersion; v++ {
		for k := BadKind + 1; k < formats[v].kinds; k++ {
			n[v][k] = uint8(Specs[k].numFields())
			if older, grown := formats[v].fields[k]; grown {
				n[v][k] = uint8(older)
			}
		}
	}
	return n
}()

func (sp *Spec) numFields() (n int) {
	for n < len(sp.Fields) && sp.Fields[n].Form != NoField {
		n++
	}
	return n
}

// firstFields is how many fields kind k had in the first format that has it.
func firstFields(k Kind) int {
	for v := 1; v <= FormatVersion; v++ {
		if k < formats[v].kinds {
			return int(formatFields[v][k])
		}
	}
	return 0
}
