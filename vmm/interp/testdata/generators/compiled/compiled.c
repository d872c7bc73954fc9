/*
 * compiled: a bundle of small computations as a compiler emits them, to see that
 * the interpreter gives the results of a real processor.
 *
 * build.sh compiles it several times with different options, each time twice:
 * with -DNATIVE as a program that writes its results, and without as a flat
 * 64-bit or 32-bit image for the interpreter, which leaves them in memory and executes
 * HLT. The numbers of the native run are the expected ones.
 */
#include <stddef.h>
#include <stdint.h>

#define RESULTS 32
static uint64_t result[RESULTS];
static uint64_t seed = 1;

static uint64_t rnd(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void *memcpy(void *d, const void *s, size_t n) { char *p = d; const char *q = s; while (n--) *p++ = *q++; return d; }
void *memset(void *d, int c, size_t n) { char *p = d; while (n--) *p++ = c; return d; }

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const unsigned char *b = p;
	while (n--)
		h = (h ^ *b++) * 0x100000001b3;
	return h;
}
#ifdef __i386__
/* What libgcc would supply. */
static uint64_t divide(uint64_t a, uint64_t b, uint64_t *rem)
{
	uint64_t q = 0, r = 0;
	for (int i = 63; i >= 0; i--) {
		r = r << 1 | (a >> i & 1), q <<= 1;
		if (r >= b) r -= b, q |= 1;
	}
	*rem = r;
	return q;
}
uint64_t __udivdi3(uint64_t a, uint64_t b) { uint64_t r; return divide(a, b, &r); }
uint64_t __umoddi3(uint64_t a, uint64_t b) { uint64_t r; divide(a, b, &r); return r; }
uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *r) { return divide(a, b, r); }
int64_t __divdi3(int64_t a, int64_t b) { uint64_t q = __udivdi3(a < 0 ? -a : a, b < 0 ? -b : b); return (a ^ b) < 0 ? -q : q; }
int64_t __moddi3(int64_t a, int64_t b) { uint64_t r = __umoddi3(a < 0 ? -a : a, b < 0 ? -b : b); return a < 0 ? -r : r; }
int64_t __divmoddi4(int64_t a, int64_t b, int64_t *r) { *r = __moddi3(a, b); return __divdi3(a, b); }
int __popcountdi2(uint64_t a) { int n = 0; for (; a; a &= a - 1) n++; return n; }
int __ctzdi2(uint64_t a) { int n = 0; for (; !(a & 1); a >>= 1) n++; return n; }
int __clzdi2(uint64_t a) { int n = 0; for (; !(a >> 63); a <<= 1) n++; return n; }
int __popcountsi2(uint32_t a) { return __popcountdi2(a); }
#endif

#define MIX(h, x) ((h) = mix((h), &(x), sizeof(x)))

static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
	0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
	0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
	0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static uint64_t sha256(void)
{
	uint32_t h[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, w[64];
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 16; i++)
			w[i] = rnd();
		for (int i = 16; i < 64; i++)
			w[i] = w[i - 16] + w[i - 7] + (ROR(w[i - 15], 7) ^ ROR(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (ROR(w[i - 2], 17) ^ ROR(w[i - 2], 19) ^ w[i - 2] >> 10);
		uint32_t v[8];
		memcpy(v, h, sizeof v);
		for (int i = 0; i < 64; i++) {
			uint32_t t1 = v[7] + (ROR(v[4], 6) ^ ROR(v[4], 11) ^ ROR(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k256[i] + w[i];
			uint32_t t2 = (ROR(v[0], 2) ^ ROR(v[0], 13) ^ ROR(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
			for (int j = 7; j > 0; j--)
				v[j] = v[j - 1];
			v[4] += t1;
			v[0] = t1 + t2;
		}
		for (int i = 0; i < 8; i++)
			h[i] += v[i];
	}
	return mix(0, h, sizeof h);
}

static void sort(double *a, int n)
{
	while (n > 1) {
		double p = a[n / 2];
		int i = 0, j = n - 1;
		while (i <= j) {
			while (a[i] < p) i++;
			while (p < a[j]) j--;
			if (i <= j) { double t = a[i]; a[i++] = a[j]; a[j--] = t; }
		}
		sort(a, j + 1);
		a += i;
		n -= i;
	}
}

static double sorted[2000];
static uint64_t sorting(void)
{
	for (int i = 0; i < 2000; i++)
		sorted[i] = (int64_t)rnd() / 1e9;
	sort(sorted, 2000);
	return mix(0, sorted, sizeof sorted);
}

static double ma[24][24], mb[24][24], mc[24][24];
static float fa[24][24], fb[24][24], fc[24][24];
static uint64_t matrices(void)
{
	uint64_t h = 0;
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 24; j++) {
			ma[i][j] = (int32_t)rnd() * 1e-5, mb[i][j] = (int32_t)rnd() * 1e-7;
			fa[i][j] = (int16_t)rnd() * 0.37f, fb[i][j] = (uint16_t)rnd() * 1.1f;
		}
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 24; j++) {
			double s = 0;
			float f = 0;
			for (int k = 0; k < 24; k++)
				s += ma[i][k] * mb[k][j], f += fa[i][k] * fb[k][j];
			mc[i][j] = s, fc[i][j] = f;
		}
	MIX(h, mc);
	MIX(h, fc);
	return h;
}

static uint64_t bodies(void)
{
	double x[5][3], v[5][3], m[5];
	for (int i = 0; i < 5; i++) {
		m[i] = 1 + (rnd() & 255) / 16.0;
		for (int k = 0; k < 3; k++)
			x[i][k] = (int32_t)rnd() / 1e8, v[i][k] = (int32_t)rnd() / 1e10;
	}
	for (int step = 0; step < 200; step++) {
		for (int i = 0; i < 5; i++)
			for (int j = i + 1; j < 5; j++) {
				double d[3], r2 = 0.01;
				for (int k = 0; k < 3; k++)
					d[k] = x[i][k] - x[j][k], r2 += d[k] * d[k];
				double f = 0.01 / (r2 * __builtin_sqrt(r2));
				for (int k = 0; k < 3; k++)
					v[i][k] -= d[k] * m[j] * f, v[j][k] += d[k] * m[i] * f;
			}
		for (int i = 0; i < 5; i++)
			for (int k = 0; k < 3; k++)
				x[i][k] += 0.01 * v[i][k];
	}
	return mix(mix(0, x, sizeof x), v, sizeof v);
}

static uint64_t mandelbrot(void)
{
	uint64_t h = 0;
	for (int py = 0; py < 24; py++)
		for (int px = 0; px < 32; px++) {
			float x0 = px / 12.0f - 2, y0 = py / 12.0f - 1, x = 0, y = 0;
			int n = 0;
			while (x * x + y * y <= 4 && n < 60) {
				float t = x * x - y * y + x0;
				y = 2 * x * y + y0, x = t, n++;
			}
			h = h * 31 + n;
		}
	return h;
}

/* Long double is the x87's format; only its ten bytes of value are hashed. */
static uint64_t extended(void)
{
	uint64_t h = 0;
	long double e = 1, f = 1, pi = 0, r = 2;
	for (int i = 1; i < 40; i++)
		f /= i, e += f;
	for (int i = 0; i < 500; i++)
		pi += (i & 1 ? -4.0L : 4.0L) / (2 * i + 1);
	for (int i = 0; i < 10; i++)
		r = (r + 3 / r) / 2;
	h = mix(h, &e, 10), h = mix(h, &pi, 10), h = mix(h, &r, 10);
	for (int i = 0; i < 300; i++) {
		long double a = (int64_t)rnd(), b = (double)(int64_t)rnd() * 1e-3, c = (float)(int32_t)rnd();
		long double s = __builtin_sqrtl(a < 0 ? -a : a) - b * c, q = a / (b + 1);
		h = mix(h, &s, 10), h = mix(h, &q, 10);
		h = h * 31 + (a < b) + 2 * (b >= c) + 4 * (s == q);
		int64_t i64 = q;
		int32_t i32 = (int32_t)(s / 1e15L);
		uint64_t u64 = (uint64_t)(c < 0 ? -c : c);
		MIX(h, i64), MIX(h, i32), MIX(h, u64);
	}
	return h;
}

static uint64_t wide(void)
{
	uint64_t h = 0;
	for (int i = 0; i < 300; i++) {
		uint64_t a = rnd(), b = rnd() | 1, c = rnd() >> (i & 63);
#ifdef __SIZEOF_INT128__
		__int128 p = (__int128)(int64_t)a * (int64_t)b + c;
		unsigned __int128 s = ((unsigned __int128)a << 64 | b) >> (i & 63);
		s -= (unsigned __int128)c << (i % 100);
		h = mix(h, &p, 16), h = mix(h, &s, 16);
#endif
		int64_t q = (int64_t)a / (int64_t)(int32_t)b, m = (int64_t)a % (int32_t)b;
		uint32_t uq = (uint32_t)a / ((uint32_t)c | 1);
		MIX(h, q), MIX(h, m), MIX(h, uq);
		h += a / 10 + a % 1000 + (int64_t)a / 7;
	}
	return h;
}

static uint64_t bits(void)
{
	uint64_t h = 0;
	for (int i = 0; i < 500; i++) {
		uint64_t a = rnd() >> (i & 63) | 1;
		h = h * 31 + __builtin_popcountll(a) + __builtin_ctzll(a) * 3 + __builtin_clzll(a) * 5;
		h ^= __builtin_bswap64(a) + __builtin_bswap32((uint32_t)a);
		h = h << 13 | h >> 51;
		if (a >> (h & 63) & 1)
			h ^= 1ull << (a & 63);
		h += (int8_t)a + (int16_t)(a >> 8) + (uint8_t)(a >> 3);
	}
	return h;
}

/* Loops that the compiler turns into vector code. */
static int16_t va[512], vb[512];
static uint8_t ua[512], ub[512];
static int32_t wa[512];
static float ga[512];
static double da[512];
static uint64_t vectors(void)
{
	uint64_t h = 0;
	int32_t dot = 0, most = -1000000;
	for (int i = 0; i < 512; i++)
		va[i] = rnd(), vb[i] = rnd(), ua[i] = rnd(), ub[i] = rnd();
	for (int i = 0; i < 512; i++)
		dot += va[i] * vb[i];
	for (int i = 0; i < 512; i++)
		wa[i] = va[i] * 3 + (vb[i] >> 2), most = va[i] > most ? va[i] : most;
	for (int i = 0; i < 512; i++)
		ua[i] = (ua[i] + ub[i] + 1) >> 1;
	for (int i = 0; i < 512; i++)
		ga[i] = wa[i] * 0.25f, da[i] = wa[i] / 3.0;
	for (int i = 0; i < 512; i++)
		ga[i] = ga[i] > 100 ? 100 : ga[i] < -100 ? -100 : __builtin_sqrtf(ga[i] * ga[i] + 1);
	for (int i = 0; i < 512; i++)
		vb[i] = (int16_t)(int32_t)(da[i] * 0.7), va[i] = va[i] < 0 ? -va[i] : va[i];
	int sad = 0;
	for (int i = 0; i < 512; i++)
		sad += ua[i] > ub[i] ? ua[i] - ub[i] : ub[i] - ua[i];
	MIX(h, dot), MIX(h, most), MIX(h, sad), MIX(h, wa), MIX(h, ua), MIX(h, ga), MIX(h, da), MIX(h, va), MIX(h, vb);
	return h;
}

static char text[400];
static int put(char *p, const char *format, ...)
{
	__builtin_va_list ap;
	char *start = p;
	__builtin_va_start(ap, format);
	for (; *format; format++) {
		if (*format != '%') { *p++ = *format; continue; }
		switch (*++format) {
		case 'd': {
			int64_t v = __builtin_va_arg(ap, int64_t);
			char t[24]; int n = 0;
			if (v < 0) *p++ = '-', v = -v;
			do t[n++] = '0' + v % 10; while (v /= 10);
			while (n) *p++ = t[--n];
			break;
		}
		case 'x': {
			uint64_t v = __builtin_va_arg(ap, uint64_t);
			for (int s = 60; s >= 0; s -= 4) *p++ = "0123456789abcdef"[v >> s & 15];
			break;
		}
		case 'f': {
			double v = __builtin_va_arg(ap, double);
			if (v < 0) *p++ = '-', v = -v;
			p += put(p, "%d.", (int64_t)v);
			for (int i = 0; i < 6; i++) v = (v - (int64_t)v) * 10, *p++ = '0' + (int)v;
			break;
		}
		case 's':
			for (const char *s = __builtin_va_arg(ap, const char *); *s; s++) *p++ = *s;
			break;
		default: *p++ = '?';
		}
	}
	__builtin_va_end(ap);
	return p - start;
}

static uint64_t formatting(void)
{
	uint64_t h = 0;
	for (int i = 0; i < 60; i++) {
		int n = put(text, "%d %x %f <%s> %f", (int64_t)rnd() >> (i & 31), rnd(), (int32_t)rnd() / 1e4, i & 1 ? "odd" : "even", i * 0.1);
		h = mix(h, text, n);
	}
	return h;
}

static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

struct blob { uint64_t a; float f; char s[40]; double d; };
static struct blob twist(struct blob b, int n)
{
	b.a ^= n, b.f *= 1.5f, b.d += b.f, b.s[n % 40] += n;
	return n ? twist(b, n - 1) : b;
}

static uint64_t calls(void)
{
	struct blob b = { 5, 1.25f, "", 2.5 };
	b = twist(b, 30);
	return mix(ackermann(2, 6), &b.a, 8) + mix(0, &b.f, 4) + mix(1, b.s, 40) + mix(2, &b.d, 8);
}

static uint64_t atomics(void)
{
	static uintptr_t x; static uint32_t y; static uint16_t z; static uint8_t w;
	uint64_t h = 0;
	for (int i = 0; i < 100; i++) {
		uintptr_t want = x;
		h += __atomic_fetch_add(&x, rnd(), __ATOMIC_SEQ_CST) + __atomic_fetch_or(&y, 1u << (i & 31), __ATOMIC_SEQ_CST);
		h += __atomic_exchange_n(&z, (uint16_t)i, __ATOMIC_SEQ_CST) + __atomic_sub_fetch(&w, 3, __ATOMIC_SEQ_CST);
		h = h * 3 + __atomic_compare_exchange_n(&x, &want, (uintptr_t)h, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) + want;
		h ^= __atomic_fetch_nand(&y, i * 77, __ATOMIC_SEQ_CST);
	}
	return h + x + y + z + w;
}

static uint64_t conversions(void)
{
	uint64_t h = 0;
	for (int i = 0; i < 400; i++) {
		int64_t a = (int64_t)rnd() >> (i & 63);
		double d = a; float f = a; double e = (double)(uint64_t)a; float g = (float)(uint32_t)a;
		float df = d; double fd = f;
		MIX(h, d), MIX(h, f), MIX(h, e), MIX(h, g), MIX(h, df), MIX(h, fd);
		int64_t b = d / 3; int32_t c = (int32_t)(f / 1e12f); uint64_t u = (uint64_t)(e / 2); uint32_t v = (uint32_t)(g / 2);
		MIX(h, b), MIX(h, c), MIX(h, u), MIX(h, v);
		h = h * 31 + (d < fd) + 2 * (f == df) + 4 * __builtin_isnan(d / 0.0 * 0.0) + 8 * (d != d);
	}
	return h;
}

static void all(void)
{
	static uint64_t (*const f[])(void) = { sha256, sorting, matrices, bodies, mandelbrot, extended, wide, bits, vectors, formatting, calls,
		atomics, conversions };
	for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
		seed = i + 1;
		result[i] = f[i]();
	}
}

#if defined NATIVE && defined __i386__
void _start(void)
{
	all();
	__asm__ volatile("int $0x80" ::"a"(4), "b"(1), "c"(result), "d"(13 * 8) : "memory");
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0));
}
#elif defined NATIVE
long write(int, const void *, unsigned long);
int main(void)
{
	all();
	return write(1, result, 13 * 8) != 13 * 8;
}
#else
/* The image starts here, at 1 MiB, with a stack below it. RAX is the address of
 * the results at the end. */
__asm__(".section .start,\"ax\"\n.globl _start\n_start: mov $0x100000, %esp\n call run\n mov $results, %eax\n hlt\n.text");
__attribute__((used)) void run(void) { all(); }
extern uint64_t results[RESULTS] __attribute__((alias("result"), visibility("hidden")));
#endif
