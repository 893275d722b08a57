/* RaggedTensorToTensor (rows padded to one length) and RaggedTensorToSparse. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/ragged/ragged.h"
#include "rows.h"

/* ---- RaggedTensorToTensor ---- */

/* The levels that the row partitions say: splits as they are, numbers of rows with the row of each value turned into splits. */
static tw_status read_partitions(tw__kernel *kernel, tw__levels *levels)
{
    const tw_attr *types = TW_ATTR(kernel, "row_partition_types");
    int given = kernel->input_count - 3, first = 0;
    int64_t rows = -1;
    *levels = (tw__levels){ 0 };
    if (types->count != given || given > TW_RAGGED_LEVELS)
        return tw__fail(TW_INVALID_ARGUMENT, "%d row partitions come with %d types", given, (int)types->count);
    if (types->strings[0].size == 14 && memcmp(types->strings[0].data, "FIRST_DIM_SIZE", 14) == 0) {
        TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[3], "FIRST_DIM_SIZE", &rows));
        if (rows < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "FIRST_DIM_SIZE must not be negative");
        first = 1;
    }
    for (int k = first; k < given; k++) {
        const tw_tensor *in = kernel->inputs[3 + k];
        tw_string type = types->strings[k];
        bool ids = type.size == 12 && memcmp(type.data, "VALUE_ROWIDS", 12) == 0;
        if (!ids && !(type.size == 10 && memcmp(type.data, "ROW_SPLITS", 10) == 0))
            return tw__fail(TW_INVALID_ARGUMENT, "Unsupported row partition type: %.*s", (int)type.size, type.data);
        if (in->shape.rank != 1 || (!ids && in->count < 1) || (ids && rows < 0))
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid row partition of shape %s", tw__shape_text(&in->shape));
        int64_t count = ids ? rows : in->count - 1, *s = tw__alloc_array((size_t)count + 1, sizeof *s);
        if (!s)
            return tw__error_status();
        levels->splits[levels->count] = s;
        levels->rows[levels->count++] = count;
        for (int64_t i = 0; !ids && i <= count; i++)
            s[i] = tw_tensor_int_at(in, i);
        for (int64_t i = 0; ids && i < in->count; i++) {
            int64_t row = tw_tensor_int_at(in, i);
            if (row < 0 || row >= count || (i && row < tw_tensor_int_at(in, i - 1)))
                return tw__fail(TW_INVALID_ARGUMENT, "Invalid value rowid %lld", (long long)row);
            s[row + 1]++;
        }
        for (int64_t i = 0; ids && i < count; i++)
            s[i + 1] += s[i];
        rows = ids ? in->count : s[count];
    }
    return tw__levels_check(levels, kernel->inputs[1]->shape.rank ? kernel->inputs[1]->shape.dims[0] : 0);
}

/* map[cell] = 1 + the value that stands there. */
static void place_rows(const tw__levels *levels, const tw_shape *out, int level, int64_t row, int64_t cell, int64_t *map)
{
    const int64_t *s = levels->splits[level];
    int64_t length = s[row + 1] - s[row], width = out->dims[level + 1];
    for (int64_t j = 0; j < length && j < width; j++) {
        if (level + 1 == levels->count)
            map[cell * width + j] = s[row] + j + 1;
        else
            place_rows(levels, out, level + 1, s[row] + j, cell * width + j, map);
    }
}

/* The shape of the result: what was asked for where it says something, else the longest rows. */
static tw_status result_shape(tw__kernel *kernel, const tw__levels *levels, tw_shape *out)
{
    const tw_tensor *asked = kernel->inputs[0], *values = kernel->inputs[1];
    out->rank = levels->count + values->shape.rank;
    if (out->rank > TW_MAX_RANK)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "a result of rank %d is not supported", out->rank);
    out->dims[0] = levels->rows[0];
    for (int k = 0; k < levels->count; k++) {
        int64_t most = 0;
        for (int64_t i = 0; i < levels->rows[k]; i++) {
            int64_t length = levels->splits[k][i + 1] - levels->splits[k][i];
            most = length > most ? length : most;
        }
        out->dims[k + 1] = most;
    }
    for (int i = 1; i < values->shape.rank; i++)
        out->dims[levels->count + i] = values->shape.dims[i];
    if (asked->shape.rank == 0) {
        if (tw_tensor_int_at(asked, 0) != -1)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
    } else if (asked->count != out->rank) {
        return tw__fail(TW_INVALID_ARGUMENT, "The requested shape has %lld dimensions, the ragged tensor has %d",
                        (long long)asked->count, out->rank);
    }
    for (int i = 0; asked->shape.rank && i < out->rank; i++) {
        int64_t size = tw_tensor_int_at(asked, i);
        if (size >= 0 && i > levels->count && size != out->dims[i])
            return tw__fail(TW_INVALID_ARGUMENT, "The requested size %lld of dimension %d is not that of the values, %lld",
                            (long long)size, i, (long long)out->dims[i]);
        out->dims[i] = size >= 0 ? size : out->dims[i];
    }
    int64_t count;
    return tw__shape_count(out, &count);
}

static tw_status fill_cells(tw__kernel *kernel, const tw__levels *levels, const tw_shape *shape)
{
    const tw_tensor *values = kernel->inputs[1], *other = kernel->inputs[2];
    int64_t cells = 1, inner = tw__row_elements(&values->shape);
    for (int i = 0; i <= levels->count; i++)
        cells *= shape->dims[i];
    if (other->count != 1 && other->count != inner)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "a default_value of shape %s for values of shape %s is not supported",
                          tw__shape_text(&other->shape), tw__shape_text(&values->shape));
    tw_tensor *out = tw__output(kernel, 0, shape);
    tw__owned int64_t *map = out ? tw__alloc_array((size_t)cells + 1, sizeof *map) : NULL;
    if (!map)
        return tw__error_status();
    for (int64_t r = 0; r < levels->rows[0] && r < shape->dims[0]; r++)
        place_rows(levels, shape, 0, r, r, map);
    size_t size = tw__element_size(out->dtype);
    for (int64_t c = 0; c < cells; c++) {
        char *to = (char *)out->data + (size_t)(c * inner) * size;
        if (map[c])
            TW_TRY(tw__copy_elements(out->dtype, to, (const char *)values->data + (size_t)((map[c] - 1) * inner) * size, inner));
        else if (other->count == inner)
            TW_TRY(tw__copy_elements(out->dtype, to, other->data, inner));
        else
            TW_TRY(tw__fill_elements(out->dtype, to, other->data, inner));
    }
    return TW_OK;
}

static tw_status to_tensor_compute(tw__kernel *kernel)
{
    tw__levels levels;
    tw_shape shape = { 0 };
    if (kernel->inputs[1]->shape.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "values must have a rank of 1 or more");
    tw_status status = read_partitions(kernel, &levels);
    if (status == TW_OK && levels.count == 0)
        status = tw__fail(TW_INVALID_ARGUMENT, "there are no row partitions");
    if (status == TW_OK)
        status = result_shape(kernel, &levels, &shape);
    if (status == TW_OK)
        status = fill_cells(kernel, &levels, &shape);
    tw__levels_free(&levels);
    return status;
}

static tw_status to_tensor_shape(tw__inference *inference)
{
    const tw_attr *types = TW_ATTR(inference, "row_partition_types");
    const tw_shape *values = inference->shapes[1];
    bool ids = types->count && types->strings[0].size == 14;
    int levels = inference->input_count - 3 - ids;
    if (values->rank < 1 || levels + values->rank > TW_MAX_RANK)
        return TW_OK;
    tw_shape out = { .rank = levels + values->rank };
    const tw_tensor *asked = inference->values[0];
    for (int i = 0; i < out.rank; i++) {
        int64_t size = asked && asked->shape.rank == 1 && asked->count == out.rank ? tw_tensor_int_at(asked, i) : -1;
        out.dims[i] = size >= 0 ? size : i > levels ? values->dims[i - levels] : -1;
    }
    if (asked && out.dims[0] < 0 && !ids && inference->shapes[3]->rank == 1 && inference->shapes[3]->dims[0] > 0)
        out.dims[0] = inference->shapes[3]->dims[0] - 1;
    inference->out_shapes[0] = out;
    return TW_OK;
}

/* Where each value went is found by padding their numbers in the same way. */
static tw_status to_tensor_gradient(tw__gradient *g)
{
    tw_tensor *dy = g->output_grads[0], *values = g->inputs[1];
    const tw_attr *types = TW_ATTR(g, "row_partition_types");
    int levels = g->input_count - 3 - (types->count && types->strings[0].size == 14);
    tw_auto tw_tensor *sizes = TW_CALL(Shape, values, TW_A_TYPE("out_type", TW_INT64));
    tw_auto tw_tensor *zero = tw_tensor_int64(0), *one = tw_tensor_int64(1), *axis = tw_tensor_int(0);
    tw_auto tw_tensor *count = sizes && zero && one && axis ? TW_CALL(GatherV2, sizes, zero, axis) : NULL;
    tw_auto tw_tensor *numbers = TW_CALL(Range, zero, count, one);
    tw_auto tw_tensor *none = tw_tensor_int64(-1);
    tw_auto tw_tensor *whole = numbers ? TW_CALL(Shape, dy, TW_A_TYPE("out_type", TW_INT64)) : NULL;
    tw_auto tw_tensor *begin = tw__ints_tensor((const int64_t[]){ 0 }, 1, TW_INT32),
                      *end = tw__ints_tensor((const int64_t[]){ levels + 1 }, 1, TW_INT32);
    tw_auto tw_tensor *step = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32);
    tw_auto tw_tensor *outer = whole && begin && end && step && none ? TW_CALL(StridedSlice, whole, begin, end, step) : NULL;
    if (!outer)
        return tw__error_status();
    tw_tensor *inputs[TW_RAGGED_LEVELS + 4] = { outer, numbers, none };
    for (int i = 3; i < g->input_count && i < TW_RAGGED_LEVELS + 4; i++)
        inputs[i] = g->inputs[i];
    tw_attr attr = *types;
    tw_auto tw_tensor *places = tw__call(&tw__op_RaggedTensorToTensor, inputs, g->input_count, &attr, 1);
    if (!places)
        return tw__error_status();
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(UnsortedSegmentSum, dy, places, count));
    if (g->wanted[2]) {
        tw_auto tw_tensor *free_cells = TW_CALL(Equal, places, none), *where = TW_CALL(Where, free_cells);
        tw_auto tw_tensor *rest = TW_CALL(GatherNd, dy, where), *sum = TW_CALL(Sum, rest, axis);
        tw__grad_set(g, 2, sum ? tw__grad_unbroadcast(tw_retain(sum), g->inputs[2]) : NULL);
    }
    return (g->wanted[1] && !g->input_grads[1]) || (g->wanted[2] && !g->input_grads[2]) ? tw__error_status() : TW_OK;
}

TW_OP(RaggedTensorToTensor,
      .inputs = "shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors * Tindex",
      .outputs = "result: T",
      .attrs = "T: type, Tindex: {int64, int32}, Tshape: {int64, int32}, num_row_partition_tensors: int >= 1, "
               "row_partition_types: list(string)",
      .shape = to_tensor_shape, .compute = to_tensor_compute, .gradient = to_tensor_gradient,
      .doc = "Rows of different lengths, padded to one length.");

/* ---- RaggedTensorToSparse ---- */

static tw_status to_sparse_shape(tw__inference *inference)
{
    int levels = inference->input_count - 1, inner = inference->shapes[levels]->rank;
    int64_t rank = inner < 0 ? -1 : levels + inner;
    inference->out_shapes[0] = TW_SHAPE(-1, rank);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(rank);
    return TW_OK;
}

/* Writes the indices of everything below a row. */
static void write_indices(const tw__levels *levels, int level, int64_t row, int64_t *index, const tw_shape *values, int rank,
                          int64_t **to)
{
    for (int64_t j = levels->splits[level][row], first = j; j < levels->splits[level][row + 1]; j++) {
        index[level + 1] = j - first;
        if (level + 1 < levels->count) {
            write_indices(levels, level + 1, j, index, values, rank, to);
            continue;
        }
        int64_t inner = tw__row_elements(values);
        for (int64_t e = 0; e < inner; e++) {
            int64_t left = e;
            for (int k = values->rank - 1; k > 0; k--) {
                index[level + 1 + k] = left % values->dims[k];
                left /= values->dims[k];
            }
            memcpy(*to, index, (size_t)rank * sizeof *index);
            *to += rank;
        }
    }
}

static tw_status to_sparse(tw__kernel *kernel, const tw__levels *levels, tw_tensor *values)
{
    int rank = levels->count + values->shape.rank;
    int64_t index[TW_RAGGED_LEVELS + TW_MAX_RANK] = { 0 };
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(values->count, rank)), *sizes = tw__output(kernel, 2, &TW_SHAPE(rank));
    if (!indices || !sizes)
        return tw__error_status();
    int64_t *to = indices->data, *dims = sizes->data;
    for (int64_t r = 0; r < levels->rows[0]; r++) {
        index[0] = r;
        write_indices(levels, 0, r, index, &values->shape, rank, &to);
    }
    dims[0] = levels->rows[0];
    for (int k = 0; k < levels->count; k++) {
        dims[k + 1] = 0;
        for (int64_t i = 0; i < levels->rows[k]; i++) {
            int64_t length = levels->splits[k][i + 1] - levels->splits[k][i];
            dims[k + 1] = length > dims[k + 1] ? length : dims[k + 1];
        }
    }
    for (int i = 1; i < values->shape.rank; i++)
        dims[levels->count + i] = values->shape.dims[i];
    return tw__output_take(kernel, 1, tw__tensor_view(values, &TW_SHAPE(values->count)));
}

static tw_status to_sparse_compute(tw__kernel *kernel)
{
    int count = kernel->input_count - 1;
    tw_tensor *values = kernel->inputs[count];
    tw__levels levels = { 0 };
    if (values->shape.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "values must have a rank of 1 or more");
    tw_status status = tw__levels_read(kernel->op, kernel->inputs, count, values->shape.dims[0], &levels);
    if (status == TW_OK)
        status = to_sparse(kernel, &levels, values);
    tw__levels_free(&levels);
    return status;
}

static tw_status to_sparse_gradient(tw__gradient *g)
{
    int values = g->input_count - 1;
    if (g->wanted[values] && g->output_grads[1])
        tw__grad_set(g, values, tw__reshape_like(tw_retain(g->output_grads[1]), g->inputs[values]));
    return tw_error_code();
}

TW_OP(RaggedTensorToSparse, .inputs = "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T",
      .outputs = "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
      .attrs = "RAGGED_RANK: int >= 1, T: type, Tsplits: {int32, int64} = int64", .shape = to_sparse_shape,
      .compute = to_sparse_compute, .gradient = to_sparse_gradient, .makes_outputs = true,
      .doc = "A ragged tensor as a sparse one.");
