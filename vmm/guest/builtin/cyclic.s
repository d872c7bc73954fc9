# cyclic: cyclictest's loop. Wake-ups are planned at absolute intervals of
# distance; the handler only notes that the timer fired, and the sample is
# {planned, TSC when the waiting loop goes on}: the wake-up latency. A plan that
# lies in the past already is moved on by whole intervals and counted in extra.

        .include "prelude.inc"
main:
        mov     $wake_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
        now
        mov     %rax, %rbp              # RBP: the plan
next:
        call    pick
        add     %rsi, %rbp
        now
1:      cmp     %rax, %rbp
        ja      2f
        add     P_DISTANCE, %rbp
        incq    P_EXTRA
        jmp     1b
2:      mov     %rbp, %rax
        call    arm
        call    wait
        now
        cli
        call    record
        sti
        call    more
        jmp     next

wake_handler:
        push    %rax
        push    %rcx
        push    %rdx
        movb    $1, P_SEEN
        call    eoi
        pop     %rdx
        pop     %rcx
        pop     %rax
        iretq
