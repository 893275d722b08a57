/* Records with checksums. With the first byte of the input odd the checksums are made right before the file is read; 2 and 4 in
 * it say that the file is compressed. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "format/format.h"
#include "fuzz/fuzz.h"

static void repair(uint8_t *data, size_t size)
{
    for (size_t at = 0; size - at >= 12;) {
        uint64_t length = tw__get64(data + at);
        tw__put32(data + at + 8, tw__crc32c_mask(tw__crc32c(data + at, 8)));
        if (size - at < 16 || length > size - at - 16)
            return;
        tw__put32(data + at + 12 + length, tw__crc32c_mask(tw__crc32c(data + at + 12, length)));
        at += 16 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = size ? malloc(size) : NULL;
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    tw__compression compression = data[0] & 2 ? TW_COMPRESSION_GZIP : data[0] & 4 ? TW_COMPRESSION_ZLIB : TW_COMPRESSION_NONE;
    if (data[0] & 1)
        repair(bytes, size - 1);
    const char *path = fuzz_file(bytes, size - 1);
    tw__record_reader reader;
    if (path && tw__record_open_packed(&reader, path, compression) == TW_OK) {
        size_t total = 0;
        while (tw__record_next(&reader))
            total += reader.size + 16;
        if ((total > size - 1 && !compression) || (reader.status != TW_OK && reader.status != TW_DATA_LOSS))
            abort();
        tw__record_close(&reader);
    }
    tw_clear_error();
    free(bytes);
    return 0;
}

static fuzz_add add_plain;
static uint8_t first;

static void add_behind_first(const void *data, size_t size)
{
    uint8_t *input = malloc(size + 1);
    if (input) {
        input[0] = first;
        memcpy(input + 1, data, size);
        add_plain(input, size + 1);
    }
    free(input);
}

void fuzz_seeds(fuzz_add add)
{
    add_plain = add;
    first = 1;
    fuzz_seed_files(add_behind_first, "v1train_events", ".tfevents");
    first = 2;
    fuzz_seed_files(add_behind_first, "records", "gzip.tfrecord");
    first = 4;
    fuzz_seed_files(add_behind_first, "records", "zlib.tfrecord");
}
