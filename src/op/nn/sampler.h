/* The weights of FixedUnigramCandidateSampler. */
#ifndef TW_OP_SAMPLER_H
#define TW_OP_SAMPLER_H

#include "op/op.h"

/* Class i is drawn with chances[i] where i was picked, else others[i] is (the alias method). */
typedef struct tw__fixed_sampler {
    int64_t count;
    float *weights, *chances, total;
    int32_t *others;
} tw__fixed_sampler;

/* From the attrs. */
tw_status tw__fixed_sampler_begin(tw__kernel *kernel, tw__fixed_sampler *s);
void tw__fixed_sampler_end(tw__fixed_sampler *s);

/* [0, 1) of a word. */
static inline float tw__word_float(uint32_t word)
{
    uint32_t bits = 127u << 23 | (word & 0x7fffffu);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value - 1.0f;
}

#endif
