/* TopKV2: the greatest elements of each row, in falling order; of equals the first. InTopKV2: whether a class is among the k
 * best. Bincount and DenseBincount: how often each number occurs. */
#include <math.h>
#include <stdlib.h>

#include "base/pause.h"
#include "kernel/copy.h"
#include "kernel/reduce/order.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status top_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t k = -1;
    if (inference->values[1]) {
        TW_TRY(tw__scalar_value(inference->op, inference->values[1], "k", &k));
        if (k < 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Need k >= 0, got %lld", (long long)k);
    }
    if (in->rank == 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be >= 1-D, got shape []");
    if (in->rank < 0)
        return TW_OK;
    int64_t columns = in->dims[in->rank - 1];
    if (columns >= 0 && k > columns)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must have at least k columns. Had %lld, needed %lld",
                          (long long)columns, (long long)k);
    for (int i = 0; i < 2; i++) {
        inference->out_shapes[i] = *in;
        inference->out_shapes[i].dims[in->rank - 1] = k;
    }
    return TW_OK;
}

typedef struct ranked {
    double value;
    uint64_t whole; /* 64-bit integers, moved so that they compare without sign */
    int64_t index;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    bool x_nan = x->value != x->value, y_nan = y->value != y->value;
    if (x_nan != y_nan)
        return x_nan ? 1 : -1;
    if (!x_nan && x->value != y->value)
        return x->value > y->value ? -1 : 1;
    if (x->whole != y->whole)
        return x->whole > y->whole ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Brings the `keep` first of `count` to the front, in order: a heap of the kept ones whose root is the last of them. */
static void sift(ranked *heap, int64_t size, int64_t at)
{
    for (;;) {
        int64_t worst = at, left = 2 * at + 1;
        for (int64_t child = left; child < left + 2 && child < size; child++) {
            if (by_rank(&heap[child], &heap[worst]) > 0)
                worst = child;
        }
        if (worst == at)
            return;
        ranked swap = heap[at];
        heap[at] = heap[worst];
        heap[worst] = swap;
        at = worst;
    }
}

static void merge(const ranked *x, const ranked *x_end, const ranked *y, const ranked *y_end, ranked *to)
{
    while (x < x_end && y < y_end)
        *to++ = by_rank(x, y) < 0 ? *x++ : *y++;
    memcpy(to, x, (size_t)(x_end - x) * sizeof *x);
    memcpy(to + (x_end - x), y, (size_t)(y_end - y) * sizeof *y);
}

/* Sorted stretches, and pairs of them merged, so that it can stop in between. `other` has room for as many. */
static void sort_ranked(ranked *items, ranked *other, int64_t count, tw__stopper *stopper)
{
    enum { STRETCH = 1 << 14 };
    ranked *from = items, *to = other;
    for (int64_t i = 0; i < count && !tw__stopper_asked(stopper); i += STRETCH)
        qsort(items + i, (size_t)(count - i < STRETCH ? count - i : STRETCH), sizeof *items, by_rank);
    for (int64_t run = STRETCH; run < count && !tw__stopper_asked(stopper); run *= 2) {
        for (int64_t i = 0; i < count && !tw__stopper_asked(stopper); i += 2 * run) {
            int64_t middle = i + run < count ? i + run : count, end = middle + run < count ? middle + run : count;
            merge(from + i, from + middle, from + middle, from + end, to + i);
        }
        ranked *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, (size_t)count * sizeof *items);
}

static void select_best(ranked *items, ranked *other, int64_t count, int64_t keep, tw__stopper *stopper)
{
    for (int64_t i = keep / 2 - 1; keep < count && i >= 0; i--)
        sift(items, keep, i);
    for (int64_t i = keep; keep && i < count; i++) {
        if (by_rank(&items[i], &items[0]) < 0) {
            items[0] = items[i];
            sift(items, keep, 0);
        }
    }
    sort_ranked(items, other, keep, stopper);
}

static void put_index(tw_tensor *out, int64_t at, int64_t value)
{
    if (out->dtype == TW_INT64)
        ((int64_t *)out->data)[at] = value;
    else if (out->dtype == TW_INT32)
        ((int32_t *)out->data)[at] = (int32_t)value;
    else
        ((int16_t *)out->data)[at] = (int16_t)value;
}

/* The elements at places that are known. */
typedef struct taking {
    const tw_tensor *in;
    tw_tensor *values, *indices;
    const uint32_t *places;
    int64_t columns, k;
} taking;

static void take_places(void *context, int64_t begin, int64_t end)
{
    const taking *t = context;
    size_t size = tw__element_size(t->in->dtype);
    for (int64_t row = begin; row < end; row++) {
        const char *from = (const char *)t->in->data + (size_t)(row * t->columns) * size;
        char *to = (char *)t->values->data + (size_t)(row * t->k) * size;
        const uint32_t *places = t->places + row * t->k;
        if (size == 4) {
            for (int64_t i = 0; i < t->k; i++)
                ((uint32_t *)to)[i] = ((const uint32_t *)from)[places[i]];
        } else {
            for (int64_t i = 0; i < t->k; i++)
                memcpy(to + (size_t)i * size, from + (size_t)places[i] * size, size);
        }
        if (t->indices->dtype == TW_INT32) {
            memcpy((int32_t *)t->indices->data + row * t->k, places, (size_t)t->k * sizeof *places);
        } else {
            for (int64_t i = 0; i < t->k; i++)
                put_index(t->indices, row * t->k + i, places[i]);
        }
    }
}

static tw_status top_by_places(const tw_tensor *in, int64_t columns, int64_t k, tw_tensor *values, tw_tensor *indices)
{
    int64_t rows = in->count / columns;
    tw__buffer *places =
        tw__buffer_new((size_t)(rows * k) * sizeof(uint32_t)); /* no more than the values' bytes, or four times as many */
    tw_status status = places ? tw__order_rows(in->dtype, in->data, rows, columns, k, places->data) : tw__error_status();
    if (status == TW_OK) {
        taking t = { in, values, indices, places->data, columns, k };
        tw__parallel(rows, 16384 / k + 1, take_places, &t);
    }
    if (places)
        tw__buffer_release(places);
    return status;
}

static tw_status top_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *values = kernel->outputs[0], *indices = kernel->outputs[1];
    int64_t columns = in->shape.dims[in->shape.rank - 1], k = tw_tensor_int_at(kernel->inputs[1], 0);
    size_t size = tw__element_size(in->dtype);
    if (values->count == 0)
        return TW_OK;
    if (tw__order_has(in->dtype, columns))
        return top_by_places(in, columns, k, values, indices);
    tw__owned ranked *row = tw__alloc_array((size_t)(columns + k), sizeof *row);
    if (!row)
        return tw__error_status();
    tw__stopper stopper;
    tw__stopper_begin(&stopper);
    bool whole = in->dtype == TW_INT64 || in->dtype == TW_UINT64;
    for (int64_t r = 0; r < in->count / columns && !tw__stopper_asked(&stopper); r++) {
        for (int64_t c = 0; c < columns; c++) {
            int64_t at = r * columns + c;
            row[c].index = c;
            row[c].value = whole ? 0 : tw_tensor_double_at(in, at);
            row[c].whole = whole ? (uint64_t)tw_tensor_int_at(in, at) ^ (in->dtype == TW_INT64 ? (uint64_t)1 << 63 : 0) : 0;
        }
        select_best(row, row + columns, columns, k, &stopper);
        for (int64_t i = 0; i < k; i++) {
            memcpy((char *)values->data + (size_t)(r * k + i) * size,
                   (const char *)in->data + (size_t)(r * columns + row[i].index) * size, size);
            put_index(indices, r * k + i, row[i].index);
        }
    }
    return tw__stopper_status(&stopper);
}

/* The gradient by ops, where sizes are not known yet. */
static tw_tensor *top_back_later(tw_tensor *x, tw_tensor *dy, tw_tensor *indices)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *shape = tw__shape_as_tensor(x, TW_INT64), *taken = tw__shape_as_tensor(dy, TW_INT64);
    tw_auto tw_tensor *from = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32),
                      *to = tw__ints_tensor((const int64_t[]){ 0 }, 1, TW_INT32);
    tw_auto tw_tensor *step = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32), *none = tw__ints_tensor(NULL, 0, TW_INT64);
    tw_auto tw_tensor *any = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT64),
                      *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT64);
    if (!shape || !taken || !from || !to || !step || !none || !any || !one)
        return NULL;
    tw_attr last[] = { TW_A_INT("end_mask", 1) };
    tw_auto tw_tensor *columns = tw__call(&tw__op_StridedSlice, TW_IN(shape, from, to, step), 4, last, 1);
    tw_auto tw_tensor *k = tw__call(&tw__op_StridedSlice, TW_IN(taken, from, to, step), 4, last, 1);
    tw_auto tw_tensor *count = tw__sizes_product(shape, 0, -1);
    tw_tensor *wide = TW_CALL(Cast, indices, TW_A_TYPE("DstT", TW_INT64));
    tw_tensor *table = tw__reshape_to(wide, TW_IN(any, k), 2);
    if (!columns || !count) {
        tw_release(table);
        return NULL;
    }
    tw_tensor *stride = TW_TEMP(Reshape, TW_TEMP(Maximum, columns, one), none);
    tw_tensor *offsets = TW_CALL(Range, (int64_t)0, TW_TEMP(Reshape, count, none), stride);
    tw_tensor *places = TW_CALL(AddV2, tw__temp(t, table), tw__temp(t, tw__reshape_to(offsets, TW_IN(any, one), 2)));
    tw_auto tw_tensor *flat = tw__reshape_to(places, TW_IN(any, one), 2), *values = TW_CALL(Reshape, dy, any);
    tw_tensor *spread = TW_CALL(ScatterNd, flat, values, count);
    return TW_CALL(Reshape, tw__temp(t, spread), shape);
}

/* dy goes back to where the values came from: flat places are row * columns + index. */
static tw_status top_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    tw_tensor *x = gradient->inputs[0], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    if (!tw__shape_known(&x->shape) || !tw__shape_known(&dy->shape)) {
        gradient->input_grads[0] = top_back_later(x, dy, gradient->outputs[1]);
        return gradient->input_grads[0] ? TW_OK : tw__error_status();
    }
    int64_t columns = x->shape.dims[x->shape.rank - 1], k = dy->shape.dims[dy->shape.rank - 1],
            rows = columns ? x->count / columns : 0;
    tw_auto tw_tensor *offsets = tw__tensor_empty(TW_INT64, &TW_SHAPE(rows, 1));
    if (!offsets)
        return tw__error_status();
    for (int64_t r = 0; r < rows; r++)
        ((int64_t *)offsets->data)[r] = r * columns;
    tw_tensor *indices = gradient->outputs[1]->dtype == TW_INT64
                             ? tw_retain(gradient->outputs[1])
                             : TW_CALL(Cast, gradient->outputs[1], TW_A_TYPE("DstT", TW_INT64));
    indices = TW_CALL(Reshape, tw__temp(t, indices), tw__temp_ints(t, (const int64_t[]){ rows, k }, 2, TW_INT64));
    indices = TW_CALL(AddV2, tw__temp(t, indices), offsets);
    tw_auto tw_tensor *flat =
        TW_CALL(Reshape, tw__temp(t, indices), tw__temp_ints(t, (const int64_t[]){ rows * k, 1 }, 2, TW_INT64));
    tw_auto tw_tensor *values = TW_CALL(Reshape, dy, tw__temp_ints(t, (const int64_t[]){ rows * k }, 1, TW_INT64));
    tw_auto tw_tensor *shape = tw__ints_tensor(&x->count, 1, TW_INT64);
    tw_tensor *spread = TW_CALL(ScatterNd, flat, values, shape);
    gradient->input_grads[0] = tw__reshape_like(spread, x);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool top_k_words(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    int64_t k;
    w->values = 2;
    if (tw__say_rank_at_least(w, shape, 1))
        return true;
    if (!tw__wording_number(w, 1, &k))
        return false;
    tw__text_format(&w->text, "input must have last dimension >= k = %lld but is %lld", (long long)k,
                    (long long)shape->dims[shape->rank - 1]);
    return true;
}

TW_OP(TopKV2, .inputs = "input: T, k: Tk", .outputs = "values: T, indices: index_type",
      .attrs =
          "sorted: bool = true, T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, "
          "Tk: {int16, int32, int64} = int32, index_type: {int16, int32, int64} = int32",
      .shape = top_shape, .compute = top_compute, .gradient = top_gradient, .words = top_k_words,
      .one_thread = TW_ONE_THREAD_VECTOR, .doc = "The k greatest elements of each row, in falling order, and where they stand.");

/* ---- InTopKV2 ---- */

static tw_status in_top_shape(tw__inference *inference)
{
    const tw_shape *predictions = inference->shapes[0], *targets = inference->shapes[1];
    if (predictions->rank >= 0 && predictions->rank != 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "predictions must be 2-dimensional, got shape %s",
                          tw__shape_text(predictions));
    if (targets->rank >= 0 && targets->rank != 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "targets must be 1-dimensional, got shape %s", tw__shape_text(targets));
    int64_t rows = predictions->rank == 2 ? predictions->dims[0] : -1, count = targets->rank == 1 ? targets->dims[0] : -1;
    if (rows >= 0 && count >= 0 && rows != count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "First dimension of predictions %lld must match length of targets %lld",
                          (long long)rows, (long long)count);
    inference->out_shapes[0] = TW_SHAPE(rows >= 0 ? rows : count);
    return TW_OK;
}

static tw_status in_top_compute(tw__kernel *kernel)
{
    const tw_tensor *predictions = kernel->inputs[0], *targets = kernel->inputs[1];
    int64_t rows = predictions->shape.dims[0], columns = predictions->shape.dims[1], k;
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[2], "k", &k));
    for (int64_t r = 0; r < rows; r++) {
        int64_t target = tw_tensor_int_at(targets, r), better = 0;
        const float *row = (const float *)predictions->data + r * columns;
        bool valid = target >= 0 && target < columns && isfinite(row[target]);
        for (int64_t c = 0; valid && c < columns && better <= k; c++) {
            if (!isfinite(row[c]))
                valid = false; /* a row with such a number has no order */
            else
                better += row[c] > row[target];
        }
        ((bool *)kernel->outputs[0]->data)[r] = valid && better < k;
    }
    return TW_OK;
}

TW_OP(InTopKV2, .inputs = "predictions: float, targets: T, k: T", .outputs = "precision: bool",
      .attrs = "T: {int32, int64} = int32", .shape = in_top_shape, .compute = in_top_compute,
      .doc = "Whether each target is among its row's k greatest predictions.");

/* ---- Bincount, DenseBincount ---- */

static tw_status bins_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t size = -1;
    bool dense = inference->op == &tw__op_DenseBincount;
    if (inference->values[1]) {
        TW_TRY(tw__scalar_value(inference->op, inference->values[1], "size", &size));
        if (size < 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "size (%lld) must be non-negative", (long long)size);
    }
    if (dense && in->rank > 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Shape must be at most rank 2 but is rank %d", in->rank);
    const tw_shape *weights = inference->shapes[2];
    if (tw__shape_known(in) && tw__shape_known(weights)) {
        int64_t given, elements;
        TW_TRY(tw__shape_count(weights, &given));
        TW_TRY(tw__shape_count(in, &elements));
        if (given && given != elements)
            return TW_OP_FAIL(
                inference, TW_INVALID_ARGUMENT,
                "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal "
                "to 1. Received %s",
                tw__shape_text(weights));
    }
    if (dense && in->rank < 0)
        return TW_OK;
    inference->out_shapes[0] = dense && in->rank == 2 ? TW_SHAPE(in->dims[0], size) : TW_SHAPE(size);
    return TW_OK;
}

/* Counts of a part of the input. Integers and counts of few numbers are added up in parts, side by side. */
typedef struct counting {
    const tw_tensor *in, *weights;
    tw_dtype dtype; /* of the counts */
    char *bins;     /* `parts` times `size`, or of all rows */
    int64_t size, columns, parts;
    bool binary, negative;
} counting;

#define COUNT(index, type)                                                          \
    do {                                                                            \
        const index *values = c->in->data;                                          \
        const type *weights = c->weights->count ? c->weights->data : NULL;          \
        type *bins = (type *)c->bins + part * c->size;                              \
        for (int64_t i = begin; i < end; i++) {                                     \
            index value = values[i];                                                \
            negative |= value < 0;                                                  \
            if (value < 0 || value >= c->size)                                      \
                continue;                                                           \
            type *bin = bins + (c->columns ? i / c->columns * c->size : 0) + value; \
            *bin = c->binary ? 1 : *bin + (weights ? weights[i] : 1);               \
        }                                                                           \
    } while (0)
#define COUNT_BY(type)                \
    do {                              \
        if (c->in->dtype == TW_INT32) \
            COUNT(int32_t, type);     \
        else                          \
            COUNT(int64_t, type);     \
    } while (0)

static void count_parts(void *context, int64_t first, int64_t last)
{
    counting *c = context;
    for (int64_t part = first; part < last; part++) {
        int64_t begin = c->in->count / c->parts * part,
                end = part + 1 == c->parts ? c->in->count : begin + c->in->count / c->parts;
        bool negative = false;
        if (c->dtype == TW_INT32)
            COUNT_BY(uint32_t); /* goes round */
        else if (c->dtype == TW_INT64)
            COUNT_BY(uint64_t);
        else if (c->dtype == TW_FLOAT32)
            COUNT_BY(float);
        else
            COUNT_BY(double);
        if (negative)
            __atomic_store_n(&c->negative, true, __ATOMIC_RELAXED);
    }
}

enum { PART_ELEMENTS = 1 << 18, MOST_PARTS = 16 };

static tw_status bins_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    bool dense = kernel->op == &tw__op_DenseBincount;
    counting c = { .in = kernel->inputs[0],
                   .weights = kernel->inputs[2],
                   .dtype = out->dtype,
                   .bins = out->data,
                   .parts = 1,
                   .size = out->shape.dims[out->shape.rank - 1],
                   .binary = dense && TW_ATTR(kernel, "binary_output")->b };
    c.columns = dense && c.in->shape.rank == 2 ? c.in->shape.dims[1] : 0;
    size_t bytes = (size_t)out->count * tw__element_size(out->dtype);
    memset(out->data, 0, bytes);
    if (!c.columns && !c.binary && c.in->count / PART_ELEMENTS > 1 && c.size <= c.in->count / 64)
        c.parts = c.in->count / PART_ELEMENTS < MOST_PARTS ? c.in->count / PART_ELEMENTS : MOST_PARTS;
    if (c.parts == 1) {
        count_parts(&c, 0, 1);
    } else {
        c.bins = tw__alloc_array((size_t)c.parts, bytes + 1); /* cleared */
        if (!c.bins)
            return tw__error_status();
        tw__parallel(c.parts, 1, count_parts, &c);
        for (int64_t part = 0; part < c.parts; part++)
            tw__combine_elements(TW__COMBINE_ADD, out->dtype, out->data, c.bins + (size_t)part * bytes, c.size);
        tw__free(c.bins);
    }
    if (c.negative)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input arr must be non-negative!");
    return TW_OK;
}

TW_OP(Bincount, .no_gradient = true, .inputs = "arr: int32, size: int32, weights: T", .outputs = "bins: T",
      .attrs = "T: {int32, int64, float, double}", .shape = bins_shape, .compute = bins_compute,
      .doc = "How often (or with what weight) each number below size occurs.");

TW_OP(DenseBincount, .no_gradient = true, .inputs = "input: Tidx, size: Tidx, weights: T", .outputs = "output: T",
      .attrs = "Tidx: {int32, int64}, T: {int32, int64, float, double}, binary_output: bool = false", .shape = bins_shape,
      .compute = bins_compute, .doc = "How often each number below size occurs, per row of a matrix.");
