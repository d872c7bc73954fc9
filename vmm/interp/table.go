package interp

// This file and its siblings table_*.go are the one list of what the
// interpreter knows. Form.go says how to read a row. The manual's section is
// always the instruction's own in Intel SDM vol. 2, by the mnemonic.

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

// rowsALU are the eight operations that fill the first quarter of the map.
func rowsALU() []row {
	ops := []struct {
		name, flags string
		a           alu
	}{
		{"add", "OSZAPC", aluADD}, {"or", "OSZaPC", aluOR}, {"adc", "OSZAPC", aluADC}, {"sbb", "OSZAPC", aluSBB},
		{"and", "OSZaPC", aluAND}, {"sub", "OSZAPC", aluSUB}, {"xor", "OSZaPC", aluXOR}, {"cmp", "OSZAPC", aluCMP},
	}
	var rows []row
	for i, o := range ops {
		hex := func(b int) string { return string("0123456789ABCDEF"[b>>4]) + string("0123456789ABCDEF"[b&15]) }
		lock := lockable
		if o.name == "cmp" {
			lock = 0
		}
		e, g := family{o.a.r, o.a.m}, family{o.a.r, o.a.l}
		digit := " /" + string(rune('0'+i))
		rows = append(rows,
			row{hex(8 * i), o.name, "Eb,Gb", o.flags, 0, lock, e},
			row{hex(8*i + 1), o.name, "Ev,Gv", o.flags, 0, lock, e},
			row{hex(8*i + 2), o.name, "Gb,Eb", o.flags, 0, 0, g},
			row{hex(8*i + 3), o.name, "Gv,Ev", o.flags, 0, 0, g},
			row{hex(8*i + 4), o.name, "Ab,Ib", o.flags, 0, 0, e},
			row{hex(8*i + 5), o.name, "Av,Iz", o.flags, 0, 0, e},
			row{"80" + digit, o.name, "Eb,Ib", o.flags, 0, lock, e},
			row{"81" + digit, o.name, "Ev,Iz", o.flags, 0, lock, e},
			row{"82" + digit, o.name, "Eb,Ib", o.flags, 0, lock | no64, e},
			row{"83" + digit, o.name, "Ev,Ib", o.flags, 0, lock, e},
		)
	}
	return rows
}

// rows are the other one-byte opcodes.
var rows = []row{
	{"06", "push es", "", "", 0, no64, both(segArg(execPUSHseg, segES))},
	{"07", "pop es", "", "", 0, no64 | end, both(segArg(execPOPseg, segES))},
	{"0E", "push cs", "", "", 0, no64, both(segArg(execPUSHseg, segCS))},
	{"16", "push ss", "", "", 0, no64, both(segArg(execPUSHseg, segSS))},
	{"17", "pop ss", "", "", 0, no64 | end, both(segArg(execPOPseg, segSS))},
	{"1E", "push ds", "", "", 0, no64, both(segArg(execPUSHseg, segDS))},
	{"1F", "pop ds", "", "", 0, no64 | end, both(segArg(execPOPseg, segDS))},
	{"27", "daa", "", "oSZAPC", 0, no64, both(execDAA)},
	{"2F", "das", "", "oSZAPC", 0, no64, both(execDAS)},
	{"37", "aaa", "", "oszApC", 0, no64, both(execAAA)},
	{"3F", "aas", "", "oszApC", 0, no64, both(execAAS)},
	{"40 +r", "inc", "Zv", "OSZAP", 0, no64, famINC},
	{"48 +r", "dec", "Zv", "OSZAP", 0, no64, famDEC},
	{"50 +r", "push", "Zv", "", 0, d64, famPUSH},
	{"58 +r", "pop", "Zv", "", 0, d64, famPOP},
	{"60", "pusha", "", "", 0, no64, both(execPUSHA)},
	{"61", "popa", "", "", 0, no64, both(execPOPA)},
	{"62 m", "bound", "Gv,Ev", "", 0, no64, onlyMem(execBOUND)},
	{"62", "evex", "Ev", "", 0, end, both(execUndefined)},
	{"63", "arpl", "Ew,Gw", "Z", costSystem, no64, both(execARPL)},
	{"63", "movsxd", "Gv,Ed", "", 0, only64, family{
		[4]handler{nil, movR[int16], movR[int32], movsxR[int32]},
		[4]handler{nil, movL[int16], movL[int32], movsxL[int32]}}},
	{"68", "push", "Iz", "", 0, d64, famPUSH},
	{"69", "imul", "Gv,Ev,Iz", "OszapC", costMul, 0, both(execIMUL2)},
	{"6A", "push", "Ib", "", 0, d64, famPUSH},
	{"6B", "imul", "Gv,Ev,Ib", "OszapC", costMul, 0, both(execIMUL2)},
	{"6C", "insb", "Yb", "", costString, end, famINS},
	{"6D", "ins", "Yv", "", costString, end, famINS},
	{"6E", "outsb", "Xb", "", costString, end, famOUTS},
	{"6F", "outs", "Xv", "", costString, end, famOUTS},
	{"70 +c", "j", "Jb", "", 0, f64 | end, both(execJcc)},
	{"84", "test", "Eb,Gb", "OSZaPC", 0, 0, aluTEST},
	{"85", "test", "Ev,Gv", "OSZaPC", 0, 0, aluTEST},
	{"86", "xchg", "Eb,Gb", "", 0, lockable, famXCHG},
	{"87", "xchg", "Ev,Gv", "", 0, lockable, famXCHG},
	{"88", "mov", "Eb,Gb", "", 0, 0, famMOV},
	{"89", "mov", "Ev,Gv", "", 0, 0, famMOV},
	{"8A", "mov", "Gb,Eb", "", 0, 0, famMOVload},
	{"8B", "mov", "Gv,Ev", "", 0, 0, famMOVload},
	{"8C", "mov", "Mv,Sw", "", 0, 0, both(execMOVfromSeg)},
	{"8D", "lea", "Gv,M", "", 0, 0, famLEA},
	{"8E", "mov", "Sw,Mw", "", costSystem, end, both(execMOVtoSeg)},
	{"8F /0", "pop", "Ev", "", 0, d64, famPOP},
	{"90", "nop", "Zv,Av", "", 0, 0, both(execNOP90)},
	{"F3 90", "pause", "", "", costPause, 0, both(execPAUSE)},
	{"90 +r", "xchg", "Zv,Av", "", 0, 0, famXCHG},
	{"98", "cbw", "", "", 0, 0, both(execCBW)},
	{"99", "cwd", "", "", 0, 0, both(execCWD)},
	{"9A", "callf", "Pp", "", costFar, no64 | end, both(execCALLF)},
	{"9C", "pushf", "", "", 0, d64, both(execPUSHF)},
	{"9D", "popf", "", "OSZAPC", costSystem, d64 | end, both(execPOPF)},
	{"9E", "sahf", "", "SZAPC", 0, 0, both(execSAHF)},
	{"9F", "lahf", "", "", 0, 0, both(execLAHF)},
	{"A0", "mov", "Ab,Ob", "", 0, 0, famMOVload},
	{"A1", "mov", "Av,Ov", "", 0, 0, famMOVload},
	{"A2", "mov", "Ob,Ab", "", 0, 0, famMOV},
	{"A3", "mov", "Ov,Av", "", 0, 0, famMOV},
	{"A4", "movsb", "Yb", "", costString, end, famMOVS},
	{"A5", "movs", "Yv", "", costString, end, famMOVS},
	{"A6", "cmpsb", "Yb", "OSZAPC", costString, end, famCMPS},
	{"A7", "cmps", "Yv", "OSZAPC", costString, end, famCMPS},
	{"A8", "test", "Ab,Ib", "OSZaPC", 0, 0, aluTEST},
	{"A9", "test", "Av,Iz", "OSZaPC", 0, 0, aluTEST},
	{"AA", "stosb", "Yb", "", costString, end, famSTOS},
	{"AB", "stos", "Yv", "", costString, end, famSTOS},
	{"AC", "lodsb", "Yb", "", costString, end, famLODS},
	{"AD", "lods", "Yv", "", costString, end, famLODS},
	{"AE", "scasb", "Yb", "OSZAPC", costString, end, famSCAS},
	{"AF", "scas", "Yv", "OSZAPC", costString, end, famSCAS},
	{"B0 +r", "mov", "Zb,Ib", "", 0, 0, famMOV},
	{"B8 +r", "mov", "Zv,Iv", "", 0, 0, famMOV},
	{"C2", "ret", "Iw", "", 0, f64 | end, famRET},
	{"C3", "ret", "", "", 0, f64 | end, famRET},
	{"C4 m", "les", "Gv,Ev", "", costSystem, no64 | end, onlyMem(loadFar(segES))},
	{"C5 m", "lds", "Gv,Ev", "", costSystem, no64 | end, onlyMem(loadFar(segDS))},
	{"C4", "vex", "Ev", "", 0, end, both(execUndefined)},
	{"C5", "vex", "Ev", "", 0, end, both(execUndefined)},
	{"C6 /0", "mov", "Eb,Ib", "", 0, 0, famMOV},
	{"C7 /0", "mov", "Ev,Iz", "", 0, 0, famMOV},
	{"C6 /7", "xabort", "Eb,Ib", "", 0, end, both(execUndefined)},
	{"C7 /7", "xbegin", "Ev,Iz", "", 0, end, both(execUndefined)},
	{"C8", "enter", "Iw,ib", "", costSystem, d64, both(execENTER)},
	{"C9", "leave", "", "", 0, d64, family{reg: [4]handler{nil, execLEAVE, execLEAVE, execLEAVE64}}},
	{"CA", "retf", "Iw", "", costFar, end, both(execRETF)},
	{"CB", "retf", "", "", costFar, end, both(execRETF)},
	{"CC", "int3", "", "", costVectoring, end, both(execINT3)},
	{"CD", "int", "Ib", "", costVectoring, end, both(execINT)},
	{"CE", "into", "", "", costInsn, no64 | end, both(execINTO)},
	{"CF", "iret", "", "OSZAPC", costIRET, end, both(execIRET)},
	{"D4", "aam", "Ib", "oSZaPc", costDiv, no64, both(execAAM)},
	{"D5", "aad", "Ib", "oSZaPc", 0, no64, both(execAAD)},
	{"D6", "salc", "", "", 0, no64, both(execSALC)},
	{"D7", "xlat", "", "", 0, 0, both(execXLAT)},
	{"E0", "loopne", "Jb", "", 0, f64 | end, both(execLOOP)},
	{"E1", "loope", "Jb", "", 0, f64 | end, both(execLOOP)},
	{"E2", "loop", "Jb", "", 0, f64 | end, both(execLOOP)},
	{"E3", "jcxz", "Jb", "", 0, f64 | end, both(execJCXZ)},
	{"E4", "in", "Ab,Ib", "", costSystem, end, both(execIN)},
	{"E5", "in", "Av,Ib", "", costSystem, end, both(execIN)},
	{"E6", "out", "Ab,Ib", "", costSystem, end, both(execOUT)},
	{"E7", "out", "Av,Ib", "", costSystem, end, both(execOUT)},
	{"E8", "call", "Jz", "", 0, f64 | end, famCALL},
	{"E9", "jmp", "Jz", "", 0, f64 | end, famJMP},
	{"EA", "jmpf", "Pp", "", costFar, no64 | end, both(execJMPF)},
	{"EB", "jmp", "Jb", "", 0, f64 | end, famJMP},
	{"EC", "in", "Ab", "", costSystem, end, both(execIN)},
	{"ED", "in", "Av", "", costSystem, end, both(execIN)},
	{"EE", "out", "Ab", "", costSystem, end, both(execOUT)},
	{"EF", "out", "Av", "", costSystem, end, both(execOUT)},
	{"F1", "int1", "", "", costVectoring, end, both(execINT1)},
	{"F4", "hlt", "", "", 0, end, both(execHLT)},
	{"F5", "cmc", "", "C", 0, 0, both(flagOp(0, 0, flagCF))},
	{"F8", "clc", "", "C", 0, 0, both(flagOp(flagCF, 0, 0))},
	{"F9", "stc", "", "C", 0, 0, both(flagOp(0, flagCF, 0))},
	{"FA", "cli", "", "", 0, 0, both(execCLI)},
	{"FB", "sti", "", "", 0, end, both(execSTI)},
	{"FC", "cld", "", "", 0, 0, both(flagOp(flagDF, 0, 0))},
	{"FD", "std", "", "", 0, 0, both(flagOp(0, flagDF, 0))},
	{"F6 /0", "test", "Eb,Ib", "OSZaPC", 0, 0, aluTEST},
	{"F6 /1", "test", "Eb,Ib", "OSZaPC", 0, 0, aluTEST},
	{"F7 /0", "test", "Ev,Iz", "OSZaPC", 0, 0, aluTEST},
	{"F7 /1", "test", "Ev,Iz", "OSZaPC", 0, 0, aluTEST},
	{"F6 /2", "not", "Eb", "", 0, lockable, famNOT},
	{"F7 /2", "not", "Ev", "", 0, lockable, famNOT},
	{"F6 /3", "neg", "Eb", "OSZAPC", 0, lockable, famNEG},
	{"F7 /3", "neg", "Ev", "OSZAPC", 0, lockable, famNEG},
	{"F6 /4", "mul", "Eb", "OszapC", costMul, 0, both(execMUL)},
	{"F7 /4", "mul", "Ev", "OszapC", costMul, 0, both(execMUL)},
	{"F6 /5", "imul", "Eb", "OszapC", costMul, 0, both(execIMUL1)},
	{"F7 /5", "imul", "Ev", "OszapC", costMul, 0, both(execIMUL1)},
	{"F6 /6", "div", "Eb", "oszapc", costDiv, 0, both(execDIV)},
	{"F7 /6", "div", "Ev", "oszapc", costDiv, 0, both(execDIV)},
	{"F6 /7", "idiv", "Eb", "oszapc", costDiv, 0, both(execIDIV)},
	{"F7 /7", "idiv", "Ev", "oszapc", costDiv, 0, both(execIDIV)},
	{"FE /0", "inc", "Eb", "OSZAP", 0, lockable, famINC},
	{"FF /0", "inc", "Ev", "OSZAP", 0, lockable, famINC},
	{"FE /1", "dec", "Eb", "OSZAP", 0, lockable, famDEC},
	{"FF /1", "dec", "Ev", "OSZAP", 0, lockable, famDEC},
	{"FF /2", "call", "Ev", "", 0, f64 | end, both(execCALLE)},
	{"FF /3", "callf", "Ev", "", costFar, end, onlyMem(execCALLF)},
	{"FF /4", "jmp", "Ev", "", 0, f64 | end, both(execJMPE)},
	{"FF /5", "jmpf", "Ev", "", costFar, end, onlyMem(execJMPF)},
	{"FF /6", "push", "Ev", "", 0, d64, famPUSH},
}

// segArg gives h the number of a segment register as its immediate.
func segArg(h handler, seg uint64) handler {
	return func(c *CPU, o *op) {
		at := *o
		at.imm = seg
		h(c, &at)
	}
}

// rowsTwo are the opcodes after 0F that are not system instructions.
var rowsTwo = []row{
	{"0F 0D", "prefetchw", "Ev", "", 0, 0, both(execNOP)},
	{"0F 0B", "ud2", "", "", 0, end, both(execUndefined)},
	{"0F B9", "ud1", "Gv,Ev", "", 0, end, both(execUndefined)},
	{"0F FF", "ud0", "Gv,Ev", "", 0, end, both(execUndefined)},
	{"0F 18", "prefetch", "Ev", "", 0, 0, both(execNOP)},
	{"0F 19", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1A", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1B", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1C", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1D", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1E", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 1F", "nop", "Ev", "", 0, 0, both(execNOP)},
	{"0F 40 +c", "cmov", "Gv,Ev", "", 0, 0, family{
		[4]handler{nil, cmov[int16], cmov[int32], cmov[int64]}, [4]handler{nil, cmov[int16], cmov[int32], cmov[int64]}}},
	{"0F 80 +c", "j", "Jz", "", 0, f64 | end, both(execJcc)},
	{"0F 90 +c", "set", "Eb", "", 0, 0, both(execSETcc)},
	{"0F A2", "cpuid", "", "", costSystem, end, both(execCPUID)},
	{"0F A3", "bt", "Ev,Gv", "oszapC", 0, 0, both(bitOp(nil, false))},
	{"0F AB", "bts", "Ev,Gv", "oszapC", 0, lockable, both(bitOp(bts, true))},
	{"0F B3", "btr", "Ev,Gv", "oszapC", 0, lockable, both(bitOp(btr, true))},
	{"0F BB", "btc", "Ev,Gv", "oszapC", 0, lockable, both(bitOp(btc, true))},
	{"0F BA /4", "bt", "Ev,Ib", "oszapC", 0, 0, both(bitOp(nil, false))},
	{"0F BA /5", "bts", "Ev,Ib", "oszapC", 0, lockable, both(bitOp(bts, true))},
	{"0F BA /6", "btr", "Ev,Ib", "oszapC", 0, lockable, both(bitOp(btr, true))},
	{"0F BA /7", "btc", "Ev,Ib", "oszapC", 0, lockable, both(bitOp(btc, true))},
	{"0F A4", "shld", "Ev,Gv,Ib", "OSZaPC", 0, 0, both(execSHLD)},
	{"0F A5", "shld", "Ev,Gv", "OSZaPC", 0, 0, both(execSHLD)},
	{"0F AC", "shrd", "Ev,Gv,Ib", "OSZaPC", 0, 0, both(execSHRD)},
	{"0F AD", "shrd", "Ev,Gv", "OSZaPC", 0, 0, both(execSHRD)},
	{"0F AF", "imul", "Gv,Ev", "OszapC", costMul, 0, both(execIMUL2)},
	{"0F B0", "cmpxchg", "Eb,Gb", "OSZAPC", 0, lockable, famCMPXCHG},
	{"0F B1", "cmpxchg", "Ev,Gv", "OSZAPC", 0, lockable, famCMPXCHG},
	{"0F C0", "xadd", "Eb,Gb", "OSZAPC", 0, lockable, famXADD},
	{"0F C1", "xadd", "Ev,Gv", "OSZAPC", 0, lockable, famXADD},
	{"0F C7 /1 m", "cmpxchg8b", "Ey", "Z", 0, lockable, onlyMem(execCMPXCHG8B)},
	{"0F B6", "movzx", "Gv,Eb", "", 0, 0, widen(movzxR[int8], movzxL[int8])},
	{"0F B7", "movzx", "Gv,Ew", "", 0, 0, widen(movzxR[int16], movzxL[int16])},
	{"0F BE", "movsx", "Gv,Eb", "", 0, 0, widen(movsxR[int8], movsxL[int8])},
	{"0F BF", "movsx", "Gv,Ew", "", 0, 0, widen(movsxR[int16], movsxL[int16])},
	{"F3 0F B8", "popcnt", "Gv,Ev", "OSZAPC", 0, 0, both(execPOPCNT)},
	{"0F BC", "bsf", "Gv,Ev", "osZapc", 0, 0, both(scan(lowest, false))},
	{"0F BD", "bsr", "Gv,Ev", "osZapc", 0, 0, both(scan(highest, false))},
	{"F3 0F BC", "tzcnt", "Gv,Ev", "osZapC", 0, 0, both(scan(lowest, true))},
	{"F3 0F BD", "lzcnt", "Gv,Ev", "osZapC", 0, 0, both(scan(leading, true))},
	{"0F C8 +r", "bswap", "Zv", "", 0, 0, both(execBSWAP)},
	{"NP 0F C3", "movnti", "Ey,Gy", "", 0, 0, family{mem: famMOV.mem}},
	{"0F 38 F0", "movbe", "Gv,Ev", "", 0, 0, onlyMem(execMOVBE)},
	{"0F 38 F1", "movbe", "Ev,Gv", "", 0, 0, onlyMem(execMOVBE)},
	{"0F B2", "lss", "Gv,Ev", "", costSystem, end, onlyMem(loadFar(segSS))},
	{"0F B4", "lfs", "Gv,Ev", "", costSystem, end, onlyMem(loadFar(segFS))},
	{"0F B5", "lgs", "Gv,Ev", "", costSystem, end, onlyMem(loadFar(segGS))},
	{"0F A0", "push fs", "", "", 0, d64, both(segArg(execPUSHseg, segFS))},
	{"0F A1", "pop fs", "", "", costSystem, d64 | end, both(segArg(execPOPseg, segFS))},
	{"0F A8", "push gs", "", "", 0, d64, both(segArg(execPUSHseg, segGS))},
	{"0F A9", "pop gs", "", "", costSystem, d64 | end, both(segArg(execPOPseg, segGS))},
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

// rowsExtra are the rows of the shifts, generated from their groups.
func rowsExtra() []row {
	groups := []struct {
		name, flags string
		f           family
	}{
		{"rol", "OC", famROL}, {"ror", "OC", famROR}, {"rcl", "OC", famRCL}, {"rcr", "OC", famRCR},
		{"shl", "OSZaPC", famSHL}, {"shr", "OSZaPC", famSHR}, {"shl", "OSZaPC", famSHL}, {"sar", "OSZaPC", famSAR},
	}
	var rows []row
	for i, g := range groups {
		digit := " /" + string(rune('0'+i))
		for _, e := range []struct{ op, args string }{
			{"C0", "Eb,Ib"}, {"C1", "Ev,Ib"}, {"D0", "Eb"}, {"D1", "Ev"}, {"D2", "Eb"}, {"D3", "Ev"},
		} {
			rows = append(rows, row{e.op + digit, g.name, e.args, g.flags, 0, 0, g.f})
		}
	}
	return rows
}
