# storm: deadlines that are moved before they expire. Each is armed rearms times
# anew, halfway to expiry, and then left to fire. The sample is that of the last
# arming; extra counts the others.

        .include "prelude.inc"
main:
        mov     $timer_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
        sti
next:
        call    pick
        mov     P_REARMS, %rbp
        movb    $0, P_SEEN
1:      test    %rbp, %rbp
        jz      3f
        dec     %rbp
        incq    P_EXTRA
        now
        mov     %rsi, %rdi
        shr     %rdi
        add     %rax, %rdi              # RDI: halfway
        add     %rsi, %rax
        call    arm
2:      now
        cmp     %rdi, %rax
        jb      2b
        jmp     1b
3:      movb    $0, P_SEEN              # a late re-arming may have fired
        now
        add     %rsi, %rax
        call    arm
        call    wait
        call    more
        jmp     next
