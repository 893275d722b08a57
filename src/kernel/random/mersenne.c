/* MT19937, seeded and read as Python's random module does. */
#include <sys/random.h>
#include <time.h>

#include "kernel/random/random.h"

enum { SIZE = 624, MIDDLE = 397 };

static void start(tw__mersenne *m, uint32_t seed)
{
    m->state[0] = seed;
    for (uint32_t i = 1; i < SIZE; i++)
        m->state[i] = 1812433253u * (m->state[i - 1] ^ (m->state[i - 1] >> 30)) + i;
    m->index = SIZE;
}

/* The key is the absolute value's 32-bit words, little end first, at least one. */
void tw__mersenne_seed(tw__mersenne *m, int64_t seed)
{
    uint64_t magnitude = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    uint32_t key[2] = { (uint32_t)magnitude, (uint32_t)(magnitude >> 32) };
    uint32_t length = key[1] ? 2 : 1, i = 1, j = 0;
    start(m, 19650218u);
    for (int k = SIZE; k; k--) {
        m->state[i] = (m->state[i] ^ ((m->state[i - 1] ^ (m->state[i - 1] >> 30)) * 1664525u)) + key[j] + j;
        if (++i >= SIZE) {
            m->state[0] = m->state[SIZE - 1];
            i = 1;
        }
        if (++j >= length)
            j = 0;
    }
    for (int k = SIZE - 1; k; k--) {
        m->state[i] = (m->state[i] ^ ((m->state[i - 1] ^ (m->state[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i >= SIZE) {
            m->state[0] = m->state[SIZE - 1];
            i = 1;
        }
    }
    m->state[0] = 0x80000000u;
}

static void refill(tw__mersenne *m)
{
    for (int i = 0; i < SIZE; i++) {
        uint32_t y = (m->state[i] & 0x80000000u) | (m->state[(i + 1) % SIZE] & 0x7fffffffu);
        m->state[i] = m->state[(i + MIDDLE) % SIZE] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    m->index = 0;
}

uint32_t tw__mersenne_next(tw__mersenne *m)
{
    if (m->index >= SIZE)
        refill(m);
    uint32_t y = m->state[m->index++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* As many high bits as the size of the range has, drawn again until they lie in it. */
int64_t tw__mersenne_between(tw__mersenne *m, int64_t low, int64_t high)
{
    uint64_t range = (uint64_t)high - (uint64_t)low + 1;
    int bits = 64 - __builtin_clzll(range);
    if (bits > 32) /* a range of 2**32 itself */
        return low + (int64_t)tw__mersenne_next(m);
    uint32_t value;
    do
        value = tw__mersenne_next(m) >> (32 - bits);
    while (value >= range);
    return low + (int64_t)value;
}

uint64_t tw__random_entropy(void)
{
    uint64_t value;
    if (getrandom(&value, sizeof value, 0) == (ssize_t)sizeof value)
        return value;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000003u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)(uintptr_t)&now;
}

/* NumPy's: seeded by one word, each place drawn with as many low bits as its number has. */
void tw__mersenne_shuffle(int64_t seed, int64_t *order, int64_t count)
{
    tw__mersenne m;
    start(&m, (uint32_t)seed);
    for (int64_t i = count - 1; i > 0; i--) {
        uint64_t mask = (UINT64_MAX >> __builtin_clzll((uint64_t)i)), at;
        do
            at = (mask > UINT32_MAX ? (uint64_t)tw__mersenne_next(&m) << 32 | tw__mersenne_next(&m) : tw__mersenne_next(&m)) &
                 mask;
        while (at > (uint64_t)i);
        int64_t other = order[at];
        order[at] = order[i];
        order[i] = other;
    }
}
