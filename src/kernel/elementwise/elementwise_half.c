/* Rows of half and bfloat16 to float and back. On x86 the half conversions use the processor's own (F16C) where it has them. */
#include "kernel/kernel.h"
#include "kernel/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

static bool has_f16c(void)
{
    static _Atomic int known; /* 0: not asked yet, 1: no, 2: yes */
    int k = atomic_load_explicit(&known, memory_order_relaxed);
    if (!k) {
        __builtin_cpu_init();
        k = __builtin_cpu_supports("avx2") ? 2 : 1; /* every processor with AVX2 has F16C, which not every compiler can ask for */
        atomic_store_explicit(&known, k, memory_order_relaxed);
    }
    return k == 2;
}

__attribute__((target("avx,f16c"))) static int64_t read_eights(const uint16_t *from, float *to, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    return i;
}

__attribute__((target("avx,f16c"))) static int64_t write_eights(const float *from, uint16_t *to, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
#else
static bool has_f16c(void)
{
    return false;
}

static int64_t read_eights(const uint16_t *from, float *to, int64_t count)
{
    (void)from, (void)to, (void)count;
    return 0;
}

static int64_t write_eights(const float *from, uint16_t *to, int64_t count)
{
    (void)from, (void)to, (void)count;
    return 0;
}
#endif

void tw__half_row_to_float(const uint16_t *from, float *to, int64_t count)
{
    for (int64_t i = has_f16c() ? read_eights(from, to, count) : 0; i < count; i++)
        to[i] = tw__half_to_float(from[i]);
}

void tw__float_row_to_half(const float *from, uint16_t *to, int64_t count)
{
    for (int64_t i = has_f16c() ? write_eights(from, to, count) : 0; i < count; i++)
        to[i] = tw__float_to_half(from[i]);
}

TW_CLONES void tw__bfloat16_row_to_float(const uint16_t *from, float *to, int64_t count)
{
    uint32_t *bits = (uint32_t *)(void *)to;
    for (int64_t i = 0; i < count; i++) {
        uint32_t wide = (uint32_t)from[i] << 16;
        memcpy(bits + i, &wide, sizeof wide);
    }
}

TW_CLONES void tw__float_row_to_bfloat16(const float *from, uint16_t *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
        uint32_t not_a_number = ((bits >> 16) & 0x8000u) | 0x7fc0u;
        to[i] = (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? not_a_number : rounded);
    }
}

void tw__small_float_read(tw_dtype dtype, const void *from, float *to, int64_t count)
{
    if (dtype == TW_FLOAT16)
        tw__half_row_to_float(from, to, count);
    else
        tw__bfloat16_row_to_float(from, to, count);
}

void tw__small_float_write(tw_dtype dtype, const float *from, void *to, int64_t count)
{
    if (dtype == TW_FLOAT16)
        tw__float_row_to_half(from, to, count);
    else
        tw__float_row_to_bfloat16(from, to, count);
}
