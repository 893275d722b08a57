/* Reading FlatBuffers; see flat.h. */
#include "lite/flat.h"

/* `size` bytes at `at`, or NULL. */
static const uint8_t *bytes_at(tw__flat *flat, size_t at, size_t size)
{
    if (at > flat->size || size > flat->size - at) {
        flat->broken = true;
        return NULL;
    }
    return flat->bytes + at;
}

static int64_t int_at(tw__flat *flat, size_t at, int size)
{
    const uint8_t *bytes = bytes_at(flat, at, (size_t)size);
    uint64_t value = 0;
    for (int i = 0; bytes && i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    int unused = 64 - 8 * size;
    return (int64_t)(value << unused) >> unused;
}

static float float_at(tw__flat *flat, size_t at)
{
    int32_t bits = (int32_t)int_at(flat, at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static tw__flat_table table_at(tw__flat *flat, size_t at)
{
    tw__flat_table table = { .flat = flat };
    int64_t back = int_at(flat, at, 4);
    if (flat->broken || back > (int64_t)at || (int64_t)at - back > (int64_t)flat->size)
        return flat->broken = true, table;
    table.vtable = (size_t)((int64_t)at - back);
    table.vtable_size = (uint16_t)int_at(flat, table.vtable, 2);
    table.size = (uint16_t)int_at(flat, table.vtable + 2, 2);
    if (flat->broken || table.vtable_size < 4 || table.vtable_size % 2 || table.size < 4 ||
        !bytes_at(flat, table.vtable, table.vtable_size) || !bytes_at(flat, at, table.size))
        return flat->broken = true, (tw__flat_table){ .flat = flat };
    table.at = at;
    return table;
}

/* What the reference at `at` refers to; 0: it is outside. */
static size_t follow(tw__flat *flat, size_t at)
{
    uint64_t offset = (uint32_t)int_at(flat, at, 4);
    if (flat->broken || !offset || offset > flat->size - at)
        return flat->broken = true, 0;
    return at + offset;
}

tw__flat_table tw__flat_root(tw__flat *flat, const char *identifier)
{
    const uint8_t *head = bytes_at(flat, 4, 4);
    if (!head || memcmp(head, identifier, 4) != 0)
        return flat->broken = true, (tw__flat_table){ .flat = flat };
    size_t at = follow(flat, 0);
    return at ? table_at(flat, at) : (tw__flat_table){ .flat = flat };
}

/* Where the value of a field lies; 0: it has the default. */
static size_t field_at(const tw__flat_table *table, int field, size_t size)
{
    size_t entry = 4 + 2 * (size_t)field;
    if (!table->at || entry + 2 > table->vtable_size)
        return 0;
    uint16_t offset = (uint16_t)int_at(table->flat, table->vtable + entry, 2);
    if (!offset)
        return 0;
    if (offset < 4 || offset + size > table->size)
        return table->flat->broken = true, 0;
    return table->at + offset;
}

bool tw__flat_has(const tw__flat_table *table, int field)
{
    return field_at(table, field, 1) != 0;
}

int64_t tw__flat_int(const tw__flat_table *table, int field, int size, int64_t otherwise)
{
    size_t at = field_at(table, field, (size_t)size);
    return at ? int_at(table->flat, at, size) : otherwise;
}

double tw__flat_float(const tw__flat_table *table, int field, double otherwise)
{
    size_t at = field_at(table, field, 4);
    return at ? (double)float_at(table->flat, at) : otherwise;
}

tw__flat_table tw__flat_child(const tw__flat_table *table, int field)
{
    size_t at = field_at(table, field, 4), target = at ? follow(table->flat, at) : 0;
    return target ? table_at(table->flat, target) : (tw__flat_table){ .flat = table->flat };
}

tw__flat_vector tw__flat_list(const tw__flat_table *table, int field, size_t item_size)
{
    tw__flat *flat = table->flat;
    tw__flat_vector list = { .flat = flat };
    size_t at = field_at(table, field, 4), target = at ? follow(flat, at) : 0;
    if (!target)
        return list;
    uint64_t count = (uint32_t)int_at(flat, target, 4), size = count * item_size;
    if (flat->broken || size > flat->size || !bytes_at(flat, target + 4, size) || (flat->seen += size) > 16 * flat->size + 65536)
        return flat->broken = true, list;
    list.at = target + 4;
    list.count = (int64_t)count;
    return list;
}

tw_string tw__flat_text(const tw__flat_table *table, int field)
{
    tw__flat_vector list = tw__flat_list(table, field, 1);
    const uint8_t *bytes = list.at ? bytes_at(table->flat, list.at, (size_t)list.count + 1) : NULL;
    if (!bytes)
        return (tw_string){ "", 0 };
    if (bytes[list.count])
        return table->flat->broken = true, (tw_string){ "", 0 };
    return (tw_string){ (const char *)bytes, (size_t)list.count };
}

int64_t tw__flat_int_at(const tw__flat_vector *list, int64_t index, int size)
{
    return int_at(list->flat, list->at + (size_t)index * (size_t)size, size);
}

float tw__flat_float_at(const tw__flat_vector *list, int64_t index)
{
    return float_at(list->flat, list->at + (size_t)index * 4);
}

tw__flat_table tw__flat_table_at(const tw__flat_vector *list, int64_t index)
{
    size_t target = follow(list->flat, list->at + (size_t)index * 4);
    return target ? table_at(list->flat, target) : (tw__flat_table){ .flat = list->flat };
}
