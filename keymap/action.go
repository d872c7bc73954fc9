package keymap

import "strconv"

// Action is something that the user can ask for.
type Action uint8

// The actions. BadAction is the invalid zero value.
const (
	BadAction Action = iota
	RunPause
	StepExit
	BackExit
	StepDeadline
	BackDeadline
	NextLate
	PrevLate
	RunTo
	BackTo
	SpeedDown
	SpeedUp
	NextPane
	PrevPane
	PaneTimer
	PaneDeadlines
	PaneFastpath
	PaneKicks
	PaneKnobs
	PaneExits
	PaneConsole
	PaneSuspects
	Zoom
	Layout
	Up
	Down
	Left
	Right
	PageUp
	PageDown
	Top
	Bottom
	Start
	End
	Open
	Back
	APICv
	PostedTimer
	PreemptionTimer
	Fastpath
	FastpathEra
	KickTaxCut
	KickEra
	AdvanceUp
	AdvanceDown
	Adaptive
	VMEntryAdvance
	WaitPlacement
	HaltPoll
	ExitsDisabled
	TuningEra
	Shortcut
	Filter
	Break
	Bookmark
	Jump
	Explain
	Compare
	BrushLeft
	BrushRight
	BrushChart
	Undo
	TurnBefore
	TurnAfter
	TurnBack
	Again
	AgainBack
	LastPlace
	Copy
	Picture
	Record
	Help
	Palette
	Theme
	Units
	Quit
	Confirm
	Refuse
	Accept
	Cancel
	NumActions
)

// Group is the heading under which help lists an action.
type Group uint8

// The groups, in the order of help. BadGroup is the invalid zero value.
const (
	BadGroup Group = iota
	Running
	Moving
	Turning
	Finding
	Session
	Answering
	NumGroups
)

var groupNames = []string{"bad", "Run and step", "Panes and lists", "Knobs", "Find and explain", "Screen and session",
	"Questions and prompts"}

// String returns the group's heading.
func (g Group) String() string {
	if int(g) < len(groupNames) {
		return groupNames[g]
	}
	return "group " + strconv.Itoa(int(g))
}

// Scope is a state of the screen in which keys have a meaning of their own.
// A key that has none in the scope in force falls back to Global, except in the
// scopes that take all keys: Prompt and Question.
type Scope uint8

// The scopes. BadScope is the invalid zero value.
const (
	BadScope Scope = iota
	Global         // always, unless another scope says otherwise
	Prompt         // a line of text is being typed
	Question       // a yes-or-no question is open
	NumScopes
)

var scopeNames = []string{"bad", "everywhere", "in a prompt", "in a question"}

// String returns where the scope holds, in words.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "scope " + strconv.Itoa(int(s))
}
