package ui

import (
	"math"
	"strconv"
	"testing"
)

// backgrounds are those that the themes are made for.
var backgrounds = map[string]string{"dark": "#0d1420", "light": "#ffffff"}

type color [3]float64 // linear red, green, blue

func colorOf(hex string) (c color) {
	for i := range c {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return c
}

// contrast is the ratio of WCAG 2.
func contrast(a, b color) float64 {
	lum := func(c color) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(lum(a)/lum(b), lum(b)/lum(a))
}

// visions are how people see: the first as most do, the others without one kind of
// cones. Source: Machado, Oliveira, Fernandes 2009, severity 1.
var visions = map[string][3]color{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour in CIE 1976 L*a*b*, white D65, as a vision has it.
func lab(c color, m [3]color) (out [3]float64) {
	var v color
	for i := range v {
		v[i] = min(max(m[i][0]*c[0]+m[i][1]*c[1]+m[i][2]*c[2], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16.0/116
	}
	x := f((0.4124*v[0] + 0.3576*v[1] + 0.1805*v[2]) / 0.95047)
	y := f(0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2])
	z := f((0.0193*v[0] + 0.1192*v[1] + 0.9505*v[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b color, m [3]color) float64 {
	p, q := lab(a, m), lab(b, m)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

func TestTextHasContrast(t *testing.T) {
	for name, bg := range backgrounds {
		for role, lk := range themes[name].looks {
			least := 4.5
			if style(role) == phaseProgram { // a line, no text
				least = 3
			}
			under := bg
			if lk.bg != "" {
				under = lk.bg
			}
			if lk.fg == "" {
				continue
			}
			if got := contrast(colorOf(lk.fg), colorOf(under)); got < least {
				t.Errorf("%s, role %d: %s on %s has contrast %.2f, want %.1f", name, role, lk.fg, under, got, least)
			}
		}
	}
}

// The phases of a chain stand side by side without a gap.
func TestPhasesAreToldApartByEveryone(t *testing.T) {
	for name := range backgrounds {
		for p := phaseProgram; p < phaseISR; p++ {
			a, b := themes[name].looks[p].fg, themes[name].looks[p+1].fg
			for vision, m := range visions {
				if d := distance(colorOf(a), colorOf(b), m); d < 15 {
					t.Errorf("%s, %s: phases %d and %d, %s and %s, differ by %.1f, want 15", name, vision, p, p+1, a, b, d)
				}
			}
		}
	}
}
