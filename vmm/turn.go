package vmm

// Turn carries out stages of vCPU id until it has left the guest and the
// fastpath has looked at the exit, or stands where only Step goes on: in a halt.
// It is Step for a real host, where nothing acts between two stages. What lies
// between two VM-entries is one Turn.
//
// Preconditions: those of Step.
func (m *Machine) Turn(id int) {
	v := &m.vcpus[id]
	p := v.pcpu
	for {
		switch v.stage {
		case StageHandle:
			m.stepHandle(p, v)
			if m.st.ended {
				return
			}
		case StageAfter:
			m.stepAfter(p, v)
		case StageOuter:
			m.stepOuter(p, v)
		case StagePrepare:
			m.stepPrepare(p, v)
		case StageTest:
			m.stepTest(p, v)
		case StageEntry:
			m.stepEntry(p, v)
		case StageGuest:
			m.stepGuest(p, v)
			if v.stage == StageGuest {
				return // stopped for something that is no exit
			}
		case StageExit:
			m.stepExit(p, v)
			return
		default:
			m.Step(id)
			return
		}
	}
}
