/* Functions on arrays: shapes, joining, taking apart, picking. */
#include "api/array/array.h"
#include "api/composite.h"
#include "api/later.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

tw_tensor *tw__call_axis(const tw_op *op, tw_tensor *x, int64_t axis, const tw_attr *attrs, int attr_count)
{
    if (axis < INT32_MIN || axis > INT32_MAX) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: axis %lld is out of range", op->name, (long long)axis);
        return NULL;
    }
    tw_auto tw_tensor *number = tw_tensor_int((int32_t)axis);
    tw_tensor *result = tw__call(op, TW_IN(x, number), 2, attrs, attr_count);
    return result;
}

tw_tensors tw__call_many(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                         int64_t outputs)
{
    tw_tensors none = { 0 };
    if (outputs < 0 || outputs > INT32_MAX) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: %lld results", op->name, (long long)outputs);
        return none;
    }
    for (int i = 0; i < input_count; i++) { /* NULL, after a failure, gives nothing, as with TW_CALL */
        if (!inputs[i])
            return none;
    }
    int count = (int)outputs;
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    if (!out.items || tw__apply(op, inputs, input_count, attrs, attr_count, out.items, &count) != TW_OK) {
        tw__free(out.items);
        return none;
    }
    return out;
}

/* ---- shapes ---- */

/* In a lasting graph what is known of a shape is a constant of the function's name. */
static tw_tensor *known_in_graph(tw_tensor *value, const char *name, const char *usual)
{
    if (!value)
        return NULL;
    tw_auto tw_tensor *own = value;
    tw__part part = tw__part_begin(name, usual);
    return tw__part_result(&part, tw__part_constant(&part, own, ""));
}

static tw_tensor *count_of(int64_t count, tw_dtype dtype)
{
    return dtype == TW_INT64 ? tw_tensor_int64(count) : tw_tensor_int((int)count);
}

TW_API(shape, "shape(input: tensor, out_type: dtype = None, name: str = None) -> tensor",
       "The dimensions of a tensor.\n"
       "input: a tensor\n"
       "out_type: the dtype of the result; None: int32\n"
       "example: tf.shape([[1, 2, 3]]).numpy().tolist()  # [1, 3]")
{
    tw_dtype dtype = args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type;
    if (tw__in_graph() && tw__shape_known(&args->input->shape))
        return known_in_graph(tw__tensor_of_shape(&args->input->shape, dtype), args->name, "Shape");
    return TW_CALL(Shape, args->input, TW_A_TYPE("out_type", args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type));
}

TW_API(shape_n, "shape_n(input: tensors, out_type: dtype = int32, name: str = None) -> tensors",
       "The dimensions of several tensors.\n"
       "input: tensors")
{
    const tw_tensors *input = &args->input;
    int64_t like = 0;
    while (like < input->count && input->items[like]->dtype == input->items[0]->dtype)
        like++;
    if (like == input->count)
        return tw__call_many(&tw__op_ShapeN, input->items, (int)input->count, TW_WITH(TW_A_TYPE("out_type", args->out_type)), 1,
                             input->count);
    tw_tensor **made = tw__alloc_array((size_t)input->count, sizeof *made); /* the op has one dtype */
    tw_tensors shapes = { made, 0 };
    while (made && shapes.count < input->count) {
        made[shapes.count] = tw_shape(input->items[shapes.count], .out_type = args->out_type);
        if (!made[shapes.count]) {
            tw_tensors_free(&shapes);
            return (tw_tensors){ 0 };
        }
        shapes.count++;
    }
    return shapes;
}

TW_API(size, "size(input: tensor, out_type: dtype = None, name: str = None) -> tensor",
       "The number of elements.\n"
       "input: a tensor\n"
       "out_type: the dtype of the result; None: int32\n"
       "example: tf.size([[1, 2], [3, 4]]).numpy()  # 4")
{
    int64_t count;
    tw_dtype dtype = args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type;
    bool known = tw__shape_known(&args->input->shape) && tw__shape_count(&args->input->shape, &count) == TW_OK;
    if (known && dtype != TW_INT32 && dtype != TW_INT64) { /* the op has integers alone, a constant any numbers */
        tw__outside outside = tw__outside_begin();
        tw_auto tw_tensor *number = tw_tensor_int64(count);
        tw_tensor *cast = number ? tw_cast(number, dtype) : NULL;
        tw__outside_end(outside);
        return tw__in_graph() ? known_in_graph(cast, args->name, "Size") : cast;
    }
    if (tw__in_graph() && known)
        return known_in_graph(count_of(count, dtype), args->name, "Size");
    return TW_CALL(Size, args->input, TW_A_TYPE("out_type", dtype));
}

TW_API(rank, "rank(input: tensor, name: str = None) -> tensor",
       "The number of dimensions.\n"
       "input: a tensor\n"
       "example: tf.rank([[1, 2], [3, 4]]).numpy()  # 2")
{
    if (tw__in_graph() && args->input->shape.rank >= 0)
        return known_in_graph(count_of(args->input->shape.rank, TW_INT32), args->name, "Rank");
    return TW_CALL(Rank, args->input);
}

TW_API(reshape, "reshape(tensor: tensor, shape: tensor<int32>, name: str = None) -> tensor",
       "The same elements under another shape; one dimension may be -1.\n"
       "tensor: a tensor\n"
       "shape: the new shape; one dimension may be -1, which is then computed\n"
       "raises: InvalidArgumentError: the shape has another number of elements\n"
       "example: tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()  # [[1, 2], [3, 4]]")
{
    if (args->shape->shape.rank != 0)
        return TW_CALL(Reshape, args->tensor, args->shape);
    tw_auto tw_tensor *vector = tw__call_axis(&tw__op_ExpandDims, args->shape, 0, NULL, 0); /* a number is a vector of one */
    return TW_CALL(Reshape, args->tensor, vector);
}

TW_API(expand_dims, "expand_dims(input: tensor, axis: int, name: str = None) -> tensor",
       "Puts in a dimension of one.\n"
       "input: a tensor\n"
       "axis: where the new dimension stands in the result; negative ones count from the end\n"
       "example: tf.expand_dims([1, 2], 0).numpy().tolist()  # [[1, 2]]")
{
    return tw__call_axis(&tw__op_ExpandDims, args->input, args->axis, NULL, 0);
}

TW_API(squeeze, "squeeze(input: tensor, axis: ints = None, name: str = None) -> tensor",
       "Takes out dimensions of one.\n"
       "input: a tensor\n"
       "axis: the dimensions to take out; None: all whose length is 1\n"
       "raises: InvalidArgumentError: a dimension that is named is not 1\n"
       "example: tf.squeeze([[[1], [2]]]).numpy().tolist()  # [1, 2]")
{
    return TW_CALL(Squeeze, args->input, TW_A_INTS("squeeze_dims", args->axis.items, args->axis.count));
}

/* rank - 1, …, 1, 0 of a tensor whose rank is not known yet. */
static tw_tensor *turned_axes(tw_tensor *x)
{
    TW_TEMPS(t);
    tw_tensor *rank = TW_TEMP(Rank, x);
    return TW_CALL(Sub, TW_TEMP(Sub, rank, 1), TW_TEMP(Range, 0, rank, 1));
}

TW_API(transpose, "transpose(a: tensor, perm: ints = None, conjugate: bool = False, name: str = transpose) -> tensor",
       "Dimension i of the result is dimension perm[i] of a; without perm the dimensions are turned round.\n"
       "a: a tensor\n"
       "conjugate: True: complex numbers are conjugated, too\n"
       "example: tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy().tolist()  # [[1, 4], [2, 5], [3, 6]]")
{
    int64_t order[TW_MAX_RANK];
    int rank = args->a->shape.rank;
    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    tw_auto tw_tensor *perm = args->perm.given ? tw__ints_tensor(args->perm.items, args->perm.count, TW_INT32)
                              : rank < 0       ? turned_axes(args->a)
                                               : tw__ints_tensor(order, rank, TW_INT32);
    tw_auto tw_tensor *x = args->conjugate && tw__dtype_is_complex(args->a->dtype) ? TW_CALL(Conj, args->a) : tw_retain(args->a);
    return TW_CALL(Transpose, x, perm);
}

TW_API(linalg_matrix_transpose,
       "linalg.matrix_transpose(a: tensor, name: str = matrix_transpose, conjugate: bool = False) -> tensor",
       "The last two dimensions change places.\n"
       "a: matrices [..., M, N]\n"
       "conjugate: True: complex numbers are conjugated, too")
{
    int64_t order[TW_MAX_RANK];
    int rank = args->a->shape.rank;
    tw_auto tw_tensor *x = args->conjugate && tw__dtype_is_complex(args->a->dtype) ? TW_CALL(Conj, args->a) : tw_retain(args->a);
    if (!x)
        return NULL;
    if (rank < 0)
        return tw__swap_axes_later(x, -2, -1);
    if (rank < 2) {
        tw__fail(TW_VALUE_ERROR, "Argument `a` must be a (batch) matrix with rank >= 2. Received `a` = %s with shape: %s",
                 tw_dtype_name(args->a->dtype), tw__shape_text(&args->a->shape));
        return NULL;
    }
    for (int i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    tw_auto tw_tensor *perm = tw__ints_tensor(order, rank, TW_INT32);
    return TW_CALL(Transpose, x, perm);
}

/* ---- joining and taking apart ---- */

TW_API(concat, "concat(values: tensors<T>, axis: int, name: str = concat) -> tensor",
       "Joins tensors along an axis.\n"
       "values: tensors that differ along `axis` at most\n"
       "example: tf.concat([[1, 2], [3]], 0).numpy().tolist()  # [1, 2, 3]")
{
    int64_t count = args->values.count;
    if (count == 0 || count >= INT32_MAX) {
        tw__fail(TW_INVALID_ARGUMENT, "tf.concat: at least one value is needed, got %lld", (long long)count);
        return NULL;
    }
    if (count == 1)
        return TW_CALL(Identity, args->values.items[0]);
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)count + 1, sizeof *inputs);
    tw_auto tw_tensor *axis = tw__whole_tensor(args->axis);
    tw_tensor *result = NULL;
    if (inputs && axis) {
        memcpy(inputs, args->values.items, (size_t)count * sizeof *inputs);
        inputs[count] = axis;
        result = tw__call(&tw__op_ConcatV2, inputs, (int)count + 1, NULL, 0);
    }
    return result;
}

TW_API(unstack, "unstack(value: tensor, num: int = None, axis: int = 0, name: str = unstack) -> tensors",
       "Takes a tensor apart along an axis.\n"
       "value: the tensor\n"
       "returns: a list of tensors with one dimension less\n"
       "example: [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]])]  # [[1, 2], [3, 4]]")
{
    int64_t num = args->num;
    int axis;
    if (num == TW_NO_INT) {
        if (!tw__axis_normal(args->axis, args->value->shape.rank, &axis)) {
            tw__fail(TW_VALUE_ERROR, "Argument `axis` = %lld not in range [-%d, %d)", (long long)args->axis,
                     args->value->shape.rank, args->value->shape.rank);
            return (tw_tensors){ 0 };
        }
        num = args->value->shape.dims[axis];
    }
    return tw__call_many(&tw__op_Unpack, TW_IN(args->value), 1, TW_WITH(TW_A_INT("num", num), TW_A_INT("axis", args->axis)), 2,
                         num);
}

TW_API(split, "split(value: tensor, num_or_size_splits: value, axis: int = 0, num: int = None, name: str = split) -> tensors",
       "Cuts a tensor into so many equal parts, or into parts of the sizes given.\n"
       "value: the tensor\n"
       "num_or_size_splits: how many equal parts there are, or the lengths of the parts along `axis`; one may be -1\n"
       "example: [t.numpy().tolist() for t in tf.split([1, 2, 3, 4, 5], [2, 3])]  # [[1, 2], [3, 4, 5]]")
{
    const tw_value *splits = &args->num_or_size_splits;
    tw_auto tw_tensor *axis = tw_tensor_int((int32_t)args->axis);
    tw_auto tw_tensor *sizes = NULL;
    if (!axis)
        return (tw_tensors){ 0 };
    bool scalar = splits->kind == TW_VALUE_TENSOR && splits->tensor->shape.rank == 0;
    if (splits->kind == TW_VALUE_INT || scalar) {
        int64_t parts = scalar ? tw_tensor_int_at(splits->tensor, 0) : splits->i;
        if (parts < 1) {
            tw__fail(TW_VALUE_ERROR, "tf.split: num_or_size_splits must be positive, got %lld", (long long)parts);
            return (tw_tensors){ 0 };
        }
        return tw__call_many(&tw__op_Split, TW_IN(axis, args->value), 2, TW_WITH(TW_A_INT("num_split", parts)), 1, parts);
    }
    if (splits->kind == TW_VALUE_TENSOR) {
        sizes = tw_retain(splits->tensor);
    } else if (splits->kind == TW_VALUE_LIST || splits->kind == TW_VALUE_TUPLE) {
        sizes = tw__value_tensor(splits, TW_INT64, "tf.split: num_or_size_splits");
    } else {
        tw__fail(TW_TYPE_ERROR, "tf.split: num_or_size_splits must be an integer, a list of integers or a tensor");
    }
    if (!sizes)
        return (tw_tensors){ 0 };
    int64_t parts = args->num == TW_NO_INT ? sizes->count : args->num;
    return tw__call_many(&tw__op_SplitV, TW_IN(args->value, sizes, axis), 3, TW_WITH(TW_A_INT("num_split", parts)), 1, parts);
}

TW_API(
    strided_slice,
    "strided_slice(input_: tensor, begin: tensor<I>, end: tensor<I>, strides: tensor<I> = None, begin_mask: int = 0, end_mask: int = 0, "
    "ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: value = None, name: str = None) -> tensor",
    "A slice by begin, end and step, with masks as for the op StridedSlice.\n"
    "input_: the tensor\n"
    "begin: where the slice begins along each dimension\n"
    "end: where it ends; the place itself does not belong to it\n"
    "strides: the steps; None: 1\n"
    "begin_mask: bit i: the slice begins at the start of dimension i\n"
    "end_mask: bit i: the slice goes to the end of dimension i\n"
    "ellipsis_mask: bit i: entry i stands for as many whole dimensions as are left\n"
    "new_axis_mask: bit i: entry i is a new dimension of length 1\n"
    "shrink_axis_mask: bit i: entry i is a single index, whose dimension is dropped\n"
    "var: the variable that the slice belongs to; None: none\n"
    "example: tf.strided_slice([0, 1, 2, 3, 4, 5], [1], [5], [2]).numpy().tolist()  # [1, 3]")
{
    if (args->var.kind != TW_VALUE_NONE) {
        tw__fail(TW_UNIMPLEMENTED, "tf.strided_slice: the argument var is not supported");
        return NULL;
    }
    tw_auto tw_tensor *strides = args->strides ? tw_retain(args->strides) : TW_CALL(OnesLike, args->begin);
    if (!strides)
        return NULL;
    return TW_CALL(StridedSlice, args->input_, args->begin, args->end, strides, TW_A_INT("begin_mask", args->begin_mask),
                   TW_A_INT("end_mask", args->end_mask), TW_A_INT("ellipsis_mask", args->ellipsis_mask),
                   TW_A_INT("new_axis_mask", args->new_axis_mask), TW_A_INT("shrink_axis_mask", args->shrink_axis_mask));
}

TW_API(reverse, "reverse|compat.v1.reverse_v2(tensor: tensor, axis: ints, name: str = None) -> tensor",
       "Turns axes round.\n"
       "tensor: a tensor\n"
       "axis: the dimensions to turn round\n"
       "example: tf.reverse([1, 2, 3], [0]).numpy().tolist()  # [3, 2, 1]")
{
    tw_auto tw_tensor *axes = tw__ints_tensor(args->axis.items, args->axis.count, TW_INT32);
    return TW_CALL(ReverseV2, args->tensor, axes);
}

TW_API(
    reverse_sequence,
    "reverse_sequence(input: tensor, seq_lengths: tensor<int64>, seq_axis: int = None, batch_axis: int = None, name: str = None) "
    "-> tensor",
    "Turns the beginning of every sequence of a batch round, by its own length.\n"
    "input: the batch of sequences\n"
    "seq_lengths: how many elements of each sequence are turned round\n"
    "seq_axis: the dimension of the sequences' elements\n"
    "batch_axis: the dimension of the batch; None: 0\n"
    "example: tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()  # [[2, 1, 3], [6, 5, 4]]")
{
    if (args->seq_axis == TW_NO_INT) {
        tw__fail(TW_TYPE_ERROR, "Expected int for argument 'seq_dim' not None.");
        return NULL;
    }
    return TW_CALL(ReverseSequence, args->input, args->seq_lengths, TW_A_INT("seq_dim", args->seq_axis),
                   TW_A_INT("batch_dim", args->batch_axis == TW_NO_INT ? 0 : args->batch_axis));
}

TW_API(
    pad,
    "pad(tensor: tensor<T>, paddings: tensor<int32>, mode: str = CONSTANT, constant_values: tensor<T> = None shown 0, name: str = None) -> tensor",
    "Puts a border around a tensor: zeros, a value, or a mirror image (mode REFLECT or SYMMETRIC).\n"
    "tensor: a tensor\n"
    "paddings: for each dimension how many elements are added before and behind, [n, 2]\n"
    "mode: `CONSTANT`, `REFLECT` (the border is not repeated) or `SYMMETRIC` (it is)\n"
    "constant_values: what the border is made of where the mode is `CONSTANT`; None: 0\n"
    "example: tf.pad([1, 2, 3], [[2, 1]], 'REFLECT').numpy().tolist()  # [3, 2, 1, 2, 3, 2]")
{
    if (strcasecmp(args->mode, "CONSTANT") == 0) {
        if (args->constant_values)
            return TW_CALL(PadV2, args->tensor, args->paddings, args->constant_values);
        return TW_CALL(Pad, args->tensor, args->paddings);
    }
    bool reflect = strcasecmp(args->mode, "REFLECT") == 0;
    if (!reflect && strcasecmp(args->mode, "SYMMETRIC") != 0) {
        tw__fail(
            TW_VALUE_ERROR,
            "Value of argument `mode` expected to be one of \"CONSTANT\", \"REFLECT\", or \"SYMMETRIC\". Received `mode` = %s",
            args->mode);
        return NULL;
    }
    return TW_CALL(MirrorPad, args->tensor, args->paddings, TW_A_STRING("mode", reflect ? "REFLECT" : "SYMMETRIC"));
}

/* ---- picking and putting by index ---- */

TW_API(gather,
       "gather(params: tensor, indices: tensor<int32>, validate_indices: value = None, axis: int = None, batch_dims: int = 0, "
       "name: str = None) -> tensor",
       "Slices of params along an axis, by index.\n"
       "params: the tensor that slices are taken from\n"
       "axis: the dimension of `params` that indices count along; None: `batch_dims`\n"
       "batch_dims: how many leading dimensions `params` and `indices` have in common\n"
       "raises: InvalidArgumentError: an index is out of range\n"
       "example: tf.gather([10, 20, 30], [2, 0]).numpy().tolist()  # [30, 10]")
{
    tw_auto tw_tensor *axis = tw_tensor_int((int32_t)(args->axis == TW_NO_INT ? args->batch_dims : args->axis));
    if (!axis)
        return NULL;
    return TW_CALL(GatherV2, args->params, args->indices, axis, TW_A_INT("batch_dims", args->batch_dims));
}

/* Indices into all of params: in front of each row stands where in the batch it is. */
static tw_tensor *with_batch(tw_tensor *params, tw_tensor *indices, int64_t batch_dims)
{
    int rank = indices->shape.rank;
    if (!tw__shape_known(&indices->shape) || params->shape.rank < 0) {
        tw__fail(TW_UNIMPLEMENTED, "tf.gather_nd: batch_dims needs shapes that are known while tracing, got %s and %s",
                 tw__shape_text(&params->shape), tw__shape_text(&indices->shape));
        return NULL;
    }
    if (batch_dims >= rank || batch_dims >= params->shape.rank) {
        bool first = batch_dims < rank;
        tw__fail(TW_VALUE_ERROR, "Argument `batch_dims` = %lld must be less than rank(`%s`) = %d", (long long)batch_dims,
                 first ? "params" : "indices", first ? params->shape.rank : rank);
        return NULL;
    }
    for (int i = 0; i < batch_dims; i++) {
        if (params->shape.dims[i] >= 0 && params->shape.dims[i] != indices->shape.dims[i]) {
            tw__fail(TW_INVALID_ARGUMENT,
                     "tf.gather_nd: the first %lld dimensions of params and indices must be equal, got %s and %s",
                     (long long)batch_dims, tw__shape_text(&params->shape), tw__shape_text(&indices->shape));
            return NULL;
        }
    }
    tw_shape shape = indices->shape;
    shape.dims[rank - 1] = batch_dims;
    tw_auto tw_tensor *places = tw_tensor_new(TW_INT64, shape, NULL);
    if (!places)
        return NULL;
    int64_t inner = 1;
    for (int i = rank - 2; i >= 0; i--) {
        for (int64_t row = 0; i < batch_dims && row < places->count / batch_dims; row++)
            ((int64_t *)places->data)[row * batch_dims + i] = row / inner % shape.dims[i];
        inner *= shape.dims[i];
    }
    tw_auto tw_tensor *own =
        indices->dtype == TW_INT64 ? tw_retain(places) : TW_CALL(Cast, places, TW_A_TYPE("DstT", indices->dtype));
    return TW_CALL(ConcatV2, own, indices, (int)(rank - 1));
}

TW_API(gather_nd, "gather_nd(params: tensor, indices: tensor<int32>, batch_dims: int = 0, name: str = None) -> tensor",
       "Slices of params, by indices over several leading dimensions.\n"
       "params: the tensor that slices are taken from\n"
       "indices: the last dimension holds an index for each of the leading dimensions of `params`\n"
       "batch_dims: how many leading dimensions `params` and `indices` have in common\n"
       "example: tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()  # [2, 3]")
{
    if (args->batch_dims < 0) {
        tw__fail(TW_VALUE_ERROR, "tf.gather_nd does not allow negative batch_dims.");
        return NULL;
    }
    if (args->batch_dims > 0) {
        tw_auto tw_tensor *indices = with_batch(args->params, args->indices, args->batch_dims);
        return TW_CALL(GatherNd, args->params, indices);
    }
    return TW_CALL(GatherNd, args->params, args->indices);
}

TW_API(dynamic_stitch, "dynamic_stitch(indices: tensors, data: tensors<T>, name: str = None) -> tensor",
       "Rows of several tensors in one, each where its index says.\n"
       "indices: for each tensor of `data` where its rows go\n"
       "data: tensors of rows, which begin with the shape of their indices\n"
       "example: tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy().tolist()  # [10, 20, 30]")
{
    int64_t count = args->indices.count;
    if (count != args->data.count || count >= INT32_MAX / 2) {
        tw__fail(TW_VALUE_ERROR, "tf.dynamic_stitch: %lld indices for %lld data", (long long)count, (long long)args->data.count);
        return NULL;
    }
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)(2 * count) + 1, sizeof *inputs);
    tw_tensor *result = NULL;
    if (inputs) {
        for (int64_t i = 0; i < count; i++) {
            inputs[i] = args->indices.items[i];
            inputs[count + i] = args->data.items[i];
        }
        result = tw__call(&tw__op_DynamicStitch, inputs, (int)(2 * count), TW_WITH(TW_A_INT("N", count)), 1);
    }
    return result;
}

/* The tensor with the dimensions that the mask has joined into one, which may be known only when a graph runs. */
static tw_tensor *joined_axes(tw_tensor *x, int axis, int count)
{
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *zero = tw__temp_ints(t, (int64_t[]){ 0 }, 1, TW_INT32);
    tw_tensor *size = TW_TEMP(Prod, tw__temp_slice(t, shape, axis, axis + count), zero, TW_A_BOOL("keep_dims", true));
    tw_tensor *parts[] = { tw__temp_slice(t, shape, TW_NO_INT, axis), size, tw__temp_slice(t, shape, axis + count, TW_NO_INT) };
    return TW_CALL(Reshape, x, tw__temp_concat(t, parts, 3, 0));
}

TW_API(boolean_mask, "boolean_mask(tensor: tensor, mask: tensor<bool>, axis: int = None, name: str = boolean_mask) -> tensor",
       "The slices where a mask over some neighbouring dimensions is true.\n"
       "tensor: a tensor\n"
       "mask: True for what stays; its shape is that of some neighbouring dimensions of `tensor`\n"
       "axis: the first of these dimensions; None: 0\n"
       "example: tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()  # [1, 3]")
{
    const tw_shape *shape = &args->tensor->shape, *mask = &args->mask->shape;
    int axis = 0;
    if (mask->rank <= 0) {
        tw__fail(TW_VALUE_ERROR, mask->rank == 0
                                     ? "mask cannot be scalar."
                                     : "Number of mask dimensions must be specified, even if some dimensions are None.  "
                                       "E.g. shape=[None] is ok, but shape=None is not.");
        return NULL;
    }
    if (args->axis != TW_NO_INT && args->axis >= 0 && shape->rank < 0) {
        axis = (int)args->axis;
    } else if (args->axis != TW_NO_INT && !tw__axis_normal(args->axis, shape->rank, &axis)) {
        tw__fail(TW_VALUE_ERROR, "tf.boolean_mask: axis %lld of a tensor of shape %s", (long long)args->axis,
                 tw__shape_text(shape));
        return NULL;
    }
    bool fits = shape->rank < 0 || axis + mask->rank <= shape->rank;
    for (int i = axis; fits && shape->rank >= 0 && i < axis + mask->rank; i++)
        fits = shape->dims[i] < 0 || mask->dims[i - axis] < 0 || shape->dims[i] == mask->dims[i - axis];
    if (!fits) {
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible: the mask must fit the tensor's dimensions from axis %d on",
                 tw__shape_text(shape), tw__shape_text(mask), axis);
        return NULL;
    }
    tw_auto tw_tensor *minus = tw__ints_tensor(&(int64_t){ -1 }, 1, TW_INT64);
    tw_auto tw_tensor *rows = minus ? joined_axes(args->tensor, axis, mask->rank) : NULL;
    tw_auto tw_tensor *flat = rows ? TW_CALL(Reshape, args->mask, minus) : NULL;
    tw_auto tw_tensor *found = TW_CALL(Where, flat);
    tw_auto tw_tensor *indices = TW_CALL(Reshape, found, minus);
    tw_auto tw_tensor *at = indices ? tw_tensor_int(axis) : NULL;
    return TW_CALL(GatherV2, rows, indices, at);
}
