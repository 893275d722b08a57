/* MD5 (RFC 1321) and SHA-256 (FIPS 180-4) of bytes that come in pieces, to tell whether a file is the right one. */
#include <math.h>

#include "codec/codec.h"

static uint32_t turn(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

/* ---- MD5 ---- */

static void md5_block(uint32_t *state, const uint32_t *constants, const uint8_t *block)
{
    static const int turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 64; i++) {
        uint32_t mixed = i < 16 ? (b & c) | (~b & d) : i < 32 ? (d & b) | (~d & c) : i < 48 ? b ^ c ^ d : c ^ (b | ~d);
        int word = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
        uint32_t sum = a + mixed + constants[i] + tw__get32(block + (ptrdiff_t)4 * word);
        a = d;
        d = c;
        c = b;
        b += turn(sum, turns[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* ---- SHA-256 ---- */

/* The first 32 bits of the fraction of a prime's root. */
static uint32_t fraction(double root)
{
    return (uint32_t)(int64_t)((root - floor(root)) * 4294967296.0);
}

/* The numbers that the algorithm takes of the first primes: of their square roots, and of their cube roots. */
static void sha256_constants(uint32_t *squares, uint32_t *cubes)
{
    int count = 0;
    for (int n = 2; count < 64; n++) {
        bool prime = true;
        for (int d = 2; prime && d * d <= n; d++)
            prime = n % d != 0;
        if (prime && count < 8 && squares)
            squares[count] = fraction(sqrt(n));
        if (prime && cubes)
            cubes[count] = fraction(cbrt(n));
        count += prime;
    }
}

static void sha256_block(uint32_t *state, const uint32_t *constants, const uint8_t *block)
{
    uint32_t words[64], s[8];
    for (int i = 0; i < 64; i++) {
        const uint8_t *at = block + (ptrdiff_t)4 * i;
        if (i < 16) {
            words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
            continue;
        }
        uint32_t near = words[i - 2], far = words[i - 15];
        words[i] = words[i - 16] + words[i - 7] + (turn(far, 25) ^ turn(far, 14) ^ far >> 3) +
                   (turn(near, 15) ^ turn(near, 13) ^ near >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one =
            s[7] + (turn(s[4], 26) ^ turn(s[4], 21) ^ turn(s[4], 7)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + words[i];
        uint32_t two = (turn(s[0], 30) ^ turn(s[0], 19) ^ turn(s[0], 10)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

/* ---- both ---- */

void tw__digest_begin(tw__digest *digest, bool sha256)
{
    static const uint32_t md5[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    *digest = (tw__digest){ .sha256 = sha256 };
    if (sha256)
        sha256_constants(digest->state, digest->constants);
    else
        memcpy(digest->state, md5, sizeof md5);
    for (int i = 0; !sha256 && i < 64; i++)
        digest->constants[i] = (uint32_t)(int64_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
}

void tw__digest_add(tw__digest *digest, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size) {
        size_t used = (size_t)(digest->size % 64), take = size < 64 - used ? size : 64 - used;
        memcpy(digest->block + used, at, take);
        digest->size += take;
        at += take;
        size -= take;
        if (digest->size % 64)
            continue;
        if (digest->sha256)
            sha256_block(digest->state, digest->constants, digest->block);
        else
            md5_block(digest->state, digest->constants, digest->block);
    }
}

void tw__digest_end(tw__digest *digest, char text[65])
{
    uint64_t bits = digest->size * 8;
    uint8_t length[8];
    int words = digest->sha256 ? 8 : 4;
    tw__digest_add(digest, "\x80", 1);
    while (digest->size % 64 != 56)
        tw__digest_add(digest, "", 1);
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> 8 * (digest->sha256 ? 7 - i : i));
    tw__digest_add(digest, length, 8);
    for (int i = 0; i < 4 * words; i++) {
        int shift = 8 * (digest->sha256 ? 3 - i % 4 : i % 4);
        snprintf(text + (ptrdiff_t)2 * i, 3, "%02x", digest->state[i / 4] >> shift & 0xff);
    }
}
