/* Philox and what is made of its words: uniform, normal, truncated normal and integer values.
 *
 * Group q of four words gives elements 4q … 4q+3 (2q, 2q+1 of 64-bit types). The truncated normal draws an unknown number of
 * words: its group q starts from the base skipped by 256 q groups. Normal values are made with libm's logf, sinf and cosf, which
 * give TensorFlow's own bits. */
#include "kernel/random/random.h"

#include <math.h>

static uint32_t high(uint64_t x)
{
    return (uint32_t)(x >> 32);
}

tw__philox tw__philox_seeded(int64_t seed, int64_t seed2)
{
    uint64_t key = (uint64_t)seed, counter = (uint64_t)seed2;
    return (tw__philox){ { (uint32_t)key, high(key) }, { 0, 0, (uint32_t)counter, high(counter) } };
}

tw__philox tw__philox_stateless(int64_t seed0, int64_t seed1)
{
    uint64_t a = (uint64_t)seed0, b = (uint64_t)seed1;
    tw__philox scramble = { { 0x3ec8f720, 0x02461e29 }, { (uint32_t)a, high(a), (uint32_t)b, high(b) } };
    uint32_t words[4];
    tw__philox_next(&scramble, words);
    return (tw__philox){ { words[0], words[1] }, { 0, 0, words[2], words[3] } };
}

void tw__philox_skip(tw__philox *philox, uint64_t groups)
{
    uint64_t low = philox->counter[0] | (uint64_t)philox->counter[1] << 32;
    uint64_t top = philox->counter[2] | (uint64_t)philox->counter[3] << 32;
    low += groups;
    top += low < groups;
    philox->counter[0] = (uint32_t)low;
    philox->counter[1] = high(low);
    philox->counter[2] = (uint32_t)top;
    philox->counter[3] = high(top);
}

void tw__philox_next(tw__philox *philox, uint32_t words[4])
{
    uint32_t c0 = philox->counter[0], c1 = philox->counter[1], c2 = philox->counter[2], c3 = philox->counter[3];
    uint32_t k0 = philox->key[0], k1 = philox->key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = high(p1) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = high(p0) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
    tw__philox_skip(philox, 1);
}

tw__words tw__words_of(tw__philox philox)
{
    return (tw__words){ .philox = philox, .used = 4 };
}

uint32_t tw__words_next(tw__words *words)
{
    if (words->used == 4) {
        tw__philox_next(&words->philox, words->words);
        words->used = 0;
    }
    return words->words[words->used++];
}

/* ---- words to values in [0, 1) ---- */

static float uniform(uint32_t x)
{
    union {
        uint32_t bits;
        float value;
    } u = { 0x3f800000u | (x & 0x7fffff) };
    return u.value - 1;
}

static double uniform_double(uint32_t x0, uint32_t x1)
{
    union {
        uint64_t bits;
        double value;
    } u = { (uint64_t)1023 << 52 | (uint64_t)(x0 & 0xfffff) << 32 | x1 };
    return u.value - 1;
}

/* 1.mantissa minus 1 is exact in float, and again in the small type. */
static uint16_t uniform_half(uint32_t x)
{
    return tw__float_to_half((float)(x & 0x3ff) * 0x1p-10f);
}

static uint16_t uniform_bfloat16(uint32_t x)
{
    return tw__float_to_bfloat16((float)(x & 0x7f) * 0x1p-7f);
}

double tw__words_uniform(tw__words *words)
{
    uint32_t x0 = tw__words_next(words), x1 = tw__words_next(words);
    return uniform_double(x0, x1);
}

/* ---- normal values, two at a time (Box and Muller) ---- */

static void normal(uint32_t x0, uint32_t x1, float *first, float *second)
{
    float u = uniform(x0);
    if (u < 1.0e-7f)
        u = 1.0e-7f;
    float angle = (float)(2 * M_PI * (double)uniform(x1)), radius = sqrtf(-2.0f * logf(u));
    *first = sinf(angle) * radius;
    *second = cosf(angle) * radius;
}

static void normal_double(const uint32_t x[4], double *first, double *second)
{
    double u = uniform_double(x[0], x[1]);
    if (u < 1.0e-7)
        u = 1.0e-7;
    double angle = 2 * M_PI * uniform_double(x[2], x[3]), radius = sqrt(-2.0 * log(u));
    *first = sin(angle) * radius;
    *second = cos(angle) * radius;
}

void tw__philox_uniforms(tw__philox *philox, double values[2])
{
    uint32_t x[4];
    tw__philox_next(philox, x);
    values[0] = uniform_double(x[0], x[1]);
    values[1] = uniform_double(x[2], x[3]);
}

void tw__philox_normals(tw__philox *philox, double values[2])
{
    uint32_t x[4];
    tw__philox_next(philox, x);
    normal_double(x, &values[0], &values[1]);
}

/* ---- filling ---- */

typedef struct job {
    tw__distribution distribution;
    tw_dtype dtype;
    tw__philox philox;
    char *data;
    int64_t count;
    int per_group;
    size_t size;
    uint64_t low, range;
} job;

typedef union group {
    float f[4];
    double d[2];
    uint16_t h[4];
    uint32_t w[4];
    uint64_t l[2];
} group;

static void four_floats(const job *of, const float values[4], group *out)
{
    for (int i = 0; i < 4; i++) {
        if (of->dtype == TW_FLOAT32)
            out->f[i] = values[i];
        else
            out->h[i] = of->dtype == TW_FLOAT16 ? tw__float_to_half(values[i]) : tw__float_to_bfloat16(values[i]);
    }
}

static void uniform_group(const job *of, const uint32_t x[4], group *out)
{
    for (int i = 0; i < of->per_group; i++) {
        if (of->dtype == TW_FLOAT32)
            out->f[i] = uniform(x[i]);
        else if (of->dtype == TW_FLOAT64)
            out->d[i] = uniform_double(x[2 * i], x[2 * i + 1]);
        else
            out->h[i] = of->dtype == TW_FLOAT16 ? uniform_half(x[i]) : uniform_bfloat16(x[i]);
    }
}

static void normal_group(const job *of, const uint32_t x[4], group *out)
{
    if (of->dtype == TW_FLOAT64) {
        normal_double(x, &out->d[0], &out->d[1]);
        return;
    }
    float values[4];
    normal(x[0], x[1], &values[0], &values[1]);
    normal(x[2], x[3], &values[2], &values[3]);
    four_floats(of, values, out);
}

static void integer_group(const job *of, const uint32_t x[4], group *out)
{
    bool all = of->distribution == TW__FULL_RANGE;
    for (int i = 0; i < of->per_group; i++) {
        if (of->size == 4) {
            out->w[i] = all ? x[i] : (uint32_t)of->low + x[i] % (uint32_t)of->range;
        } else {
            uint64_t value = x[2 * i] | (uint64_t)x[2 * i + 1] << 32;
            out->l[i] = all ? value : of->low + value % of->range;
        }
    }
}

static void truncated_group(const job *of, tw__philox philox, group *out)
{
    tw__words words = tw__words_of(philox);
    if (of->dtype == TW_FLOAT64) {
        for (int kept = 0; kept < 2;) {
            uint32_t x[4];
            for (int i = 0; i < 4; i++)
                x[i] = tw__words_next(&words);
            double pair[2];
            normal_double(x, &pair[0], &pair[1]);
            for (int i = 0; i < 2 && kept < 2; i++) {
                if (fabs(pair[i]) < 2)
                    out->d[kept++] = pair[i];
            }
        }
        return;
    }
    float values[4];
    for (int kept = 0; kept < 4;) {
        float pair[2];
        uint32_t x0 = tw__words_next(&words), x1 = tw__words_next(&words);
        normal(x0, x1, &pair[0], &pair[1]);
        for (int i = 0; i < 2 && kept < 4; i++) {
            if (fabsf(pair[i]) < 2)
                values[kept++] = pair[i];
        }
    }
    four_floats(of, values, out);
}

static void fill_groups(void *context, int64_t begin, int64_t end)
{
    const job *of = context;
    bool truncated = of->distribution == TW__TRUNCATED_NORMAL;
    tw__philox philox = of->philox;
    if (!truncated)
        tw__philox_skip(&philox, (uint64_t)begin);
    for (int64_t q = begin; q < end; q++) {
        group values;
        if (truncated) {
            philox = of->philox;
            tw__philox_skip(&philox, (uint64_t)q * 64u * (uint64_t)of->per_group);
            truncated_group(of, philox, &values);
        } else {
            uint32_t x[4];
            tw__philox_next(&philox, x);
            if (of->distribution == TW__UNIFORM)
                uniform_group(of, x, &values);
            else if (of->distribution == TW__NORMAL)
                normal_group(of, x, &values);
            else
                integer_group(of, x, &values);
        }
        int64_t first = q * of->per_group, left = of->count - first;
        memcpy(of->data + (size_t)first * of->size, &values, (size_t)(left < of->per_group ? left : of->per_group) * of->size);
    }
}

void tw__random_fill(tw__distribution distribution, tw_dtype dtype, tw__philox philox, void *data, int64_t count, uint64_t low,
                     uint64_t range)
{
    size_t size = tw__element_size(dtype);
    job of = { distribution, dtype, philox, data, count, size == 8 ? 2 : 4, size, low, range };
    int64_t groups = (count + of.per_group - 1) / of.per_group, grain = distribution == TW__UNIFORM ? 4096 : 1024;
    if (groups <= grain)
        fill_groups(&of, 0, groups);
    else
        tw__parallel(groups, grain, fill_groups, &of);
}
