/* The instruction set that products and the library's convolutions use: the best that the processor has, or less if the
 * environment's THALWEG_ISA says so (plain, avx2, avx512). Loops with clones (simd.h) follow the processor alone. */
#ifndef TW_ISA_H
#define TW_ISA_H

typedef enum tw__isa { TW_ISA_PLAIN, TW_ISA_AVX2, TW_ISA_AVX512 } tw__isa;

tw__isa tw__isa_best(void); /* of the processor */
tw__isa tw__isa_used(void); /* that, or what the environment limits it to; read once */

#endif
