/* Ragged tensors in one variant tensor, so that datasets and loops can carry and stack them: RaggedTensorToVariant,
 * RaggedTensorFromVariant.
 *
 * A variant holds the row splits of a ragged tensor, outermost first, and its values. A vector of variants is a ragged tensor
 * with one dimension more: its rows are what the variants hold. */
#include "op/list/list.h"
#include "op/ragged/ragged.h"
#include "rows.h"

typedef struct ragged_value {
    tw_object object;
    int count;                              /* of splits */
    tw_tensor *items[TW_RAGGED_LEVELS + 1]; /* splits, then values */
} ragged_value;

static void value_destroy(void *self)
{
    ragged_value *value = self;
    for (int i = 0; i <= value->count; i++)
        tw_release(value->items[i]);
}

static const tw_class value_class = { .name = "RaggedTensorVariant", .size = sizeof(ragged_value), .destroy = value_destroy };

bool tw__is_ragged_variant(const tw_object *object)
{
    return object->class == &value_class;
}

int tw__ragged_variant_parts(const tw_object *object, tw_tensor *parts[TW_RAGGED_LEVELS + 1])
{
    const ragged_value *value = (const ragged_value *)object;
    for (int i = 0; i <= value->count; i++)
        parts[i] = value->items[i];
    return value->count + 1;
}

tw_object *tw__ragged_variant_of(tw_tensor *const *parts, int count)
{
    ragged_value *value = tw__object_new(&value_class);
    for (int i = 0; value && i < count; i++)
        value->items[i] = tw_retain(parts[i]);
    if (value)
        value->count = count - 1;
    return (tw_object *)value;
}

static tw_tensor *splits_between(const int64_t *splits, int64_t begin, int64_t end, tw_dtype dtype)
{
    tw_tensor *made = tw__tensor_empty(dtype, &TW_SHAPE(end - begin + 1));
    for (int64_t i = 0; made && i <= end - begin; i++) {
        if (dtype == TW_INT64)
            ((int64_t *)made->data)[i] = splits[begin + i] - splits[begin];
        else
            ((int32_t *)made->data)[i] = (int32_t)(splits[begin + i] - splits[begin]);
    }
    return made;
}

/* ---- to variants ---- */

static tw_status to_shape(tw__inference *inference)
{
    const tw_shape *outer = inference->shapes[0];
    bool ragged = inference->input_count > 1;
    if (!TW_ATTR(inference, "batched_input")->b)
        inference->out_shapes[0] = TW_SCALAR;
    else if (outer->rank == 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the rows of a scalar");
    else
        inference->out_shapes[0] = TW_SHAPE(outer->rank < 0 || outer->dims[0] < 0 ? -1 : outer->dims[0] - ragged);
    return TW_OK;
}

/* The rows [begin, end) of the outermost level `first` (or of the values) on. */
static ragged_value *part(tw__kernel *kernel, const tw__levels *levels, int first, int64_t begin, int64_t end, bool scalar_rows)
{
    ragged_value *value = tw__object_new(&value_class);
    tw_tensor *values = kernel->inputs[levels->count];
    if (!value)
        return NULL;
    for (int k = first; k < levels->count; k++) {
        const int64_t *s = levels->splits[k];
        value->items[value->count] = splits_between(s, begin, end, kernel->inputs[k]->dtype);
        if (!value->items[value->count]) {
            tw_release(value);
            return NULL;
        }
        value->count++;
        int64_t from = s[begin];
        end = s[end];
        begin = from;
    }
    tw_shape shape = values->shape;
    if (scalar_rows) { /* one row of dense values */
        memmove(shape.dims, shape.dims + 1, (size_t)(--shape.rank) * sizeof *shape.dims);
    } else if (shape.rank > 0) {
        shape.dims[0] = end - begin;
    }
    value->items[value->count] = tw__tensor_slice_view(values, &shape, begin * tw__row_elements(&values->shape));
    if (!value->items[value->count]) {
        tw_release(value);
        return NULL;
    }
    return value;
}

static tw_status to_compute(tw__kernel *kernel)
{
    int rank = kernel->input_count - 1;
    const tw_tensor *values = kernel->inputs[rank];
    bool batched = TW_ATTR(kernel, "batched_input")->b;
    tw__levels levels;
    tw_status status = tw__levels_read(kernel->op, kernel->inputs, rank, values->shape.rank ? values->shape.dims[0] : 0, &levels);
    int64_t rows = rank ? levels.rows[0] : values->shape.rank ? values->shape.dims[0] : 1;
    tw_shape shape = batched ? TW_SHAPE(rows) : TW_SCALAR;
    tw_tensor *out = status == TW_OK ? tw__output(kernel, 0, &shape) : NULL;
    status = out ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < out->count; i++) {
        int64_t begin = batched && rank ? levels.splits[0][i]
                        : batched       ? i
                                        : 0,
                end = batched && rank ? levels.splits[0][i + 1]
                      : batched       ? i + 1
                                      : rows;
        ragged_value *value = part(kernel, &levels, batched && rank, begin, end, batched && !rank);
        ((tw_object **)out->data)[i] = (tw_object *)value;
        status = value ? TW_OK : tw__error_status();
    }
    tw__levels_free(&levels);
    return status;
}

TW_OP(RaggedTensorToVariant, .inputs = "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues",
      .outputs = "encoded_ragged: variant",
      .attrs = "RAGGED_RANK: int >= 0, Tvalues: type, Tsplits: {int32, int64} = int64, batched_input: bool", .shape = to_shape,
      .compute = to_compute, .no_gradient = true, .doc = "A ragged tensor as a variant, or its rows as a vector of variants.");

/* ---- and back ---- */

static tw_status from_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t out_rank = TW_ATTR(inference, "output_ragged_rank")->i, in_rank = TW_ATTR(inference, "input_ragged_rank")->i;
    if (in->rank >= 0 && in_rank >= 0 && in_rank + in->rank != out_rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.rank; "
                          "output_ragged_rank: %lld, input_ragged_rank: %lld, encoded_ragged.rank: %d",
                          (long long)out_rank, (long long)in_rank, in->rank);
    for (int64_t i = 0; i < out_rank; i++)
        inference->out_shapes[i] = TW_SHAPE(-1);
    return TW_OK;
}

static ragged_value *value_at(tw__kernel *kernel, int64_t i, int64_t levels)
{
    tw_object *object = ((tw_object *const *)kernel->inputs[0]->data)[i];
    ragged_value *value = object && tw__is(object, &value_class) ? (ragged_value *)object : NULL;
    if (!value || value->count != levels) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variant at %lld holds no ragged tensor of ragged rank %lld", (long long)i,
                   (long long)levels);
        return NULL;
    }
    if (value->items[value->count]->dtype != TW_ATTR(kernel, "Tvalues")->type) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected values Tensor dtype: %s, found: %s",
                   tw__dtype_text(TW_ATTR(kernel, "Tvalues")->type), tw__dtype_text(value->items[value->count]->dtype));
        return NULL;
    }
    return value;
}

static int64_t rows_of(const ragged_value *value)
{
    const tw_tensor *first = value->items[0];
    return value->count ? first->count - 1 : first->shape.rank ? first->shape.dims[0] : 0;
}

/* Level k of all variants, one behind the other: k = 0 is the one that says which rows are whose. */
static tw_status give_level(tw__kernel *kernel, int output, int64_t k, int64_t levels)
{
    int64_t count = kernel->inputs[0]->count, size = 0, at = 0, end = 0;
    for (int64_t i = 0; i < count; i++)
        size += k ? value_at(kernel, i, levels)->items[k - 1]->count - 1 : 1;
    tw__owned int64_t *splits = tw__alloc_array((size_t)size + 1, sizeof *splits);
    if (!splits)
        return tw__error_status();
    splits[at++] = 0;
    for (int64_t i = 0; i < count; i++) {
        const ragged_value *value = value_at(kernel, i, levels);
        if (!k)
            splits[at++] = end += rows_of(value);
        for (int64_t j = 1; k && j < value->items[k - 1]->count; j++)
            splits[at++] = end + tw_tensor_int_at(value->items[k - 1], j);
        end = splits[at - 1];
    }
    tw_status status = tw__splits_give(kernel, output, splits, at);
    return status;
}

static tw_status give_values(tw__kernel *kernel, int64_t levels)
{
    int64_t count = kernel->inputs[0]->count, rows = 0, at = 0;
    tw_shape shape = TW_SHAPE(0);
    for (int64_t i = 0; i < count; i++) {
        const tw_tensor *values = value_at(kernel, i, levels)->items[levels];
        tw_shape inner = values->shape;
        if (inner.rank < 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the values of row %lld are a scalar", (long long)i);
        rows += inner.dims[0];
        inner.dims[0] = shape.dims[0];
        if (i && !tw__shape_equal(&inner, &shape))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at index "
                              "%lld: %s.",
                              tw__shape_text(&shape), (long long)i, tw__shape_text(&values->shape));
        shape = inner;
    }
    shape.dims[0] = rows;
    tw_auto tw_tensor *out = tw__tensor_empty(TW_ATTR(kernel, "Tvalues")->type, &shape);
    TW_NEED(out);
    for (int64_t i = 0; i < count; i++) {
        const tw_tensor *values = value_at(kernel, i, levels)->items[levels];
        TW_TRY(tw__list_copy_elements(out, at, values, 0, values->count));
        at += values->count;
    }
    return tw__output_take(kernel, kernel->output_count - 1, TW_TAKE(out));
}

static tw_status from_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    int64_t out_rank = kernel->output_count - 1, levels = out_rank - in->shape.rank;
    if (levels < 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "variants of %d dimensions and an output_ragged_rank of %lld",
                          in->shape.rank, (long long)out_rank);
    for (int64_t i = 0; i < in->count; i++) {
        if (!value_at(kernel, i, levels))
            return tw__error_status();
    }
    if (in->shape.rank == 0) {
        ragged_value *value = value_at(kernel, 0, levels);
        for (int i = 0; i <= value->count; i++)
            TW_TRY(tw__output_take(kernel, i, tw_retain(value->items[i])));
        return TW_OK;
    }
    int output = 0;
    int64_t rows = 1;
    for (; output + 1 < in->shape.rank; output++) { /* dimensions of the variants: rows of equal length */
        rows *= in->shape.dims[output];
        int64_t *splits = tw__alloc_array((size_t)rows + 1, sizeof *splits);
        for (int64_t i = 0; splits && i <= rows; i++)
            splits[i] = i * in->shape.dims[output + 1];
        tw_status status = splits ? tw__splits_give(kernel, output, splits, rows + 1) : tw__error_status();
        tw__free(splits);
        TW_TRY(status);
    }
    for (int64_t k = 0; k <= levels; k++)
        TW_TRY(give_level(kernel, output++, k, levels));
    return give_values(kernel, levels);
}

TW_OP(RaggedTensorFromVariant, .inputs = "encoded_ragged: variant",
      .outputs = "output_nested_splits: output_ragged_rank * Tsplits, output_dense_values: Tvalues",
      .attrs = "input_ragged_rank: int >= -1, output_ragged_rank: int >= 0, Tvalues: type, Tsplits: {int32, int64} = int64",
      .shape = from_shape, .compute = from_compute, .no_gradient = true, .makes_outputs = true,
      .doc = "The ragged tensor that a variant, or a tensor of variants, holds.");
