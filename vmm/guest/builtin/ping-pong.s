# ping-pong: two vCPUs send each other one interrupt, back and forth, by ICR.
# vCPU 0 always spins; vCPU 1 waits as mode says. Samples alternate: 0 to 1, then
# 1 to 0, each {TSC before the send, TSC in the receiver's handler}.

        .include "prelude.inc"
        .include "startup.inc"
        .set    ICR_FIXED, 0x4000       # physical, assert, fixed
main:
        mov     $ball_handler, %eax
        call    set_handler
        call    start_second
        sti
next:
        mov     $1, %edx
        call    serve
        xor     %ebx, %ebx
        call    wait_ball
        call    more
        jmp     next

# second: vCPU 1 answers each ball.
second:
        sti
1:      call    pick
        call    wait_ball
        xor     %edx, %edx
        call    serve
        jmp     1b

# serve: a ball to the APIC ID in EDX.
serve:
        mov     %edx, %esi
        now
        mov     %rax, P_DUE
        mov     P_VECTOR, %eax
        or      $ICR_FIXED, %eax
        mov     %esi, %edx
        jmp     send_ipi

# wait_ball: like wait, on this vCPU's own flag at (RDI).
wait_ball:
        call    my_flag
        cmp     $1, %ebx
        je      2f
        cmp     $3, %ebx
        je      5f
1:      cmpb    $0, (%rdi)
        je      1b
        jmp     4f
2:      cli
        cmpb    $0, (%rdi)
        jne     3f
        sti
        hlt
        jmp     2b
3:      sti
4:      movb    $0, (%rdi)
        ret
5:      pause
        cmpb    $0, (%rdi)
        je      5b
        jmp     4b

# my_flag: RDI := the flag of this vCPU, told by its stack.
my_flag:
        lea     balls(%rip), %rdi
        cmp     $STACK, %rsp
        jbe     1f
        inc     %rdi
1:      ret

ball_handler:
        push    %rax
        push    %rcx
        push    %rdx
        push    %rdi
        now
        call    record
        call    my_flag
        movb    $1, (%rdi)
        call    eoi
        pop     %rdi
        pop     %rdx
        pop     %rcx
        pop     %rax
        iretq

balls:  .byte   0, 0
