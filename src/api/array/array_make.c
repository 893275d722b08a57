/* Making tensors: tf.constant, zeros, ones, fill, eye and their kin. */
#include <math.h>

#include "eager/eager.h"
#include "eager/tape.h"
#include "graph/graph.h"
#include "api/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_status refuse_layout(const tw_value *layout, const char *path)
{
    return layout->kind == TW_VALUE_NONE ? TW_OK : tw__fail(TW_UNIMPLEMENTED, "tf.%s: layouts are not supported", path);
}

/* The value, if it has the dtype asked for. */
static tw_tensor *with_dtype(tw_tensor *value, tw_dtype dtype)
{
    if (__builtin_expect(tw__device_attention || tw__device_top, 0) && !tw__tracing &&
        tw__device_before(NULL, tw__device_place) != TW_OK)
        return NULL;
    if (dtype != TW_DTYPE_NONE && value->dtype != dtype) {
        tw__fail(TW_VALUE_ERROR, "Tensor conversion requested dtype %s for Tensor with dtype %s", tw_dtype_name(dtype),
                 tw_dtype_name(value->dtype));
        return NULL;
    }
    if (__builtin_expect(tw__devices_accelerated, 0) && !value->node && value->device != tw__place_now(value->dtype)) {
        tw_tensor *here = tw__tensor_view(value, &value->shape);
        if (here)
            here->device = tw__place_now(value->dtype);
        return here;
    }
    return tw_retain(value);
}

TW_API(constant, "constant(value: tensor<dtype>, dtype: dtype = None, shape: shape = None, name: str = Const) -> tensor",
       "A tensor of the value; with a shape, the value is repeated or put into that shape.\n"
       "value: numbers, texts, lists of such or an array\n"
       "shape: the shape of the result; None: that of the value\n"
       "example: tf.constant(7, shape=(2, 2)).numpy().tolist()  # [[7, 7], [7, 7]]")
{
    tw_tensor *value = with_dtype(args->value, args->dtype);
    if (!value || args->shape.rank < 0)
        return value;
    int64_t count;
    tw_tensor *result = NULL;
    if (tw__shape_count(&args->shape, &count) == TW_OK) {
        if (value->count == count) {
            result = tw__tensor_view(value, &args->shape);
        } else if (value->count == 1) {
            tw_auto tw_tensor *dims = tw__tensor_of_shape(&args->shape, TW_INT64);
            tw_auto tw_tensor *scalar = dims ? tw__tensor_view(value, &TW_SCALAR) : NULL;
            result = TW_CALL(Fill, dims, scalar);
        } else {
            tw__fail(
                TW_TYPE_ERROR,
                "Eager execution of tf.constant with unsupported shape. Tensor of shape %s has %lld elements, but got `shape` %s with "
                "%lld elements.",
                tw__shape_text(&value->shape), (long long)value->count, tw__shape_text(&args->shape), (long long)count);
        }
    }
    tw_release(value);
    return result;
}

TW_API(convert_to_tensor,
       "convert_to_tensor(value: tensor<dtype>, dtype: dtype = None, dtype_hint: dtype = None, name: str = None) -> tensor",
       "The value as a tensor; dtype_hint is tried first where no dtype is given.\n"
       "value: a tensor, a variable, an array, numbers, texts or lists of such\n"
       "dtype_hint: the dtype to take if the value can be of it\n"
       "raises: TypeError: a number or text can't be of that dtype\n"
       "raises: ValueError: lists have different lengths, or a tensor has another dtype\n"
       "example: tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype  # tf.float32")
{
    return with_dtype(args->value, args->dtype);
}

static tw_tensor *filled(tw_tensor *shape, tw_dtype dtype, bool one, const char *name, const char *path)
{
    if (one && dtype == TW_STRING) {
        tw__fail(TW_TYPE_ERROR, "tf.%s: strings have no one", path);
        return NULL;
    }
    return tw__filled(shape, dtype, one, name, path);
}

TW_API(zeros, "zeros(shape: tensor<int32>, dtype: dtype = float32, name: str = None, layout: value = None) -> tensor",
       "A tensor of zeros.\n"
       "layout: must be None\n"
       "example: tf.zeros([2]).numpy().tolist()  # [0.0, 0.0]")
{
    return refuse_layout(&args->layout, "zeros") == TW_OK ? filled(args->shape, args->dtype, false, args->name, "zeros") : NULL;
}

TW_API(ones, "ones(shape: tensor<int32>, dtype: dtype = float32, name: str = None, layout: value = None) -> tensor",
       "A tensor of ones.\n"
       "layout: must be None\n"
       "example: tf.ones([2], tf.int32).numpy().tolist()  # [1, 1]")
{
    return refuse_layout(&args->layout, "ones") == TW_OK ? filled(args->shape, args->dtype, true, args->name, "ones") : NULL;
}

TW_API(fill, "fill(dims: tensor<int32>, value: tensor, name: str = None, layout: value = None) -> tensor",
       "A tensor of one value.\n"
       "dims: the shape of the result\n"
       "value: a single value\n"
       "layout: must be None\n"
       "example: tf.fill([2, 2], 9).numpy().tolist()  # [[9, 9], [9, 9]]")
{
    return refuse_layout(&args->layout, "fill") == TW_OK ? TW_CALL(Fill, args->dims, args->value) : NULL;
}

static tw_tensor *filled_like(tw_tensor *input, tw_dtype dtype, const tw_op *op, const char *path, const char *name)
{
    if (tw__in_graph() && tw__shape_known(&input->shape) && input->dtype != TW_VARIANT) {
        tw_auto tw_tensor *dims = tw__tensor_of_shape(&input->shape, TW_INT32);
        return dims ? filled(dims, dtype == TW_DTYPE_NONE ? input->dtype : dtype, op->fills == 1 + 1, name, path) : NULL;
    }
    if (dtype == TW_DTYPE_NONE || dtype == input->dtype)
        return tw__call(op, TW_IN(input), 1, NULL, 0);
    tw_auto tw_tensor *shape = tw__shape_as_tensor(input, TW_INT64);
    return shape ? filled(shape, dtype, op->fills == 1 + 1, name, path) : NULL;
}

TW_API(zeros_like, "zeros_like(input: tensor|ragged, dtype: dtype = None, name: str = None, layout: value = None) -> tensor",
       "Zeros of the same shape.\n"
       "input: the tensor whose shape is taken\n"
       "dtype: the dtype of the result; None: that of the input\n"
       "layout: must be None")
{
    if (refuse_layout(&args->layout, "zeros_like") != TW_OK)
        return NULL;
    return filled_like(args->input, args->dtype, &tw__op_ZerosLike, "zeros_like", args->name);
}

TW_API(ones_like, "ones_like(input: tensor|ragged, dtype: dtype = None, name: str = None, layout: value = None) -> tensor",
       "Ones of the same shape.\n"
       "input: the tensor whose shape is taken\n"
       "dtype: the dtype of the result; None: that of the input\n"
       "layout: must be None")
{
    if (refuse_layout(&args->layout, "ones_like") != TW_OK)
        return NULL;
    return filled_like(args->input, args->dtype, &tw__op_OnesLike, "ones_like", args->name);
}

/* In a graph: ones on the diagonal of nothing, or of zeros if it is no square. */
static tw_tensor *eye_in_graph(const tw_eye_args *args, int64_t rows, int64_t columns)
{
    tw__part part = tw__part_begin(args->name, "eye");
    bool square = args->num_columns == TW_NO_INT;
    tw_shape shape = { .rank = (int32_t)args->batch_shape.count + 1 };
    for (int i = 0; i + 1 < shape.rank; i++)
        shape.dims[i] = args->batch_shape.items[i];
    shape.dims[shape.rank - 1] = rows < columns ? rows : columns;
    tw_auto tw_tensor *diagonal = tw__tensor_of_shape(&shape, TW_INT32),
                      *ones = diagonal ? tw__filled(diagonal, args->dtype, true, NULL, "ones") : NULL;
    shape.rank++;
    shape.dims[shape.rank - 2] = rows;
    shape.dims[shape.rank - 1] = columns;
    tw_auto tw_tensor *whole = ones && !square ? tw__tensor_of_shape(&shape, TW_INT32) : NULL;
    tw_auto tw_tensor *zeros = whole ? tw__filled(whole, args->dtype, false, NULL, "zeros") : NULL;
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = tw_tensor_int(-1), *padding = tw_tensor_new(args->dtype, TW_SCALAR, NULL);
    tw__outside_end(outside);
    tw_tensor *out = NULL;
    if (zero && none && padding && square && ones)
        out = tw__part_call(&part, "diag", &tw__op_MatrixDiagV3, TW_IN(ones, zero, none, none, padding), 5, NULL, 0);
    else if (zero && zeros)
        out = tw__part_call(&part, "set_diag", &tw__op_MatrixSetDiagV3, TW_IN(zeros, ones, zero), 3, NULL, 0);
    return tw__part_result(&part, out);
}

TW_API(
    eye,
    "eye|linalg.eye(num_rows: int, num_columns: int = None, batch_shape: ints = None, dtype: dtype = float32, name: str = None) "
    "-> tensor",
    "Ones on the main diagonal, zeros elsewhere.\n"
    "example: tf.eye(2).numpy().tolist()  # [[1.0, 0.0], [0.0, 1.0]]")
{
    int64_t rows = args->num_rows, columns = args->num_columns == TW_NO_INT ? rows : args->num_columns;
    if (rows < 0 || columns < 0) {
        tw__fail(TW_VALUE_ERROR, "tf.eye: num_rows and num_columns must not be negative, got %lld and %lld", (long long)rows,
                 (long long)columns);
        return NULL;
    }
    if (args->batch_shape.count > TW_MAX_RANK - 2) {
        tw__fail(TW_UNIMPLEMENTED, "tf.eye: at most %d batch dimensions are supported, got %lld", TW_MAX_RANK - 2,
                 (long long)args->batch_shape.count);
        return NULL;
    }
    if (tw__in_graph())
        return eye_in_graph(args, rows, columns);
    tw_shape shape = { .rank = (int32_t)args->batch_shape.count + 2 };
    for (int i = 0; i + 2 < shape.rank; i++)
        shape.dims[i] = args->batch_shape.items[i];
    shape.dims[shape.rank - 2] = rows;
    shape.dims[shape.rank - 1] = columns;
    tw_tensor *out =
        tw_tensor_new(args->dtype, shape, NULL); /* first: a shape that is too large is refused before anything is made */
    if (!out)
        return NULL;
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *single = tw__ints_tensor(&(int64_t){ 1 }, 1, TW_INT64),
                      *one = single ? filled(single, args->dtype, true, NULL, "eye") : NULL;
    tw__outside_end(outside);
    if (!one) {
        tw_release(out);
        return NULL;
    }
    size_t size = tw__element_size(args->dtype);
    int64_t matrix = rows * columns, diagonal = rows < columns ? rows : columns;
    for (int64_t b = 0; matrix && b < out->count / matrix; b++) {
        for (int64_t i = 0; i < diagonal; i++)
            memcpy((char *)out->data + (size_t)(b * matrix + i * (columns + 1)) * size, one->data, size);
    }
    return out;
}
