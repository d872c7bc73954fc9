package interp

// The rows of what is no instruction.
var (
	rowUnknown = row{name: "(unknown)"}
	rowTooLong = row{name: "(too long)"}
	// rowUndefined is #UD.
	rowUndefined = row{name: "(undefined)", attr: end, exec: both(execUndefined)}
)

// alu are the handlers of one two-operand operation, in its three forms.
type alu struct{ r, l, m [4]handler }

var (
	aluADD = alu{
		[4]handler{addR[int8], addR[int16], addR[int32], addR[int64]},
		[4]handler{addL[int8], addL[int16], addL[int32], addL[int64]},
		[4]handler{addM[int8], addM[int16], addM[int32], addM[int64]},
	}
	aluOR = alu{
		[4]handler{orR[int8], orR[int16], orR[int32], orR[int64]},
		[4]handler{orL[int8], orL[int16], orL[int32], orL[int64]},
		[4]handler{orM[int8], orM[int16], orM[int32], orM[int64]},
	}
	aluADC = alu{
		[4]handler{adcR[int8], adcR[int16], adcR[int32], adcR[int64]},
		[4]handler{adcL[int8], adcL[int16], adcL[int32], adcL[int64]},
		[4]handler{adcM[int8], adcM[int16], adcM[int32], adcM[int64]},
	}
	aluSBB = alu{
		[4]handler{sbbR[int8], sbbR[int16], sbbR[int32], sbbR[int64]},
		[4]handler{sbbL[int8], sbbL[int16], sbbL[int32], sbbL[int64]},
		[4]handler{sbbM[int8], sbbM[int16], sbbM[int32], sbbM[int64]},
	}
	aluAND = alu{
		[4]handler{andR[int8], andR[int16], andR[int32], andR[int64]},
		[4]handler{andL[int8], andL[int16], andL[int32], andL[int64]},
		[4]handler{andM[int8], andM[int16], andM[int32], andM[int64]},
	}
	aluSUB = alu{
		[4]handler{subR[int8], subR[int16], subR[int32], subR[int64]},
		[4]handler{subL[int8], subL[int16], subL[int32], subL[int64]},
		[4]handler{subM[int8], subM[int16], subM[int32], subM[int64]},
	}
	aluXOR = alu{
		[4]handler{xorR[int8], xorR[int16], xorR[int32], xorR[int64]},
		[4]handler{xorL[int8], xorL[int16], xorL[int32], xorL[int64]},
		[4]handler{xorM[int8], xorM[int16], xorM[int32], xorM[int64]},
	}
	aluCMP = alu{
		[4]handler{cmpR[int8], cmpR[int16], cmpR[int32], cmpR[int64]},
		[4]handler{cmpL[int8], cmpL[int16], cmpL[int32], cmpL[int64]},
		[4]handler{cmpM[int8], cmpM[int16], cmpM[int32], cmpM[int64]},
	}
	aluTEST = family{
		[4]handler{testR[int8], testR[int16], testR[int32], testR[int64]},
		[4]handler{testM[int8], testM[int16], testM[int32], testM[int64]},
	}
)

var (
	famMOV = family{
		[4]handler{movR[int8], movR[int16], movR[int32], movR[int64]},
		[4]handler{movM[int8], movM[int16], movM[int32], movM[int64]},
	}
	famMOVload = family{
		[4]handler{movR[int8], movR[int16], movR[int32], movR[int64]},
		[4]handler{movL[int8], movL[int16], movL[int32], movL[int64]},
	}
	famINC = family{
		[4]handler{incR[int8], incR[int16], incR[int32], incR[int64]},
		[4]handler{incM[int8], incM[int16], incM[int32], incM[int64]},
	}
	famDEC = family{
		[4]handler{decR[int8], decR[int16], decR[int32], decR[int64]},
		[4]handler{decM[int8], decM[int16], decM[int32], decM[int64]},
	}
	famNEG = family{
		[4]handler{negR[int8], negR[int16], negR[int32], negR[int64]},
		[4]handler{negM[int8], negM[int16], negM[int32], negM[int64]},
	}
	famNOT = family{
		[4]handler{notR[int8], notR[int16], notR[int32], notR[int64]},
		[4]handler{notM[int8], notM[int16], notM[int32], notM[int64]},
	}
	famXCHG = family{
		[4]handler{xchgR[int8], xchgR[int16], xchgR[int32], xchgR[int64]},
		[4]handler{xchgM[int8], xchgM[int16], xchgM[int32], xchgM[int64]},
	}
	famLEA  = family{mem: [4]handler{nil, lea[int16], lea[int32], lea[int64]}}
	famSHL  = shifts([4]handler{shlR[int8], shlR[int16], shlR[int32], shlR[int64]}, shifter(shl))
	famSHR  = shifts([4]handler{shrR[int8], shrR[int16], shrR[int32], shrR[int64]}, shifter(shr))
	famSAR  = both(shifter(sar))
	famROL  = both(shifter(rol))
	famROR  = both(shifter(ror))
	famRCL  = both(shifter(rcl))
	famRCR  = both(shifter(rcr))
	famPUSH = family{reg: [4]handler{execPUSH, execPUSH, execPUSH, execPUSH64}, mem: [4]handler{nil, execPUSHM, execPUSHM, execPUSHM}}
	famPOP  = family{reg: [4]handler{nil, execPOP, execPOP, execPOP64}, mem: [4]handler{nil, execPOPM, execPOPM, execPOPM}}
	famJMP  = family{reg: [4]handler{nil, execJMP, execJMP, execJMP64}}
	famCALL = both(execCALL)
	famRET  = family{reg: [4]handler{nil, execRET, execRET, execRET64}}
	famMOVS = both(repeat(movsStep, bulkMOVS, false))
	famCMPS = both(repeat(cmpsStep, nil, true))
	famSTOS = both(repeat(stosStep, bulkSTOS, false))
	famLODS = both(repeat(lodsStep, nil, false))
	famSCAS = both(repeat(scasStep, nil, true))
	famINS  = both(repeat(insStep, nil, false))
	famOUTS = both(repeat(outsStep, nil, false))
)

func shifts(reg [4]handler, mem handler) family {
	return family{reg, [4]handler{mem, mem, mem, mem}}
}

var (
	famCMPXCHG = family{
		[4]handler{cmpxchgR[int8], cmpxchgR[int16], cmpxchgR[int32], cmpxchgR[int64]},
		[4]handler{cmpxchgM[int8], cmpxchgM[int16], cmpxchgM[int32], cmpxchgM[int64]},
	}
	famXADD = family{
		[4]handler{xaddR[int8], xaddR[int16], xaddR[int32], xaddR[int64]},
		[4]handler{xaddM[int8], xaddM[int16], xaddM[int32], xaddM[int64]},
	}
)

// widen is the family of MOVZX and MOVSX.
func widen(reg, mem handler) family {
	return family{[4]handler{nil, reg, reg, reg}, [4]handler{nil, mem, mem, mem}}
}
