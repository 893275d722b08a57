/* Writing keys of calls; see cache.h. A part is a letter and what belongs to it. */
#include <math.h>

#include "device/device.h"
#include "function/cache.h"

void tw__key_begin(tw__key_writer *w)
{
    w->bytes = w->few_bytes;
    w->specs = w->few_specs;
    w->identities = w->few_identities;
    w->variables = w->few_variables;
    w->marks = w->few_marks;
    w->capacity = sizeof w->few_bytes;
    w->specs_capacity = sizeof w->few_specs / sizeof *w->few_specs;
    w->identities_capacity = sizeof w->few_identities / sizeof *w->few_identities;
    w->variables_capacity = sizeof w->few_variables / sizeof *w->few_variables;
    w->marks_capacity = sizeof w->few_marks / sizeof *w->few_marks;
    w->size = 0;
    w->spec_count = w->identity_count = w->variable_count = w->mark_count = 0;
    w->status = TW_OK;
    if (__builtin_expect(tw__replica >= 0, 0)) /* replicas have copies of variables */
        tw__key_int(w, tw__replica);
}

void tw__key_free(tw__key_writer *w)
{
    if (w->bytes != w->few_bytes)
        tw__free(w->bytes);
    if (w->specs != w->few_specs)
        tw__free(w->specs);
    if (w->identities != w->few_identities)
        tw__free((void *)w->identities);
    if (w->variables != w->few_variables)
        tw__free((void *)w->variables);
    if (w->marks != w->few_marks)
        tw__free(w->marks);
}

tw__call_key tw__key_of(const tw__key_writer *w)
{
    return (tw__call_key){ .fixed = w->bytes,
                           .fixed_size = w->size,
                           .specs = w->specs,
                           .spec_count = w->spec_count,
                           .identities = w->identities,
                           .identity_count = w->identity_count,
                           .marks = w->marks,
                           .mark_count = w->mark_count };
}

/* Room for so many members; `few` is the array in the writer itself. */
static __attribute__((noinline, cold)) bool grow(tw__key_writer *w, void *array, const void *few, size_t *capacity, size_t needed,
                                                 size_t size)
{
    void *old, *made = needed < SIZE_MAX / 2 / size ? tw__alloc(2 * needed * size) : NULL;
    memcpy(&old, array, sizeof old);
    if (!made) {
        w->status = TW_RESOURCE_EXHAUSTED;
        return false;
    }
    memcpy(made, old, *capacity * size);
    if (old != few)
        tw__free(old);
    memcpy(array, &made, sizeof made);
    *capacity = 2 * needed;
    return true;
}

/* Whether there is room for so many members of an array, made if need be. */
#define ROOM(w_, array_, capacity_, needed_) \
    ((needed_) <= (w_)->capacity_ ||         \
     grow((w_), &(w_)->array_, (w_)->few_##array_, &(w_)->capacity_, (needed_), sizeof *(w_)->array_))

static inline void put(tw__key_writer *w, char letter, const void *data, size_t size)
{
    if (!ROOM(w, bytes, capacity, w->size + 1 + size))
        return;
    w->bytes[w->size] = (unsigned char)letter;
    if (size)
        memcpy(w->bytes + w->size + 1, data, size);
    w->size += 1 + size;
}

void tw__key_argument(tw__key_writer *w)
{
    if (w->size > UINT32_MAX)
        w->status =
            tw__fail(TW_RESOURCE_EXHAUSTED, "tf.function: the arguments of a call are too large to tell them from others");
    if (ROOM(w, marks, marks_capacity, (size_t)w->mark_count + 1))
        w->marks[w->mark_count++] = (tw__call_mark){ (uint32_t)w->size, (uint32_t)w->spec_count };
}

void tw__key_tensor(tw__key_writer *w, tw_dtype dtype, const tw_shape *shape)
{
    put(w, 'T', NULL, 0);
    if (ROOM(w, specs, specs_capacity, (size_t)w->spec_count + 1))
        w->specs[w->spec_count++] = (tw__call_spec){ dtype, shape };
}

void tw__key_none(tw__key_writer *w)
{
    put(w, 'N', NULL, 0);
}

void tw__key_int(tw__key_writer *w, int64_t value)
{
    put(w, 'I', &value, sizeof value);
}

void tw__key_float(tw__key_writer *w, double value)
{
    if (value >= -0x1p62 && value <= 0x1p62 && floor(value) == value) {
        tw__key_int(w, (int64_t)value);
        return;
    }
    if (isnan(value))
        value = NAN;
    put(w, 'F', &value, sizeof value);
}

void tw__key_complex(tw__key_writer *w, double real, double imaginary)
{
    if (imaginary == 0) {
        tw__key_float(w, real);
        return;
    }
    put(w, 'C', NULL, 0);
    tw__key_float(w, real);
    tw__key_float(w, imaginary);
}

void tw__key_text(tw__key_writer *w, char kind, const void *data, size_t size)
{
    uint64_t length = size;
    char letter[1 + sizeof length] = { kind };
    memcpy(letter + 1, &length, sizeof length);
    put(w, 'S', letter, sizeof letter);
    if (size)
        put(w, ' ', data, size);
}

void tw__key_object(tw__key_writer *w, const void *object)
{
    put(w, 'O', &object, sizeof object);
    if (ROOM(w, identities, identities_capacity, (size_t)w->identity_count + 1))
        w->identities[w->identity_count++] = object;
}

void tw__key_open(tw__key_writer *w, const void *type, int64_t count)
{
    put(w, 'L', &type, sizeof type);
    tw__key_int(w, count);
}

int tw__key_variable(tw__key_writer *w, const void *identity, tw_dtype dtype, const tw_shape *shape, bool trainable)
{
    int number = 0;
    while (number < w->variable_count && w->variables[number] != identity)
        number++;
    if (number == w->variable_count && ROOM(w, variables, variables_capacity, (size_t)number + 1))
        w->variables[w->variable_count++] = identity;
    int32_t words[] = { (int32_t)dtype, trainable, number, shape->rank };
    put(w, 'V', words, sizeof words);
    for (int d = 0; d < shape->rank; d++)
        tw__key_int(w, shape->dims[d]);
    return number;
}
