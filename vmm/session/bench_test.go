package session_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/session"
)

// longExits is how long the run is in which BenchmarkStepBack steps back:
// TICKTRAP_EXITS, 200 000 without it.
func longExits() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("TICKTRAP_EXITS"), 10, 64); err == nil {
		return n
	}
	return 200_000
}

// BenchmarkStepBack measures one step back at places all over a long run, with
// the worst of them and the memory that the history takes.
func BenchmarkStepBack(b *testing.B) {
	r, e := newRunner(b, "noisy", "", 1, 1, 1, vmm.DefaultKnobs())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r.KeepHistory()
	r.SetLimits(session.Limits{Exits: longExits()})
	start := time.Now()
	if _, err := r.RunTo(clock.Never, nil); err != nil {
		b.Fatal(err)
	}
	run := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	end := e.Now()
	r.SetLimits(session.Limits{})
	var worst time.Duration
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		if err := r.Seek(end / 100 * clock.TSC(1+i*37%98)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		t := time.Now()
		if err := r.BackExits(1); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(t))
	}
	b.ReportMetric(float64(worst.Milliseconds()), "worst-ms")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "history-MiB")
	b.ReportMetric(float64(longExits())/run.Seconds(), "exits/s")
}

// BenchmarkReplay measures opening, seeking and stepping in a recording.
func BenchmarkReplay(b *testing.B) {
	rec := recorded(b, "noisy", "", 1, longExits()/40)
	p, err := session.NewReplay("run.tt", rec, still{}, session.Options{Paused: true})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var f vmm.Frame
	for !f.Timeline.Complete {
		p.Frame(&f)
	}
	end := rec.Last()
	b.Run("seek", func(b *testing.B) {
		for i := range b.N {
			if err := p.Do(vmm.Command{Verb: vmm.DoSeek, At: end / 100 * clock.TSC(1+i*37%98)}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("back", func(b *testing.B) {
		for range b.N {
			if err := p.Do(vmm.Command{Verb: vmm.DoBackExit, N: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("frame", func(b *testing.B) {
		for range b.N {
			p.Frame(&f)
		}
	})
	b.ReportMetric(float64(rec.Events()), "events")
}

// BenchmarkKeepWhatIsShown measures what keeping the past of a run that cannot be
// repeated costs: time and bytes an event, and the time to open it.
func BenchmarkKeepWhatIsShown(b *testing.B) {
	for _, keep := range []bool{false, true} {
		b.Run(map[bool]string{false: "without", true: "with"}[keep], func(b *testing.B) {
			r, err := session.NewRunner(func(sink trace.Sink) (vmm.Engine, error) {
				e, err := newEngine(b, "noisy", "", 1, 1, 1, vmm.DefaultKnobs(), sink)
				return realTime{e}, err
			})
			if err != nil {
				b.Fatal(err)
			}
			if keep {
				r.KeepHistory()
			}
			b.ResetTimer()
			r.SetLimits(session.Limits{Exits: uint64(b.N)})
			if _, err := r.RunTo(clock.Never, nil); err != nil {
				b.Fatal(err)
			}
			events := float64(r.State().Events)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
			if !keep {
				return
			}
			start := time.Now()
			if err := r.OpenKept(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(start).Milliseconds()), "open-ms")
			bytes, _ := r.Kept()
			b.ReportMetric(float64(bytes)/events, "bytes/event")
		})
	}
}
