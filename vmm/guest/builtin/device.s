# device: waits for interrupts from outside on its vector, with a guard: a
# TSC-deadline timer, on the vector next to it, that is armed distance (and a
# random part up to spread) ahead anew after each. The sample is {guard's
# deadline, handler entry} of whichever came; extra counts the guards that fired.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     P_VECTOR, %ecx
        xor     $1, %ecx
        mov     $guard_handler, %eax
        call    set_gate
        mov     P_VECTOR, %eax
        xor     $1, %eax
        or      $LVTT_DEADLINE, %eax
        mov     $A_LVTT, %ecx
        call    apic_write
        mfence
next:
        call    pick
        now
        add     %rsi, %rax
        call    arm
        call    wait
        call    more
        jmp     next

guard_handler:
        incq    P_EXTRA
        jmp     timer_handler
