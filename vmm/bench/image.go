package bench

import (
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
)

// Image is a user's own build of the unit tests' vmexit.
type Image struct{ path string }

// OpenImage checks that the file is a guest.
func OpenImage(path string) (*Image, error) {
	if _, err := guest.Open(path, guest.Options{}); err != nil {
		return nil, err
	}
	return &Image{path}, nil
}

// ImageScores are what an image printed for a row's subtest before and after, and
// the twin's scores for the same subtest.
type ImageScores struct {
	Subtest     string
	Score, Twin [2]float64
}

// Apart is the largest relative difference between image and twin.
func (s *ImageScores) Apart() (most float64) {
	for i := range s.Score {
		if s.Twin[i] != 0 {
			most = max(most, s.Score[i]/s.Twin[i]-1, 1-s.Score[i]/s.Twin[i])
		}
	}
	return most
}

// today are the names, in an image, of subtests that the published figures measured
// in an older form.
var today = map[string]string{immedNop: "tscdeadline_immed", vmcallBare: "vmcall"}

// measure runs the image and the twin, with one seed: the original's rounds are
// long.
func (im *Image) measure(r *Row, prof *model.Profile, sz Size, stop func() bool) (*ImageScores, error) {
	twin := *r
	s := &ImageScores{Subtest: r.Subtest}
	if name, old := today[r.Subtest]; old {
		s.Subtest = name
	}
	for side := range s.Score {
		if side == 0 && r.Form == Level {
			continue
		}
		score, cpuid, err := im.Score(s.Subtest, &r.Machines[side], prof, 1, stop)
		if err != nil {
			return nil, err
		}
		s.Score[side], twin.Subtest = score, r.Subtest
		if cpuid {
			twin.Subtest = s.Subtest
		}
		f, err := Measure(&twin, side, prof, sz, stop)
		if err != nil {
			return nil, err
		}
		s.Twin[side] = f.Value
	}
	return s, nil
}

// Score runs one subtest of the image and returns the score that it prints. cpuid
// says that the subtest executes CPUID at least once an iteration, as
// tscdeadline_immed does since March 2026 and vmcall since it looks up the vendor.
func (im *Image) Score(subtest string, m *Machine, prof *model.Profile, seed uint64, stop func() bool) (score float64, cpuid bool, err error) {
	img, err := guest.Open(im.path, guest.Options{Append: subtest})
	if err != nil {
		return 0, false, err
	}
	p := &exits{}
	eng, err := execute(m, prof, img, seed, p, stop)
	if err != nil {
		return 0, false, err
	}
	defer eng.Close()
	v, ok := printed(string(p.text), subtest)
	if !ok {
		return 0, false, fmt.Errorf("%s printed no score for %s", im.path, subtest)
	}
	return v, p.n[trace.ExitCPUID]*2 > p.n[trace.ExitMSRWrite]+p.n[trace.ExitVMCALL], nil
}

// Latencies runs an image of tscdeadline_latency for size latencies of timers delta
// cycles ahead, and returns the mean of their second half, as for the twin. The
// image goes on measuring while it prints; what it adds then does not count.
func Latencies(path string, delta clock.Cycles, size int, m *Machine, prof *model.Profile, seed uint64) (mean float64, err error) {
	img, err := guest.Open(path, guest.Options{Append: fmt.Sprint(delta, size)})
	if err != nil {
		return 0, err
	}
	p := &probe{}
	eng, err := execute(m, prof, img, seed, p, func() bool { return false })
	if err != nil {
		return 0, err
	}
	defer eng.Close()
	var all []float64
	for line := range strings.Lines(string(p.text)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "latency: "); ok {
			v, err := strconv.ParseInt(n, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: latency line %q: %w", path, line, err)
			}
			all = append(all, float64(v))
		}
	}
	if len(all) < size {
		return 0, fmt.Errorf("%s printed %d latencies, want %d", path, len(all), size)
	}
	var sum float64
	tail := all[size/2 : size]
	for _, v := range tail {
		sum += v
	}
	return sum / float64(len(tail)), nil
}

// exits is a probe that counts exits too.
type exits struct {
	probe
	n [trace.NumExits]uint64
}

// Emit implements trace.Sink.
func (x *exits) Emit(e trace.Event) {
	if e.Kind == trace.KindExit && e.A < uint64(len(x.n)) {
		x.n[e.A]++
	}
	x.probe.Emit(e)
}

// printed finds the line "NAME SCORE" in the serial output.
func printed(text, name string) (float64, bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == name {
			v, err := strconv.ParseInt(f[1], 10, 64)
			return float64(v), err == nil
		}
	}
	return 0, false
}
