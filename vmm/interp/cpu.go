package interp

import (
	"codeberg.org/ticktrap/ticktrap/internal/clock"
	"codeberg.org/ticktrap/ticktrap/vmm"
)

// Config is what a CPU is made with.
type Config struct {
	Costs Costs
	// NoSkip makes the CPU execute every instruction of a busy-wait loop, and of
	// one that fills memory. The result is the same.
	NoSkip bool
}

// Stats counts instructions since New.
type Stats struct {
	Executed uint64 // instructions executed one by one
	Skipped  uint64 // instructions of busy-wait loops that were skipped
	Filled   uint64 // instructions of loops that fill memory, done in one go
	Blocks   uint64 // blocks decoded
	Skips    uint64 // stretches skipped
}

// CPU is one virtual processor. It implements vmm.CPU. All CPUs that share a
// Memory must be used from one goroutine.
type CPU struct {
	state
	// w holds what follows from state and is rebuilt from it by refresh.
	w working

	mem   *Memory
	costs [numCosts]uint32
	cfg   Config
	stats Stats

	// now is the host TSC at the start of the running block, until the limit of
	// Run.
	now, until clock.TSC
	stop       stopKind
	// noTrap is set by instructions that turn single-stepping off before their
	// own trap: software interrupts and SYSCALL.
	noTrap bool
	exc    exception
	exit   vmm.Exit
	// onlyRAM is the error that an access outside RAM ends in, 0 where it may go to a
	// device.
	onlyRAM vmm.InternalError

	tlb    tlb
	blocks cache
	probe  probe
}

// stopKind says why a block was left early.
type stopKind uint8

// The kinds of stop.
const (
	stopNone  stopKind = iota
	stopNext           // op completed; look at everything anew
	stopAgain          // op completed in part (REP), RIP stays at it
	stopFault          // op not completed: exc is to be delivered
	stopExit           // op not completed: exit is set, RIP stays at it
	stopAfter          // op completed, then exit
)

// working is derived state.
type working struct {
	// segBase are the segment bases that effective addresses get: zero in 64-bit
	// mode but for FS and GS.
	segBase [numSegs]uint64
	// mode is the code size: mode16, mode32 or mode64.
	mode codeMode
	cpl  uint8
	// long is IA-32e mode active (EFER.LMA); prot is CR0.PE.
	long, prot bool
	// attn has a bit for each reason to look before executing a block.
	attn attention
	// ipMask is the mask of the instruction pointer.
	ipMask uint64
}

// codeMode is the size of code.
type codeMode uint8

// The code sizes.
const (
	mode16 codeMode = iota
	mode32
	mode64
)

// attention is a set of reasons not to run whole blocks.
type attention uint8

// The reasons.
const (
	attnReplay attention = 1 << iota // an access log waits to be replayed
	attnEvent                        // an event waits for delivery
	attnHalt                         // halted
	attnWindow                       // a window was asked for
	attnShadow                       // interrupt shadow
	attnStep                         // RFLAGS.TF or debug registers in use
	attnDead                         // shut down after a triple fault
)

// New returns a CPU in its power-up state that executes code from m.
func New(m *Memory, cfg Config) *CPU {
	c := &CPU{mem: m, cfg: cfg, costs: cfg.Costs.array()}
	c.blocks.init()
	c.Reset(true)
	return c
}

// Stats returns the counts since New.
func (c *CPU) Stats() Stats { return c.stats }

// tsc is the guest's time-stamp counter during op o.
func (c *CPU) tsc(o *op) uint64 {
	return uint64(c.now.Add(clock.Cycles(o.cyc)).Add(c.tscOffset))
}
