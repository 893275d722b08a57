/* Diagonals: Diag and DiagPart over a tensor's halves, MatrixBandPart, MatrixDiagV3, MatrixDiagPartV3 and MatrixSetDiagV3 over
 * its last two dimensions. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

static size_t element_of(const tw_tensor *tensor)
{
    return tw__element_size(tensor->dtype);
}

static void *at(const tw_tensor *tensor, int64_t index)
{
    return (char *)tensor->data + (size_t)index * element_of(tensor);
}

/* ---- Diag, DiagPart ---- */

static tw_status diag_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    if (in->rank < 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input must be at least rank 1, got 0");
    if (2 * in->rank > TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", 2 * in->rank, TW_MAX_RANK);
    for (int i = 0; i < in->rank; i++)
        out->dims[i] = out->dims[in->rank + i] = in->dims[i];
    out->rank = 2 * in->rank;
    return TW_OK;
}

static tw_status diag_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    memset(out->data, 0, (size_t)out->count * element_of(out));
    for (int64_t i = 0; i < in->count; i++)
        memcpy(at(out, i * (in->count + 1)), at(in, i), element_of(in));
    return TW_OK;
}

static tw_status diag_gradient(tw__gradient *gradient)
{
    const tw_op *other = gradient->op == &tw__op_Diag ? &tw__op_DiagPart : &tw__op_Diag;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = tw__call(other, TW_IN(gradient->output_grads[0]), 1, NULL, 0);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

#define NUMBERS "bfloat16, half, float, double, int32, int64, complex64, complex128"

TW_OP(Diag, .inputs = "diagonal: T", .outputs = "output: T", .attrs = "T: {" NUMBERS "}", .shape = diag_shape,
      .compute = diag_compute, .gradient = diag_gradient,
      .function = "linalg.tensor_diag|compat.v1.diag(diagonal: tensor, name: str = None) -> tensor",
      .doc = "Zeros with the tensor on the diagonal.\n"
             "diagonal: a tensor of one dimension or more\n"
             "returns: a tensor with each of its dimensions twice\n"
             "example: tf.linalg.tensor_diag([1, 2]).numpy().tolist()  # [[1, 0], [0, 2]]");

static tw_status part_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    if (in->rank == 0 || in->rank % 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "The rank of the tensor should be even and positive, got shape %s",
                          tw__shape_text(in));
    int half = in->rank / 2;
    for (int i = 0; i < half; i++) {
        if (in->dims[i] >= 0 && in->dims[half + i] >= 0 && in->dims[i] != in->dims[half + i])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Invalid shape %s: dimensions %d and %d do not match.",
                              tw__shape_text(in), i, half + i);
        out->dims[i] = in->dims[i];
    }
    out->rank = half;
    return TW_OK;
}

static tw_status part_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    for (int64_t i = 0; i < out->count; i++)
        memcpy(at(out, i), at(kernel->inputs[0], i * (out->count + 1)), element_of(out));
    return TW_OK;
}

TW_OP(DiagPart, .inputs = "input: T", .outputs = "diagonal: T", .attrs = "T: {" NUMBERS "}", .shape = part_shape,
      .compute = part_compute, .gradient = diag_gradient,
      .function = "linalg.tensor_diag_part|compat.v1.diag_part(input: tensor, name: str = None) -> tensor",
      .doc = "The diagonal of a tensor.\n"
             "input: a tensor whose second half of dimensions equals the first\n"
             "example: tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()  # [1, 4]");

/* ---- MatrixBandPart ---- */

static tw_status band_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    static const char *const names[] = { "", "num_lower", "num_upper" };
    if (in->rank >= 0 && in->rank < 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be at least 2-dim, received shape: %s", tw__shape_text(in));
    for (int i = 1; in->rank >= 0 && i < 3; i++) {
        int64_t number, limit = in->dims[in->rank - 3 + i];
        if (!inference->values[i] || limit < 0)
            continue;
        TW_TRY(tw__scalar_value(inference->op, inference->values[i], names[i], &number));
        if (number > limit)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "%s must be negative or less or equal to number of %s (%lld) got: %lld", names[i],
                              i == 1 ? "rows" : "columns", (long long)limit, (long long)number);
    }
    return tw_shape_same(inference);
}

static tw_status band_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    if (out->dtype == TW_STRING)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "strings");
    int64_t lower = tw_tensor_int_at(kernel->inputs[1], 0), upper = tw_tensor_int_at(kernel->inputs[2], 0);
    int64_t rows = in->shape.dims[in->shape.rank - 2], columns = in->shape.dims[in->shape.rank - 1];
    memset(out->data, 0, (size_t)out->count * element_of(out));
    for (int64_t line = 0; columns && line < out->count / columns; line++) {
        int64_t row = line % rows, first = lower < 0 || row < lower ? 0 : row - lower;
        int64_t last = upper < 0 || upper >= columns - row ? columns : row + upper + 1;
        if (first < last)
            memcpy(at(out, line * columns + first), at(in, line * columns + first), (size_t)(last - first) * element_of(in));
    }
    return TW_OK;
}

static tw_status band_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = TW_CALL(MatrixBandPart, gradient->output_grads[0], gradient->inputs[1], gradient->inputs[2]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(MatrixBandPart, .inputs = "input: T, num_lower: Tindex, num_upper: Tindex", .outputs = "band: T",
      .attrs = "T: type, Tindex: {int32, int64} = int64", .shape = band_shape, .compute = band_compute, .gradient = band_gradient,
      .function = "linalg.band_part|compat.v1.matrix_band_part(input: tensor, num_lower: tensor<I>, num_upper: tensor<I>, "
                  "name: str = None) -> tensor",
      .doc = "Zeros outside of a band around the diagonal of each matrix.\n"
             "input: matrices [..., M, N]\n"
             "num_lower: how many diagonals below the main one stay; negative: all\n"
             "num_upper: how many diagonals above it stay; negative: all\n"
             "example: tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()  # [[1, 0], [3, 4]]");

/* ---- MatrixDiagV3, MatrixDiagPartV3 ----
 *
 * The diagonals k[0] … k[1] (negative: below) of matrices [rows, columns] stand, highest first, as rows of a packed array
 * [diagonals, length]. A diagonal shorter than `length` stands at the left or right end of its row, as `align` says for those
 * above and those below the main one. */

typedef struct packing {
    int64_t low, high, rows, columns, length;
    bool left_above, left_below;
} packing;

static tw_status read_range(const tw_tensor *k, packing *p)
{
    if (k->shape.rank > 1 || k->count < 1 || k->count > 2)
        return tw__fail(TW_INVALID_ARGUMENT, "diag_index must be a scalar or vector, received shape: %s",
                        tw__shape_text(&k->shape));
    p->low = tw_tensor_int_at(k, 0);
    p->high = tw_tensor_int_at(k, k->count - 1);
    if (p->low > p->high)
        return tw__fail(TW_INVALID_ARGUMENT, "lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
                        (long long)p->low, (long long)p->high);
    return TW_OK;
}

/* An older form, which has no such attr, has all of them at the left. */
static void read_align(packing *p, const tw_op *op, const tw_attr *attrs)
{
    const tw_attr *attr = tw__attr_find(op, attrs, "align");
    tw_string align = attr->kind == TW_ATTR_STRING ? attr->s : (tw_string){ "LEFT_LEFT", 9 };
    p->left_above = align.size && align.data[0] == 'L';
    const char *low = memchr(align.data, '_', align.size);
    p->left_below = low && low[1] == 'L';
}

static int64_t diagonal_length(const packing *p, int64_t d)
{
    int64_t rows = p->rows + (d < 0 ? d : 0), columns = p->columns - (d > 0 ? d : 0);
    return rows < columns ? rows : columns;
}

static tw_status check_diagonals(packing *p)
{
    if ((p->low <= -p->rows || p->low >= p->columns || p->high <= -p->rows || p->high >= p->columns) &&
        !(p->low == 0 && p->high == 0))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "diag_index %lld to %lld is out of bound for matrices of %lld rows and %lld columns.", (long long)p->low,
                        (long long)p->high, (long long)p->rows, (long long)p->columns);
    p->length = 0;
    for (int64_t d = p->low; d <= p->high; d++) {
        int64_t length = diagonal_length(p, d);
        p->length = length > p->length ? length : p->length;
    }
    return TW_OK;
}

/* Goes over all elements of the packed array; `matrix` is -1 where it holds padding. */
static tw_status each_packed(const packing *p, int64_t batches, tw_status (*visit)(void *context, int64_t packed, int64_t matrix),
                             void *context)
{
    int64_t count = p->high - p->low + 1;
    for (int64_t b = 0; b < batches; b++) {
        for (int64_t i = 0; i < count; i++) {
            int64_t d = p->high - i, length = diagonal_length(p, d);
            bool left = d >= 0 ? p->left_above : p->left_below;
            int64_t shift = left ? 0 : p->length - length;
            if (d == 0)
                shift = p->left_above ? 0 : p->length - length;
            for (int64_t j = 0; j < p->length; j++) {
                int64_t n = j - shift, row = d < 0 ? n - d : n, column = d > 0 ? n + d : n;
                bool inside = n >= 0 && n < length;
                TW_TRY(visit(context, (b * count + i) * p->length + j, inside ? (b * p->rows + row) * p->columns + column : -1));
            }
        }
    }
    return TW_OK;
}

typedef struct packed_copy {
    tw_tensor *out;
    const tw_tensor *in, *padding;
} packed_copy;

static tw_status unpack_one(void *context, int64_t packed, int64_t matrix)
{
    const packed_copy *c = context;
    if (matrix >= 0)
        memcpy(at(c->out, matrix), at(c->in, packed), element_of(c->out));
    return TW_OK;
}

static tw_status pack_one(void *context, int64_t packed, int64_t matrix)
{
    const packed_copy *c = context;
    memcpy(at(c->out, packed), matrix >= 0 ? at(c->in, matrix) : c->padding->data, element_of(c->out));
    return TW_OK;
}

static tw_status check_plain(const tw_op *op, tw_dtype dtype)
{
    if (dtype == TW_STRING || dtype == TW_RESOURCE || dtype == TW_VARIANT)
        return tw__fail(TW_UNIMPLEMENTED, "%s: dtype %s", op->name, tw_dtype_name(dtype));
    return TW_OK;
}

/* From the packed diagonals to the matrices' size, given or the least that holds them. */
static tw_status plan_matrix(const tw_op *op, const tw_attr *attrs, const tw_shape *in, tw_tensor *const *values, packing *p,
                             tw_shape *out)
{
    int64_t given_rows, given_columns;
    TW_TRY(read_range(values[1], p));
    TW_TRY(tw__scalar_value(op, values[2], "num_rows", &given_rows));
    TW_TRY(tw__scalar_value(op, values[3], "num_cols", &given_columns));
    read_align(p, op, attrs);
    if (in->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "diagonal must be at least 1-dim, received shape: %s", tw__shape_text(in));
    int64_t count = p->high - p->low + 1, length = in->dims[in->rank - 1];
    int outer = in->rank - (count > 1 ? 2 : 1);
    if (count > 1 && (in->rank < 2 || in->dims[in->rank - 2] != count))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "The number of diagonals provided in the input does not match the lower_diag_index and "
                        "upper_diag_index range.");
    if (outer + 2 > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: more than %d dimensions", op->name, TW_MAX_RANK);
    int64_t least_rows = length - (p->high < 0 ? p->high : 0), least_columns = length + (p->low > 0 ? p->low : 0);
    p->rows = given_rows == -1 && given_columns == -1 ? (least_rows > least_columns ? least_rows : least_columns)
              : given_rows == -1                      ? least_rows
                                                      : given_rows;
    p->columns = given_rows == -1 && given_columns == -1 ? p->rows : given_columns == -1 ? least_columns : given_columns;
    if (p->rows < least_rows || p->columns < least_columns ||
        (p->rows != least_rows && p->columns != least_columns && given_rows != -1 && given_columns != -1))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "The number of rows or columns is not consistent with the specified d_lower, d_upper, and "
                        "diagonal.");
    out->rank = outer + 2;
    for (int i = 0; i < outer; i++)
        out->dims[i] = in->dims[i];
    out->dims[outer] = p->rows;
    out->dims[outer + 1] = p->columns;
    TW_TRY(check_diagonals(p));
    p->length = length;
    return TW_OK;
}

tw_status tw__matrix_diag_shape(tw__inference *inference)
{
    packing p;
    TW_TRY(check_plain(inference->op, inference->dtypes[0]));
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 1 || !inference->values[1])
        return TW_OK;
    TW_TRY(read_range(inference->values[1], &p));
    bool several = p.high > p.low;
    bool known = inference->values[2] && inference->values[3];
    if ((several && in->rank < 2) || in->rank + 1 - several > TW_MAX_RANK) { /* the whole plan says what is wrong */
        if (!known)
            return TW_OK;
    } else if (in->dims[in->rank - 1] < 0 || (several && in->dims[in->rank - 2] < 0) || !known) {
        *out = *in;
        out->rank = in->rank + 1 - several;
        out->dims[out->rank - 1] = out->dims[out->rank - 2] = -1;
        return TW_OK;
    }
    return plan_matrix(inference->op, inference->attrs, inference->shapes[0], inference->values, &p, &inference->out_shapes[0]);
}

tw_status tw__matrix_diag_compute(tw__kernel *kernel)
{
    packing p;
    tw_shape shape;
    tw_tensor *out = kernel->outputs[0];
    TW_TRY(plan_matrix(kernel->op, kernel->attrs, &kernel->inputs[0]->shape, kernel->inputs, &p, &shape));
    TW_TRY(tw__fill_elements(out->dtype, out->data, kernel->inputs[4]->data, out->count));
    packed_copy copy = { out, kernel->inputs[0], NULL };
    int64_t matrix = p.rows * p.columns;
    return matrix ? each_packed(&p, out->count / matrix, unpack_one, &copy) : TW_OK;
}

static tw_status matrix_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zero = tw__grad_constant(0, dy);
    gradient->input_grads[0] =
        TW_CALL(MatrixDiagPartV3, dy, gradient->inputs[1], zero, TW_A_STRING("align", TW_ATTR(gradient, "align")->s.data));
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

#define ALIGN "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"

TW_OP(MatrixDiagV3, .inputs = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T", .outputs = "output: T",
      .attrs = "T: type, " ALIGN, .shape = tw__matrix_diag_shape, .compute = tw__matrix_diag_compute, .gradient = matrix_gradient,
      .doc = "Matrices with given diagonals.");

static tw_status plan_part(const tw_op *op, const tw_attr *attrs, const tw_shape *in, const tw_tensor *k, packing *p,
                           tw_shape *out)
{
    TW_TRY(read_range(k, p));
    read_align(p, op, attrs);
    if (in->rank < 2)
        return tw__fail(TW_INVALID_ARGUMENT, "input must be at least 2-dim, received shape: %s", tw__shape_text(in));
    p->rows = in->dims[in->rank - 2];
    p->columns = in->dims[in->rank - 1];
    TW_TRY(check_diagonals(p));
    out->rank = in->rank - 2;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = in->dims[i];
    if (p->high > p->low)
        out->dims[out->rank++] = p->high - p->low + 1;
    out->dims[out->rank++] = p->length;
    return TW_OK;
}

tw_status tw__matrix_diag_part_shape(tw__inference *inference)
{
    packing p;
    TW_TRY(check_plain(inference->op, inference->dtypes[0]));
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 2 || !inference->values[1])
        return tw__need_rank_at_least(inference, 0, 2);
    if (in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 2] >= 0)
        return plan_part(inference->op, inference->attrs, in, inference->values[1], &p, out);
    TW_TRY(read_range(inference->values[1], &p));
    *out = *in;
    out->rank -= 2;
    if (p.high > p.low)
        out->dims[out->rank++] = p.high - p.low + 1;
    out->dims[out->rank++] = -1;
    return TW_OK;
}

tw_status tw__matrix_diag_part_compute(tw__kernel *kernel)
{
    packing p;
    tw_shape shape;
    tw_tensor *out = kernel->outputs[0];
    TW_TRY(plan_part(kernel->op, kernel->attrs, &kernel->inputs[0]->shape, kernel->inputs[1], &p, &shape));
    packed_copy copy = { out, kernel->inputs[0], kernel->inputs[2] };
    int64_t each = p.length * (p.high - p.low + 1);
    return each ? each_packed(&p, out->count / each, pack_one, &copy) : TW_OK;
}

/* The size of the last dimension but `back` - 1, by ops if it is not known yet. */
static tw_tensor *size_from_end(tw_tensor *x, int back)
{
    TW_TEMPS(t);
    int rank = x->shape.rank;
    if (rank >= back && x->shape.dims[rank - back] >= 0)
        return tw_tensor_int((int32_t)x->shape.dims[rank - back]);
    return TW_CALL(GatherV2, TW_TEMP(Shape, x), TW_TEMP(Sub, TW_TEMP(Rank, x), (int)back), 0);
}

static tw_status part_v3_gradient(tw__gradient *gradient)
{
    tw_tensor *x = gradient->inputs[0], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zero = tw__grad_constant(0, dy), *rows = size_from_end(x, 2), *columns = size_from_end(x, 1);
    gradient->input_grads[0] = TW_CALL(MatrixDiagV3, dy, gradient->inputs[1], rows, columns, zero,
                                       TW_A_STRING("align", TW_ATTR(gradient, "align")->s.data));
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(MatrixDiagPartV3, .inputs = "input: T, k: int32, padding_value: T", .outputs = "diagonal: T", .attrs = "T: type, " ALIGN,
      .shape = tw__matrix_diag_part_shape, .compute = tw__matrix_diag_part_compute, .gradient = part_v3_gradient,
      .doc = "Diagonals of matrices.");

/* ---- MatrixSetDiagV3 ---- */

tw_status tw__matrix_set_diag_shape(tw__inference *inference)
{
    packing p;
    tw_shape part;
    const tw_shape *in = inference->shapes[0], *diagonal = inference->shapes[1];
    TW_TRY(check_plain(inference->op, inference->dtypes[0]));
    TW_TRY(tw__need_rank_at_least(inference, 0, 2));
    TW_TRY(tw__need_rank_at_least(inference, 1, 1));
    inference->out_shapes[0] = *in;
    if (in->rank < 2 || in->dims[in->rank - 1] < 0 || in->dims[in->rank - 2] < 0 || !inference->values[2])
        return TW_OK;
    TW_TRY(plan_part(inference->op, inference->attrs, in, inference->values[2], &p, &part));
    if (!tw__shape_compatible(&part, diagonal))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the diagonal has shape %s, expected %s", tw__shape_text(diagonal),
                          tw__shape_text(&part));
    return TW_OK;
}

tw_status tw__matrix_set_diag_compute(tw__kernel *kernel)
{
    packing p;
    tw_shape part;
    const tw_tensor *in = kernel->inputs[0], *diagonal = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    TW_TRY(plan_part(kernel->op, kernel->attrs, &in->shape, kernel->inputs[2], &p, &part));
    if (!tw__shape_equal(&part, &diagonal->shape))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the diagonal has shape %s, expected %s", tw__shape_text(&diagonal->shape),
                          tw__shape_text(&part));
    memcpy(out->data, in->data, (size_t)out->count * element_of(out));
    packed_copy copy = { out, diagonal, NULL };
    int64_t each = p.length * (p.high - p.low + 1);
    return each ? each_packed(&p, diagonal->count / each, unpack_one, &copy) : TW_OK;
}

static tw_status set_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0], *k = gradient->inputs[2];
    tw_attr align = TW_A_STRING("align", TW_ATTR(gradient, "align")->s.data);
    if (gradient->wanted[0]) {
        tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, gradient->inputs[1]);
        tw__grad_set(gradient, 0, TW_CALL(MatrixSetDiagV3, dy, zeros, k, align));
    }
    if (gradient->wanted[1]) {
        tw_auto tw_tensor *zero = tw__grad_constant(0, dy);
        tw__grad_set(gradient, 1, TW_CALL(MatrixDiagPartV3, dy, k, zero, align));
    }
    return tw__grad_status(gradient);
}

TW_OP(MatrixSetDiagV3, .inputs = "input: T, diagonal: T, k: int32", .outputs = "output: T", .attrs = "T: type, " ALIGN,
      .shape = tw__matrix_set_diag_shape, .compute = tw__matrix_set_diag_compute, .gradient = set_gradient,
      .doc = "Matrices with some diagonals replaced.");
