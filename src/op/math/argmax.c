/* Where the greatest or least element stands: ArgMax, ArgMin. The first of equals wins; what is not a number never does. */
#include "kernel/simd.h"
#include "op/array/array.h"
#include "op/wording.h"
#include "rows.h"

enum { ROWS_ELEMENTS = 32768 }; /* that a task should read at least */

static tw_status arg_axis(const tw_op *op, const tw_tensor *dimension, const tw_shape *shape, int *axis)
{
    int64_t given;
    TW_TRY(tw__scalar_value(op, dimension, "dim", &given));
    if (!tw__axis_normal(given, shape->rank, axis))
        return tw__fail(TW_INVALID_ARGUMENT, "Expected dimension in the range [%d, %d), but got %lld", -shape->rank, shape->rank,
                        (long long)given);
    if (shape->dims[*axis] == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Reduction axis %d is empty in shape %s", *axis, tw__shape_text(shape));
    return TW_OK;
}

static tw_status arg_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    int axis = -1;
    if (in->rank < 0)
        return TW_OK;
    if (inference->values[1])
        TW_TRY(arg_axis(inference->op, inference->values[1], in, &axis));
    out->rank = in->rank > 0 ? in->rank - 1 : 0;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = axis < 0 ? -1 : in->dims[i < axis ? i : i + 1];
    return TW_OK;
}

static void put_index(tw_tensor *out, int64_t at, int64_t value)
{
    if (out->dtype == TW_INT64)
        ((int64_t *)out->data)[at] = value;
    else if (out->dtype == TW_INT32)
        ((int32_t *)out->data)[at] = (int32_t)value;
    else
        ((uint16_t *)out->data)[at] = (uint16_t)value;
}

#define SAME(x) (x)
#define LIMIT (greatest ? -INFINITY : INFINITY)
#define SEARCH(type, work, load, start)                                    \
    for (int64_t o = 0; o < outer; o++) {                                  \
        for (int64_t j = 0; j < inner; j++) {                              \
            const type *x = (const type *)in->data + o * size * inner + j; \
            work best = start;                                             \
            int64_t found = 0;                                             \
            for (int64_t k = 0; k < size; k++) {                           \
                work value = load(x[k * inner]);                           \
                if (greatest ? value > best : value < best) {              \
                    best = value;                                          \
                    found = k;                                             \
                }                                                          \
            }                                                              \
            put_index(kernel->outputs[0], o *inner + j, found);            \
        }                                                                  \
    }                                                                      \
    return TW_OK

/* Rows of float32, the common case: the extreme first, in lanes that go into vectors, then the first place that has it. */
typedef struct float_rows {
    const float *data;
    tw_tensor *out;
    int64_t size;
    float sign; /* -1: the least */
} float_rows;

static void search_rows(void *context, int64_t begin, int64_t end)
{
    const float_rows *f = context;
    for (int64_t r = begin; r < end; r++) {
        const float *x = f->data + r * f->size;
        float lanes[16], best = -INFINITY;
        int64_t k = 0, found = 0;
        for (int j = 0; j < 16; j++)
            lanes[j] = -INFINITY;
        for (; k + 16 <= f->size; k += 16) {
            for (int j = 0; j < 16; j++)
                lanes[j] = x[k + j] * f->sign > lanes[j] ? x[k + j] * f->sign : lanes[j];
        }
        for (int j = 0; j < 16; j++)
            best = lanes[j] > best ? lanes[j] : best;
        for (; k < f->size; k++)
            best = x[k] * f->sign > best ? x[k] * f->sign : best;
        if (best > -INFINITY) {
            while (x[found] * f->sign != best)
                found++;
        }
        put_index(f->out, r, found);
    }
}

/* Columns of float32: a block of them side by side. */
typedef struct float_columns {
    const float *data;
    tw_tensor *out;
    int64_t size, inner;
    float sign;
} float_columns;

enum { COLUMNS = 256 };

static TW_CLONES void search_row(const float *x, float sign, int32_t row, int64_t count, float *best, int32_t *found)
{
    for (int64_t j = 0; j < count; j++) {
        float value = x[j] * sign;
        found[j] = value > best[j] ? row : found[j];
        best[j] = value > best[j] ? value : best[j];
    }
}

static void search_columns(void *context, int64_t begin, int64_t end)
{
    const float_columns *f = context;
    int64_t blocks = (f->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t n = begin; n < end; n++) {
        int64_t outer = n / blocks, first = n % blocks * COLUMNS, count = f->inner - first < COLUMNS ? f->inner - first : COLUMNS;
        float best[COLUMNS];
        int32_t found[COLUMNS] = { 0 };
        for (int64_t j = 0; j < count; j++)
            best[j] = -INFINITY;
        for (int64_t k = 0; k < f->size; k++)
            search_row(f->data + (outer * f->size + k) * f->inner + first, f->sign, (int32_t)k, count, best, found);
        for (int64_t j = 0; j < count; j++)
            put_index(f->out, outer * f->inner + first + j, found[j]);
    }
}

static tw_status search(tw__kernel *kernel, bool greatest)
{
    const tw_tensor *in = kernel->inputs[0];
    int64_t outer = 1, size = 1, inner = 1;
    int axis;
    TW_TRY(arg_axis(kernel->op, kernel->inputs[1], &in->shape, &axis));
    for (int i = 0; i < in->shape.rank; i++)
        *(i < axis ? &outer : i == axis ? &size : &inner) *= in->shape.dims[i];
    if (in->dtype == TW_FLOAT32 && inner == 1 && size >= 16) {
        float_rows rows = { in->data, kernel->outputs[0], size, greatest ? 1 : -1 };
        if (in->count < ROWS_ELEMENTS)
            search_rows(&rows, 0, outer);
        else
            tw__parallel(outer, size < ROWS_ELEMENTS ? ROWS_ELEMENTS / size : 1, search_rows, &rows);
        return TW_OK;
    }
    if (in->dtype == TW_FLOAT32 && inner >= 16 && size <= INT32_MAX) {
        float_columns columns = { in->data, kernel->outputs[0], size, inner, greatest ? 1 : -1 };
        int64_t each = size * (inner < COLUMNS ? inner : COLUMNS);
        tw__parallel(outer * ((inner + COLUMNS - 1) / COLUMNS), ROWS_ELEMENTS / each + 1, search_columns, &columns);
        return TW_OK;
    }
    switch (in->dtype) {
    case TW_FLOAT32:
        SEARCH(float, float, SAME, LIMIT);
    case TW_FLOAT64:
        SEARCH(double, double, SAME, LIMIT);
    case TW_FLOAT16:
        SEARCH(uint16_t, float, tw__half_to_float, LIMIT);
    case TW_BFLOAT16:
        SEARCH(uint16_t, float, tw__bfloat16_to_float, LIMIT);
    case TW_INT8:
        SEARCH(int8_t, int8_t, SAME, x[0]);
    case TW_BOOL:
    case TW_UINT8:
        SEARCH(uint8_t, uint8_t, SAME, x[0]);
    case TW_INT16:
        SEARCH(int16_t, int16_t, SAME, x[0]);
    case TW_UINT16:
        SEARCH(uint16_t, uint16_t, SAME, x[0]);
    case TW_INT32:
        SEARCH(int32_t, int32_t, SAME, x[0]);
    case TW_UINT32:
        SEARCH(uint32_t, uint32_t, SAME, x[0]);
    case TW_INT64:
        SEARCH(int64_t, int64_t, SAME, x[0]);
    case TW_UINT64:
        SEARCH(uint64_t, uint64_t, SAME, x[0]);
    default:
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s", tw_dtype_name(in->dtype));
    }
}

static tw_status max_compute(tw__kernel *kernel)
{
    return search(kernel, true);
}

static tw_status min_compute(tw__kernel *kernel)
{
    return search(kernel, false);
}

#define ORDERED "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool"

static bool arg_max_words(tw__wording *w)
{
    int64_t axis;
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    if (rank < 0 || !tw__wording_number(w, 1, &axis))
        return false;
    tw__text_format(&w->text,
                    "Dimension (%lld) must be in the range [%d, %d), where %d is the number of dimensions in the input.",
                    (long long)axis, -rank, rank, rank);
    return true;
}

TW_OP(ArgMax, .inputs = "input: T, dimension: Tidx", .outputs = "output: output_type",
      .attrs = "T: {" ORDERED "}, Tidx: {int16, int32, int64} = int32, output_type: {int16, uint16, int32, int64} = int64",
      .shape = arg_shape, .compute = max_compute, .words = arg_max_words,
      .doc = "Where the greatest element along an axis stands.");

TW_OP(ArgMin, .inputs = "input: T, dimension: Tidx", .outputs = "output: output_type",
      .attrs = "T: {" ORDERED "}, Tidx: {int32, int64} = int32, output_type: {int32, int64} = int64", .shape = arg_shape,
      .compute = min_compute, .words = arg_max_words, .doc = "Where the least element along an axis stands.");
