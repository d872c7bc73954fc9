package interp

import (
	"math"

	"codeberg.org/ticktrap/ticktrap/vmm/interp/softfloat"
)

// rowsFPU are the x87 instructions. Intel SDM vol. 2 by mnemonic; vol. 1, chapter
// 8 "Programming with the x87 FPU".
func rowsFPU() []row {
	var rows []row
	add := func(enc, name, args string, f family) {
		rows = append(rows, row{enc, name, args, "", costFloat, 0, f})
	}
	ops := []struct {
		name string
		f    fpuBinary
	}{{"fadd", fpuAdd}, {"fmul", fpuMul}, {"fcom", nil}, {"fcomp", nil}, {"fsub", fpuSub}, {"fsubr", fpuSubR}, {"fdiv", fpuDiv}, {"fdivr", fpuDivR}}
	for i, op := range ops {
		digit := " /" + string(rune('0'+i))
		in := "fi" + op.name[1:]
		if op.f == nil {
			pops := i - 2
			add("D8"+digit+" m", op.name, "Ed", onlyMem(compareMem(memSingle, pops)))
			add("DC"+digit+" m", op.name, "Eq", onlyMem(compareMem(memDouble, pops)))
			add("DA"+digit+" m", in, "Ed", onlyMem(compareMem(memInt32, pops)))
			add("DE"+digit+" m", in, "Ew", onlyMem(compareMem(memInt16, pops)))
			add("D8"+digit+" r", op.name, "E", onlyReg(compareReg(false, pops)))
			add("DC"+digit+" r", op.name, "E", onlyReg(compareReg(false, pops)))
			continue
		}
		add("D8"+digit+" m", op.name, "Ed", onlyMem(arithMem(op.f, memSingle)))
		add("DC"+digit+" m", op.name, "Eq", onlyMem(arithMem(op.f, memDouble)))
		add("DA"+digit+" m", in, "Ed", onlyMem(arithMem(op.f, memInt32)))
		add("DE"+digit+" m", in, "Ew", onlyMem(arithMem(op.f, memInt16)))
		add("D8"+digit+" r", op.name, "E", onlyReg(arithReg(op.f, false, false)))
		add("DC"+digit+" r", op.name, "E", onlyReg(arithReg(op.f, true, false)))
		add("DE"+digit+" r", op.name+"p", "E", onlyReg(arithReg(op.f, true, true)))
	}
	return append(rows, rowsFPURest...)
}

// rowsFPURest are the rows that follow no pattern.
var rowsFPURest = []row{
	{"D9 /0 m", "fld", "Ed", "", costFloat, 0, onlyMem(fpuLoad(memSingle))},
	{"DD /0 m", "fld", "Eq", "", costFloat, 0, onlyMem(fpuLoad(memDouble))},
	{"DB /5 m", "fld", "E", "", costFloat, 0, onlyMem(fpu(execFLD80))},
	{"DF /0 m", "fild", "Ew", "", costFloat, 0, onlyMem(fpuLoad(memInt16))},
	{"DB /0 m", "fild", "Ed", "", costFloat, 0, onlyMem(fpuLoad(memInt32))},
	{"DF /5 m", "fild", "Eq", "", costFloat, 0, onlyMem(fpuLoad(memInt64))},
	{"DF /4 m", "fbld", "E", "", costFloat, 0, onlyMem(fpu(execFBLD))},
	{"D9 /2 m", "fst", "Ed", "", costFloat, 0, onlyMem(fpuStore(softfloat.Single, false))},
	{"D9 /3 m", "fstp", "Ed", "", costFloat, 0, onlyMem(fpuStore(softfloat.Single, true))},
	{"DD /2 m", "fst", "Eq", "", costFloat, 0, onlyMem(fpuStore(softfloat.Double, false))},
	{"DD /3 m", "fstp", "Eq", "", costFloat, 0, onlyMem(fpuStore(softfloat.Double, true))},
	{"DB /7 m", "fstp", "E", "", costFloat, 0, onlyMem(fpu(execFSTP80))},
	{"DF /2 m", "fist", "Ew", "", costFloat, 0, onlyMem(fpuStoreInt(2, false, false))},
	{"DF /3 m", "fistp", "Ew", "", costFloat, 0, onlyMem(fpuStoreInt(2, true, false))},
	{"DB /2 m", "fist", "Ed", "", costFloat, 0, onlyMem(fpuStoreInt(4, false, false))},
	{"DB /3 m", "fistp", "Ed", "", costFloat, 0, onlyMem(fpuStoreInt(4, true, false))},
	{"DF /7 m", "fistp", "Eq", "", costFloat, 0, onlyMem(fpuStoreInt(8, true, false))},
	{"DF /1 m", "fisttp", "Ew", "", costFloat, 0, onlyMem(fpuStoreInt(2, true, true))},
	{"DB /1 m", "fisttp", "Ed", "", costFloat, 0, onlyMem(fpuStoreInt(4, true, true))},
	{"DD /1 m", "fisttp", "Eq", "", costFloat, 0, onlyMem(fpuStoreInt(8, true, true))},
	{"DF /6 m", "fbstp", "E", "", costFloat, 0, onlyMem(fpu(execFBSTP))},

	{"D9 /4 m", "fldenv", "M", "", costFloat, 0, onlyMem(execFLDENV)},
	{"D9 /5 m", "fldcw", "M", "", costFloat, 0, onlyMem(fpu(execFLDCW))},
	{"D9 /6 m", "fnstenv", "M", "", costFloat, 0, onlyMem(execFNSTENV)},
	{"D9 /7 m", "fnstcw", "M", "", costFloat, 0, onlyMem(execFNSTCW)},
	{"DD /4 m", "frstor", "M", "", costSystem, 0, onlyMem(execFRSTOR)},
	{"DD /6 m", "fnsave", "M", "", costSystem, 0, onlyMem(execFNSAVE)},
	{"DD /7 m", "fnstsw", "M", "", costFloat, 0, onlyMem(execFNSTSW)},

	{"D9 /0 r", "fld", "E", "", costFloat, 0, onlyReg(fpu(execFLDreg))},
	{"D9 /1 r", "fxch", "E", "", costFloat, 0, onlyReg(fpu(execFXCH))},
	{"DD /1 r", "fxch", "E", "", costFloat, 0, onlyReg(fpu(execFXCH))},
	{"DF /1 r", "fxch", "E", "", costFloat, 0, onlyReg(fpu(execFXCH))},
	{"D9 =D0", "fnop", "", "", costFloat, 0, both(fpu(execNOP))},
	{"D9 /3 r", "fstp", "E", "", costFloat, 0, onlyReg(fpu(execFSTPreg))},
	{"DD /0 r", "ffree", "E", "", costFloat, 0, onlyReg(fpu(execFFREE))},
	{"DF /0 r", "ffreep", "E", "", costFloat, 0, onlyReg(fpu(execFFREEP))},
	{"DD /2 r", "fst", "E", "", costFloat, 0, onlyReg(fpu(execFSTreg))},
	{"DD /3 r", "fstp", "E", "", costFloat, 0, onlyReg(fpu(execFSTPreg))},
	{"DF /2 r", "fstp", "E", "", costFloat, 0, onlyReg(fpu(execFSTPreg))},
	{"DF /3 r", "fstp", "E", "", costFloat, 0, onlyReg(fpu(execFSTPreg))},
	{"DD /4 r", "fucom", "E", "", costFloat, 0, onlyReg(compareReg(true, 0))},
	{"DD /5 r", "fucomp", "E", "", costFloat, 0, onlyReg(compareReg(true, 1))},
	{"DE /2 r", "fcomp", "E", "", costFloat, 0, onlyReg(compareReg(false, 1))},
	{"DE =D9", "fcompp", "E", "", costFloat, 0, both(compareReg(false, 2))},
	{"DA =E9", "fucompp", "E", "", costFloat, 0, both(compareReg(true, 2))},
	{"DB /6 r", "fcomi", "E", "ZPC", costFloat, 0, onlyReg(compareFlags(false, false))},
	{"DB /5 r", "fucomi", "E", "ZPC", costFloat, 0, onlyReg(compareFlags(true, false))},
	{"DF /6 r", "fcomip", "E", "ZPC", costFloat, 0, onlyReg(compareFlags(false, true))},
	{"DF /5 r", "fucomip", "E", "ZPC", costFloat, 0, onlyReg(compareFlags(true, true))},
	{"DA /0 r", "fcmovb", "E", "", costFloat, 0, onlyReg(fcmov(condB, true))},
	{"DA /1 r", "fcmove", "E", "", costFloat, 0, onlyReg(fcmov(condE, true))},
	{"DA /2 r", "fcmovbe", "E", "", costFloat, 0, onlyReg(fcmov(condBE, true))},
	{"DA /3 r", "fcmovu", "E", "", costFloat, 0, onlyReg(fcmov(condU, true))},
	{"DB /0 r", "fcmovnb", "E", "", costFloat, 0, onlyReg(fcmov(condB, false))},
	{"DB /1 r", "fcmovne", "E", "", costFloat, 0, onlyReg(fcmov(condE, false))},
	{"DB /2 r", "fcmovnbe", "E", "", costFloat, 0, onlyReg(fcmov(condBE, false))},
	{"DB /3 r", "fcmovnu", "E", "", costFloat, 0, onlyReg(fcmov(condU, false))},

	{"D9 =E0", "fchs", "", "", costFloat, 0, both(signOp(func(se uint16) uint16 { return se ^ 0x8000 }))},
	{"D9 =E1", "fabs", "", "", costFloat, 0, both(signOp(func(se uint16) uint16 { return se &^ 0x8000 }))},
	{"D9 =E4", "ftst", "", "", costFloat, 0, both(fpu(execFTST))},
	{"D9 =E5", "fxam", "", "", costFloat, 0, both(fpu(execFXAM))},
	{"D9 =E8", "fld1", "", "", costFloat, 0, both(loadConst(const1))},
	{"D9 =E9", "fldl2t", "", "", costFloat, 0, both(loadConst(constL2T))},
	{"D9 =EA", "fldl2e", "", "", costFloat, 0, both(loadConst(constL2E))},
	{"D9 =EB", "fldpi", "", "", costFloat, 0, both(loadConst(constPI))},
	{"D9 =EC", "fldlg2", "", "", costFloat, 0, both(loadConst(constLG2))},
	{"D9 =ED", "fldln2", "", "", costFloat, 0, both(loadConst(constLN2))},
	{"D9 =EE", "fldz", "", "", costFloat, 0, both(loadConst(constZero))},
	{"D9 =F0", "f2xm1", "", "", costFloat, 0, both(fpuUnary(exp2m1))},
	{"D9 =F1", "fyl2x", "", "", costFloat, 0, both(twoToOne(log2, logOfZero))},
	{"D9 =F2", "fptan", "", "", costFloat, 0, both(trig(tangent, unit))},
	{"D9 =F3", "fpatan", "", "", costFloat, 0, both(twoToOne(math.Atan2, nil))},
	{"D9 =F4", "fxtract", "", "", costFloat, 0, both(fpu(execFXTRACT))},
	{"D9 =F5", "fprem1", "", "", costFloat, 0, both(remainder(true))},
	{"D9 =F6", "fdecstp", "", "", costFloat, 0, both(fpu(execFDECSTP))},
	{"D9 =F7", "fincstp", "", "", costFloat, 0, both(fpu(execFINCSTP))},
	{"D9 =F8", "fprem", "", "", costFloat, 0, both(remainder(false))},
	{"D9 =F9", "fyl2xp1", "", "", costFloat, 0, both(twoToOne(log2p1, nil))},
	{"D9 =FA", "fsqrt", "", "", costFloat, 0, both(fpuUnary(fpuSqrt))},
	{"D9 =FB", "fsincos", "", "", costFloat, 0, both(trig(sine, cosine))},
	{"D9 =FC", "frndint", "", "", costFloat, 0, both(fpuUnary(fpuRound))},
	{"D9 =FD", "fscale", "", "", costFloat, 0, both(fpu(execFSCALE))},
	{"D9 =FE", "fsin", "", "", costFloat, 0, both(trig(sine, nil))},
	{"D9 =FF", "fcos", "", "", costFloat, 0, both(trig(cosine, nil))},
	{"DB =E0", "fneni", "", "", costFloat, 0, both(execNOP)},
	{"DB =E1", "fndisi", "", "", costFloat, 0, both(execNOP)},
	{"DB =E2", "fnclex", "", "", costFloat, 0, both(execFNCLEX)},
	{"DB =E3", "fninit", "", "", costFloat, 0, both(execFNINIT)},
	{"DB =E4", "fnsetpm", "", "", costFloat, 0, both(execNOP)},
	{"DF =E0", "fnstsw", "", "", costFloat, 0, both(execFNSTSWAX)},
	{"NP 0F AE /0 m", "fxsave", "M", "", costSystem, 0, onlyMem(execFXSAVE)},
	{"NP 0F AE /1 m", "fxrstor", "M", "", costSystem, 0, onlyMem(execFXRSTOR)},
	{"NP 0F AE /4 m", "xsave", "M", "", costSystem, 0, onlyMem(execXSAVE)},
	{"NP 0F AE /5 m", "xrstor", "M", "", costSystem, 0, onlyMem(execXRSTOR)},
	{"9B", "fwait", "", "", costFloat, 0, both(execFWAIT)},
}
