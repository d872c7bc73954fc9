package guest

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "assemble the built-in guests and write their bytes")

// assemble returns the bytes of a guest's source, and its listing.
func assemble(t *testing.T, name string) (code []byte, listing string) {
	t.Helper()
	for _, tool := range []string{"as", "ld", "objcopy", "objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("GNU binutils are needed to assemble: %v", err)
		}
	}
	dir := t.TempDir()
	obj, elf, bin := filepath.Join(dir, "o"), filepath.Join(dir, "elf"), filepath.Join(dir, "bin")
	for _, c := range [][]string{
		{"as", "--64", "-I", "builtin", "-o", obj, filepath.Join("builtin", name+".s")},
		{"ld", "-m", "elf_x86_64", "-Ttext=0x100000", "-e", "_start", "-o", elf, obj},
		{"objcopy", "-O", "binary", "-j", ".text", elf, bin},
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
	code, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-d", elf).Output()
	if err != nil {
		t.Fatal(err)
	}
	return code, string(out)
}

func TestCodeMatchesSource(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			got, listing := assemble(t, name)
			if *update {
				if err := os.WriteFile("builtin/"+name+".bin", got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := code.ReadFile("builtin/" + name + ".bin")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("builtin/%s.bin is not what its source assembles to: run go generate ./vmm/guest", name)
			}
			for _, block := range strings.Split(listing, "\n\n") {
				symbol, _, _ := strings.Cut(block, ":\n")
				// Not 64-bit code: 16-bit code and tables of addresses.
				other := slices.ContainsFunc([]string{"<startup", "<subtests", "<take"}, func(s string) bool {
					return strings.Contains(symbol, s)
				})
				if strings.Contains(block, "(bad)") && !other {
					t.Errorf("the code of %s does not disassemble:\n%s", name, block)
				}
			}
		})
	}
}

func TestEachGuestHasSourceAndCode(t *testing.T) {
	sources, _ := filepath.Glob("builtin/*.s")
	bins, _ := filepath.Glob("builtin/*.bin")
	for _, l := range []struct {
		files []string
		ext   string
	}{{sources, ".s"}, {bins, ".bin"}} {
		var names []string
		for _, f := range l.files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), l.ext))
		}
		want := Names()
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("builtin/*%s are %v, the catalogue has %v", l.ext, names, want)
		}
	}
}
