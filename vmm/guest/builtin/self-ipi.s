# self-ipi: an interrupt to oneself, taken in five ways. variant: bits 3:0 are
# 0 sti_nop, 1 sti_hlt, 2 tpr, 3 tpr_sti_nop, 4 tpr_sti_hlt, or 5: all in turn;
# bit 4 sends by the SELF_IPI register (x2APIC) instead of the ICR. The sample
# is {TSC before the send, TSC in the handler}.

        .include "prelude.inc"
        .set    ICR_SELF, 0x44000       # shorthand self, assert, fixed
main:
        mov     $timer_handler, %eax
        call    set_handler
        xor     %ebp, %ebp              # EBP: turn, for variant 5
next:
        mov     P_VARIANT, %ebx
        and     $0xf, %ebx
        cmp     $5, %ebx
        jne     1f
        mov     %ebp, %ebx
        inc     %ebp
        cmp     $5, %ebp
        jb      1f
        xor     %ebp, %ebp
1:      movb    $0, P_SEEN
        sti
        cmp     $2, %ebx
        je      2f
        cli
        jb      3f
2:      mov     $15, %eax               # TPR variants: hold back all vectors
        mov     %rax, %cr8
        call    send
        xor     %eax, %eax
        mov     %rax, %cr8
        jmp     4f
3:      call    send
4:      jmp     *take(,%rbx,8)

sti_nop:
        sti
        nop
        jmp     done
sti_hlt:
        sti
        hlt
        jmp     done
with_if:                                # interrupts were on all the time
        nop
done:
        # An interrupt that a slow host delivers later is waited for.
1:      cmpb    $0, P_SEEN
        je      1b
        call    more
        jmp     next

# send: the interrupt to oneself. Uses RAX, RCX, RDX.
send:
        now
        mov     %rax, P_DUE
        mov     P_VECTOR, %eax
        testb   $0x10, P_VARIANT
        jnz     1f
        or      $ICR_SELF, %eax
        xor     %edx, %edx
        jmp     send_ipi
1:      mov     $MSR_X2APIC + A_SELF / 16, %ecx
        xor     %edx, %edx
        wrmsr
        ret

        .balign 8
take:   .quad   sti_nop, sti_hlt, with_if, sti_nop, sti_hlt
