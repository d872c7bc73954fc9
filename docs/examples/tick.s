# A timer tick in twenty lines: a flat guest for "ticktrap run".
#
#   as -o tick.o tick.s && ld -Ttext 0x100000 --oformat binary -o tick.bin tick.o
#
# A flat binary starts at 1 MiB in 64-bit mode: all memory is mapped to itself,
# RSP is valid, CS is selector 8, interrupts are off. Each exercise of
# docs/os-developers.md makes one classic mistake, by --defsym NAME=1.
	.code64
	.globl _start
_start:	lea	handler(%rip), %rax		# IDT gate 0x40: an interrupt gate
	movzwl	%ax, %ecx
	or	$0x00080000, %ecx		# selector 8, offset 15:0
	mov	%ecx, idt+0x400(%rip)
	and	$0xffff0000, %eax
	or	$0x8e00, %eax			# offset 31:16, present, type 14
	mov	%eax, idt+0x404(%rip)
	lidt	idtr(%rip)
	mov	$0xfee00000, %edi		# the local APIC
	.ifndef NOSVR
	movl	$0x1ff, 0xf0(%rdi)		# SVR: enable, spurious vector 0xff
	.endif
	.ifdef TPR
	movl	$0x50, 0x80(%rdi)		# TPR: class 5 holds back vector 0x40
	.endif
	.ifdef ONESHOT
	movl	$0x00040, 0x320(%rdi)		# LVTT: one-shot, where the MSR does nothing
	.else
	.ifdef MASKED
	movl	$0x50040, 0x320(%rdi)		# LVTT: TSC-deadline, masked
	.else
	movl	$0x40040, 0x320(%rdi)		# LVTT: TSC-deadline mode, vector 0x40
	.endif
	.endif
	call	arm
	.ifndef NOSTI
	sti
	.endif
1:	hlt
	jmp	1b

handler:
	call	arm
	.ifndef NOEOI
	movl	$0, 0xb0(%rdi)			# EOI
	.endif
	iretq

arm:	rdtsc					# deadline: 100000 cycles from now
	shl	$32, %rdx
	or	%rdx, %rax
	add	$100000, %rax
	mov	%rax, %rdx
	shr	$32, %rdx
	mov	$0x6e0, %ecx			# IA32_TSC_DEADLINE
	wrmsr
	ret

	.balign	16
idtr:	.word	0x41*16-1
	.quad	idt
idt:	.fill	0x41*16, 1, 0
