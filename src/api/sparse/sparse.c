/* The classes tf.SparseTensor and tf.SparseTensorSpec; see sparse.h. */
#include "api/sparse/sparse.h"
#include "op/array/array.h"
#include "rows.h"

/* ---- tf.SparseTensorSpec ---- */

static tw_status spec_init(void *self, const void *given)
{
    tw_sparse_tensor_spec *spec = self;
    const tw_sparse_tensor_spec_args *args = given;
    spec->shape = args->shape;
    spec->dtype = args->dtype;
    return TW_OK;
}

static int spec_parts(const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    const tw_sparse_tensor_spec *spec = self;
    int64_t rank = spec->shape.rank < 0 ? -1 : spec->shape.rank;
    shapes[0] = TW_SHAPE(-1, rank);
    shapes[1] = TW_SHAPE(-1);
    shapes[2] = TW_SHAPE(rank);
    dtypes[0] = dtypes[2] = TW_INT64;
    dtypes[1] = spec->dtype;
    return 3;
}

static void set_shape(tw_sparse_tensor *sparse, const tw_shape *shape);

static void *spec_pack(const void *self, tw_tensor *const *parts)
{
    const tw_sparse_tensor_spec *spec = self;
    tw_sparse_tensor *made = tw__sparse_new(parts[0], parts[1], parts[2]);
    if (made)
        set_shape(made, &spec->shape);
    return made;
}

static void spec_text(const void *self, tw__text *text)
{
    const tw_sparse_tensor_spec *spec = self;
    tw__text_add(text, "SparseTensorSpec(");
    tw__shape_repr(text, &spec->shape);
    tw__text_format(text, ", tf.%s)", tw_dtype_name(spec->dtype));
}

static bool spec_covers(const void *self, const void *other)
{
    const tw_sparse_tensor_spec *a = self, *b = other;
    return a->dtype == b->dtype && tw__shape_covers(&a->shape, &b->shape);
}

static const tw__type_spec_methods spec_methods = { spec_parts, spec_pack, spec_text, spec_covers };

TW_CLASS(sparse_tensor_spec, "SparseTensorSpec(shape: shape = None, dtype: dtype = float32)", .parent = &tw__class_type_spec,
         .size = sizeof(tw_sparse_tensor_spec), .init = spec_init, .methods = &spec_methods,
         .doc = "Sparse tensors of a shape and a dtype.\n"
                "shape: the shape of the tensors; None in it for lengths that may be any, None alone for any rank");

struct tw_sparse_tensor_spec *tw__sparse_spec_new(const tw_shape *shape, tw_dtype dtype)
{
    return tw_class_make(&tw__class_sparse_tensor_spec, &(tw_sparse_tensor_spec_args){ .shape = *shape, .dtype = dtype });
}

TW_PROPERTY(sparse_tensor_spec_shape, "SparseTensorSpec.shape(self: sparse_tensor_spec) -> shape",
            "The shape of the whole, as far as it is known.")
{
    return args->self->shape;
}

TW_PROPERTY(sparse_tensor_spec_dtype, "SparseTensorSpec.dtype(self: sparse_tensor_spec) -> dtype", "The dtype of the values.")
{
    return args->self->dtype;
}

/* ---- tf.SparseTensor ---- */

static tw_status need_rank(const tw_tensor *tensor, int rank)
{
    if (tensor->shape.rank < 0 || tensor->shape.rank == rank)
        return TW_OK;
    tw__owned char *tuple = tw__shape_tuple(&tensor->shape);
    tw__fail(TW_VALUE_ERROR, "Shape %s must have rank %d", tuple ? tuple : "", rank);
    return TW_VALUE_ERROR;
}

static tw_status need_same(int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || a == b)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible", (long long)a, (long long)b);
}

static int64_t dim(const tw_tensor *tensor, int axis)
{
    return tensor->shape.rank < 0 ? -1 : tensor->shape.dims[axis];
}

/* Takes in what is known besides; what contradicts is left out: the sizes at run time decide. */
static void set_shape(tw_sparse_tensor *sparse, const tw_shape *shape)
{
    if (sparse->shape.rank < 0)
        sparse->shape = *shape;
    for (int i = 0; shape->rank == sparse->shape.rank && i < shape->rank; i++) {
        if (sparse->shape.dims[i] < 0)
            sparse->shape.dims[i] = shape->dims[i];
    }
}

static tw_status sparse_init(void *self, const void *given)
{
    tw_sparse_tensor *sparse = self;
    const tw_sparse_tensor_args *args = given;
    if (args->indices->dtype != TW_INT64 || args->dense_shape->dtype != TW_INT64)
        return tw__fail(TW_VALUE_ERROR, "SparseTensor: indices and dense_shape must be of dtype int64, got %s and %s",
                        tw_dtype_name(args->indices->dtype), tw_dtype_name(args->dense_shape->dtype));
    TW_TRY(need_rank(args->indices, 2));
    TW_TRY(need_rank(args->values, 1));
    TW_TRY(need_rank(args->dense_shape, 1));
    TW_TRY(need_same(dim(args->indices, 0), dim(args->values, 0)));
    TW_TRY(need_same(dim(args->indices, 1), dim(args->dense_shape, 0)));
    sparse->indices = tw_retain(args->indices);
    sparse->values = tw_retain(args->values);
    sparse->dense_shape = tw_retain(args->dense_shape);
    sparse->shape = tw__static_shape(args->dense_shape);
    if (sparse->shape.rank < 0 && dim(args->indices, 1) >= 0 && dim(args->indices, 1) <= TW_MAX_RANK) {
        sparse->shape.rank = (int32_t)dim(args->indices, 1);
        for (int i = 0; i < sparse->shape.rank; i++)
            sparse->shape.dims[i] = -1;
    }
    return TW_OK;
}

static void sparse_destroy(void *self)
{
    tw_sparse_tensor *sparse = self;
    tw_release(sparse->indices);
    tw_release(sparse->values);
    tw_release(sparse->dense_shape);
}

static int sparse_parts(void *self, tw_tensor **parts)
{
    tw_sparse_tensor *sparse = self;
    parts[0] = sparse->indices;
    parts[1] = sparse->values;
    parts[2] = sparse->dense_shape;
    return 3;
}

static tw_type_spec *sparse_spec(void *self)
{
    const tw_sparse_tensor *sparse = self;
    return (tw_type_spec *)tw_sparse_tensor_spec(.shape = sparse->shape, .dtype = sparse->values->dtype);
}

static void *sparse_with_values(void *self, tw_tensor *values)
{
    tw_sparse_tensor *sparse = self, *made = tw__sparse_new(sparse->indices, values, sparse->dense_shape);
    if (made)
        set_shape(made, &sparse->shape);
    return made;
}

static const tw__composite_methods sparse_methods = { sparse_parts, sparse_spec, sparse_with_values };

TW_CLASS(sparse_tensor, "SparseTensor|sparse.SparseTensor(indices: tensor<int64>, values: tensor, dense_shape: tensor<int64>)",
         .parent = &tw__composite_class, .size = sizeof(tw_sparse_tensor), .init = sparse_init, .destroy = sparse_destroy,
         .methods = &sparse_methods, .drop_config = true,
         .doc = "A tensor of which only some elements are there: values[i] stands at indices[i].\n"
                "indices: where the values stand, [n, rank]\n"
                "values: the values, n of them\n"
                "dense_shape: the shape of the whole tensor\n"
                "example: tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [1, 3])).numpy().tolist()  # [[0, 5, 0]]");

TW_PROPERTY(sparse_tensor_indices, "SparseTensor.indices(self: sparse_tensor) -> tensor",
            "Where the values stand, a row for each.")
{
    return tw_retain(args->self->indices);
}

TW_PROPERTY(sparse_tensor_values, "SparseTensor.values(self: sparse_tensor) -> tensor", "The elements that are there.")
{
    return tw_retain(args->self->values);
}

TW_PROPERTY(sparse_tensor_dense_shape, "SparseTensor.dense_shape(self: sparse_tensor) -> tensor",
            "The shape of the whole as a tensor.")
{
    return tw_retain(args->self->dense_shape);
}

TW_PROPERTY(sparse_tensor_dtype, "SparseTensor.dtype(self: sparse_tensor) -> dtype", "The dtype of the values.")
{
    return args->self->values->dtype;
}

TW_PROPERTY(sparse_tensor_shape, "SparseTensor.shape(self: sparse_tensor) -> shape",
            "The shape of the whole, as far as it is known.")
{
    return args->self->shape;
}

TW_PROPERTY(sparse_tensor_type_spec, "SparseTensor._type_spec(self: sparse_tensor) -> type_spec", "The type of the value.")
{
    return sparse_spec(args->self);
}

TW_METHOD(sparse_tensor_get_shape, "SparseTensor.get_shape(self: sparse_tensor) -> shape",
          "The shape of the whole, as far as it is known.")
{
    return args->self->shape;
}

TW_METHOD(sparse_tensor_set_shape, "SparseTensor.set_shape(self: sparse_tensor, shape: shape)",
          "Says more about the shape than is known.\n"
          "shape: the shape that is expected; None in it for lengths that may be any")
{
    if (!tw__shape_compatible(&args->self->shape, &args->shape)) {
        char *is = tw__shape_tuple(&args->self->shape), *given = tw__shape_tuple(&args->shape);
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are not compatible", is ? is : "", given ? given : "");
        tw__free(is);
        tw__free(given);
        return TW_VALUE_ERROR;
    }
    set_shape(args->self, &args->shape);
    return TW_OK;
}

TW_METHOD(sparse_tensor_consumers, "SparseTensor.consumers(self: sparse_tensor) -> tensors",
          "Operations that use it: of a value that was made at once, none.")
{
    return (tw_tensors){ tw__alloc_array(1, sizeof(tw_tensor *)), 0 };
}

TW_METHOD(sparse_tensor_with_values, "SparseTensor.with_values(self: sparse_tensor, new_values: tensor) -> sparse_tensor",
          "The same places with other values.\n"
          "new_values: as many values as there are now")
{
    const tw_shape *is = &args->self->values->shape, *given = &args->new_values->shape;
    if (!tw__shape_compatible(is, given)) {
        char *want = tw__shape_tuple(is), *got = tw__shape_tuple(given);
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", want ? want : "", got ? got : "");
        tw__free(want);
        tw__free(got);
        return NULL;
    }
    return sparse_with_values(args->self, args->new_values);
}

TW_METHOD(sparse_tensor_repr, "SparseTensor.__repr__(self: sparse_tensor) -> str", "The three tensors.")
{
    tw__text text = { 0 };
    tw__text_add(&text, "SparseTensor(indices=");
    tw__tensor_text(&text, args->self->indices);
    tw__text_add(&text, ", values=");
    tw__tensor_text(&text, args->self->values);
    tw__text_add(&text, ", dense_shape=");
    tw__tensor_text(&text, args->self->dense_shape);
    tw__text_add(&text, ")");
    return tw__text_take(&text);
}

/* ---- for other files ---- */

tw_sparse_tensor *tw__sparse_new(tw_tensor *indices, tw_tensor *values, tw_tensor *dense_shape)
{
    if (!indices || !values || !dense_shape)
        return NULL;
    return tw_sparse_tensor(indices, values, dense_shape);
}

tw_sparse_tensor *tw__sparse_of_outputs(tw_tensor **outputs)
{
    tw_sparse_tensor *made = tw__sparse_new(outputs[0], outputs[1], outputs[2]);
    for (int i = 0; i < 3; i++)
        tw_release(outputs[i]);
    return made;
}

tw_sparse_tensor *tw__sparse_given(const tw_value *value)
{
    if (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_sparse_tensor))
        return value->object;
    tw__fail(TW_TYPE_ERROR, "Input must be a SparseTensor.");
    return NULL;
}
