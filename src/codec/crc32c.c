/* CRC-32C (Castagnoli): polynomial 0x82f63b78 reflected, register all ones before and inverted after.
 *
 * The crc32 instruction gives a result every cycle but takes three for each, so three streams run side by side over
 * consecutive stretches of a block and are put together. Putting together is algebra: appending n zero bytes multiplies the
 * register by x^(8n) modulo the polynomial, which is linear, so for a fixed n it is four table look-ups. Bit 31 is the
 * coefficient of x^0. */
#include <pthread.h>

#include "codec/codec.h"

#define POLYNOMIAL 0x82f63b78u
#define ONE 0x80000000u
#define LONG_STRETCH 4096
#define SHORT_STRETCH 256

static uint32_t byte_table[8][256]; /* the register after a byte and k zero bytes */
static uint32_t long_shift[4][256]; /* after LONG_STRETCH zero bytes, by byte of the register */
static uint32_t short_shift[4][256];
static uint32_t power_table[64]; /* x^(8 * 2^k) */
#if defined(__x86_64__)
static bool has_instruction;
#endif
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static uint32_t times_x(uint32_t a)
{
    return a & 1 ? a >> 1 ^ POLYNOMIAL : a >> 1;
}

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1, b = times_x(b)) {
        if (a & bit)
            product ^= b;
    }
    return product;
}

/* x^(8 * size) */
static uint32_t power_of(uint64_t size)
{
    uint32_t power = ONE;
    for (int k = 0; size; k++, size >>= 1) {
        if (size & 1)
            power = multiply(power, power_table[k]);
    }
    return power;
}

static void make_shift(uint32_t table[4][256], uint64_t size)
{
    uint32_t power = power_of(size);
    for (int part = 0; part < 4; part++) {
        for (uint32_t value = 0; value < 256; value++)
            table[part][value] = multiply(power, value << 8 * part);
    }
}

static void make_tables(void)
{
    for (uint32_t value = 0; value < 256; value++) {
        uint32_t crc = value;
        for (int bit = 0; bit < 8; bit++)
            crc = times_x(crc);
        byte_table[0][value] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t before = byte_table[k - 1][value];
            byte_table[k][value] = before >> 8 ^ byte_table[0][before & 0xff];
        }
    }
    power_table[0] = ONE >> 8;
    for (int k = 1; k < 64; k++)
        power_table[k] = multiply(power_table[k - 1], power_table[k - 1]);
    make_shift(long_shift, LONG_STRETCH);
    make_shift(short_shift, SHORT_STRETCH);
#if defined(__x86_64__)
    __builtin_cpu_init();
    has_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

uint32_t tw__crc32c_portable(uint32_t crc, const void *data, size_t size)
{
    pthread_once(&tables_once, make_tables);
    const uint8_t *at = data;
    crc = ~crc;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word = tw__get64(at) ^ crc;
        crc = 0;
        for (int k = 0; k < 8; k++)
            crc ^= byte_table[7 - k][word >> 8 * k & 0xff];
    }
    for (; size > 0; at++, size--)
        crc = crc >> 8 ^ byte_table[0][(crc ^ *at) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)
static inline uint64_t load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t shift(const uint32_t table[4][256], uint32_t crc)
{
    return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^ table[3][crc >> 24];
}

/* Whole blocks of three stretches; works on the bare register. */
__attribute__((target("sse4.2"))) static inline uint64_t three_streams(uint64_t crc, const uint8_t **data, size_t *size,
                                                                       size_t stretch, const uint32_t table[4][256])
{
    const uint8_t *at = *data;
    size_t left = *size;
    for (; left >= 3 * stretch; at += 3 * stretch, left -= 3 * stretch) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < stretch; i += 8) {
            crc = __builtin_ia32_crc32di(crc, load(at + i));
            second = __builtin_ia32_crc32di(second, load(at + stretch + i));
            third = __builtin_ia32_crc32di(third, load(at + 2 * stretch + i));
        }
        crc = shift(table, (uint32_t)crc) ^ second;
        crc = shift(table, (uint32_t)crc) ^ third;
    }
    *data = at;
    *size = left;
    return crc;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t start, const uint8_t *at, size_t size)
{
    uint64_t crc = ~start;
    for (; size > 0 && ((uintptr_t)at & 7); at++, size--)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
    crc = three_streams(crc, &at, &size, LONG_STRETCH, long_shift);
    crc = three_streams(crc, &at, &size, SHORT_STRETCH, short_shift);
    for (; size >= 8; at += 8, size -= 8)
        crc = __builtin_ia32_crc32di(crc, load(at));
    for (; size > 0; at++, size--)
        crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
    return ~(uint32_t)crc;
}
#endif

uint32_t tw__crc32c_extend(uint32_t crc, const void *data, size_t size)
{
    pthread_once(&tables_once, make_tables);
#if defined(__x86_64__)
    if (has_instruction)
        return by_instruction(crc, data, size);
#endif
    return tw__crc32c_portable(crc, data, size);
}

uint32_t tw__crc32c_combine(uint32_t a, uint32_t b, uint64_t size_of_b)
{
    pthread_once(&tables_once, make_tables);
    return multiply(power_of(size_of_b), a) ^ b;
}
