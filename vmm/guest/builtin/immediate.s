# immediate: deadlines that have passed when they are written, distance cycles
# ago. The sample's deadline is the TSC before the write, so that its lateness
# is the cost of write, expiry and delivery. Interrupts are on: nothing but the
# write lies between arming and the handler.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
next:
        call    pick
        sti
        now
        mov     %rax, P_DUE
        sub     %rsi, %rax
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     $MSR_TSC_DEADLINE, %ecx
        wrmsr
        call    wait
        call    more
        jmp     next
