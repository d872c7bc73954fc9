/*
 * run: executes single instructions natively and reports what they did.
 *
 * The Go program above it (see ../main.go) invents instructions and input states
 * and sends them here on stdin; the outcomes go back on stdout. Both are arrays
 * of the structs below.
 *
 * There is no assembly. A signal handler is given the whole register state of
 * the interrupted program, and what it leaves there is loaded on return. So the
 * handler puts an input state in and returns into the instruction, which lies on
 * a page otherwise full of INT3: whatever the instruction does next raises
 * SIGTRAP (or SIGFPE, SIGSEGV, SIGILL), and the handler finds the output state.
 *
 * Build: gcc -O2 -o run run.c
 */
#define _GNU_SOURCE
#include <asm/ldt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define CODE 0x10000000UL
#define DATA 0x20000000UL
#define SCRATCH (DATA + 0xf00)

struct x87 { uint64_t mant; uint16_t exp, pad[3]; };
struct state {
	uint64_t gpr[16], rip, flags, xmm[16][2];
	uint32_t mxcsr; uint16_t fcw, fsw; uint64_t ftw;
	struct x87 st[8];
	uint8_t mem[256];
};
struct in { uint8_t code[128]; uint32_t len, mode; struct state s; };
struct out { struct state s; uint32_t vector, code; uint64_t cr2; };

static struct in *in;
static struct out *out;
static size_t n, cur;
static int started;

static const int gregs[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static void load(ucontext_t *uc, struct in *t)
{
	greg_t *g = uc->uc_mcontext.gregs;
	struct _libc_fpstate *f = uc->uc_mcontext.fpregs;
	uint64_t *xstate_bv = (uint64_t *)((char *)f + 512);

	memset((void *)CODE, 0xcc, 4096);
	memcpy((void *)t->s.rip, t->code, t->len);
	memset((void *)DATA, 0, 4096);
	memcpy((void *)SCRATCH, t->s.mem, 256);
	for (int i = 0; i < 16; i++)
		g[gregs[i]] = t->s.gpr[i];
	g[REG_RIP] = t->s.rip - (t->mode == 16 ? CODE : 0);
	g[REG_EFL] = t->s.flags;
	g[REG_CSGSFS] = t->mode == 16 ? 0x000f000000000007 : t->mode == 32 ? 0x002b000000000023 : 0x002b000000000033;
	/* 64-bit code, as this, ignores DS and ES. */
	__asm__ volatile("mov %0, %%ds; mov %0, %%es" ::"r"(t->mode == 16 ? 0xf : 0x2b));
	f->mxcsr = t->s.mxcsr;
	f->cwd = t->s.fcw;
	f->swd = t->s.fsw;
	f->ftw = t->s.ftw;
	f->fop = 0;
	f->rip = f->rdp = 0;
	for (int i = 0; i < 8; i++) {
		memset(&f->_st[i], 0, 16);
		memcpy(&f->_st[i], &t->s.st[i], 10);
	}
	memcpy(f->_xmm, t->s.xmm, 256);
	*xstate_bv |= 3;
}

static void store(ucontext_t *uc, struct out *t)
{
	greg_t *g = uc->uc_mcontext.gregs;
	struct _libc_fpstate *f = uc->uc_mcontext.fpregs;

	memset(t, 0, sizeof *t);
	for (int i = 0; i < 16; i++)
		t->s.gpr[i] = g[gregs[i]];
	t->vector = g[REG_TRAPNO];
	t->s.rip = g[REG_RIP] - (t->vector == 3) + (in[cur].mode == 16 ? CODE : 0);
	t->s.flags = g[REG_EFL];
	t->code = g[REG_ERR];
	t->cr2 = g[REG_CR2];
	t->s.mxcsr = f->mxcsr;
	t->s.fcw = f->cwd;
	t->s.fsw = f->swd;
	t->s.ftw = f->ftw & 0xff;
	for (int i = 0; i < 8; i++)
		memcpy(&t->s.st[i], &f->_st[i], 10);
	memcpy(t->s.xmm, f->_xmm, 256);
	memcpy(t->s.mem, (void *)SCRATCH, 256);
	for (int i = 0; i < 0xf00; i++)
		if (((uint8_t *)DATA)[i]) {
			fprintf(stderr, "vector %zu wrote outside the scratch area, at %#x\n", cur, i);
			break;
		}
}

static void handler(int sig, siginfo_t *si, void *p)
{
	ucontext_t *uc = p;

	if (sig == SIGALRM) {
		fprintf(stderr, "vector %zu does not end\n", cur);
		_exit(2);
	}
	if (started)
		{
		store(uc, &out[cur]);
		cur++;
	}
	started = 1;
	if (cur == n) {
		fwrite(out, sizeof *out, n, stdout);
		fflush(stdout);
		_exit(0);
	}
	if (cur % 256 == 0)
		alarm(10);
	load(uc, &in[cur]);
}

int main(void)
{
	size_t cap = 0, len = 0, got;
	char *buf = NULL;

	do {
		if (len == cap)
			buf = realloc(buf, cap = cap * 2 + (1 << 20));
		len += got = fread(buf + len, 1, cap - len, stdin);
	} while (got);
	in = (struct in *)buf;
	n = len / sizeof *in;
	out = calloc(n, sizeof *out);
	if (mmap((void *)CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ||
	    mmap((void *)DATA, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	stack_t ss = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
	sigaltstack(&ss, NULL);
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	int sigs[] = { SIGTRAP, SIGFPE, SIGSEGV, SIGILL, SIGBUS, SIGALRM };
	for (int i = 0; i < 6; i++)
		sigaction(sigs[i], &sa, NULL);
	/* The segments of 16-bit vectors, selectors 7 and 15. */
	struct user_desc code = { .entry_number = 0, .base_addr = CODE, .limit = 0xfff, .contents = 2, .useable = 1 };
	struct user_desc data = { .entry_number = 1, .base_addr = DATA, .limit = 0xfff, .useable = 1 };
	if (syscall(SYS_modify_ldt, 1, &code, sizeof code) || syscall(SYS_modify_ldt, 1, &data, sizeof data)) {
		perror("modify_ldt");
		return 1;
	}
	__asm__ volatile("int3");
	return 1;
}
