// Package softfloat is binary floating-point arithmetic as x86 processors do it:
// exactly rounded in every rounding mode and precision, with the exception flags,
// NaN rules, and the behaviour of masked and unmasked exceptions of the x87 FPU
// and of SSE.
//
// All formats share one unpacked form, Num, with a 64-bit significand; a Format
// says to what a result is rounded. Env carries the rounding mode and collects
// flags. Everything is pure; an Env belongs to one caller.
//
// Intel SDM vol. 1, 4.8 "Real Numbers and Floating-Point Formats" and 4.9
// "Overview of Floating-Point Exceptions".
package softfloat
