/* Unique: the different values of a vector in the order they first stand, and where each element's value is among them;
 * UniqueWithCounts says how often each occurs, too.
 * Bitcast: the same bytes as another dtype. */
#include "base/pause.h"
#include "kernel/copy.h"
#include "op/array/array.h"
#include "rows.h"

static tw_status unique_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    if (in->rank >= 0 && in->rank != 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "unique expects a 1D vector.");
    inference->out_shapes[0] = TW_SHAPE(-1);
    inference->out_shapes[1] = TW_SHAPE(in->rank == 1 ? in->dims[0] : -1);
    if (inference->output_count == 3)
        inference->out_shapes[2] = TW_SHAPE(-1);
    return TW_OK;
}

/* The bytes that tell an element from others: -0.0 is 0.0, strings are their text. */
static const void *element_key(const tw_tensor *tensor, int64_t index, size_t *size, void *space)
{
    if (tensor->dtype == TW_STRING) {
        tw_string string = tw_tensor_string_at(tensor, index);
        *size = string.size;
        return string.data;
    }
    *size = tw__element_size(tensor->dtype);
    const char *data = (const char *)tensor->data + (size_t)index * *size;
    if (tensor->dtype == TW_FLOAT32 && *(const float *)data == 0)
        return memset(space, 0, *size);
    if (tensor->dtype == TW_FLOAT64 && *(const double *)data == 0)
        return memset(space, 0, *size);
    if ((tensor->dtype == TW_FLOAT16 || tensor->dtype == TW_BFLOAT16) && *(const uint16_t *)data == 0x8000)
        return memset(space, 0, *size);
    return data;
}

static bool is_nan(const tw_tensor *tensor, int64_t index)
{
    if (!tw__dtype_is_float(tensor->dtype))
        return false;
    double value = tw_tensor_double_at(tensor, index);
    return value != value;
}

enum { STRETCH = 1 << 14 }; /* elements between two questions whether to stop */

/* ---- numbers of up to 64 bits: a table of their own ---- */

typedef struct table {
    int64_t *slots; /* number of the value + 1, 0: free */
    uint64_t *keys; /* by number */
    int shift;      /* 64 - the logarithm of the slots' count */
    int64_t found;
} table;

static void table_end(table *t)
{
    tw__free(t->slots);
    tw__free(t->keys);
}

static int64_t *slot_of(const table *t, uint64_t key)
{
    uint64_t mask = ((uint64_t)1 << (64 - t->shift)) - 1, at = key * 0x9e3779b97f4a7c15u >> t->shift;
    while (t->slots[at] && t->keys[t->slots[at] - 1] != key)
        at = (at + 1) & mask;
    return &t->slots[at];
}

/* Twice as many slots when half of them are taken. */
static tw_status table_grow(table *t)
{
    int shift = t->slots ? t->shift - 1 : t->shift;
    size_t count = (size_t)1 << (64 - shift);
    int64_t *slots = tw__alloc_array(count, sizeof *slots);
    uint64_t *keys = slots ? tw__realloc(t->keys, count / 2 * sizeof *keys) : NULL;
    if (!keys) {
        tw__free(slots);
        return tw__error_status();
    }
    tw__free(t->slots);
    *t = (table){ slots, keys, shift, t->found };
    for (int64_t i = 0; i < t->found; i++)
        *slot_of(t, keys[i]) = i + 1;
    return TW_OK;
}

static uint64_t key_of(const void *data, int64_t i, size_t size)
{
    switch (size) {
    case 1:
        return ((const uint8_t *)data)[i];
    case 2:
        return ((const uint16_t *)data)[i];
    case 4:
        return ((const uint32_t *)data)[i];
    default:
        return ((const uint64_t *)data)[i];
    }
}

/* ---- integers that lie close together: a table with a place for each ---- */

/* Of int32 or int64: the least of them, and how many there are from it to the greatest; 0 if that is more than a table is worth.
 */
static int64_t range_of(const tw_tensor *in, int64_t *least)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    if (in->count < 64)
        return 0;
#define EXTENT(type)                              \
    for (int64_t i = 0; i < in->count; i++) {     \
        type value = ((const type *)in->data)[i]; \
        low = value < low ? value : low;          \
        high = value > high ? value : high;       \
    }
    if (in->dtype == TW_INT32) {
        EXTENT(int32_t)
    } else {
        EXTENT(int64_t)
    }
    *least = low;
    uint64_t range = (uint64_t)high - (uint64_t)low;
    return range < (uint64_t)in->count * 4 && range < INT32_MAX ? (int64_t)range + 1 : 0;
}

static tw_status find_close(const tw_tensor *in, tw_tensor *places, int64_t *firsts, int64_t least, int64_t range, int64_t *found)
{
    int32_t *numbers = tw__alloc_array((size_t)range, sizeof *numbers); /* of the value + 1, 0: not met yet */
    if (!numbers)
        return tw__error_status();
    int64_t count = 0;
#define NUMBER(type, place)                                              \
    for (int64_t i = 0; i < in->count; i++) {                            \
        int32_t *number = &numbers[((const type *)in->data)[i] - least]; \
        if (!*number) {                                                  \
            firsts[count] = i;                                           \
            *number = (int32_t)++count;                                  \
        }                                                                \
        ((place *)places->data)[i] = *number - 1;                        \
    }
    if (in->dtype == TW_INT32 && places->dtype == TW_INT32) {
        NUMBER(int32_t, int32_t)
    } else if (in->dtype == TW_INT32) {
        NUMBER(int32_t, int64_t)
    } else if (places->dtype == TW_INT32) {
        NUMBER(int64_t, int32_t)
    } else {
        NUMBER(int64_t, int64_t)
    }
    tw__free(numbers);
    *found = count;
    return TW_OK;
}

/* places[i] and firsts as below. */
static tw_status find_numbers(const tw_tensor *in, tw_tensor *places, int64_t *firsts, int64_t *found)
{
    tw__auto(table_end) table t = { .shift = in->count < 500 ? 64 - 10 : in->count < 8000 ? 64 - 14 : 64 - 17 };
    TW_TRY(table_grow(&t));
    size_t size = tw__element_size(in->dtype);
    bool can_be_nan = tw__dtype_is_float(in->dtype);
    *found = 0;
    int64_t nans = 0; /* each is a value of its own, and has no key */
    tw__owned int64_t *numbers = tw__alloc_array((size_t)in->count + 1, sizeof *numbers); /* of keys: which value */
    TW_NEED(numbers);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t number;
        if (i % STRETCH == 0)
            TW_TRY(tw__pause());
        if (can_be_nan && is_nan(in, i)) {
            number = t.found + nans++;
            firsts[number] = i;
        } else {
            uint64_t key = key_of(in->data, i, size);
            if (can_be_nan && key == (uint64_t)1 << (8 * size - 1))
                key = 0; /* -0.0 is 0.0 */
            int64_t *slot = slot_of(&t, key);
            if (!*slot) {
                t.keys[t.found] = key;
                numbers[t.found] = t.found + nans;
                firsts[t.found + nans] = i;
                *slot = ++t.found;
                number = numbers[t.found - 1];
                if (2 * t.found >= (int64_t)1 << (64 - t.shift))
                    TW_TRY(table_grow(&t));
            } else {
                number = numbers[*slot - 1];
            }
        }
        if (places->dtype == TW_INT64)
            ((int64_t *)places->data)[i] = number;
        else
            ((int32_t *)places->data)[i] = (int32_t)number;
    }
    *found = t.found + nans;
    return TW_OK;
}

/* ---- anything ---- */

static tw_status find_any(const tw_tensor *in, tw_tensor *places, int64_t *firsts, int64_t *count)
{
    tw__auto(tw__map_end) tw__map seen = { 0 };
    int64_t found = 0;
    for (int64_t i = 0; i < in->count; i++) {
        size_t size;
        char space[16];
        if (i % STRETCH == 0)
            TW_TRY(tw__pause());
        const void *key = element_key(in, i, &size, space);
        /* What is not a number equals nothing, itself included. */
        bool nan = is_nan(in, i);
        intptr_t known = nan ? 0 : (intptr_t)tw__map_get(&seen, key, size);
        if (!known) {
            firsts[found++] = i;
            known = (intptr_t)found;
            if (!nan)
                TW_TRY(tw__map_put(&seen, key, size, (void *)known));
        }
        if (places->dtype == TW_INT64)
            ((int64_t *)places->data)[i] = known - 1;
        else
            ((int32_t *)places->data)[i] = (int32_t)(known - 1);
    }
    *count = found;
    return TW_OK;
}

/* How often each of `found` values occurs, the third output. */
static tw_status count_places(tw__kernel *kernel, const tw_tensor *places, int64_t found)
{
    tw_tensor *counts = tw__output(kernel, 2, &TW_SHAPE(found));
    TW_NEED(counts);
    memset(counts->data, 0, (size_t)found * tw__element_size(counts->dtype));
    for (int64_t i = 0; i < places->count; i++) {
        if (counts->dtype == TW_INT64)
            ((int64_t *)counts->data)[((const int64_t *)places->data)[i]]++;
        else
            ((int32_t *)counts->data)[((const int32_t *)places->data)[i]]++;
    }
    return TW_OK;
}

static tw_status unique_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *places = kernel->outputs[1];
    tw__owned int64_t *firsts = tw__alloc_array((size_t)in->count + 1, sizeof *firsts); /* where each value first stands */
    int64_t found = 0;
    TW_NEED(firsts);
    bool numbers = in->dtype != TW_STRING && tw__element_size(in->dtype) <= sizeof(uint64_t) && !tw__dtype_is_complex(in->dtype);
    int64_t least,
        range = numbers && (in->dtype == TW_INT32 || in->dtype == TW_INT64) && in->count < INT32_MAX ? range_of(in, &least) : 0;
    TW_TRY(range     ? find_close(in, places, firsts, least, range, &found)
           : numbers ? find_numbers(in, places, firsts, &found)
                     : find_any(in, places, firsts, &found));
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(found));
    TW_NEED(out);
    size_t size = tw__element_size(in->dtype);
    for (int64_t i = 0; i < found; i++)
        TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)i * size,
                                 (const char *)in->data + (size_t)firsts[i] * size, 1));
    return kernel->output_count == 3 ? count_places(kernel, places, found) : TW_OK;
}

TW_OP(Unique, .inputs = "x: T", .outputs = "y: T, idx: out_idx", .attrs = "T: type, out_idx: {int32, int64} = int32",
      .shape = unique_shape, .compute = unique_compute, .no_gradient = true, .one_thread = TW_ONE_THREAD_VECTOR,
      .doc = "The different values of a vector, and where each element's value is among them.");

TW_OP(UniqueWithCounts, .inputs = "x: T", .outputs = "y: T, idx: out_idx, count: out_idx",
      .attrs = "T: type, out_idx: {int32, int64} = int32", .shape = unique_shape, .compute = unique_compute, .no_gradient = true,
      .one_thread = TW_ONE_THREAD_VECTOR,
      .doc = "The different values of a vector, where each element's value is among them, and how often each occurs.");

/* ---- Bitcast ---- */

static tw_status bitcast_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_dtype from_type = inference->dtypes[0], to_type = inference->out_dtypes[0];
    int64_t from = (int64_t)tw__element_size(from_type), to = (int64_t)tw__element_size(to_type);
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    *out = *in;
    if (from > to) {
        if (in->rank == TW_MAX_RANK)
            return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", in->rank + 1, TW_MAX_RANK);
        out->dims[out->rank++] = from / to;
    } else if (from < to) {
        if (in->rank == 0 || (in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 1] != to / from))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "Cannot bitcast from %d to %d: a tensor of shape %s and dtype %s to %s", (int)from_type,
                              (int)to_type, tw__shape_text(in), tw_dtype_name(from_type), tw_dtype_name(to_type));
        out->rank--;
    }
    return TW_OK;
}

static tw_status bitcast_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0], *out;
    tw_dtype dtype = kernel->out_dtypes[0];
    size_t from = tw__element_size(in->dtype), to = tw__element_size(dtype);
    tw_shape shape = in->shape;
    if (from == to) {
        out = tw__tensor_view(in, &shape);
        if (out)
            out->dtype = dtype;
        return tw__output_take(kernel, 0, out);
    }
    if (from > to)
        shape.dims[shape.rank++] = (int64_t)(from / to);
    else
        shape.rank--;
    out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    if (out->count)
        memcpy(out->data, in->data, (size_t)out->count * to);
    return TW_OK;
}

#define PLAIN                                                                                                                 \
    "bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, qint8, " \
    "quint8, qint16, quint16, qint32"

TW_OP(Bitcast, .inputs = "input: T", .outputs = "output: type", .attrs = "T: {" PLAIN "}, type: {" PLAIN "}",
      .shape = bitcast_shape, .compute = bitcast_compute, .no_gradient = true, .makes_outputs = true,
      .function = "bitcast(input: tensor|ragged, type: dtype, name: str = None) -> tensor",
      .doc = "The same bytes as another dtype.\n"
             "input: a tensor\n"
             "type: the dtype that its bytes are read as\n"
             "returns: a tensor of the same bytes; where sizes of elements differ, the last dimension comes or goes\n"
             "example: tf.bitcast(1.0, tf.int32).numpy()  # 1065353216");
