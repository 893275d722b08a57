/* LowerBound and UpperBound: where values would stand in rows that are sorted. */
#include "op/op.h"
#include "rows.h"

static tw_status bound_shape(tw__inference *inference)
{
    const tw_shape *sorted = inference->shapes[0], *values = inference->shapes[1];
    TW_TRY(tw__need_rank(inference, 0, 2));
    TW_TRY(tw__need_rank(inference, 1, 2));
    if (sorted->rank == 2 && values->rank == 2 && sorted->dims[0] >= 0 && values->dims[0] >= 0 &&
        sorted->dims[0] != values->dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Leading dim_size of both tensors must match.");
    inference->out_shapes[0] = values->rank == 2 ? *values : TW_SHAPE(-1, -1);
    return TW_OK;
}

/* a < b. Integers are compared as such: as doubles the large ones would be rounded. */
static bool is_less(const tw_tensor *a, int64_t i, const tw_tensor *b, int64_t j)
{
    if (a->dtype == TW_UINT64)
        return ((const uint64_t *)a->data)[i] < ((const uint64_t *)b->data)[j];
    if (tw__dtype_is_integer(a->dtype))
        return tw_tensor_int_at(a, i) < tw_tensor_int_at(b, j);
    return tw_tensor_double_at(a, i) < tw_tensor_double_at(b, j);
}

typedef struct search {
    const tw_tensor *sorted, *values;
    tw_tensor *out;
    int64_t size, columns;
    bool upper;
} search;

/* Halves what is left, without a branch that can't be foreseen. */
#define SEARCH(type)                                                                           \
    do {                                                                                       \
        const type *row = (const type *)s->sorted->data + i / s->columns * s->size, *at = row; \
        type value = ((const type *)s->values->data)[i];                                       \
        int64_t left = s->size;                                                                \
        for (; left > 1; left -= left / 2) {                                                   \
            type here = at[left / 2 - 1];                                                      \
            bool before = s->upper ? !(value < here) : here < value;                           \
            at += before ? left / 2 : 0;                                                       \
        }                                                                                      \
        place = at - row + (left && (s->upper ? !(value < *at) : *at < value));                \
    } while (0)

static void run_search(void *context, int64_t begin, int64_t end)
{
    const search *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t place;
        if (s->sorted->dtype == TW_FLOAT32) {
            SEARCH(float);
        } else if (s->sorted->dtype == TW_FLOAT64) {
            SEARCH(double);
        } else if (s->sorted->dtype == TW_INT32) {
            SEARCH(int32_t);
        } else if (s->sorted->dtype == TW_INT64) {
            SEARCH(int64_t);
        } else {
            int64_t row = i / s->columns * s->size, low = row, high = row + s->size;
            while (low < high) {
                int64_t middle = low + (high - low) / 2;
                bool before = s->upper ? !is_less(s->values, i, s->sorted, middle) : is_less(s->sorted, middle, s->values, i);
                if (before)
                    low = middle + 1;
                else
                    high = middle;
            }
            place = low - row;
        }
        if (s->out->dtype == TW_INT64)
            ((int64_t *)s->out->data)[i] = place;
        else
            ((int32_t *)s->out->data)[i] = (int32_t)place;
    }
}

static tw_status bound_compute(tw__kernel *kernel, bool upper)
{
    search s = { kernel->inputs[0], kernel->inputs[1], kernel->outputs[0], .upper = upper };
    if (!tw__dtype_is_integer(s.sorted->dtype) && !tw__dtype_is_float(s.sorted->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "T must be a real number's dtype, got %s", tw_dtype_name(s.sorted->dtype));
    s.size = s.sorted->shape.dims[1];
    s.columns = s.values->shape.dims[1];
    if (s.out->dtype == TW_INT32 && s.size > INT32_MAX)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "rows of %lld elements are too long for indices of int32",
                          (long long)s.size);
    tw__parallel(s.values->count, 4096, run_search, &s);
    return TW_OK;
}

static tw_status lower_compute(tw__kernel *kernel)
{
    return bound_compute(kernel, false);
}

static tw_status upper_compute(tw__kernel *kernel)
{
    return bound_compute(kernel, true);
}

#define BOUND                                                               \
    .inputs = "sorted_inputs: T, values: T", .outputs = "output: out_type", \
    .attrs = "T: type, out_type: {int32, int64} = int32", .shape = bound_shape
TW_OP(LowerBound, BOUND, .compute = lower_compute,
      .doc = "Where each value stands in its sorted row: before those that equal it.");
TW_OP(UpperBound, BOUND, .compute = upper_compute,
      .doc = "Where each value stands in its sorted row: behind those that equal it.");
