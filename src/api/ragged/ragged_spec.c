/* tf.RaggedTensorSpec: the type of ragged tensors. */
#include "api/ragged/ragged.h"
#include "rows.h"

static tw_status spec_init(void *self, const void *given)
{
    tw_ragged_tensor_spec *spec = self;
    const tw_ragged_tensor_spec_args *args = given;
    if (args->ragged_rank == TW_NO_INT && args->shape.rank < 0)
        return tw__fail(TW_VALUE_ERROR, "Must specify ragged_rank or a shape with a known rank.");
    if (args->row_splits_dtype != TW_INT32 && args->row_splits_dtype != TW_INT64)
        return tw__fail(TW_VALUE_ERROR, "Argument `row_splits_dtype` must be tf.int32 or tf.int64. Received row_splits_dtype=%s.",
                        tw_dtype_name(args->row_splits_dtype));
    spec->shape = args->shape;
    spec->dtype = args->dtype;
    spec->splits_dtype = args->row_splits_dtype;
    int64_t rank = args->ragged_rank == TW_NO_INT ? args->shape.rank - 1 : args->ragged_rank;
    if (rank < 0 || rank + 1 > TW_RAGGED_PARTS || (args->shape.rank >= 0 && rank >= args->shape.rank))
        return tw__fail(TW_VALUE_ERROR, "Argument `ragged_rank` (%lld) must be less than rank (%d).", (long long)rank,
                        args->shape.rank);
    spec->ragged_rank = (int)rank;
    return TW_OK;
}

static int spec_parts(const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    const tw_ragged_tensor_spec *spec = self;
    tw_shape flat = TW_UNKNOWN_SHAPE;
    if (spec->shape.rank > spec->ragged_rank) {
        flat.rank = spec->shape.rank - spec->ragged_rank;
        for (int i = 0; i < flat.rank; i++)
            flat.dims[i] = spec->shape.dims[spec->ragged_rank + i];
        if (spec->ragged_rank)
            flat.dims[0] = -1;
    }
    shapes[0] = flat;
    dtypes[0] = spec->dtype;
    for (int i = 0; i < spec->ragged_rank; i++) {
        shapes[i + 1] = TW_SHAPE(i == 0 && spec->shape.rank > 0 && spec->shape.dims[0] >= 0 ? spec->shape.dims[0] + 1 : -1);
        dtypes[i + 1] = spec->splits_dtype;
    }
    return spec->ragged_rank + 1;
}

static void *spec_pack(const void *self, tw_tensor *const *parts)
{
    const tw_ragged_tensor_spec *spec = self;
    void *value = tw_retain(parts[0]);
    for (int i = spec->ragged_rank; value && i > 0; i--) {
        void *outer = tw__ragged_new(value, parts[i], spec->shape.rank > i ? spec->shape.dims[i] : -1);
        tw_release(value);
        value = outer;
    }
    return value;
}

static void spec_text(const void *self, tw__text *text)
{
    const tw_ragged_tensor_spec *spec = self;
    tw__text_add(text, "RaggedTensorSpec(");
    tw__shape_repr(text, &spec->shape);
    tw__text_format(text, ", tf.%s, %d, tf.%s)", tw_dtype_name(spec->dtype), spec->ragged_rank,
                    tw_dtype_name(spec->splits_dtype));
}

static bool spec_covers(const void *self, const void *other)
{
    const tw_ragged_tensor_spec *a = self, *b = other;
    return a->dtype == b->dtype && a->ragged_rank == b->ragged_rank && a->splits_dtype == b->splits_dtype &&
           tw__shape_covers(&a->shape, &b->shape);
}

static const tw__type_spec_methods spec_methods = { spec_parts, spec_pack, spec_text, spec_covers };

TW_CLASS(
    ragged_tensor_spec,
    "RaggedTensorSpec(shape: shape = None, dtype: dtype = float32, ragged_rank: int = None, row_splits_dtype: dtype = int64)",
    .parent = &tw__class_type_spec, .size = sizeof(tw_ragged_tensor_spec), .init = spec_init, .methods = &spec_methods,
    .doc = "Ragged tensors of a shape, a dtype and a number of ragged dimensions.\n"
           "shape: the shape; None in it for lengths that differ\n"
           "dtype: the dtype of the values\n"
           "ragged_rank: how many dimensions are ragged; None: all but the first\n"
           "row_splits_dtype: the dtype of the row splits: int32 or int64");

struct tw_ragged_tensor_spec *tw__ragged_spec_new(const tw_shape *shape, tw_dtype dtype, int ragged_rank, tw_dtype splits_dtype)
{
    return tw_class_make(&tw__class_ragged_tensor_spec,
                         &(tw_ragged_tensor_spec_args){
                             .shape = *shape, .dtype = dtype, .ragged_rank = ragged_rank, .row_splits_dtype = splits_dtype });
}

TW_PROPERTY(ragged_tensor_spec_shape, "RaggedTensorSpec.shape(self: ragged_tensor_spec) -> shape",
            "The shape, as far as it is one.")
{
    return args->self->shape;
}

TW_PROPERTY(ragged_tensor_spec_dtype, "RaggedTensorSpec.dtype(self: ragged_tensor_spec) -> dtype", "The dtype of the values.")
{
    return args->self->dtype;
}

TW_PROPERTY(ragged_tensor_spec_ragged_rank, "RaggedTensorSpec.ragged_rank(self: ragged_tensor_spec) -> int",
            "How many dimensions are ragged.")
{
    return args->self->ragged_rank;
}

TW_PROPERTY(ragged_tensor_spec_row_splits_dtype, "RaggedTensorSpec.row_splits_dtype(self: ragged_tensor_spec) -> dtype",
            "The dtype of the row splits.")
{
    return args->self->splits_dtype;
}
