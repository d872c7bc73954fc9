package ui

// themes are the looks by name. dark and light are for terminals that show many
// colours and are reduced by lipgloss where there are fewer; "16" names the
// terminal's own sixteen; mono uses attributes alone.
var themes = map[string]theme{
	"dark": {name: "dark", sel: look{bg: "#2b3a55"}, looks: [numRoles]look{
		text: {fg: "#c8d0e0"}, dim: {fg: "#8792a8"}, faint: {fg: "#77829a"}, frameFocus: {fg: "#6cb6ff"},
		title: {fg: "#a9b4c8"}, titleFocus: {fg: "#6cb6ff", attr: "b"}, heading: {fg: "#6cb6ff", attr: "b"}, keyHint: {fg: "#f0b866"},
		value: {fg: "#e8edf6"}, label: {fg: "#8792a8"}, brand: {fg: "#0d1420", bg: "#6cb6ff", attr: "b"},
		good: {fg: "#7ad18c"}, warn: {fg: "#f0b866"}, bad: {fg: "#ff7a85", attr: "b"},
		early: {fg: "#b39bff"}, late: {fg: "#ffa657"}, knobMark: {fg: "#ff8ad8"}, notice: {fg: "#ffd479"},
		badge: {fg: "#0d1420", bg: "#b39bff", attr: "b"}, recording: {fg: "#ff7a85", attr: "b"},
		running: {fg: "#7ad18c", attr: "b"}, paused: {fg: "#f0b866", attr: "b"},
		phaseProgram: {fg: "#687287"}, phaseFire: {fg: "#5aa9f5"}, phaseExpire: {fg: "#8fe8d0"},
		phaseWait: {fg: "#e5c040"}, phaseEntry: {fg: "#d678d0"}, phaseISR: {fg: "#7ad18c"},
		series0: {fg: "#6cb6ff"}, series1: {fg: "#7ad18c"}, series2: {fg: "#f0b866"}, series3: {fg: "#b39bff"},
		series4: {fg: "#57c7c0"}, series5: {fg: "#ff8ad8"}, series6: {fg: "#ff7a85"}, series7: {fg: "#a9b4c8"},
		chart: {fg: "#6cb6ff"},
	}},
	"light": {name: "light", sel: look{bg: "#cfe1fb"}, looks: [numRoles]look{
		text: {fg: "#24292f"}, dim: {fg: "#59636e"}, faint: {fg: "#6e7781"}, frameFocus: {fg: "#0550ae"},
		title: {fg: "#424a53"}, titleFocus: {fg: "#0550ae", attr: "b"}, heading: {fg: "#0550ae", attr: "b"}, keyHint: {fg: "#953800"},
		value: {fg: "#0b0f14"}, label: {fg: "#59636e"}, brand: {fg: "#ffffff", bg: "#0550ae", attr: "b"},
		good: {fg: "#116329"}, warn: {fg: "#953800"}, bad: {fg: "#a40e26", attr: "b"},
		early: {fg: "#6639ba"}, late: {fg: "#bc4c00"}, knobMark: {fg: "#99286e"}, notice: {fg: "#7d4e00"},
		badge: {fg: "#ffffff", bg: "#6639ba", attr: "b"}, recording: {fg: "#a40e26", attr: "b"},
		running: {fg: "#116329", attr: "b"}, paused: {fg: "#953800", attr: "b"},
		phaseProgram: {fg: "#8c959f"}, phaseFire: {fg: "#0969da"}, phaseExpire: {fg: "#00605c"},
		phaseWait: {fg: "#946600"}, phaseEntry: {fg: "#8a2fc0"}, phaseISR: {fg: "#1a7f37"},
		series0: {fg: "#0969da"}, series1: {fg: "#1a7f37"}, series2: {fg: "#9a6700"}, series3: {fg: "#6639ba"},
		series4: {fg: "#1b7c83"}, series5: {fg: "#99286e"}, series6: {fg: "#a40e26"}, series7: {fg: "#59636e"},
		chart: {fg: "#0969da"},
	}},
	"16": {name: "16", sel: look{attr: "r"}, looks: [numRoles]look{
		text: {}, dim: {fg: "7"}, faint: {fg: "8"}, frameFocus: {fg: "12"}, title: {fg: "7"},
		titleFocus: {fg: "12", attr: "b"}, heading: {fg: "12", attr: "b"}, keyHint: {fg: "11"}, value: {fg: "15"}, label: {fg: "7"},
		brand: {fg: "0", bg: "12", attr: "b"}, good: {fg: "10"}, warn: {fg: "11"}, bad: {fg: "9", attr: "b"},
		early: {fg: "13"}, late: {fg: "11"}, knobMark: {fg: "13", attr: "b"}, notice: {fg: "11"},
		badge: {fg: "0", bg: "13", attr: "b"}, recording: {fg: "9", attr: "b"}, running: {fg: "10", attr: "b"},
		paused: {fg: "11", attr: "b"}, phaseProgram: {fg: "8"}, phaseFire: {fg: "12"}, phaseExpire: {fg: "14"},
		phaseWait: {fg: "11"}, phaseEntry: {fg: "9"}, phaseISR: {fg: "10"}, series0: {fg: "12"}, series1: {fg: "10"},
		series2: {fg: "11"}, series3: {fg: "13"}, series4: {fg: "14"}, series5: {fg: "5"}, series6: {fg: "9"},
		series7: {fg: "7"}, chart: {fg: "12"},
	}},
	"mono": {name: "mono", sel: look{attr: "r"}, looks: [numRoles]look{
		dim: {attr: "d"}, faint: {attr: "d"}, frameFocus: {attr: "b"}, titleFocus: {attr: "br"}, heading: {attr: "b"}, keyHint: {attr: "b"},
		value: {attr: "b"}, label: {attr: "d"}, brand: {attr: "br"}, warn: {attr: "b"}, bad: {attr: "br"},
		knobMark: {attr: "b"}, notice: {attr: "b"}, badge: {attr: "r"}, recording: {attr: "b"}, running: {attr: "b"},
		paused: {attr: "b"}, phaseProgram: {attr: "d"},
	}},
}
