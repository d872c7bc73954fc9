# periodic: the LAPIC timer in periodic mode, started once. Deadline n is the TSC
# before the start plus n × initial × scale, computed anew for each n, so that
# rounding does not add up. Two expiries whose interrupts merged count as one
# sample: the deadlines between are skipped.

        .include "prelude.inc"
main:
        mov     $periodic_handler, %eax
        call    set_handler
        mov     P_DIVIDE, %eax
        mov     $A_TDCR, %ecx
        call    apic_write
        mov     $LVTT_PERIODIC, %eax
        call    lvtt
        now
        mov     %rax, start(%rip)
        call    advance
        mov     P_INITIAL, %eax
        mov     $A_TMICT, %ecx
        call    apic_write
next:
        call    pick
        call    wait
        call    more
        jmp     next

# advance: the next period begins: P_DUE := its end. Uses RAX, RDX.
advance:
        incq    periods(%rip)
        mov     P_INITIAL, %rax
        mulq    periods(%rip)
        mulq    P_SCALE
        shrd    $32, %rdx, %rax
        add     start(%rip), %rax
        mov     %rax, P_DUE
        ret

periodic_handler:
        push    %rax
        push    %rcx
        push    %rdx
        push    %rbx
        now
        mov     %rax, %rbx
        # An interrupt belongs to the last deadline that has passed, or to the
        # next one if none has: then it is early.
1:      call    advance
        cmp     %rbx, %rax
        jbe     1b
        subq    $2, periods(%rip)
        call    advance
        mov     %rbx, %rax
        call    record
        call    advance
        movb    $1, P_SEEN
        call    eoi
        pop     %rbx
        pop     %rdx
        pop     %rcx
        pop     %rax
        iretq

        .balign 8
start:  .quad   0
periods: .quad  0
