/* What is written about functions, classes and ops. It is no part of the library but a file beside it, reference.bin
 * (tools/collect_rows.py), which is read when somebody first asks. Without it every text is empty. */
#include "base/beside.h"
#include "codec/codec.h"
#include "spec/spec.h"

/* Before the zlib stream: these letters and the size of the texts in four bytes, the lowest first. */
static const char magic[] = "THALWEG reference 1\n";
enum { HEAD = sizeof magic - 1 + 4, LIMIT = 1 << 26 };

/* Keys and texts by turns, each with a NUL behind it, in the order of the keys. */
typedef struct reference {
    char *bytes;
    uint32_t count, keys[];
} reference;

static reference *_Atomic read_one;

static void end_reference(void)
{
    tw__free(atomic_exchange(&read_one, NULL));
}

/* The file's bytes if there is such a file, for tw__free. */
static char *find_file(size_t *size)
{
    tw__owned char *path = tw__beside("reference.bin");
    char *data = path ? tw__file_read_all(path, LIMIT, size) : NULL;
    if (data && *size > HEAD && memcmp(data, magic, sizeof magic - 1) == 0)
        return data;
    tw__free(data);
    return NULL;
}

static uint32_t count_texts(const char *bytes, size_t size)
{
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == 0;
    return count / 2;
}

static reference *unpack(const char *data, size_t size)
{
    const uint8_t *length = (const uint8_t *)data + sizeof magic - 1;
    size_t full = length[0] | (uint32_t)length[1] << 8 | (uint32_t)length[2] << 16 | (uint32_t)length[3] << 24;
    tw__owned char *bytes = full && full <= LIMIT ? tw__alloc(full) : NULL;
    if (!bytes || !tw__inflate(data + HEAD, size - HEAD, TW_DEFLATED_ZLIB, bytes, full) || bytes[full - 1])
        return NULL;
    uint32_t count = count_texts(bytes, full);
    size_t head = sizeof(reference) + count * sizeof(uint32_t);
    reference *r = tw__alloc(head + full);
    if (!r)
        return NULL;
    r->bytes = memcpy((char *)r + head, bytes, full);
    r->count = count;
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->keys[i] = (uint32_t)at;
        for (int part = 0; part < 2; part++)
            at += strlen(r->bytes + at) + 1;
    }
    return r;
}

/* A file that is not there, or no such file, is none: the thread's error stays as it was. */
static reference *read_reference(void)
{
    tw__saved_error error = tw__error_take();
    size_t size = 0;
    tw__owned char *data = find_file(&size);
    reference *r = data ? unpack(data, size) : tw__alloc_zero(sizeof(reference));
    tw__error_restore(error);
    return r;
}

const char *tw__reference_text(const char *key)
{
    static tw__ending ending = { .end = end_reference };
    reference *have = atomic_load(&read_one);
    if (!have) {
        reference *made = read_reference();
        if (!made)
            return "";
        tw__at_shutdown(&ending);
        if (atomic_compare_exchange_strong(&read_one, &have, made))
            have = made;
        else
            tw__free(made);
    }
    for (uint32_t low = 0, high = have->count; low < high;) {
        uint32_t middle = (low + high) / 2;
        const char *found = have->bytes + have->keys[middle];
        int order = strcmp(key, found);
        if (order == 0)
            return found + strlen(found) + 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return "";
}

const char *tw_signature_doc(const tw_signature *signature)
{
    return signature ? tw__reference_text(signature->id) : NULL;
}
