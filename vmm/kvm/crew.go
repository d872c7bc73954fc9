//go:build linux && amd64

package kvm

import (
	"runtime"
	"sync"

	"codeberg.org/ticktrap/ticktrap/vmm"
)

// crew is the threads of a VM's vCPUs, one each. They run while the crew runs
// and are parked otherwise. Its lock guards whatever the threads share; a thread
// gives it up while its vCPU is in KVM_RUN or sleeps.
type crew struct {
	vm   *VM
	mu   sync.Mutex
	cond *sync.Cond // of mu: one of the fields below changed
	// What follows is guarded by mu.
	running bool
	closing bool
	parked  int // threads that wait
	alive   int // threads that have not ended
}

// start makes the threads. turn is called with the lock held, again and again
// while the crew runs.
func (c *crew) start(vm *VM, turn func(i int)) error {
	c.vm = vm
	n := len(vm.cpus)
	// A thread in KVM_RUN holds a processor of the Go scheduler.
	if want := n + 2; runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
	c.mu.Lock()
	c.alive = n
	c.mu.Unlock()
	ready := make(chan error, n)
	for i := range n {
		go c.thread(i, turn, ready)
	}
	var first error
	for range n {
		if err := <-ready; err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (c *crew) thread(i int, turn func(int), ready chan<- error) {
	cpu := c.vm.CPU(i)
	err := cpu.Bind()
	ready <- err
	c.mu.Lock()
	defer c.mu.Unlock()
	for err == nil && !c.closing {
		if !c.running {
			c.park()
			continue
		}
		turn(i)
	}
	if err == nil {
		cpu.Unbind()
	}
	c.alive--
	c.cond.Broadcast()
}

func (c *crew) park() {
	c.parked++
	c.cond.Broadcast()
	for !c.running && !c.closing {
		c.cond.Wait()
	}
	c.parked--
}

// release lets the threads run. The lock is held.
func (c *crew) release() {
	c.running = true
	c.cond.Broadcast()
}

// halt tells the threads to park. The lock is held.
func (c *crew) halt() {
	if !c.running {
		return
	}
	c.running = false
	for _, cpu := range c.vm.cpus {
		cpu.Kick()
	}
}

// settle waits until all threads are parked after halt. The lock is held.
func (c *crew) settle() {
	for c.parked < c.alive {
		c.cond.Wait()
	}
}

// idle reports whether no vCPU is in KVM_RUN. The lock is held.
func (c *crew) idle() bool { return c.parked == c.alive }

// stopped reports whether the threads have been told to park.
func (c *crew) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.running
}

// end ends the threads. The lock must not be held.
func (c *crew) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.running = true // so that halt kicks
	c.halt()
	c.cond.Broadcast()
	for c.alive > 0 {
		c.cond.Wait()
	}
}

// failure is the sentence of the first vCPU that KVM could not run on.
func (c *crew) failure() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cpu := range c.vm.cpus {
		if cpu.failed.Reason != vmm.BadExitKind {
			return failure(&cpu.failed)
		}
	}
	return ""
}
