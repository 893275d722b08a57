/* What tells rows and values apart: ListDiff (the values of one vector that another has not), UniqueV2 and UniqueWithCountsV2
 * (the different slices along an axis), EditDistance (how many changes make one sequence of another). */
#include <math.h>

#include "base/pause.h"
#include "kernel/copy.h"
#include "op/array/array.h"
#include "rows.h"

/* The bytes that tell an element from others, added to a text: -0.0 is 0.0, strings are their text with its size. */
static void add_key(tw__text *key, const tw_tensor *tensor, int64_t index)
{
    if (tensor->dtype == TW_STRING) {
        tw_string string = tw_tensor_string_at(tensor, index);
        tw__text_bytes(key, &string.size, sizeof string.size);
        tw__text_bytes(key, string.data, string.size);
        return;
    }
    size_t size = tw__element_size(tensor->dtype);
    const char *data = (const char *)tensor->data + (size_t)index * size;
    bool zero = tw__dtype_is_float(tensor->dtype) && tw_tensor_double_at(tensor, index) == 0;
    tw__text_bytes(key, zero ? "\0\0\0\0\0\0\0\0" : data, size);
}

static void set_place(tw_tensor *places, int64_t at, int64_t value)
{
    if (places->dtype == TW_INT64)
        ((int64_t *)places->data)[at] = value;
    else
        ((int32_t *)places->data)[at] = (int32_t)value;
}

/* ---- ListDiff ---- */

static tw_status difference_shape(tw__inference *inference)
{
    for (int i = 0; i < 2; i++) {
        if (inference->shapes[i]->rank >= 0 && inference->shapes[i]->rank != 1)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s should be a 1D vector.", i ? "y" : "x");
        inference->out_shapes[i] = TW_SHAPE(-1);
    }
    return TW_OK;
}

static tw_status difference_run(tw__kernel *kernel, tw__map *seen, tw__text *key, int64_t *kept)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    int64_t count = 0;
    for (int64_t i = 0; i < y->count + x->count; i++) {
        const tw_tensor *from = i < y->count ? y : x;
        int64_t at = i < y->count ? i : i - y->count;
        if (i % 16384 == 0)
            TW_TRY(tw__pause());
        key->size = 0;
        add_key(key, from, at);
        if (key->failed)
            return tw__error_status();
        if (from == y)
            TW_TRY(tw__map_put(seen, key->data, key->size, seen));
        else if (!tw__map_get(seen, key->data, key->size))
            kept[count++] = at;
    }
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(count)), *places = tw__output(kernel, 1, &TW_SHAPE(count));
    if (!out || !places)
        return tw__error_status();
    size_t size = tw__element_size(x->dtype);
    for (int64_t i = 0; i < count; i++) {
        TW_TRY(
            tw__copy_elements(x->dtype, (char *)out->data + (size_t)i * size, (const char *)x->data + (size_t)kept[i] * size, 1));
        set_place(places, i, kept[i]);
    }
    return TW_OK;
}

static tw_status difference_compute(tw__kernel *kernel)
{
    tw__map seen = { 0 };
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw__owned int64_t *kept = tw__alloc_array((size_t)kernel->inputs[0]->count + 1, sizeof *kept);
    tw_status status = kept ? difference_run(kernel, &seen, &key, kept) : tw__error_status();
    tw__map_free(&seen, NULL);
    return status;
}

TW_OP(ListDiff, .inputs = "x: T, y: T", .outputs = "out: T, idx: out_idx", .attrs = "T: type, out_idx: {int32, int64} = int32",
      .shape = difference_shape, .compute = difference_compute, .no_gradient = true,
      .doc = "The elements of x that y has not, and where they stand.");

/* ---- UniqueV2, UniqueWithCountsV2 ---- */

static tw_status slices_axis(const tw_op *op, const tw_tensor *axis, int rank, int *normal)
{
    if (axis->shape.rank != 1 || axis->count > 1)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axis does not support input tensors larger than 1 elements");
    if (!axis->count && rank != 1)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "unique expects a 1D vector.");
    int64_t given = axis->count ? tw_tensor_int_at(axis, 0) : 0;
    if (!tw__axis_normal(given, rank, normal))
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axis has to be between [0, %d)", rank);
    return TW_OK;
}

static tw_status slices_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int axis;
    inference->out_shapes[1] = TW_SHAPE(-1);
    if (inference->output_count == 3)
        inference->out_shapes[2] = TW_SHAPE(-1);
    if (!inference->values[1] || in->rank < 0)
        return TW_OK;
    TW_TRY(slices_axis(inference->op, inference->values[1], in->rank, &axis));
    inference->out_shapes[0] = *in;
    inference->out_shapes[0].dims[axis] = -1;
    inference->out_shapes[1] = TW_SHAPE(in->dims[axis]);
    return TW_OK;
}

typedef struct slices {
    const tw_tensor *in;
    int axis;
    int64_t outer, size, inner;
    int64_t *firsts, *counts, found;
} slices;

static tw_status find_slices(slices *s, tw_tensor *places, tw__map *seen, tw__text *key)
{
    for (int64_t k = 0; k < s->size; k++) {
        TW_TRY(tw__pause());
        key->size = 0;
        bool nan = false;
        for (int64_t o = 0; o < s->outer; o++) {
            for (int64_t i = 0; i < s->inner; i++) {
                int64_t at = (o * s->size + k) * s->inner + i;
                nan |= tw__dtype_is_float(s->in->dtype) && isnan(tw_tensor_double_at(s->in, at));
                add_key(key, s->in, at);
            }
        }
        if (key->failed)
            return tw__error_status();
        intptr_t known = nan ? 0 : (intptr_t)tw__map_get(seen, key->data, key->size);
        if (!known) {
            s->firsts[s->found++] = k;
            known = (intptr_t)s->found;
            if (!nan)
                TW_TRY(tw__map_put(seen, key->data, key->size, (void *)known));
        }
        s->counts[known - 1]++;
        set_place(places, k, known - 1);
    }
    return TW_OK;
}

static tw_status give_slices(tw__kernel *kernel, const slices *s)
{
    tw_shape shape = s->in->shape;
    shape.dims[s->axis] = s->found;
    tw_tensor *out = tw__output(kernel, 0, &shape);
    tw_tensor *counts = kernel->output_count == 3 ? tw__output(kernel, 2, &TW_SHAPE(s->found)) : NULL;
    if (!out || (kernel->output_count == 3 && !counts))
        return tw__error_status();
    size_t row = tw__element_size(out->dtype) * (size_t)s->inner;
    for (int64_t k = 0; k < s->found; k++) {
        if (counts)
            set_place(counts, k, s->counts[k]);
        for (int64_t o = 0; o < s->outer; o++)
            TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)(o * s->found + k) * row,
                                     (const char *)s->in->data + (size_t)(o * s->size + s->firsts[k]) * row, s->inner));
    }
    return TW_OK;
}

static tw_status slices_compute(tw__kernel *kernel)
{
    slices s = { .in = kernel->inputs[0], .outer = 1, .inner = 1 };
    const tw_shape *shape = &s.in->shape;
    TW_TRY(slices_axis(kernel->op, kernel->inputs[1], shape->rank, &s.axis));
    for (int i = 0; i < shape->rank; i++) {
        if (i != s.axis)
            *(i < s.axis ? &s.outer : &s.inner) *= shape->dims[i];
    }
    s.size = shape->dims[s.axis];
    tw_tensor *places = tw__output(kernel, 1, &TW_SHAPE(s.size));
    TW_NEED(places);
    tw__owned int64_t *memory = tw__alloc_array(2 * (size_t)s.size + 1, sizeof *memory); /* cleared */
    TW_NEED(memory);
    s.firsts = memory;
    s.counts = memory + s.size;
    tw__map seen = { 0 };
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw_status status = find_slices(&s, places, &seen, &key);
    tw__map_free(&seen, NULL);
    return status == TW_OK ? give_slices(kernel, &s) : status;
}

#define UNIQUE                                                                                                 \
    .attrs = "T: type, Taxis: {int32, int64} = int64, out_idx: {int32, int64} = int32", .shape = slices_shape, \
    .compute = slices_compute, .no_gradient = true
TW_OP(UniqueV2, .inputs = "x: T, axis: Taxis", .outputs = "y: T, idx: out_idx", UNIQUE,
      .doc = "The different slices along an axis, and which of them each is.");
TW_OP(UniqueWithCountsV2, .inputs = "x: T, axis: Taxis", .outputs = "y: T, idx: out_idx, count: out_idx", UNIQUE,
      .doc = "The different slices along an axis, which of them each is, and how often each occurs.");

/* ---- EditDistance ---- */

typedef struct sequences {
    const tw_tensor *places, *values, *shape;
    int64_t at; /* the first element that was not used */
} sequences;

static tw_status check_sequences(tw__kernel *kernel, int input, const char *what, sequences *s)
{
    *s = (sequences){ kernel->inputs[input], kernel->inputs[input + 1], kernel->inputs[input + 2], 0 };
    if (s->places->shape.rank != 2 || s->values->shape.rank != 1 || s->shape->shape.rank != 1 ||
        s->places->shape.dims[0] != s->values->count || s->places->shape.dims[1] != s->shape->count)
        return TW_OP_FAIL(
            kernel, TW_INVALID_ARGUMENT,
            "%s_indices should be a matrix of one row per value and one column per dimension, got %s, values %s and "
            "shape %s",
            what, tw__shape_text(&s->places->shape), tw__shape_text(&s->values->shape), tw__shape_text(&s->shape->shape));
    if (s->shape->count < 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s_shape should have at least 2 elements, but got %s", what,
                          tw__shape_text(&s->shape->shape));
    return TW_OK;
}

/* How many values from where it stands belong to row `row`; false: a place lies outside or comes out of order. */
static bool next_sequence(sequences *s, const tw_shape *rows, int64_t row, int64_t *begin, int64_t *count)
{
    int64_t rank = s->shape->count;
    *begin = s->at;
    for (; s->at < s->values->count; s->at++) {
        const int64_t *place = (const int64_t *)s->places->data + s->at * rank;
        int64_t number = 0;
        for (int k = 0; k < rank - 1; k++) {
            if (place[k] < 0 || place[k] >= rows->dims[k])
                return false;
            number = number * rows->dims[k] + place[k];
        }
        if (number < row)
            return false;
        if (number > row)
            break;
    }
    *count = s->at - *begin;
    return true;
}

static bool same_value(const tw_tensor *a, int64_t i, const tw_tensor *b, int64_t k)
{
    if (a->dtype == TW_STRING) {
        tw_string x = tw_tensor_string_at(a, i), y = tw_tensor_string_at(b, k);
        return x.size == y.size && (!x.size || memcmp(x.data, y.data, x.size) == 0);
    }
    if (tw__dtype_is_float(a->dtype))
        return tw_tensor_double_at(a, i) == tw_tensor_double_at(b, k);
    size_t size = tw__element_size(a->dtype);
    return memcmp((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)k * size, size) == 0;
}

/* `costs` has room for one more than the second has values. */
static int64_t changes(const tw_tensor *a, int64_t a_at, int64_t a_count, const tw_tensor *b, int64_t b_at, int64_t b_count,
                       int64_t *costs)
{
    for (int64_t k = 0; k <= b_count; k++)
        costs[k] = k;
    for (int64_t i = 1; i <= a_count; i++) {
        int64_t diagonal = costs[0];
        costs[0] = i;
        for (int64_t k = 1; k <= b_count; k++) {
            int64_t replaced = diagonal + !same_value(a, a_at + i - 1, b, b_at + k - 1);
            int64_t least = costs[k] < costs[k - 1] ? costs[k] + 1 : costs[k - 1] + 1;
            diagonal = costs[k];
            costs[k] = replaced < least ? replaced : least;
        }
    }
    return costs[b_count];
}

static tw_status distance_compute(tw__kernel *kernel)
{
    sequences guess, truth;
    TW_TRY(check_sequences(kernel, 0, "hypothesis", &guess));
    TW_TRY(check_sequences(kernel, 3, "truth", &truth));
    int64_t rank = guess.shape->count;
    if (rank != truth.shape->count || rank > TW_MAX_RANK)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "hypothesis_shape and truth_shape should have the same size, got %lld and %lld", (long long)rank,
                          (long long)truth.shape->count);
    tw_shape rows = { .rank = (int)rank - 1 };
    for (int k = 0; k < rank - 1; k++) {
        int64_t a = tw_tensor_int_at(guess.shape, k), b = tw_tensor_int_at(truth.shape, k);
        rows.dims[k] = a > b ? a : b;
        if (rows.dims[k] < 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected non-negative dimension %d, got %lld", k,
                              (long long)rows.dims[k]);
    }
    tw_tensor *out = tw__output(kernel, 0, &rows);
    TW_NEED(out);
    bool normalize = TW_ATTR(kernel, "normalize")->b;
    tw__owned int64_t *costs = tw__alloc_array((size_t)truth.values->count + 1, sizeof *costs);
    TW_NEED(costs);
    for (int64_t row = 0; row < out->count; row++) {
        int64_t a, b, a_count, b_count;
        if (row % 1024 == 0)
            TW_TRY(tw__pause());
        if (!next_sequence(&guess, &rows, row, &a, &a_count) || !next_sequence(&truth, &rows, row, &b, &b_count))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices are out of order or out of bounds at row %lld",
                              (long long)row);
        double distance = (double)changes(guess.values, a, a_count, truth.values, b, b_count, costs);
        if (normalize)
            distance = b_count ? distance / (double)b_count : a_count ? INFINITY : 0;
        ((float *)out->data)[row] = (float)distance;
    }
    if (guess.at < guess.values->count || truth.at < truth.values->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices are out of bounds");
    return TW_OK;
}

static tw_status distance_shape(tw__inference *inference)
{
    const tw_shape *shape =
        inference->shapes[2]->rank == 1 && inference->shapes[2]->dims[0] >= 0 ? inference->shapes[2] : inference->shapes[5];
    if (shape->rank != 1 || shape->dims[0] < 1 || shape->dims[0] > TW_MAX_RANK)
        return TW_OK;
    tw_shape *out = &inference->out_shapes[0];
    out->rank = (int)shape->dims[0] - 1;
    for (int k = 0; k < out->rank; k++) {
        const tw_tensor *a = inference->values[2], *b = inference->values[5];
        bool known = a && b && a->count == b->count && k < a->count;
        int64_t one = known ? tw_tensor_int_at(a, k) : -1, other = known ? tw_tensor_int_at(b, k) : -1;
        out->dims[k] = one > other ? one : other;
    }
    return TW_OK;
}

TW_OP(
    EditDistance,
    .inputs = "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T, "
              "truth_shape: int64",
    .outputs = "output: float", .attrs = "normalize: bool = true, T: type", .shape = distance_shape, .compute = distance_compute,
    .no_gradient = true, .doc = "How many values must be inserted, removed or replaced to make one sequence of another.");
