# deadline: TSC-deadline timers, one after the other. Each is armed distance (and
# a random part up to spread) from now; the vCPU spins or halts until the
# handler has recorded {deadline, TSC in the handler}.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
next:
        call    pick
        now
        add     %rsi, %rax
        call    arm
        call    wait
        call    more
        jmp     next
