package vmmtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/trace"
	"codeberg.org/ticktrap/ticktrap/vmm"
	"codeberg.org/ticktrap/ticktrap/vmm/guest"
	"codeberg.org/ticktrap/ticktrap/vmm/model"
	"codeberg.org/ticktrap/ticktrap/vmm/vmmtest/l1"
)

// linuxEnv names the variable that holds the directory of "make linux-guest";
// without it the Linux tests are skipped.
const linuxEnv = "TICKTRAP_LINUX"

// linuxRun is what a run of Linux on the model gave.
type linuxRun struct {
	console      string
	hash         string // of all events
	end          trace.EndKind
	instructions uint64
	exits        uint64
}

func bootLinux(t *testing.T, series string, vcpus int, args string) linuxRun {
	t.Helper()
	dir := os.Getenv(linuxEnv)
	if dir == "" {
		t.Skipf("$%s is not set: it names the directory of \"make linux-guest\"", linuxEnv)
	}
	k, err := l1.FindKernel(series)
	if err != nil {
		t.Skip(err)
	}
	img, err := guest.Open(k.Image, guest.Options{Append: args, Initrd: filepath.Join(dir, "initrd")})
	if err != nil {
		t.Fatal(err)
	}
	prof, err := model.LoadProfile("skylake-server")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	var text strings.Builder
	var buf []byte
	e, err := model.New(model.Config{Guest: img, Profile: prof, VCPUs: vcpus, RAM: 512 << 20, Knobs: vmm.DefaultKnobs()},
		trace.SinkFunc(func(e trace.Event) {
			buf = binary.LittleEndian.AppendUint64(buf[:0], uint64(e.TSC))
			for _, v := range []uint64{uint64(e.Kind), uint64(e.VCPU), e.A, e.B, e.C, e.D} {
				buf = binary.LittleEndian.AppendUint64(buf, v)
			}
			h.Write(buf)
			if e.Kind == trace.KindConsole {
				var b [24]byte
				for i, w := range [3]uint64{e.A, e.B, e.C} {
					binary.LittleEndian.PutUint64(b[8*i:], w)
				}
				text.Write(b[:e.D])
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	limit, _ := prof.Hz.ToCycles(clock.Nanos(60e9))
	e.Run(clock.TSC(limit), func() bool { return false })
	r := linuxRun{console: text.String(), hash: hex.EncodeToString(h.Sum(nil)), exits: e.Machine().Exits()}
	r.end, _, _ = e.Machine().Ended()
	r.instructions, _ = e.Instructions()
	return r
}

func TestLinuxRunsCyclictestTwiceTheSame(t *testing.T) {
	first := bootLinux(t, "6.12", 1, "console=ttyS0 quiet")
	t.Logf("%d instructions, %d exits", first.instructions, first.exits)
	if first.end != trace.EndShutdown || !strings.Contains(first.console, "Max:") {
		t.Fatalf("ended by %v, want cyclictest's line and a power-off; console:\n%s", first.end, tail(first.console))
	}
	second := bootLinux(t, "6.12", 1, "console=ttyS0 quiet")
	if first.hash != second.hash || first.console != second.console {
		t.Errorf("two runs differ: events %s and %s; consoles end\n%s\nand\n%s", first.hash, second.hash, tail(first.console),
			tail(second.console))
	}
}

// tail is the last lines of a console.
func tail(s string) string { return s[max(0, len(s)-2000):] }
