# oneshot: the LAPIC timer in one-shot mode. TMICT is initial; the deadline is
# the TSC before its write plus initial × scale.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     P_DIVIDE, %eax
        mov     $A_TDCR, %ecx
        call    apic_write
        mov     $LVTT_ONESHOT, %eax
        call    lvtt
next:
        call    pick
        mov     P_INITIAL, %rax
        mulq    P_SCALE
        shrd    $32, %rdx, %rax
        mov     %rax, %rsi
        now
        add     %rsi, %rax
        mov     %rax, P_DUE
        mov     P_INITIAL, %eax
        mov     $A_TMICT, %ecx
        call    apic_write
        call    wait
        call    more
        jmp     next
