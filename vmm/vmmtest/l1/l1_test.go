package l1

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func TestInitramfsHoldsFilesBelowTheirDirectories(t *testing.T) {
	var buf bytes.Buffer
	files := map[string][]byte{"/init": []byte("i"), "/a/b/c": []byte("deep")}
	if err := writeInitramfs(&buf, files); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	r := cpio.NewReader(z)
	var names []string
	got := map[string][]byte{}
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Mode.IsRegular() {
			got["/"+h.Name], _ = io.ReadAll(r)
		}
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if a, ab, c := slices.Index(names, "a"), slices.Index(names, "a/b"), slices.Index(names, "a/b/c"); a < 0 || a > ab || ab > c {
		t.Errorf("order %v: want a, a/b, a/b/c", names)
	}
}

func TestFollowSortsLinesToCommands(t *testing.T) {
	tests := []struct {
		name, console string
		outputs       [][]string
		codes         []int
		err           string
	}{
		{"two commands", "noise\r\nL1-RUN 0\r\none\r\nL1-EXIT 0 0\r\nkernel\r\nL1-RUN 1\r\ntwo\r\nL1-EXIT 1 3\r\nL1-DONE\r\nafter\r\n",
			[][]string{{"one"}, {"two"}}, []int{0, 3}, ""},
		{"mark after a partial line", "L1-RUN 0\nhalf L1-EXIT 0 7\nL1-DONE\n", [][]string{nil, nil}, []int{7, -1}, ""},
		{"panic", "L1-RUN 0\nx\n[ 1.2] Kernel panic - not syncing: y\n", [][]string{{"x"}, nil}, []int{-1, -1}, "panicked"},
		{"first program fails", "L1-FAIL loading kvm: no\n", [][]string{nil, nil}, []int{-1, -1}, "loading kvm: no"},
		{"cut off", "L1-RUN 0\nx\n", [][]string{{"x"}, nil}, []int{-1, -1}, "ended before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResult(2)
			err := r.follow(strings.NewReader(tt.console), nil)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("follow: %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.outputs, r.Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.codes, r.Codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesSurviveTheSerialPort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serial2")
	want := map[string][]byte{"/tmp/a b": []byte("x\ny 3\n\x00"), "/tmp/empty": {}}
	var buf bytes.Buffer
	for _, n := range []string{"/tmp/a b", "/tmp/empty"} {
		if err := WriteFile(&buf, n, want[n]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newResult(0)
	if err := r.readFiles(path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}

	if err := os.WriteFile(path, buf.Bytes()[:16], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.readFiles(path); err == nil || !strings.Contains(err.Error(), "/tmp/a b") {
		t.Errorf("cut transfer: %v, want an error that names the file", err)
	}
}

func TestTheMachineVMXHasNoAPICv(t *testing.T) {
	given := map[string]string{"kvm-intel": "ple_gap=0", "kvm": "halt_poll_ns=0"}
	for v, want := range map[Vendor]string{VMX: "enable_apicv=0 ple_gap=0", VMXAPICv: "ple_gap=0"} {
		if got := (Machine{Vendor: v, ModuleParams: given}).params(); got["kvm-intel"] != want || got["kvm"] != "halt_poll_ns=0" {
			t.Errorf("%v: parameters %v, want %q for kvm-intel", v, got, want)
		}
	}
	if given["kvm-intel"] != "ple_gap=0" {
		t.Errorf("the machine's own parameters were changed: %v", given)
	}
	if p := (Machine{Vendor: VMX}).params(); p["kvm-intel"] != "enable_apicv=0" {
		t.Errorf("without parameters: %v", p)
	}
}

func TestMissingKernelIsUnavailable(t *testing.T) {
	t.Setenv(KernelDirEnv, t.TempDir())
	if _, err := FindKernel("6.12"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("FindKernel in an empty directory: %v, want ErrUnavailable", err)
	}
}

func TestModulesAreFoundBySuffix(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(KernelDirEnv, dir)
	mods := filepath.Join(dir, "lib", "modules", "6.1.0-9", "kernel", "virt")
	for _, d := range []string{mods, filepath.Join(dir, "boot")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{filepath.Join(dir, "boot", "vmlinuz-6.1.0-9"): "k",
		filepath.Join(mods, "kvm.ko"): "module"} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k, err := FindKernel("6.1")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := k.Module("kvm"); err != nil || string(b) != "module" {
		t.Errorf("Module(kvm) = %q, %v", b, err)
	}
	if _, err := k.Module("nothere"); err == nil || !strings.Contains(err.Error(), "no module nothere") {
		t.Errorf("Module(nothere): %v", err)
	}
}
