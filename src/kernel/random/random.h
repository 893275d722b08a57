/* Random numbers, bit for bit those of TensorFlow on the CPU.
 *
 * Philox4x32-10: a key, a counter of 128 bits, and ten rounds that make four words of each counter value. A stream is the words
 * of consecutive counters; values are made of groups of four words, so any part of an output can be made by any thread. */
#ifndef TW_RANDOM_KERNEL_H
#define TW_RANDOM_KERNEL_H

#include "tensor/tensor.h"

typedef struct tw__philox {
    uint32_t key[2];
    uint32_t counter[4]; /* of the next group; little end first */
} tw__philox;

tw__philox tw__philox_seeded(int64_t seed, int64_t seed2);     /* of stateful ops */
tw__philox tw__philox_stateless(int64_t seed0, int64_t seed1); /* of stateless ops: the seeds are scrambled */
void tw__philox_next(tw__philox *philox, uint32_t words[4]);
void tw__philox_skip(tw__philox *philox, uint64_t groups);

/* Words taken one by one. */
typedef struct tw__words {
    tw__philox philox;
    uint32_t words[4];
    int used; /* of the four; 4: none are left */
} tw__words;
tw__words tw__words_of(tw__philox philox);
uint32_t tw__words_next(tw__words *words);
double tw__words_uniform(tw__words *words); /* [0, 1), of two words */

/* Two values of one group. */
void tw__philox_uniforms(tw__philox *philox, double values[2]); /* [0, 1) */
void tw__philox_normals(tw__philox *philox, double values[2]);

typedef enum tw__distribution {
    TW__UNIFORM,          /* [0, 1) of half, bfloat16, float, double */
    TW__NORMAL,           /* mean 0, deviation 1 */
    TW__TRUNCATED_NORMAL, /* the same, without what is 2 or farther from 0 */
    TW__FULL_RANGE,       /* (u)int32, (u)int64: every value */
    TW__BELOW,            /* (u)int32, (u)int64: low + value modulo range */
} tw__distribution;

/* Fills `count` elements from the stream that `philox` stands at; the caller advances it. low and range (as unsigned) are for
 * TW__BELOW. */
void tw__random_fill(tw__distribution distribution, tw_dtype dtype, tw__philox philox, void *data, int64_t count, uint64_t low,
                     uint64_t range);

/* ---- MT19937 as Python's random.Random(seed) (mersenne.c) ---- */
typedef struct tw__mersenne {
    uint32_t state[624];
    int index;
} tw__mersenne;
void tw__mersenne_seed(tw__mersenne *mersenne, int64_t seed);
uint32_t tw__mersenne_next(tw__mersenne *mersenne);
/* Python's randint(low, high) for high - low < 2**32. */
int64_t tw__mersenne_between(tw__mersenne *mersenne, int64_t low, int64_t high);
/* Shuffles numbers as NumPy's RandomState(seed).shuffle does; seed: 0 to 2**32 - 1. */
void tw__mersenne_shuffle(int64_t seed, int64_t *order, int64_t count);

uint64_t tw__random_entropy(void); /* from the operating system */

#endif
