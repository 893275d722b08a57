/* Strings as other strings and as numbers: base64 with the alphabet that is safe in addresses, buckets by FarmHash's 64-bit
 * fingerprint. */
#include "op/text/text.h"
#include "rows.h"

/* ---- base64 ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void tw__base64_add(tw__text *text, tw_string s, bool pad)
{
    for (size_t k = 0; k < s.size; k += 3) {
        size_t left = s.size - k < 3 ? s.size - k : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < left ? (unsigned char)s.data[k + j] : 0);
        char out[4];
        for (size_t j = 0; j < 4; j++)
            out[j] = j <= left ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
        tw__text_bytes(text, out, pad ? 4 : left + 1);
    }
}

static tw_status encode_compute(tw__kernel *kernel)
{
    bool pad = TW_ATTR(kernel, "pad")->b;
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        tw__base64_add(&text, tw__strings(kernel->inputs[0])[i], pad);
        TW_TRY(tw__string_from_text(kernel->outputs[0], i, &text));
    }
    return TW_OK;
}

TW_OP(EncodeBase64, .inputs = "input: string", .outputs = "output: string", .attrs = "pad: bool = false", .shape = tw_shape_same,
      .compute = encode_compute,
      .function =
          "io.encode_base64|compat.v1.encode_base64(input: tensor<string>|ragged, pad: bool = False, name: str = None) -> tensor",
      .doc = "Strings in base64, safe in addresses.\n"
             "input: strings\n"
             "pad: True: fill the end with `=`\n"
             "example: tf.io.encode_base64('abcd').numpy()  # b'YWJjZA'");

tw_status tw__base64_read(tw_string s, tw__text *text)
{
    size_t size = s.size;
    if (size % 4 == 0 && size && s.data[size - 1] == '=')
        size -= s.data[size - 2] == '=' ? 2 : 1;
    if (size % 4 == 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Base64 string length cannot be 1 modulo 4.");
    uint32_t bits = 0;
    int have = 0;
    for (size_t k = 0; k < size; k++) {
        const char *found = s.data[k] ? strchr(alphabet, s.data[k]) : NULL;
        if (!found)
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid character found in base64.");
        bits = bits << 6 | (uint32_t)(found - alphabet);
        have += 6;
        if (have >= 8) {
            have -= 8;
            char byte = (char)(bits >> have);
            tw__text_bytes(text, &byte, 1);
        }
    }
    return TW_OK;
}

static tw_status decode_compute(tw__kernel *kernel)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++) {
        TW_TRY(tw__base64_read(tw__strings(kernel->inputs[0])[i], &text));
        TW_TRY(tw__string_from_text(kernel->outputs[0], i, &text));
    }
    return TW_OK;
}

TW_OP(DecodeBase64, .inputs = "input: string", .outputs = "output: string", .shape = tw_shape_same, .compute = decode_compute,
      .function = "io.decode_base64|compat.v1.decode_base64(input: tensor<string>|ragged, name: str = None) -> tensor",
      .doc = "What base64 stands for.\n"
             "input: strings in base64, with or without `=` at the end\n"
             "example: tf.io.decode_base64('YWJjZA').numpy()  # b'abcd'");

/* ---- fingerprints ---- */

#define K0 UINT64_C(0xc3a5c85c97cb3127)
#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 UINT64_C(0x9ae16a3b2f90404f)

static uint64_t word(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static uint64_t half_word(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t turn(uint64_t value, int bits)
{
    return value >> bits | value << (64 - bits);
}

static uint64_t fold(uint64_t value)
{
    return value ^ value >> 47;
}

static uint64_t mix(uint64_t u, uint64_t v, uint64_t factor)
{
    return fold((v ^ fold((u ^ v) * factor)) * factor) * factor;
}

static uint64_t hash_short(const unsigned char *s, size_t size)
{
    uint64_t factor = K2 + size * 2;
    if (size >= 8) {
        uint64_t a = word(s) + K2, b = word(s + size - 8);
        return mix(turn(b, 37) * factor + a, (turn(a, 25) + b) * factor, factor);
    }
    if (size >= 4)
        return mix(size + (half_word(s) << 3), half_word(s + size - 4), factor);
    if (size > 0) {
        uint64_t y = s[0] + ((uint64_t)s[size >> 1] << 8), z = size + ((uint64_t)s[size - 1] << 2);
        return fold(y * K2 ^ z * K0) * K2;
    }
    return K2;
}

static uint64_t hash_medium(const unsigned char *s, size_t size)
{
    uint64_t factor = K2 + size * 2;
    uint64_t a = word(s) * (size <= 32 ? K1 : K2), b = word(s + 8), c = word(s + size - 8) * factor, d = word(s + size - 16) * K2;
    uint64_t y = turn(a + b, 43) + turn(c, 30) + d, z = mix(y, a + turn(b + K2, 18) + c, factor);
    if (size <= 32)
        return z;
    uint64_t e = word(s + 16) * factor, f = word(s + 24), g = (y + word(s + size - 32)) * factor,
             h = (z + word(s + size - 24)) * factor;
    return mix(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, factor);
}

typedef struct pair {
    uint64_t first, second;
} pair;

static pair weak(const unsigned char *s, uint64_t a, uint64_t b)
{
    uint64_t z = word(s + 24);
    a += word(s);
    b = turn(b + a + z, 21);
    uint64_t c = a;
    a += word(s + 8) + word(s + 16);
    b += turn(a, 44);
    return (pair){ a + z, b + c };
}

static uint64_t hash_long(const unsigned char *s, size_t size)
{
    uint64_t x = 81, y = 81 * K1 + 113, z = fold(y * K2 + 113) * K2, swapped;
    pair v = { 0, 0 }, w = { 0, 0 };
    const unsigned char *end = s + (size - 1) / 64 * 64, *last = end + ((size - 1) & 63) - 63;
    uint64_t factor = K1, times = 1;
    x = x * K2 + word(s);
    for (bool more = true; more;) {
        if (s == end) { /* the last 64 bytes, with a factor that depends on all before */
            more = false;
            factor = K1 + ((z & 0xff) << 1);
            times = 9;
            s = last;
            w.first += (size - 1) & 63;
            v.first += w.first;
            w.first += v.first;
        }
        x = turn(x + y + v.first + word(s + 8), 37) * factor;
        y = turn(y + v.second + word(s + 48), 42) * factor;
        x ^= w.second * times;
        y += v.first * times + word(s + 40);
        z = turn(z + w.first, 33) * factor;
        v = weak(s, v.second * factor, x + w.first);
        w = weak(s + 32, z + w.second, y + word(s + 16));
        swapped = z;
        z = x;
        x = swapped;
        s += 64;
    }
    return mix(mix(v.first, w.first, factor) + fold(y) * K0 + z, mix(v.second, w.second, factor) + x, factor);
}

uint64_t tw__fingerprint64(tw_string string)
{
    const unsigned char *s = (const unsigned char *)string.data;
    return string.size <= 16   ? hash_short(s, string.size)
           : string.size <= 64 ? hash_medium(s, string.size)
                               : hash_long(s, string.size);
}

static tw_status bucket_compute(tw__kernel *kernel)
{
    uint64_t buckets = (uint64_t)TW_ATTR(kernel, "num_buckets")->i;
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++)
        ((int64_t *)kernel->outputs[0]->data)[i] = (int64_t)(tw__fingerprint64(tw__strings(kernel->inputs[0])[i]) % buckets);
    return TW_OK;
}

TW_OP(StringToHashBucketFast, .inputs = "input: string", .outputs = "output: int64", .attrs = "num_buckets: int >= 1",
      .shape = tw_shape_same, .compute = bucket_compute,
      .function =
          "strings.to_hash_bucket_fast|compat.v1.string_to_hash_bucket_fast(input: tensor<string>|ragged, num_buckets: int, "
          "name: str = None) -> tensor",
      .doc = "A bucket for each string, by its fingerprint.");
