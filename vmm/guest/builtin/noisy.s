# noisy: deadlines that pass while the vCPU causes other exits: CPUID, a write to
# the diagnostic port, a read of the I/O APIC, in turn until the timer fires.
# extra counts the rounds.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
        sti
next:
        call    pick
        mov     %rsi, %rbp
        now
        add     %rbp, %rax
        call    arm
1:      xor     %eax, %eax
        xor     %ecx, %ecx
        cpuid
        cmpb    $0, P_SEEN
        jne     2f
        out     %al, $0x80
        cmpb    $0, P_SEEN
        jne     2f
        mov     $0xfec00000, %eax
        mov     (%rax), %ecx
        incq    P_EXTRA
        cmpb    $0, P_SEEN
        je      1b
2:      movb    $0, P_SEEN
        call    more
        jmp     next
