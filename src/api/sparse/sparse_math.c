/* tf.sparse: arithmetic of sparse tensors: sums, products, reductions, joining and cutting, segments. */
#include "api/sparse/sparse.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

static bool is_sparse(const tw_value *value)
{
    return value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_sparse_tensor);
}

/* The real dtype that the size of a number has. */
static tw_dtype real_of(tw_dtype dtype)
{
    return dtype == TW_COMPLEX64 ? TW_FLOAT32 : dtype == TW_COMPLEX128 ? TW_FLOAT64 : dtype;
}

TW_API(sparse_add, "sparse.add|compat.v1.sparse_add(a: value, b: value, threshold: value = None shown 0) -> value",
       "The sum of two sparse tensors, without values smaller than a threshold; or of a sparse and an ordinary one, which is an "
       "ordinary one.\n"
       "a: a sparse tensor, or an ordinary one if `b` is sparse\n"
       "b: a sparse tensor, or an ordinary one if `a` is sparse\n"
       "threshold: sums whose absolute value is smaller are left out; None: 0")
{
    TW_TEMPS(t);
    if (!is_sparse(&args->a) && !is_sparse(&args->b)) {
        tw__fail(TW_TYPE_ERROR, "At least one input should be SparseTensor; do you mean to use tf.add()?");
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    if (is_sparse(&args->a) && is_sparse(&args->b)) {
        const tw_sparse_tensor *a = args->a.object, *b = args->b.object;
        tw_dtype real = real_of(a->values->dtype);
        tw_value zero = { .kind = TW_VALUE_INT, .i = 0 };
        tw_tensor *given =
            tw__temp(t, tw__value_tensor(args->threshold.kind == TW_VALUE_NONE ? &zero : &args->threshold, real, "sparse.add"));
        tw_tensor *least = tw__temp_cast(t, given, real), *made[3] = { NULL, NULL, NULL };
        int count = 3;
        tw_status status =
            !least ? tw__error_status()
                   : tw__apply(&tw__op_SparseAdd,
                               TW_IN(a->indices, a->values, a->dense_shape, b->indices, b->values, b->dense_shape, least), 7,
                               NULL, 0, made, &count);
        tw_sparse_tensor *sum = status == TW_OK ? tw__sparse_of_outputs(made) : NULL;
        if (sum && !tw__shape_known(&sum->shape))
            sum->shape = a->shape;
        return tw__value_of_object(sum);
    }
    const tw_sparse_tensor *sparse = is_sparse(&args->a) ? args->a.object : args->b.object;
    tw_tensor *dense =
        tw__temp(t, tw__value_tensor(is_sparse(&args->a) ? &args->b : &args->a, sparse->values->dtype, "sparse.add"));
    return tw__value_of_tensor(TW_CALL(SparseTensorDenseAdd, sparse->indices, sparse->values, sparse->dense_shape, dense));
}

static tw_sparse_tensor *pair(const tw_op *op, const tw_sparse_tensor *a, const tw_sparse_tensor *b)
{
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (tw__apply(op, TW_IN(a->indices, a->values, a->dense_shape, b->indices, b->values, b->dense_shape), 6, NULL, 0, made,
                  &count) != TW_OK)
        return NULL;
    tw_sparse_tensor *sparse = tw__sparse_new(made[0], made[1], a->dense_shape);
    tw_release(made[0]);
    tw_release(made[1]);
    return sparse;
}

TW_API(sparse_maximum,
       "sparse.maximum|compat.v1.sparse_maximum(sp_a: sparse_tensor, sp_b: sparse_tensor, name: str = None) -> sparse_tensor",
       "The greater of both at the places of both.\n"
       "sp_a: a `tf.SparseTensor`\n"
       "sp_b: one of the same shape")
{
    return pair(&tw__op_SparseSparseMaximum, args->sp_a, args->sp_b);
}

TW_API(sparse_minimum,
       "sparse.minimum|compat.v1.sparse_minimum(sp_a: sparse_tensor, sp_b: sparse_tensor, name: str = None) -> sparse_tensor",
       "The smaller of both at the places of both.\n"
       "sp_a: a `tf.SparseTensor`\n"
       "sp_b: one of the same shape")
{
    return pair(&tw__op_SparseSparseMinimum, args->sp_a, args->sp_b);
}

/* ---- operators ---- */

static tw_sparse_tensor *with_dense(const tw_op *op, tw_sparse_tensor *s, const tw_value *other)
{
    tw_auto tw_tensor *dense = tw__value_tensor(other, s->values->dtype, "SparseTensor");
    tw_auto tw_tensor *values = dense ? tw__call(op, TW_IN(s->indices, s->values, s->dense_shape, dense), 4, NULL, 0) : NULL;
    tw_sparse_tensor *made = values ? tw__sparse_new(s->indices, values, s->dense_shape) : NULL;
    if (made)
        made->shape = s->shape;
    return made;
}

TW_METHOD(sparse_tensor_multiply, "SparseTensor.__mul__(self: sparse_tensor, y: value) -> sparse_tensor",
          "Its values times what stands at their places.\n"
          "y: a tensor whose shape can be broadcast to that of the sparse one")
{
    return with_dense(&tw__op_SparseDenseCwiseMul, args->self, &args->y);
}

TW_METHOD(sparse_tensor_divide, "SparseTensor.__truediv__|SparseTensor.__div__(self: sparse_tensor, y: value) -> sparse_tensor",
          "Its values by what stands at their places; integers become floats.\n"
          "y: a tensor whose shape can be broadcast to that of the sparse one")
{
    tw_sparse_tensor *s = args->self;
    tw_dtype dtype = s->values->dtype;
    if (!tw__dtype_is_integer(dtype))
        return with_dense(&tw__op_SparseDenseCwiseDiv, s, &args->y);
    tw_dtype real = dtype == TW_INT8 || dtype == TW_UINT8 || dtype == TW_INT16 || dtype == TW_UINT16 ? TW_FLOAT32 : TW_FLOAT64;
    tw_auto tw_tensor *values = TW_CALL(Cast, s->values, TW_A_TYPE("DstT", real));
    tw_auto tw_sparse_tensor *wide = tw__sparse_new(s->indices, values, s->dense_shape);
    tw_auto tw_tensor *given = wide ? tw__value_tensor(&args->y, real, "SparseTensor") : NULL;
    tw_auto tw_tensor *y = TW_CALL(Cast, given, TW_A_TYPE("DstT", real));
    return y ? with_dense(&tw__op_SparseDenseCwiseDiv, wide, &(tw_value){ .kind = TW_VALUE_TENSOR, .tensor = y }) : NULL;
}

/* ---- products ---- */

static tw_tensor *multiply(const tw_sparse_tensor *a, tw_tensor *b, bool adjoint_a, bool adjoint_b)
{
    return TW_CALL(SparseTensorDenseMatMul, a->indices, a->values, a->dense_shape, b, TW_A_BOOL("adjoint_a", adjoint_a),
                   TW_A_BOOL("adjoint_b", adjoint_b));
}

TW_API(sparse_sparse_dense_matmul,
       "sparse.sparse_dense_matmul|compat.v1.sparse_tensor_dense_matmul(sp_a: value, b: value, adjoint_a: bool = False, "
       "adjoint_b: bool = False, name: str = None) -> tensor",
       "The product of a sparse and an ordinary matrix, in any order.\n"
       "sp_a: the first matrix, sparse, or ordinary if the second is sparse\n"
       "b: the second matrix\n"
       "adjoint_a: True: conjugate and transpose the first matrix\n"
       "adjoint_b: True: conjugate and transpose the second matrix\n"
       "example: tf.sparse.sparse_dense_matmul(tf.sparse.eye(2), [[1.0], [2.0]]).numpy().tolist()  # [[1.0], [2.0]]")
{
    if (is_sparse(&args->b) && !is_sparse(&args->sp_a)) { /* the transposed product */
        const tw_sparse_tensor *s = args->b.object;
        tw_auto tw_tensor *dense = tw__value_tensor(&args->sp_a, s->values->dtype, "sparse_dense_matmul");
        tw_auto tw_tensor *product = multiply(s, dense, !args->adjoint_b, !args->adjoint_a);
        tw_auto tw_tensor *order = product ? tw__ints_tensor((const int64_t[]){ 1, 0 }, 2, TW_INT32) : NULL;
        tw_auto tw_tensor *turned = TW_CALL(Transpose, product, order);
        return turned ? (tw__dtype_is_complex(turned->dtype) ? TW_CALL(Conj, turned) : tw_retain(turned)) : NULL;
    }
    const tw_sparse_tensor *s = tw__sparse_given(&args->sp_a);
    tw_auto tw_tensor *dense = s ? tw__value_tensor(&args->b, s->values->dtype, "sparse_dense_matmul") : NULL;
    return s ? multiply(s, dense, args->adjoint_a, args->adjoint_b) : NULL;
}

/* ---- reductions ---- */

static tw_value reduce(const tw_op *dense, const tw_op *sparse, const tw_sparse_tensor *s, tw_ints axis, bool keepdims,
                       bool to_sparse)
{
    int64_t all[TW_MAX_RANK];
    int rank = s->shape.rank;
    if (!axis.given && rank < 0) {
        tw__fail(TW_UNIMPLEMENTED, "sparse: a reduction over all dimensions of a sparse tensor of unknown rank is not supported");
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    for (int i = 0; i < rank; i++)
        all[i] = i;
    tw_auto tw_tensor *axes =
        axis.given ? tw__ints_tensor(axis.items, axis.count, TW_INT32) : tw__ints_tensor(all, rank, TW_INT32);
    tw_tensor *inputs[4] = { s->indices, s->values, s->dense_shape, axes }, *made[3] = { NULL, NULL, NULL };
    tw_attr keep = TW_A_BOOL("keep_dims", keepdims);
    int count = 3;
    if (!to_sparse)
        return tw__value_of_tensor(tw__call(dense, inputs, 4, &keep, 1));
    tw_status status = axes ? tw__apply(sparse, inputs, 4, &keep, 1, made, &count) : tw__error_status();
    return tw__value_of_object(status == TW_OK ? tw__sparse_of_outputs(made) : NULL);
}

TW_API(
    sparse_reduce_sum,
    "sparse.reduce_sum(sp_input: sparse_tensor, axis: ints = None, keepdims: bool = False shown None, output_is_sparse: bool = False, "
    "name: str = None) -> value",
    "The sums over dimensions, all if none is named.\n"
    "output_is_sparse: True: give a sparse tensor")
{
    return reduce(&tw__op_SparseReduceSum, &tw__op_SparseReduceSumSparse, args->sp_input, args->axis, args->keepdims,
                  args->output_is_sparse);
}

TW_API(
    sparse_reduce_max,
    "sparse.reduce_max(sp_input: sparse_tensor, axis: ints = None, keepdims: bool = False shown None, output_is_sparse: bool = False, "
    "name: str = None) -> value",
    "The greatest values over dimensions, all if none is named.\n"
    "output_is_sparse: True: give a sparse tensor")
{
    return reduce(&tw__op_SparseReduceMax, &tw__op_SparseReduceMaxSparse, args->sp_input, args->axis, args->keepdims,
                  args->output_is_sparse);
}

/* ---- joining and cutting ---- */

/* All members at least as large as the largest in dimensions other than the axis. */
static tw_tensor *widened(tw__temps *t, tw_tensor *own, tw_tensor *most, int64_t axis, int rank)
{
    tw_tensor *mask = tw__temp(t, tw__tensor_empty(TW_BOOL, &TW_SHAPE(rank)));
    for (int i = 0; mask && i < rank; i++)
        ((bool *)mask->data)[i] = i == axis;
    return TW_TEMP(SelectV2, mask, own, most);
}

TW_API(sparse_concat,
       "sparse.concat(axis: int, sp_inputs: list<sparse_tensor>, expand_nonconcat_dims: bool = False, name: str = None) -> "
       "sparse_tensor",
       "Sparse tensors joined along a dimension.\n"
       "axis: the dimension to join along\n"
       "expand_nonconcat_dims: True: the other dimensions may differ; the greatest is taken")
{
    int64_t count = args->sp_inputs.count;
    const tw_sparse_tensor *const *s = (const tw_sparse_tensor *const *)args->sp_inputs.items;
    if (count == 0) {
        tw__fail(TW_VALUE_ERROR, "sparse.concat: no sparse tensors were given");
        return NULL;
    }
    if (count == 1)
        return tw_retain((void *)s[0]);
    TW_TEMPS(t);
    tw_tensor **inputs = tw__alloc_array((size_t)count * 3, sizeof *inputs), *made[3] = { NULL, NULL, NULL },
              *most = s[0]->dense_shape;
    int rank = s[0]->shape.rank, outputs = 3;
    for (int64_t i = 1; args->expand_nonconcat_dims && i < count; i++)
        most = TW_TEMP(Maximum, most, s[i]->dense_shape);
    for (int64_t i = 0; inputs && i < count; i++) {
        inputs[i] = s[i]->indices;
        inputs[count + i] = s[i]->values;
        inputs[2 * count + i] = args->expand_nonconcat_dims && rank > 0
                                    ? widened(t, s[i]->dense_shape, most, args->axis < 0 ? args->axis + rank : args->axis, rank)
                                    : s[i]->dense_shape;
    }
    tw_sparse_tensor *joined = NULL;
    if (inputs && tw_error_code() == TW_OK &&
        tw__apply(&tw__op_SparseConcat, inputs, (int)count * 3, TW_WITH(TW_A_INT("concat_dim", args->axis), TW_A_INT("N", count)),
                  2, made, &outputs) == TW_OK)
        joined = tw__sparse_of_outputs(made);
    tw__free(inputs);
    return joined;
}

TW_API(sparse_split,
       "sparse.split(sp_input: sparse_tensor, num_split: int, axis: tensor<int64>, name: str = None) -> list<sparse_tensor>",
       "A sparse tensor cut into as many pieces along a dimension.\n"
       "num_split: how many pieces there are\n"
       "axis: the dimension to cut")
{
    int64_t pieces = args->num_split;
    const tw_sparse_tensor *s = args->sp_input;
    if (pieces < 1 || pieces >= 100000) {
        tw__fail(pieces < 1 ? TW_VALUE_ERROR : TW_UNIMPLEMENTED,
                 "sparse.split: num_split must be positive and below 100000, got %lld", (long long)pieces);
        return (tw_objects){ 0 };
    }
    tw_auto tw_tensor *axis = TW_CALL(Cast, args->axis, TW_A_TYPE("DstT", TW_INT64));
    tw_tensor **made = tw__alloc_array((size_t)pieces * 3, sizeof *made);
    void **list = made ? tw__alloc_array((size_t)pieces + 1, sizeof *list) : NULL;
    int count = (int)pieces * 3;
    bool good = list && axis &&
                tw__apply(&tw__op_SparseSplit, TW_IN(axis, s->indices, s->values, s->dense_shape), 4,
                          TW_WITH(TW_A_INT("num_split", pieces)), 1, made, &count) == TW_OK;
    for (int64_t i = 0; good && i < pieces; i++)
        good = (list[i] = tw__sparse_new(made[i], made[pieces + i], made[2 * pieces + i])) != NULL;
    for (int64_t i = 0; made && i < 3 * pieces; i++)
        tw_release(made[i]);
    tw__free(made);
    if (good)
        return (tw_objects){ list, pieces };
    for (int64_t i = 0; list && i < pieces; i++)
        tw_release(list[i]);
    tw__free(list);
    return (tw_objects){ 0 };
}

/* ---- segments ---- */

static tw_tensor *segment(const tw_op *op, const tw_op *counted, tw_tensor *data, tw_tensor *indices, tw_tensor *ids,
                          tw_tensor *count)
{
    return count ? tw__call(counted, TW_IN(data, indices, ids, count), 4, NULL, 0)
                 : tw__call(op, TW_IN(data, indices, ids), 3, NULL, 0);
}

TW_API(sparse_segment_sum,
       "sparse.segment_sum(data: tensor, indices: tensor<int32>, segment_ids: tensor<int32>, num_segments: tensor<int32> = None, "
       "name: str = None, "
       "sparse_gradient: bool = False) -> tensor",
       "Sums of the rows that are picked by index, by segment.\n"
       "data: the rows\n"
       "indices: which rows are taken\n"
       "segment_ids: for each row that is taken the number of its segment, in rising order\n"
       "num_segments: how many segments the result has; None: up to the last one\n"
       "sparse_gradient: kept for programs that set it; the gradient has the same values")
{
    return segment(&tw__op_SparseSegmentSum, &tw__op_SparseSegmentSumWithNumSegments, args->data, args->indices,
                   args->segment_ids, args->num_segments);
}

TW_API(sparse_segment_mean,
       "sparse.segment_mean(data: tensor, indices: tensor<int32>, segment_ids: tensor<int32>, num_segments: tensor<int32> = "
       "None, name: str = None, "
       "sparse_gradient: bool = False) -> tensor",
       "Means of the rows that are picked by index, by segment.\n"
       "data: the rows\n"
       "indices: which rows are taken\n"
       "segment_ids: for each row that is taken the number of its segment, in rising order\n"
       "num_segments: how many segments the result has; None: up to the last one\n"
       "sparse_gradient: kept for programs that set it; the gradient has the same values")
{
    return segment(&tw__op_SparseSegmentMean, &tw__op_SparseSegmentMeanWithNumSegments, args->data, args->indices,
                   args->segment_ids, args->num_segments);
}

TW_API(sparse_segment_sqrt_n,
       "sparse.segment_sqrt_n(data: tensor, indices: tensor<int32>, segment_ids: tensor<int32>, num_segments: tensor<int32> = "
       "None, name: str = None, "
       "sparse_gradient: bool = False) -> tensor",
       "Sums of the rows that are picked by index, by segment, divided by the square root of their number.\n"
       "data: the rows\n"
       "indices: which rows are taken\n"
       "segment_ids: for each row that is taken the number of its segment, in rising order\n"
       "num_segments: how many segments the result has; None: up to the last one\n"
       "sparse_gradient: kept for programs that set it; the gradient has the same values")
{
    return segment(&tw__op_SparseSegmentSqrtN, &tw__op_SparseSegmentSqrtNWithNumSegments, args->data, args->indices,
                   args->segment_ids, args->num_segments);
}
