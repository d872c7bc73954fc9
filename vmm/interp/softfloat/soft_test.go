package softfloat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// doubles returns random doubles of all classes but NaN.
func doubles(r *rand.Rand) float64 {
	for {
		var b uint64
		switch r.IntN(4) {
		case 0:
			b = r.Uint64()
		case 1:
			b = uint64(1020+r.IntN(8))<<52 | r.Uint64()>>12&^(1<<r.IntN(53)-1)
		case 2:
			b = r.Uint64() >> r.IntN(64)
		default:
			b = uint64(r.IntN(2)*2046)<<52 + r.Uint64()>>12
		}
		b ^= uint64(r.IntN(2)) << 63
		if f := math.Float64frombits(b); f == f {
			return f
		}
	}
}

// TestNearestAgreesWithTheHostProcessor compares with Go's arithmetic, which
// rounds to nearest.
func TestNearestAgreesWithTheHostProcessor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ops := []struct {
		name string
		soft func(e *Env, a, b Num) Num
		host func(a, b float64) float64
	}{
		{"add", func(e *Env, a, b Num) Num { return e.Add(Double, a, b) }, func(a, b float64) float64 { return a + b }},
		{"sub", func(e *Env, a, b Num) Num { return e.Sub(Double, a, b) }, func(a, b float64) float64 { return a - b }},
		{"mul", func(e *Env, a, b Num) Num { return e.Mul(Double, a, b) }, func(a, b float64) float64 { return a * b }},
		{"div", func(e *Env, a, b Num) Num { return e.Div(Double, a, b) }, func(a, b float64) float64 { return a / b }},
		{"sqrt", func(e *Env, a, b Num) Num { return e.Sqrt(Double, a) }, func(a, b float64) float64 { return math.Sqrt(a) }},
		{"to single", func(e *Env, a, b Num) Num { return e.Convert(Single, a) }, func(a, b float64) float64 { return float64(float32(a)) }},
		{"floor", func(e *Env, a, b Num) Num { return e.RoundToInt(a, Down, true) }, func(a, b float64) float64 { return math.Floor(a) }},
		{"even", func(e *Env, a, b Num) Num { return e.RoundToInt(a, Nearest, true) }, func(a, b float64) float64 { return math.RoundToEven(a) }},
	}
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			for range 50000 {
				a, b := doubles(r), doubles(r)
				e := Env{Masked: 0x3f}
				got := op.soft(&e, FromDouble(math.Float64bits(a)), FromDouble(math.Float64bits(b)))
				want := op.host(a, b)
				if want != want {
					if !got.IsNaN() {
						t.Fatalf("%s(%x, %x) = %x, want NaN", op.name, a, b, math.Float64frombits(got.Double()))
					}
					continue
				}
				if got.Double() != math.Float64bits(want) {
					t.Fatalf("%s(%x, %x) = %x, want %x", op.name, a, b, math.Float64frombits(got.Double()), want)
				}
			}
		})
	}
}

func TestDirectedRoundingBracketsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a, b := FromDouble(math.Float64bits(doubles(r))), FromDouble(math.Float64bits(doubles(r)))
		var v [4]float64
		var flags [4]Flags
		for m := range v {
			e := Env{Masked: 0x3f, Round: Rounding(m)}
			v[m] = math.Float64frombits(e.Mul(Double, a, b).Double())
			flags[m] = e.Flags
		}
		if v[0] != v[0] {
			continue
		}
		if v[Down] > v[Nearest] || v[Nearest] > v[Up] || math.Abs(v[Truncate]) > math.Abs(v[Nearest]) {
			t.Fatalf("nearest %x, down %x, up %x, truncated %x", v[0], v[1], v[2], v[3])
		}
		if exact := v[Down] == v[Up]; exact == (flags[Nearest]&Inexact != 0) {
			t.Fatalf("down %x, up %x, but flags %#x", v[1], v[2], flags[0])
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	x, y := FromDouble(math.Float64bits(1.1)), FromDouble(math.Float64bits(2.7))
	e := Env{Masked: 0x3f}
	for b.Loop() {
		x = e.Add(Double, x, y)
	}
}

func BenchmarkDiv(b *testing.B) {
	x, y := FromDouble(math.Float64bits(1e300)), FromDouble(math.Float64bits(1.0000001))
	e := Env{Masked: 0x3f}
	for b.Loop() {
		x = e.Div(Double, x, y)
	}
}
