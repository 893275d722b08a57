/* Writing FlatBuffers; see flat.h. */
#include "lite/flat.h"

/* Room for `size` bytes before what is there. */
static uint8_t *grow(tw__flat_writer *w, size_t size)
{
    if (w->failed)
        return NULL;
    if (size > w->capacity - w->size) {
        size_t capacity = 2 * w->capacity + size + 1024;
        uint8_t *bytes = capacity < UINT32_MAX ? tw__alloc(capacity) : NULL;
        if (!bytes) {
            if (capacity >= UINT32_MAX)
                tw__fail(TW_RESOURCE_EXHAUSTED, "a FlatBuffer can't be larger than 2 GB");
            w->failed = true;
            return NULL;
        }
        if (w->size)
            memcpy(bytes + capacity - w->size, w->bytes + w->capacity - w->size, w->size);
        tw__free(w->bytes);
        w->bytes = bytes;
        w->capacity = capacity;
    }
    w->size += size;
    return w->bytes + w->capacity - w->size;
}

/* Zeros, so that after `size` more bytes the place is a multiple of the alignment. */
static void align(tw__flat_writer *w, size_t size, size_t alignment)
{
    size_t rest = (w->size + size) % alignment, pad = rest ? alignment - rest : 0;
    uint8_t *zeros = pad ? grow(w, pad) : NULL;
    if (zeros)
        memset(zeros, 0, pad);
    if (alignment > w->alignment)
        w->alignment = alignment;
}

static void put_int(tw__flat_writer *w, int64_t value, int size)
{
    uint8_t *at = grow(w, (size_t)size);
    for (int i = 0; at && i < size; i++)
        at[i] = (uint8_t)((uint64_t)value >> (8 * i));
}

static uint32_t put_vector(tw__flat_writer *w, const void *items, size_t count, size_t size, size_t alignment)
{
    align(w, count * size, alignment < 4 ? 4 : alignment);
    uint8_t *at = grow(w, count * size);
    if (at && count)
        memcpy(at, items, count * size);
    put_int(w, (int64_t)count, 4);
    return (uint32_t)w->size;
}

uint32_t tw__flat_put_bytes(tw__flat_writer *w, const void *data, size_t size, size_t alignment)
{
    return put_vector(w, data, size, 1, alignment);
}

uint32_t tw__flat_put_text(tw__flat_writer *w, const char *text)
{
    size_t size = strlen(text);
    align(w, size + 1, 4);
    uint8_t *at = grow(w, size + 1);
    if (at)
        memcpy(at, text, size + 1);
    put_int(w, (int64_t)size, 4);
    return (uint32_t)w->size;
}

uint32_t tw__flat_put_ints(tw__flat_writer *w, const int32_t *items, size_t count)
{
    return put_vector(w, items, count, 4, 4);
}

uint32_t tw__flat_put_longs(tw__flat_writer *w, const int64_t *items, size_t count)
{
    return put_vector(w, items, count, 8, 8);
}

uint32_t tw__flat_put_floats(tw__flat_writer *w, const float *items, size_t count)
{
    return put_vector(w, items, count, 4, 4);
}

static void put_ref(tw__flat_writer *w, uint32_t ref)
{
    align(w, 4, 4);
    put_int(w, (int64_t)w->size + 4 - ref, 4);
}

uint32_t tw__flat_put_refs(tw__flat_writer *w, const uint32_t *items, size_t count)
{
    align(w, 4 * count, 4);
    for (size_t i = count; i > 0; i--)
        put_ref(w, items[i - 1]);
    put_int(w, (int64_t)count, 4);
    return (uint32_t)w->size;
}

void tw__flat_begin(tw__flat_writer *w)
{
    memset(w->fields, 0, sizeof w->fields);
    w->field_count = 0;
    w->start = (uint32_t)w->size;
}

static void note(tw__flat_writer *w, int field)
{
    w->fields[field].place = (uint32_t)w->size;
    w->fields[field].there = true;
    if (field >= w->field_count)
        w->field_count = field + 1;
}

void tw__flat_field_always(tw__flat_writer *w, int field, int64_t value, int size)
{
    align(w, (size_t)size, (size_t)size);
    put_int(w, value, size);
    note(w, field);
}

void tw__flat_field(tw__flat_writer *w, int field, int64_t value, int size)
{
    if (value)
        tw__flat_field_always(w, field, value, size);
}

void tw__flat_field_float(tw__flat_writer *w, int field, float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    tw__flat_field(w, field, bits, 4);
}

void tw__flat_field_ref(tw__flat_writer *w, int field, uint32_t ref)
{
    if (!ref)
        return;
    put_ref(w, ref);
    note(w, field);
}

uint32_t tw__flat_end(tw__flat_writer *w)
{
    align(w, 4, 4);
    put_int(w, 0, 4); /* where the vtable is: known below */
    uint32_t table = (uint32_t)w->size;
    for (int i = w->field_count; i > 0; i--)
        put_int(w, w->fields[i - 1].there ? table - w->fields[i - 1].place : 0, 2);
    put_int(w, table - w->start, 2);
    put_int(w, 4 + 2 * w->field_count, 2);
    int32_t back = (int32_t)(w->size - table);
    if (!w->failed)
        memcpy(w->bytes + w->capacity - table, &back, sizeof back);
    return table;
}

void tw__flat_finish(tw__flat_writer *w, uint32_t root, const char *identifier)
{
    align(w, 8, w->alignment < 4 ? 4 : w->alignment);
    uint8_t *at = grow(w, 4);
    if (at)
        memcpy(at, identifier, 4);
    put_ref(w, root);
}

void tw__flat_writer_free(tw__flat_writer *w)
{
    tw__free(w->bytes);
    w->bytes = NULL;
}
