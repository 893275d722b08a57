/* The index of a tensor bundle, a sorted table whose blocks have checksums. With the first byte of the input odd the checksums
 * are made right before it is read, else a change would never get past them. The data shard beside it is one of zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/codec.h"
#include "format/format.h"
#include "format/table/table.h"
#include "fuzz/fuzz.h"

enum { SHARD_SIZE = 1 << 16 };

static char folder[64];

static void remove_folder(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/x.index", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/x.data-00000-of-00001", folder);
    unlink(path);
    rmdir(folder);
}

static int write_file(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    return file && fwrite(data, 1, size, file) == size && fclose(file) == 0;
}

static int make_folder(void)
{
    static char zeros[SHARD_SIZE];
    strcpy(folder, "/tmp/thalweg-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        return 0;
    atexit(remove_folder);
    return write_file("x.data-00000-of-00001", zeros, sizeof zeros);
}

static int repair_block(uint8_t *data, size_t size, uint64_t offset, uint64_t length)
{
    if (offset > size || length > size - offset || size - offset - length < TABLE_TRAILER_SIZE)
        return 0;
    tw__put32(data + offset + length + 1, tw__crc32c_mask(tw__crc32c(data + offset, length + 1)));
    return 1;
}

static void repair(uint8_t *data, size_t size)
{
    uint64_t numbers[4], part[3];
    if (size < TABLE_FOOTER_SIZE)
        return;
    const uint8_t *at = data + size - TABLE_FOOTER_SIZE, *end = data + size;
    for (int i = 0; i < 4; i++) {
        size_t used = tw__varint_get(at, (size_t)(end - at), &numbers[i]);
        if (!used)
            return;
        at += used;
    }
    /* The index block's values are the places of the data blocks. */
    if (!repair_block(data, size, numbers[2], numbers[3]))
        return;
    for (at = data + numbers[2], end = at + numbers[3]; at < end;) {
        for (int i = 0; i < 3; i++) {
            size_t used = tw__varint_get(at, (size_t)(end - at), &part[i]);
            if (!used)
                return;
            at += used;
        }
        if (part[1] > (uint64_t)(end - at) || part[2] > (uint64_t)(end - at) - part[1])
            return;
        const uint8_t *value = at + part[1];
        size_t used = tw__varint_get(value, part[2], &numbers[0]);
        if (!used || !tw__varint_get(value + used, part[2] - used, &numbers[1]))
            return;
        repair_block(data, size, numbers[0], numbers[1]);
        at += part[1] + part[2];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char prefix[80];
    if (size < 1 || (!folder[0] && !make_folder()))
        return 0;
    uint8_t *index = malloc(size);
    if (!index)
        return 0;
    memcpy(index, data + 1, size - 1);
    if (data[0] & 1)
        repair(index, size - 1);
    int written = write_file("x.index", index, size - 1);
    free(index);
    snprintf(prefix, sizeof prefix, "%s/x", folder);
    tw__bundle_reader *reader = written ? tw__bundle_open(prefix) : NULL;
    for (int64_t i = 0; reader && i < tw__bundle_count(reader); i++) {
        const tw__bundle_entry *entry = tw__bundle_entry_at(reader, i);
        if (entry->key[0]) {
            tw_release(tw__bundle_read(reader, entry->key));
            tw_clear_error();
        }
    }
    tw__bundle_close(reader);
    return 0;
}

static fuzz_add add_plain;

static void add_with_repair(const void *data, size_t size)
{
    uint8_t *input = malloc(size + 1);
    if (input && size < 20000) { /* small ones are changed where it matters */
        input[0] = 1;
        memcpy(input + 1, data, size);
        add_plain(input, size + 1);
    }
    free(input);
}

void fuzz_seeds(fuzz_add add)
{
    add_plain = add;
    fuzz_seed_files(add_with_repair, "checkpoint", ".index");
    fuzz_seed_files(add_with_repair, "saving", ".index");
}
