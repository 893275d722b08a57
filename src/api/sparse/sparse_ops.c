/* tf.sparse: functions of sparse tensors that give sparse tensors. */
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

/* A sparse tensor of parts that are kept elsewhere, with what is known of its shape. */
static tw_sparse_tensor *made_of(tw_tensor *indices, tw_tensor *values, tw_tensor *dense_shape, const tw_shape *known)
{
    tw_sparse_tensor *made = tw__sparse_new(indices, values, dense_shape);
    if (made && known && (made->shape.rank < 0 || (made->shape.rank == known->rank && !tw__shape_known(&made->shape))))
        made->shape = *known;
    return made;
}

TW_API(sparse_from_dense, "sparse.from_dense(tensor: tensor, name: str = None) -> sparse_tensor",
       "The elements that are not zero.\n"
       "tensor: a tensor\n"
       "example: tf.sparse.from_dense([0, 7, 0]).values.numpy().tolist()  # [7]")
{
    TW_TEMPS(t);
    tw_tensor *x = args->tensor, *zero = tw__temp(t, tw_tensor_new(x->dtype, TW_SCALAR, NULL));
    tw_tensor *indices = TW_TEMP(Where, TW_TEMP(NotEqual, x, zero));
    tw_sparse_tensor *made = made_of(indices, TW_TEMP(GatherNd, x, indices), tw__temp_shape(t, x, TW_INT64), &x->shape);
    return made;
}

TW_API(
    sparse_to_dense,
    "sparse.to_dense|compat.v1.sparse_tensor_to_dense(sp_input: sparse_tensor, default_value: tensor = None, validate_indices: bool = True, name: str = None) -> tensor",
    "The whole tensor: a value, zero if none is given, stands where nothing is.")
{
    TW_TEMPS(t);
    tw_tensor *values = args->sp_input->values;
    tw_tensor *other = args->default_value ? tw__temp_fitting(t, args->default_value, values->dtype)
                                           : tw__temp(t, tw_tensor_new(values->dtype, TW_SCALAR, NULL));
    return TW_CALL(SparseToDense, args->sp_input->indices, args->sp_input->dense_shape, values, other,
                   TW_A_BOOL("validate_indices", args->validate_indices));
}

static tw_sparse_tensor *reordered(tw_tensor *indices, tw_tensor *values, tw_tensor *dense_shape, const tw_shape *known)
{
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!indices || !values || !dense_shape ||
        tw__apply(&tw__op_SparseReorder, TW_IN(indices, values, dense_shape), 3, NULL, 0, made, &count) != TW_OK)
        return NULL;
    tw_sparse_tensor *sparse = made_of(made[0], made[1], dense_shape, known);
    tw_release(made[0]);
    tw_release(made[1]);
    return sparse;
}

TW_API(sparse_reorder, "sparse.reorder|compat.v1.sparse_reorder(sp_input: sparse_tensor, name: str = None) -> sparse_tensor",
       "The values in the order of their places.")
{
    return reordered(args->sp_input->indices, args->sp_input->values, args->sp_input->dense_shape, &args->sp_input->shape);
}

TW_API(
    sparse_reshape,
    "sparse.reshape|compat.v1.sparse_reshape(sp_input: sparse_tensor, shape: tensor<int64>, name: str = None) -> sparse_tensor",
    "The same values under another shape.\n"
    "shape: the new shape; one dimension may be -1, which is then computed")
{
    TW_TEMPS(t);
    tw_tensor *made[2] = { NULL, NULL }, *shape = tw__temp_cast(t, args->shape, TW_INT64);
    int count = 2;
    tw_sparse_tensor *sparse = NULL;
    if (shape && tw__apply(&tw__op_SparseReshape, TW_IN(args->sp_input->indices, args->sp_input->dense_shape, shape), 3, NULL, 0,
                           made, &count) == TW_OK) {
        tw_shape known = tw__static_shape(shape);
        sparse = made_of(made[0], args->sp_input->values, made[1], &known);
    }
    tw_release(made[0]);
    tw_release(made[1]);
    return sparse;
}

TW_API(
    sparse_transpose,
    "sparse.transpose|compat.v1.sparse_transpose(sp_input: sparse_tensor, perm: ints = None, name: str = None) -> sparse_tensor",
    "Dimensions in another order, reversed if none is given.")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    int64_t order[TW_MAX_RANK];
    int rank = s->shape.rank;
    if (rank < 0 || (args->perm.given && args->perm.count != rank)) {
        tw__fail(rank < 0 ? TW_UNIMPLEMENTED : TW_VALUE_ERROR,
                 "sparse.transpose: perm must have as many members as the input has dimensions (%d)", rank);
        return NULL;
    }
    tw_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++) {
        order[i] = args->perm.given ? args->perm.items[i] : rank - 1 - i;
        shape.dims[i] = order[i] >= 0 && order[i] < rank ? s->shape.dims[order[i]] : -1;
    }
    tw_tensor *perm = tw__temp_ints(t, order, rank, TW_INT32);
    tw_sparse_tensor *made =
        reordered(tw__temp_gather(t, s->indices, perm, 1), s->values, tw__temp_gather(t, s->dense_shape, perm, 0), &shape);
    return made;
}

TW_API(
    sparse_slice,
    "sparse.slice|compat.v1.sparse_slice(sp_input: sparse_tensor, start: tensor<int64>, size: tensor<int64>, name: str = None) -> sparse_tensor",
    "The values inside of a box.\n"
    "start: where the box begins along each dimension\n"
    "size: how long it is along each dimension")
{
    TW_TEMPS(t);
    tw_tensor *made[3] = { NULL, NULL, NULL }, *start = tw__temp_cast(t, args->start, TW_INT64),
              *size = tw__temp_cast(t, args->size, TW_INT64);
    int count = 3;
    const tw_sparse_tensor *s = args->sp_input;
    tw_status status = start && size ? tw__apply(&tw__op_SparseSlice, TW_IN(s->indices, s->values, s->dense_shape, start, size),
                                                 5, NULL, 0, made, &count)
                                     : tw__error_status();
    return status == TW_OK ? tw__sparse_of_outputs(made) : NULL;
}

TW_API(sparse_softmax, "sparse.softmax|compat.v1.sparse_softmax(sp_input: sparse_tensor, name: str = None) -> sparse_tensor",
       "Softmax over the values of each row.")
{
    tw_sparse_tensor *s = args->sp_input;
    tw_auto tw_tensor *values = TW_CALL(SparseSoftmax, s->indices, s->values, s->dense_shape);
    return made_of(s->indices, values, s->dense_shape, &s->shape);
}

TW_API(sparse_retain, "sparse.retain|compat.v1.sparse_retain(sp_input: sparse_tensor, to_retain: tensor<bool>) -> sparse_tensor",
       "The values for which the mask is true.\n"
       "to_retain: a boolean for each value")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    tw_tensor *places = tw__temp_reshape(t, TW_TEMP(Where, args->to_retain), (const int64_t[]){ -1 }, 1);
    tw_sparse_tensor *made =
        made_of(tw__temp_gather(t, s->indices, places, 0), tw__temp_gather(t, s->values, places, 0), s->dense_shape, &s->shape);
    return made;
}

TW_API(
    sparse_reset_shape,
    "sparse.reset_shape|compat.v1.sparse_reset_shape(sp_input: sparse_tensor, new_shape: tensor<int64> = None) -> sparse_tensor",
    "The same values in another shape that holds them; the smallest one if none is given.\n"
    "new_shape: the new shape; None: the smallest one that holds all values")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    tw_tensor *shape;
    if (!args->new_shape) {
        tw_tensor *zero = tw__temp_int(t, 0, TW_INT32), *one = tw__temp_int(t, 1, TW_INT64), *none = tw__temp_int(t, 0, TW_INT64);
        shape = TW_TEMP(Maximum, none, TW_TEMP(AddV2, TW_TEMP(Max, s->indices, zero), one));
    } else {
        shape = tw__temp_cast(t, args->new_shape, TW_INT64);
        const tw_tensor *old = s->dense_shape;
        if (shape && shape->shape.rank == 1 && old->shape.rank == 1 && shape->shape.dims[0] != old->shape.dims[0] &&
            shape->shape.dims[0] >= 0 && old->shape.dims[0] >= 0) {
            tw__fail(TW_VALUE_ERROR, "Dimension %lld and %lld are not compatible", (long long)shape->shape.dims[0],
                     (long long)old->shape.dims[0]);
            shape = NULL;
        }
        for (int64_t i = 0; shape && shape->data && old->data && i < shape->count && i < old->count; i++) {
            if (tw_tensor_int_at(shape, i) < tw_tensor_int_at(old, i)) {
                tw__text text = { 0 };
                tw__text_add(&text, "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape (");
                tw__print_elements(&text, old, " ", 0);
                tw__text_add(&text, "), sp_input.shape (");
                tw__print_elements(&text, shape, " ", 0);
                tw__text_add(&text, ").");
                tw__fail(TW_VALUE_ERROR, "%s", text.data ? text.data : "");
                tw__text_free(&text);
                shape = NULL;
            }
        }
    }
    tw_sparse_tensor *made = made_of(s->indices, s->values, shape, NULL);
    return made;
}

TW_API(sparse_expand_dims,
       "sparse.expand_dims(sp_input: sparse_tensor, axis: int = -1 shown None, name: str = None) -> sparse_tensor",
       "With a dimension of size one more.\n"
       "axis: where the new dimension stands in the result; negative ones count from the end\n"
       "example: tf.sparse.expand_dims(tf.sparse.from_dense([0, 7])).shape  # TensorShape([2, 1])")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    int rank = s->shape.rank;
    int64_t given = args->axis == TW_NO_INT ? -1 : args->axis, axis = given < 0 ? given + rank + 1 : given;
    if (rank < 0 || rank == TW_MAX_RANK || axis < 0 || axis > rank) {
        tw__fail(rank < 0 || rank == TW_MAX_RANK ? TW_UNIMPLEMENTED : TW_VALUE_ERROR,
                 "axis %lld is out of bounds for a sparse tensor of rank %d", (long long)given, rank);
        return NULL;
    }
    tw_shape shape = { .rank = rank + 1 };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = i < axis ? s->shape.dims[i] : i == axis ? 1 : s->shape.dims[i - 1];
    tw_tensor *one = tw__temp_ints(t, (const int64_t[]){ 1 }, 1, TW_INT64);
    tw_tensor *sizes = tw__temp_concat(t,
                                       TW_IN(tw__temp_slice(t, s->dense_shape, TW_NO_INT, axis), one,
                                             tw__temp_slice(t, s->dense_shape, axis, TW_NO_INT)),
                                       3, 0);
    /* A column of zeros is put in front and goes to its place with the others. */
    tw_tensor *count = tw__temp_slice(t, tw__temp_shape(t, s->indices, TW_INT64), TW_NO_INT, 1);
    tw_tensor *column = tw__temp_zeros(t, tw__temp_concat(t, TW_IN(count, one), 2, 0), TW_INT64);
    tw_tensor *wide = tw__temp_concat(t, TW_IN(column, s->indices), 2, 1);
    int64_t order[TW_MAX_RANK];
    for (int i = 0; i < shape.rank; i++)
        order[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    tw_sparse_tensor *made =
        made_of(tw__temp_gather(t, wide, tw__temp_ints(t, order, shape.rank, TW_INT32), 1), s->values, sizes, &shape);
    return made;
}

TW_API(
    sparse_eye,
    "sparse.eye(num_rows: tensor<int64>, num_columns: tensor<int64> = None, dtype: dtype = float32, name: str = None) -> sparse_tensor",
    "Ones on the diagonal of a matrix.")
{
    TW_TEMPS(t);
    tw_tensor *rows = tw__temp_cast(t, args->num_rows, TW_INT64),
              *columns = args->num_columns ? tw__temp_cast(t, args->num_columns, TW_INT64) : rows;
    tw_tensor *range = tw__temp_range(t, TW_TEMP(Minimum, rows, columns));
    tw_tensor *indices = TW_TEMP(Pack, range, range, TW_A_INT("axis", 1));
    tw_tensor *ones = TW_TEMP(OnesLike, tw__temp_cast(t, range, args->dtype)),
              *shape = TW_TEMP(Pack, rows, columns, TW_A_INT("axis", 0));
    tw_sparse_tensor *made = made_of(indices, ones, shape, NULL);
    return made;
}

TW_API(
    sparse_fill_empty_rows,
    "sparse.fill_empty_rows|compat.v1.sparse_fill_empty_rows(sp_input: sparse_tensor, default_value: tensor, name: str = None) -> value",
    "The sparse tensor with a value in every row, and which rows had none.\n"
    "default_value: what rows without values get, in their first column")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    tw_tensor *made[4] = { NULL, NULL, NULL, NULL }, *other = tw__temp_fitting(t, args->default_value, s->values->dtype);
    int count = 4;
    tw_value pair = { .kind = TW_VALUE_NONE };
    if (other && tw__apply(&tw__op_SparseFillEmptyRows, TW_IN(s->indices, s->values, s->dense_shape, other), 4, NULL, 0, made,
                           &count) == TW_OK) {
        tw_sparse_tensor *filled = made_of(made[0], made[1], s->dense_shape, &s->shape);
        tw_value *items = filled ? tw__alloc_array(2, sizeof *items) : NULL;
        if (items) {
            items[0] = tw__value_of_object(filled);
            items[1] = tw__value_of_tensor(tw_retain(made[2]));
            pair = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2 } };
        } else {
            tw_release(filled);
        }
    }
    for (int i = 0; i < 4; i++)
        tw_release(made[i]);
    return pair;
}

TW_API(
    sparse_to_indicator,
    "sparse.to_indicator|compat.v1.sparse_to_indicator(sp_input: sparse_tensor, vocab_size: tensor<int64>, name: str = None) -> tensor",
    "True where a row of ids holds the id.\n"
    "sp_input: a sparse tensor of ids\n"
    "vocab_size: how many ids there are: the length of the last dimension")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->sp_input;
    if (s->shape.rank < 1 || !tw__dtype_is_integer(s->values->dtype)) {
        tw__fail(TW_TYPE_ERROR, "sparse.to_indicator: ids must be integers in a sparse tensor of known rank");
        return NULL;
    }
    int last = s->shape.rank - 1;
    int64_t order[TW_MAX_RANK];
    for (int i = 0; i < last; i++)
        order[i] = i;
    tw_tensor *ids = TW_TEMP(ExpandDims, tw__temp_cast(t, s->values, TW_INT64), tw__temp_int(t, 1, TW_INT32));
    tw_tensor *rows = tw__temp_gather(t, s->indices, tw__temp_ints(t, order, last, TW_INT32), 1);
    tw_tensor *size = tw__temp_reshape(t, tw__temp_cast(t, args->vocab_size, TW_INT64), (const int64_t[]){ 1 }, 1);
    tw_tensor *sizes = tw__temp_concat(t, TW_IN(tw__temp_slice(t, s->dense_shape, TW_NO_INT, last), size), 2, 0);
    tw_tensor *yes = tw__temp(t, tw_tensor_bool(true)), *no = tw__temp(t, tw_tensor_bool(false));
    return TW_CALL(SparseToDense, tw__temp_concat(t, TW_IN(rows, ids), 2, 1), sizes, yes, no,
                   TW_A_BOOL("validate_indices", false));
}
