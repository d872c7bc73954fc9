// The hwvec program makes the hardware vectors in vmm/interp/testdata/hw.
//
// It invents instructions from the tables in rows_*.go with random operands,
// has native/run.c execute each on the processor of this machine, and writes what
// happened, one instruction a line, in the form of package interptest. The seed
// is fixed, so the same processor model gives the same files. Flags that the
// manual (Intel SDM vol. 2) leaves undefined for an instruction are marked in the
// vector; what the processor made of them is recorded all the same.
//
// Run it in the module's root directory on x86-64 Linux:
//
//	gcc -O2 -o /tmp/run vmm/interp/testdata/generators/hwvec/native/run.c
//	go run ./vmm/interp/testdata/generators/hwvec -run /tmp/run -out vmm/interp/testdata/hw
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/interptest"
)

func main() {
	runner := flag.String("run", "/tmp/run", "the compiled run.c")
	out := flag.String("out", "vmm/interp/testdata/hw", "directory for the vectors")
	only := flag.String("only", "", "make this family alone")
	flag.Parse()
	log.SetFlags(0)
	for _, f := range families() {
		if *only != "" && *only != f.name {
			continue
		}
		if err := f.write(*runner, *out); err != nil {
			log.Fatalf("%s: %v", f.name, err)
		}
	}
}

// family is one output file.
type family struct {
	name string
	rows []row
}

func families() []family {
	return []family{
		{"integer", integerRows()}, {"bits", bitRows()}, {"stack", stackRows()}, {"string", stringRows()},
		{"chain", chainRows()}, {"fault", faultRows()}, {"compat", compatRows()}, {"segment16", segment16Rows()},
		{"x87", x87Rows()}, {"transcendental", transcendentalRows()},
		{"ssefloat", sseFloatRows()}, {"sseint", sseIntRows()},
	}
}

func (f family) write(runner, dir string) error {
	r := interptest.Rand(len(f.name))
	for _, c := range f.name {
		r = r*31 + interptest.Rand(c)
	}
	var all []*interptest.Vector
	for i := range f.rows {
		all = append(all, f.rows[i].instances(&r)...)
	}
	if err := measure(runner, all); err != nil {
		return err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	for _, v := range all {
		fmt.Fprintln(z, v)
	}
	if err := z.Close(); err != nil {
		return err
	}
	log.Printf("%-15s %6d vectors %8d bytes", f.name, len(all), b.Len())
	return os.WriteFile(filepath.Join(dir, f.name+".txt.gz"), b.Bytes(), 0o644)
}

// wireState, wireIn and wireOut are run.c's structs.
type wireState struct {
	GPR        [16]uint64
	RIP, Flags uint64
	XMM        [16][2]uint64
	MXCSR      uint32
	FCW, FSW   uint16
	FTW        uint64
	ST         [8]struct {
		Mant uint64
		Exp  uint16
		_    [6]byte
	}
	Mem [interptest.ScratchSize]byte
}

type wireIn struct {
	Code      [128]byte
	Len, Mode uint32
	S         wireState
}

type wireOut struct {
	S            wireState
	Vector, Code uint32
	CR2          uint64
}

func toWire(s *interptest.State) wireState {
	w := wireState{GPR: s.GPR, RIP: s.RIP, Flags: s.Flags, XMM: s.XMM, MXCSR: s.MXCSR, FCW: s.FCW, FSW: s.FSW,
		FTW: uint64(s.FTW), Mem: s.Mem}
	for i, x := range s.ST {
		w.ST[i].Mant, w.ST[i].Exp = x.Mant, x.Exp
	}
	return w
}

func fromWire(w *wireState) interptest.State {
	s := interptest.State{GPR: w.GPR, RIP: w.RIP, Flags: w.Flags, XMM: w.XMM, MXCSR: w.MXCSR, FCW: w.FCW, FSW: w.FSW,
		FTW: uint8(w.FTW), Mem: w.Mem}
	for i := range w.ST {
		s.ST[i] = interptest.X87{Mant: w.ST[i].Mant, Exp: w.ST[i].Exp}
	}
	return s
}

// measure runs all vectors and fills in their outcomes.
func measure(runner string, all []*interptest.Vector) error {
	var in bytes.Buffer
	for _, v := range all {
		w := wireIn{Len: uint32(len(v.Code)), Mode: uint32(v.Mode), S: toWire(&v.In)}
		copy(w.Code[:], v.Code)
		if err := binary.Write(&in, binary.LittleEndian, &w); err != nil {
			return err
		}
	}
	cmd := exec.Command(runner)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	res, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", runner, err)
	}
	rd := bytes.NewReader(res)
	for i, v := range all {
		var w wireOut
		if err := binary.Read(rd, binary.LittleEndian, &w); err != nil {
			return fmt.Errorf("outcome of vector %d: %w", i, err)
		}
		v.Out = interptest.Outcome{State: fromWire(&w.S), Vector: uint8(w.Vector), Code: w.Code}
		if v.Out.Vector == 14 {
			v.Out.CR2 = w.CR2
		}
	}
	return nil
}
