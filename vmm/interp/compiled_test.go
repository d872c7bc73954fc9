package interp

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// imageBase is where the images of testdata/compiled are loaded and start.
const imageBase = 0x100000

// compiledParts are the computations in the order of their results.
var compiledParts = []string{"sha256", "sorting", "matrices", "bodies", "mandelbrot", "extended", "wide", "bits", "vectors", "formatting",
	"calls", "atomics", "conversions"}

// loadCompiled returns a machine with an image of testdata/compiled.
func loadCompiled(t testing.TB, name string) *machine {
	t.Helper()
	f, err := os.Open("testdata/compiled/" + name + ".bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	image, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	mode := mode64
	if strings.HasPrefix(name, "32-") {
		mode = mode32
	}
	m := newMachine(t, mode, "f4")
	m.write(imageBase, image)
	m.change(func(r *vmm.Registers) {
		r.RIP = imageBase
		r.CR4 |= cr4OSFXSR | cr4OSXMMEXCPT
		r.FPU = vmm.FPU{Control: fcwReset, MXCSR: mxcsrReset}
	})
	return m
}

func TestCompiledProgramsGiveTheProcessorsResults(t *testing.T) {
	f, err := os.Open("testdata/compiled/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		want := strings.Fields(sc.Text())
		t.Run(want[0], func(t *testing.T) {
			m := loadCompiled(t, want[0])
			e := m.run(clock.TSC(200e6))
			if e.Reason != vmm.ExitHLT || e.RIP < imageBase {
				t.Fatalf("exit %d at %#x (% x), want the HLT at the end", e.Reason, e.RIP, e.Bytes[:e.NBytes])
			}
			at := m.cpu.GPR(vmm.RAX)
			for i, name := range compiledParts {
				if got := fmt.Sprintf("%016x", m.get64(at+uint64(i)*8)); got != want[i+1] {
					t.Errorf("%s: %s, want %s", name, got, want[i+1])
				}
			}
			t.Logf("%d instructions", m.cpu.Stats().Executed)
		})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkCompiled reports the speed on ordinary code.
func BenchmarkCompiled(b *testing.B) {
	for _, name := range []string{"O2", "O3-sse4", "O3-x87", "32-O2-sse"} {
		b.Run(name, func(b *testing.B) {
			n := uint64(0)
			for b.Loop() {
				m := loadCompiled(b, name)
				m.run(clock.TSC(200e6))
				n += m.cpu.Stats().Executed
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minsn/s")
		})
	}
}
