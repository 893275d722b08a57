/* Decompression of snappy blocks, as old tables hold them.
 *
 *     block = varint32 size of the output, then elements; the low two bits of an element's first byte are its kind:
 *     0 literal: n - 1 in the upper six bits, or 60..63 there and n - 1 in the next 1..4 bytes; then n bytes
 *     1 copy: 4 + three bits long, an offset of 11 bits: three upper bits here, the next byte
 *     2, 3 copy: 1 + six bits long, an offset of 2 or 4 bytes
 *
 * A copy repeats what was put out `offset` bytes before; it may overlap itself. */
#include "codec/codec.h"

/* The most that one byte of input can make is 64 / 3 bytes; a claim beyond that is nonsense and not worth the memory. */
#define EXPANSION_LIMIT 24

static size_t read_size(const void *data, size_t size, uint64_t *out_size)
{
    size_t used = tw__varint_get(data, size, out_size);
    return used > 5 || *out_size > UINT32_MAX ? 0 : used;
}

bool tw__snappy_size(const void *data, size_t size, size_t *out_size)
{
    uint64_t claimed = 0;
    size_t used = read_size(data, size, &claimed);
    if (used == 0 || claimed / EXPANSION_LIMIT > size - used)
        return false;
    *out_size = (size_t)claimed;
    return true;
}

bool tw__snappy_decode(const void *data, size_t size, void *out, size_t out_size)
{
    const uint8_t *at = data, *end = at + size;
    uint8_t *output = out;
    size_t made = 0;
    uint64_t claimed = 0;
    size_t used = read_size(data, size, &claimed);
    if (used == 0 || claimed != out_size)
        return false;
    at += used;
    while (at < end) {
        uint8_t first = *at++;
        unsigned kind = first & 3;
        size_t length, extra;
        if (kind == 0) {
            length = first >> 2;
            extra = length < 60 ? 0 : length - 59;
        } else {
            length = kind == 1 ? (first >> 2 & 7) + 3u : first >> 2;
            extra = kind == 1 ? 1 : kind == 2 ? 2 : 4;
        }
        if ((size_t)(end - at) < extra)
            return false;
        uint64_t number = 0;
        for (size_t i = 0; i < extra; i++)
            number |= (uint64_t)*at++ << 8 * i;
        if (kind == 0 && extra > 0)
            length = (size_t)number;
        length++;
        if (length > out_size - made)
            return false;
        if (kind == 0) {
            if (length > (size_t)(end - at))
                return false;
            memcpy(output + made, at, length);
            at += length;
            made += length;
            continue;
        }
        size_t offset = (size_t)number | (kind == 1 ? (size_t)(first >> 5) << 8 : 0);
        if (offset == 0 || offset > made)
            return false;
        for (size_t i = 0; i < length; i++, made++)
            output[made] = output[made - offset];
    }
    return made == out_size;
}
