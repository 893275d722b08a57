/* tf.IndexedSlices; see slices.h. */
#include "op/slices.h"
#include "op/calls.h"
#include "rows.h"

static tw_status slices_init(void *self, const void *given)
{
    tw_indexed_slices *slices = self;
    const tw_indexed_slices_args *args = given;
    slices->values = tw_retain(args->values);
    slices->indices = tw_retain(args->indices);
    slices->dense_shape = tw_retain(args->dense_shape);
    return TW_OK;
}

static void slices_destroy(void *self)
{
    tw_indexed_slices *slices = self;
    tw_release(slices->values);
    tw_release(slices->indices);
    tw_release(slices->dense_shape);
}

TW_CLASS(indexed_slices, "IndexedSlices(values: tensor, indices: tensor, dense_shape: tensor = None)",
         .size = sizeof(tw_indexed_slices), .init = slices_init, .destroy = slices_destroy,
         .doc = "Some rows of a tensor: values[i] is row indices[i].\n"
                "values: the rows\n"
                "indices: the number of each row\n"
                "dense_shape: the shape of the whole tensor; None: it is not known");

TW_PROPERTY(indexed_slices_values, "IndexedSlices.values(self: indexed_slices) -> tensor", "The rows.")
{
    return tw_retain(args->self->values);
}

TW_PROPERTY(indexed_slices_indices, "IndexedSlices.indices(self: indexed_slices) -> tensor", "Which rows they are.")
{
    return tw_retain(args->self->indices);
}

TW_PROPERTY(indexed_slices_dense_shape, "IndexedSlices.dense_shape(self: indexed_slices) -> tensor",
            "The shape of the whole; or NULL.")
{
    return tw_retain(args->self->dense_shape);
}

TW_PROPERTY(indexed_slices_dtype, "IndexedSlices.dtype(self: indexed_slices) -> dtype", "The dtype of the values.")
{
    return args->self->values->dtype;
}

TW_PROPERTY(indexed_slices_shape, "IndexedSlices.shape(self: indexed_slices) -> shape",
            "The shape of the whole, as far as it is known.")
{
    const tw_tensor *dense = args->self->dense_shape;
    if (!dense || !dense->data || dense->count > TW_MAX_RANK)
        return TW_UNKNOWN_SHAPE;
    tw_shape shape = { .rank = (int32_t)dense->count };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = tw_tensor_int_at(dense, i);
    return shape;
}

tw_indexed_slices *tw__indexed_slices_new(tw_tensor *values, tw_tensor *indices, tw_tensor *dense_shape)
{
    return tw_indexed_slices(values, indices, dense_shape);
}

tw_tensor *tw__slices_wrap(tw_indexed_slices *slices)
{
    return slices ? tw__tensor_of_object(TW_VARIANT, slices) : NULL;
}

tw_tensor *tw__slices_make(tw_tensor *values, tw_tensor *indices, tw_tensor *dense_shape)
{
    tw_auto tw_indexed_slices *slices = values && indices ? tw__indexed_slices_new(values, indices, dense_shape) : NULL;
    return tw__slices_wrap(slices);
}

tw_indexed_slices *tw__slices_of(const tw_tensor *gradient)
{
    if (gradient->dtype != TW_VARIANT)
        return NULL;
    tw_object *object = tw__tensor_object(gradient);
    return tw__is(object, &tw__class_indexed_slices) ? (tw_indexed_slices *)object : NULL;
}

tw_tensor *tw__indexed_slices_dense(const tw_indexed_slices *slices)
{
    if (!slices->dense_shape) {
        tw__fail(TW_VALUE_ERROR, "Tensor conversion requested for IndexedSlices without dense_shape");
        return NULL;
    }
    tw_auto tw_tensor *rows = NULL;
    if (slices->dense_shape->data && slices->dense_shape->count) {
        rows = tw_tensor_int((int32_t)tw_tensor_int_at(slices->dense_shape, 0));
    } else {
        tw_auto tw_tensor *zero = tw_tensor_int(0);
        rows = TW_CALL(GatherV2, slices->dense_shape, zero, zero);
    }
    return TW_CALL(UnsortedSegmentSum, slices->values, slices->indices, rows);
}

TW_METHOD(indexed_slices_dense, "IndexedSlices._dense(self: indexed_slices) -> tensor", "The whole: zeros where there is no row.")
{
    return tw__indexed_slices_dense(args->self);
}

tw_tensor *tw__slices_dense(tw_tensor *gradient)
{
    tw_indexed_slices *slices = tw__slices_of(gradient);
    return slices ? tw__indexed_slices_dense(slices) : tw_retain(gradient);
}

static tw_tensor *join(tw_tensor *a, tw_tensor *b)
{
    tw_auto tw_tensor *same = a->dtype == b->dtype ? tw_retain(b) : TW_CALL(Cast, b, TW_A_TYPE("DstT", a->dtype));
    return TW_CALL(ConcatV2, a, same, 0, TW_A_INT("N", 2));
}

tw_tensor *tw__slices_add(tw_tensor *a, tw_tensor *b)
{
    const tw_indexed_slices *x = tw__slices_of(a), *y = tw__slices_of(b);
    if (x && y) {
        tw_auto tw_tensor *values = join(x->values, y->values), *indices = values ? join(x->indices, y->indices) : NULL;
        return tw__slices_make(values, indices, x->dense_shape);
    }
    tw_auto tw_tensor *first = tw__slices_dense(a), *second = first ? tw__slices_dense(b) : NULL;
    return TW_CALL(AddV2, first, second);
}
