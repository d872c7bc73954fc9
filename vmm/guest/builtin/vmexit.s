# vmexit: the timer, IPI and exit subtests of the unit tests' vmexit, measured as
# there: 64, 128, 256, … iterations of one subtest until they last distance
# cycles. Each round leaves the sample {iterations, cycles}; the last one is the
# result, and the score is cycles / iterations. P_IPI and P_EOI are the cycles
# that the sends and the EOIs took in that round.
#
# The code around the measured instructions does by hand what compiled C does
# there, in as many instructions; PAD stands for the rest.

        .include "prelude.inc"

        .macro  pad     n
        .rept   \n
        nop
        .endr
        .endm

main:
        mov     $score_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
        sti
        mov     P_VARIANT, %eax
        mov     subtests(,%rax,8), %rbp
        mov     $32, %r12d
round:
        add     %r12d, %r12d
        movq    $0, P_IPI
        movq    $0, P_EOI
        now
        mov     %rax, %r13
        xor     %ebx, %ebx
1:      call    *%rbp
        add     $1, %ebx
        cmp     %r12d, %ebx
        jb      1b
        now
        sub     %r13, %rax
        mov     %rax, %r14
        mov     %r12, P_DUE
        call    record
        cmp     P_DISTANCE, %r14
        jb      round
        jmp     finish

# The interrupt: all registers are kept, as a C handler's wrapper does; the time
# of the EOI is added up.
score_handler:
        .irp    r, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax
        push    %\r
        .endr
        incq    P_SEEN
        pad     12
        now
        mov     %rax, %rbx
        pad     16                      # calls down to the register write
        mov     $MSR_X2APIC + A_EOI / 16, %ecx
        xor     %edx, %edx
        xor     %eax, %eax
        cmpb    $0, P_X2APIC
        je      2f
        wrmsr
1:      now
        sub     %rbx, %rax
        add     %rax, P_EOI
        pad     10
        .irp    r, rax, rcx, rdx, rbx, rbp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
        pop     %\r
        .endr
        iretq
2:      mov     $XAPIC, %ecx
        mov     %eax, A_EOI(%rcx)
        jmp     1b

# ipi: interrupt to oneself by ICR, its time added up.
ipi:
        now
        mov     %rax, %rdi
        pad     8
        mfence
        mov     $0x44000, %eax          # shorthand self, assert, fixed
        or      P_VECTOR, %eax
        cmpb    $0, P_X2APIC
        je      2f
        xor     %edx, %edx
        mov     $MSR_X2APIC + A_ICR / 16, %ecx
        wrmsr
1:      now
        sub     %rdi, %rax
        add     %rax, P_IPI
        pad     4
        ret
2:      mov     $XAPIC, %ecx
        mov     %eax, A_ICR(%rcx)
        jmp     1b

# self: the same by SELF_IPI.
self:
        now
        mov     %rax, %rdi
        mov     P_VECTOR, %eax
        mov     $MSR_X2APIC + A_SELF / 16, %ecx
        xor     %edx, %edx
        wrmsr
        now
        sub     %rdi, %rax
        add     %rax, P_IPI
        pad     4
        ret

t_cpuid:
        pad     1
        push    %rbx
        cpuid
        pop     %rbx
        ret
t_vmcall:                               # the vendor is looked up each time: two CPUIDs
        pad     4
        push    %rbx
        .rept   2
        xor     %eax, %eax
        xor     %ecx, %ecx
        cpuid
        .endr
        pad     134                     # and a string compared
        xor     %eax, %eax
        cmp     $0x756e6547, %ebx       # "Genu"
        jne     1f
        vmcall
        pop     %rbx
        ret
1:      vmmcall
        pop     %rbx
        ret
t_pmtimer:
        pad     5
        mov     $0x608, %edx
        in      %dx, %eax
        ret
t_qemu:
        pad     3
        mov     $0x1234, %edx
        in      %dx, %eax
        ret
t_kernel_in:
        pad     3
        mov     $0x4d0, %edx
        in      %dx, %al
        ret
t_kernel_out:
        pad     3
        xor     %eax, %eax
        mov     $0x4d0, %edx
        out     %al, %dx
        ret
t_immed:
        pad     4
        push    %rbx
        now
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     $MSR_TSC_DEADLINE, %ecx
        wrmsr
        xor     %eax, %eax
        mov     %eax, %ecx
        cpuid
        pop     %rbx
        ret
t_vmcall_bare:                          # as it was before it looked for the vendor
        pad     4
        push    %rbx
        xor     %eax, %eax
        vmcall
        pop     %rbx
        ret
t_immed_nop:                            # as the unit tests had it before they serialized
        pad     4
        now
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     $MSR_TSC_DEADLINE, %ecx
        wrmsr
        nop
        ret
t_deadline:
        movq    $0, P_SEEN
        pad     2
        now
        add     $3000, %rax
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     $MSR_TSC_DEADLINE, %ecx
        wrmsr
1:      mov     P_SEEN, %eax
        test    %eax, %eax
        je      1b
        ret

# The five ways to take an interrupt to oneself, for both ways to send it.
        .macro  takes   name, send
t_\name\()_sti_nop:
        pad     6
        cli
        call    \send
        sti
        nop
        pad     3
        ret
t_\name\()_sti_hlt:
        pad     6
        cli
        call    \send
        sti
        hlt
        pad     3
        ret
t_\name\()_tpr:
        pad     6
        call    hold
        call    \send
        call    free
        nop
        pad     3
        ret
t_\name\()_tpr_sti_nop:
        pad     6
        cli
        call    hold
        call    \send
        call    free
        sti
        nop
        pad     3
        ret
t_\name\()_tpr_sti_hlt:
        pad     6
        cli
        call    hold
        call    \send
        call    free
        sti
        hlt
        pad     3
        ret
        .endm
        takes   icr, ipi
        takes   x2, self

# hold and free: the task priority that holds all vectors back, or none.
hold:
        mov     $15, %eax
        pad     2
        mov     %rax, %cr8
        ret
free:
        xor     %eax, %eax
        pad     2
        mov     %rax, %cr8
        ret

        .balign 8
subtests:
        .quad   t_cpuid, t_vmcall, t_pmtimer, t_qemu, t_kernel_in, t_kernel_out
        .quad   t_immed, t_deadline
        .quad   t_icr_sti_nop, t_icr_sti_hlt, t_icr_tpr, t_icr_tpr_sti_nop, t_icr_tpr_sti_hlt
        .quad   t_x2_sti_nop, t_x2_sti_hlt, t_x2_tpr, t_x2_tpr_sti_nop, t_x2_tpr_sti_hlt
        .quad   t_immed_nop, t_vmcall_bare
