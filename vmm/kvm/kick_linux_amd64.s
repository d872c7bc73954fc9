#include "textflag.h"

// func onKick() (pc uintptr)
TEXT ·onKick(SB), NOSPLIT, $0-8
	LEAQ kicked<>(SB), AX
	MOVQ AX, pc+0(FP)
	RET

// func kickReturn() (pc uintptr)
TEXT ·kickReturn(SB), NOSPLIT, $0-8
	LEAQ sigreturn<>(SB), AX
	MOVQ AX, pc+0(FP)
	RET

// kicked is the handler of the kick signal, called by the kernel with the
// siginfo in SI. It sets the byte that the signal's value leads to, if it does.
// The values of other processes' signals lead nowhere.
TEXT kicked<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVL  8(SI), CX // si_code
	CMPL  CX, $-2   // SI_TIMER
	JEQ   ours
	CMPL  CX, $-1   // SI_QUEUE
	JNE   done
	MOVL  16(SI), CX // si_pid
	CMPL  CX, ·kickPID(SB)
	JNE   done
ours:
	MOVQ  24(SI), AX // si_value: *exitByte
	TESTQ AX, AX
	JEQ   done
	MOVQ  (AX), AX   // kvm_run.immediate_exit
	TESTQ AX, AX
	JEQ   done
	MOVB  $1, (AX)
done:
	RET

// sigreturn is where the handler returns to.
TEXT sigreturn<>(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ $15, AX // rt_sigreturn
	SYSCALL
	INT $3

// func enterGuest(fd int) (errno uintptr, tsc uint64)
TEXT ·enterGuest(SB), NOSPLIT, $0-24
	MOVQ  fd+0(FP), DI
	MOVL  $0xae80, SI // KVM_RUN
	XORL  DX, DX
	MOVL  $16, AX     // ioctl
	SYSCALL
	NEGQ  AX          // KVM_RUN returns 0 or −errno
	MOVQ  AX, errno+8(FP)
	RDTSC
	SHLQ  $32, DX
	ORQ   DX, AX
	MOVQ  AX, tsc+16(FP)
	RET
