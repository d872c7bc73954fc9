# cyclic: cyclictest's loop. Wake-ups are planned at absolute intervals of
# distance; the handler only notes that the timer fired, and the sample is
# {planned, TSC when the waiting loop goes on}: the wake-up latency. A plan that
# lies in the past already is moved on by whole intervals and counted in extra.
# The handler programs the timer for something later rearms times before the loop
# goes on, as a kernel's timer interrupt programs its next event.

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
        push    %rbx
        movb    $1, P_SEEN
        mov     P_REARMS, %rbx
1:      sub     $1, %rbx
        jb      2f
        mov     %rbp, %rax
        add     P_DISTANCE, %rax
        mov     %rax, %rdx
        shr     $32, %rdx
        mov     $MSR_TSC_DEADLINE, %ecx
        wrmsr
        jmp     1b
2:      call    eoi
        pop     %rbx
        pop     %rdx
        pop     %rcx
        pop     %rax
        iretq
