/* Snappy blocks. */
#include <stdlib.h>

#include "codec/codec.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t out_size;
    if (!tw__snappy_size(data, size, &out_size) || out_size > 1 << 20)
        return 0;
    uint8_t *out = malloc(out_size ? out_size : 1);
    if (out)
        tw__snappy_decode(data, size, out, out_size);
    free(out);
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    add("\x03\x08"
        "abc",
        5);
    add("\x0a\x04"
        "ab\x1a\x02\x00",
        7); /* a copy that overlaps itself, with two bytes of offset */
    add("\x40\x00"
        "a\xfe\x01\x00",
        6); /* 64 times the same */
    add("\x14\x10"
        "abcde\x21\x05\x0c"
        "xyzw",
        14);
    add("\x46\xf0\x45"
        "0123456789012345678901234567890123456789012345678901234567890123456789",
        73);
    fuzz_seed_files(add, "checkpoint", "snappy.index");
}
