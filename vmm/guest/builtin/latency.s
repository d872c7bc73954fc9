# latency: the unit tests' tscdeadline_latency. The handler measures, programs
# the next deadline distance cycles from its own entry, and ends the interrupt;
# the main code only waits, by HLT or spinning, until count latencies are there.
# The first interrupt is not recorded. A sample is {deadline, TSC in the handler}.
#
# The code around the measured instructions does by hand what compiled C does
# there: the handler's wrapper keeps all registers.

        .include "prelude.inc"
main:
        mov     $latency_handler, %eax
        call    set_handler
        mov     $LVTT_DEADLINE, %eax
        call    lvtt
        mov     P_MODE, %ebx
        sti
        mov     $0x10, %ecx             # IA32_TIME_STAMP_COUNTER
        rdmsr
        shl     $32, %rdx
        or      %rdx, %rax
        add     P_DISTANCE, %rax
        call    arm
1:      call    more
        cmp     $1, %ebx
        jne     1b
        hlt
        jmp     1b

latency_handler:
        .irp    r, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax
        push    %\r
        .endr
        nop                             # frame of the C handler
        nop
        nop
        nop
        now
        mov     %rax, %rbx
        cmpb    $0, P_SEEN
        je      1f
        call    record
1:      movb    $1, P_SEEN
        mov     %rbx, %rax
        add     P_DISTANCE, %rax
        call    arm
        call    eoi
        .irp    r, rax, rcx, rdx, rbx, rbp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
        pop     %\r
        .endr
        iretq
