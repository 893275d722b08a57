/* Operators of one or a few tensors: LinearOperatorFullMatrix, LowerTriangular, Householder, Permutation, Toeplitz, Tridiag. */
#include "api/debugging/debugging.h"
#include "linear/linear.h"

static tw_tensor *first_part(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_value(t, self, 0);
}

static tw_shape first_shape(const tw_linear_operator *self)
{
    return tw__linear_part_shape(self, 0);
}

/* A vector's shape with its length once more. */
static tw_shape squared(tw_shape shape)
{
    if (shape.rank < 1 || shape.rank == TW_MAX_RANK)
        return TW_UNKNOWN_SHAPE;
    shape.dims[shape.rank] = shape.dims[shape.rank - 1];
    shape.rank++;
    return shape;
}

static tw_shape vector_shape(const tw_linear_operator *self)
{
    return squared(tw__linear_part_shape(self, 0));
}

/* Zeros or ones, one for each matrix of the batch. */
static tw_tensor *for_each(tw__temps *t, tw_linear_operator *self, double value)
{
    tw_tensor *shape = tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR);
    return shape ? tw__linear_filled(t, tw__temp_slice(t, shape, TW_NO_INT, -2), self->dtype, value) : NULL;
}

static tw_tensor *zeros(tw__temps *t, tw_linear_operator *self)
{
    return for_each(t, self, 0);
}

static tw_tensor *ones(tw__temps *t, tw_linear_operator *self)
{
    return for_each(t, self, 1);
}

/* Matrices of floats or complex numbers. */
static tw_status matrix_part(tw_linear_operator *self, const char *name, const tw_value *value)
{
    TW_TRY(tw__linear_part(self, 0, name, value, TW_DTYPE_NONE));
    if (!tw__dtype_is_float(self->dtype) && !tw__dtype_is_complex(self->dtype))
        return tw__fail(TW_TYPE_ERROR, "Argument `%s` must have a floating point or complex dtype. Found: %s", name,
                        tw_dtype_name(self->dtype));
    return tw__linear_need_rank(self, 0, name, 2);
}

/* ---- LinearOperatorFullMatrix ---- */

static tw_status matrix_init(void *self, const void *given)
{
    const tw_linear_operator_full_matrix_args *args = given;
    TW_TRY(matrix_part(self, "matrix", &args->matrix));
    return tw__linear_settle(self);
}
static const tw__linear_methods matrix_methods = { .shape = first_shape, .results[TW_LINEAR_DENSE] = first_part };

TW_CLASS(linear_operator_full_matrix,
         "linalg.LinearOperatorFullMatrix(matrix: value, " TW_LINEAR_FACTS
         ", name: str = LinearOperatorFullMatrix) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = matrix_init,
         .methods = &matrix_methods, .inert = " *", .doc = "A dense matrix.");

TW_PROPERTY(linear_operator_full_matrix_matrix,
            "linalg.LinearOperatorFullMatrix.matrix(self: linear_operator_full_matrix) -> value", "The matrix.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* ---- LinearOperatorLowerTriangular ---- */

static tw_tensor *lower_dense(tw__temps *t, tw_linear_operator *self)
{
    return tw__band(t, tw__linear_value(t, self, 0), -1, 0);
}

static tw_tensor *lower_diag(tw__temps *t, tw_linear_operator *self)
{
    return tw__diag_part(t, tw__linear_value(t, self, 0));
}

static tw_tensor *lower_determinant(tw__temps *t, tw_linear_operator *self)
{
    return tw__temp(t, tw__reduce_axis(&tw__op_Prod, lower_diag(t, self), -1, false));
}

static tw_tensor *lower_log(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *diag = lower_diag(t, self), *sizes = diag ? tw__temp(t, tw_abs(diag)) : NULL;
    return tw__temp(t, tw__reduce_axis(&tw__op_Sum, TW_TEMP(Log, sizes), -1, false));
}

static tw_tensor *lower_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    tw_tensor *matrix = lower_dense(t, self);
    return tw__linear_spread(t, &matrix, &rhs) ? tw__triangular(t, matrix, rhs, true, adjoint) : NULL;
}

static tw_value lower_not_singular(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *diag = lower_diag(t, self), *sizes = diag ? tw__temp(t, tw_abs(diag)) : NULL;
    tw_tensor *zero = sizes ? tw__temp_float(t, sizes->dtype, 0) : NULL;
    return zero ? tw_debugging_assert_none_equal(sizes, zero, .message = "Singular operator:  Diagonal contained zero values.")
                : tw__nothing;
}

static tw_status lower_init(void *self, const void *given)
{
    const tw_linear_operator_lower_triangular_args *args = given;
    TW_TRY(matrix_part(self, "tril", &args->tril));
    TW_TRY(tw__linear_always(self, TW_SQUARE, true, "Only square lower triangular operators supported at this time."));
    return tw__linear_settle(self);
}
static const tw__linear_methods lower_methods = { .shape = first_shape,
                                                  .solve = lower_solve,
                                                  .assert_non_singular = lower_not_singular,
                                                  .results[TW_LINEAR_DENSE] = lower_dense,
                                                  .results[TW_LINEAR_DIAG_PART] = lower_diag,
                                                  .results[TW_LINEAR_EIGVALS] = lower_diag,
                                                  .results[TW_LINEAR_DETERMINANT] = lower_determinant,
                                                  .results[TW_LINEAR_LOG_ABS_DETERMINANT] = lower_log };

TW_CLASS(linear_operator_lower_triangular,
         "linalg.LinearOperatorLowerTriangular(tril: value, " TW_LINEAR_FACTS
         ", name: str = LinearOperatorLowerTriangular) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = lower_init, .methods = &lower_methods,
         .inert = " *",
         .doc = "The lower triangle of a dense matrix.\n"
                "tril: matrices [..., N, N]; what is above the diagonal does not count");

TW_PROPERTY(linear_operator_lower_triangular_tril,
            "linalg.LinearOperatorLowerTriangular.tril(self: linear_operator_lower_triangular) -> value", "The matrix.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* ---- LinearOperatorHouseholder: 1 - 2 v v^H / |v|^2 ---- */

static tw_tensor *unit(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *axis = tw__linear_value(t, self, 0);
    return axis ? TW_TEMP(ExpandDims, tw__temp(t, tw_math_l2_normalize(axis, .axis = TW_INTS(-1))), -1) : NULL;
}

static tw_tensor *reflect(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    (void)adjoint; /* it is its own */
    tw_tensor *v = unit(t, self), *twice = TW_TEMP(Mul, 2.0, v);
    return TW_TEMP(Sub, x, TW_TEMP(Mul, twice, tw__mm(t, v, x, true, false)));
}

static tw_tensor *reflect_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *v = unit(t, self), *product = tw__mm(t, v, v, false, true);
    return TW_TEMP(Sub, tw__eye_like(t, product), TW_TEMP(Mul, 2.0, product));
}

static tw_tensor *reflect_determinant(tw__temps *t, tw_linear_operator *self)
{
    return for_each(t, self, -1);
}

static tw_linear_operator *reflect_made(tw_linear_operator *self, tw__linear_made made)
{
    return made == TW_LINEAR_INVERSE ? tw_retain(self) : tw__linear_usual(self, made);
}

static tw_value reflect_not_definite(tw__temps *t, tw_linear_operator *self)
{
    (void)t, (void)self;
    tw__fail(TW_INVALID_ARGUMENT, "Householder operators are always non-positive definite.");
    return tw__nothing;
}

static tw_status reflect_init(void *self, const void *given)
{
    const tw_linear_operator_householder_args *args = given;
    TW_TRY(tw__linear_part(self, 0, "reflection_axis", &args->reflection_axis, TW_DTYPE_NONE));
    TW_TRY(tw__linear_need_rank(self, 0, "reflection_axis", 1));
    TW_TRY(tw__linear_always(self, TW_SELF_ADJOINT, true, "A Householder operator is always self adjoint."));
    TW_TRY(tw__linear_always(self, TW_POSITIVE_DEFINITE, false, "A Householder operator is always non-positive definite."));
    TW_TRY(tw__linear_always(self, TW_SQUARE, true, "A Householder operator is always square."));
    return TW_OK;
}
static const tw__linear_methods reflect_methods = { .shape = vector_shape,
                                                    .assert_positive_definite = reflect_not_definite,
                                                    .matmul = reflect,
                                                    .solve = reflect,
                                                    .made = reflect_made,
                                                    .results[TW_LINEAR_DENSE] = reflect_dense,
                                                    .results[TW_LINEAR_DETERMINANT] = reflect_determinant,
                                                    .results[TW_LINEAR_LOG_ABS_DETERMINANT] = zeros,
                                                    .results[TW_LINEAR_COND] = ones };

TW_CLASS(linear_operator_householder,
         "linalg.LinearOperatorHouseholder(reflection_axis: value, " TW_LINEAR_FACTS
         ", name: str = LinearOperatorHouseholder) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = reflect_init,
         .methods = &reflect_methods, .inert = " *",
         .doc = "A reflection: 1 - 2 v v^H / |v|^2.\n"
                "reflection_axis: the vector v, [..., N], at right angles to the mirror");

TW_PROPERTY(linear_operator_householder_reflection_axis,
            "linalg.LinearOperatorHouseholder.reflection_axis(self: linear_operator_householder) -> value", "v.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* ---- LinearOperatorPermutation ---- */

static tw_tensor *length(tw__temps *t, tw_tensor *vector)
{
    tw_tensor *shape = tw__temp_shape(t, vector, TW_INT32), *last = shape ? tw__temp_slice(t, shape, -1, TW_NO_INT) : NULL;
    return TW_TEMP(Squeeze, last);
}

static tw_tensor *permutation_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *perm = tw__linear_value(t, self, 0), *size = length(t, perm);
    tw_tensor *one = size ? tw__temp(t, tw_tensor_float(1)) : NULL, *zero = one ? tw__temp(t, tw_tensor_float(0)) : NULL;
    return TW_TEMP(OneHot, perm, size, tw__temp_cast(t, one, self->dtype), tw__temp_cast(t, zero, self->dtype));
}

static tw_tensor *permutation_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return tw__linear_matmul(t, self, rhs, !adjoint, false);
}

static tw_status permutation_init(void *self, const void *given)
{
    const tw_linear_operator_permutation_args *args = given;
    TW_TRY(tw__linear_part(self, 0, "perm", &args->perm, TW_DTYPE_NONE));
    TW_TRY(tw__linear_need_rank(self, 0, "perm", 1));
    const tw_tensor *perm = ((tw_linear_operator *)self)->parts[0];
    if (!tw__is(perm, &tw__tensor_class) || !tw__dtype_is_integer(perm->dtype))
        return tw__fail(TW_TYPE_ERROR, "Argument `perm` must be integer dtype.");
    TW_TRY(tw__linear_always(self, TW_SQUARE, true, "A Permutation operator is always square."));
    if (((tw_linear_operator *)self)->hints[TW_NON_SINGULAR] == 0)
        return tw__fail(TW_VALUE_ERROR, "A Permutation operator is always non-singular.");
    return tw__linear_settle(self);
}
static const tw__linear_methods permutation_methods = { .shape = vector_shape,
                                                        .solve = permutation_solve,
                                                        .results[TW_LINEAR_DENSE] = permutation_dense,
                                                        .results[TW_LINEAR_LOG_ABS_DETERMINANT] = zeros,
                                                        .results[TW_LINEAR_COND] = ones };

TW_CLASS(linear_operator_permutation,
         "linalg.LinearOperatorPermutation(perm: value, dtype: dtype = float32, " TW_LINEAR_FACTS
         ", name: str = LinearOperatorPermutation) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = permutation_init,
         .methods = &permutation_methods, .inert = " *", .doc = "A permutation of rows: row i of the product is row perm[i].");

TW_PROPERTY(linear_operator_permutation_perm, "linalg.LinearOperatorPermutation.perm(self: linear_operator_permutation) -> value",
            "The places of the rows.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* ---- LinearOperatorToeplitz: first column, first row ---- */

static tw_shape toeplitz_shape(const tw_linear_operator *self)
{
    tw_shape column = tw__linear_part_shape(self, 0), row = tw__linear_part_shape(self, 1), both;
    return tw__shape_broadcast(&column, &row, &both) ? squared(both) : TW_UNKNOWN_SHAPE;
}

static tw_tensor *toeplitz_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *column = tw__linear_value(t, self, 0), *row = tw__linear_value(t, self, 1), *size = length(t, row);
    tw_tensor *reversed = size ? TW_TEMP(ReverseV2, column, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32)) : NULL;
    tw_tensor *places = size ? tw__temp_range(t, size) : NULL, *one = tw__temp_int(t, 1, TW_INT32);
    tw_tensor *rest = TW_TEMP(GatherV2, row, TW_TEMP(Range, one, size, one), -1);
    /* As rows of matrices they get the batch dimensions of both. */
    tw_tensor *below = TW_TEMP(ExpandDims, reversed, -1), *above = TW_TEMP(ExpandDims, rest, -1);
    if (!tw__linear_spread(t, &below, &above))
        return NULL;
    reversed = TW_TEMP(Squeeze, below, TW_A_INTS("squeeze_dims", ((int64_t[]){ -1 }), 1));
    rest = TW_TEMP(Squeeze, above, TW_A_INTS("squeeze_dims", ((int64_t[]){ -1 }), 1));
    if (!reversed || !rest)
        return NULL;
    tw_tensor *diagonals = tw__temp_concat(t, (tw_tensor *[]){ reversed, rest }, 2, -1); /* from below */
    tw_tensor *apart = TW_TEMP(Sub, TW_TEMP(ExpandDims, places, 0), TW_TEMP(ExpandDims, places, 1));
    return TW_TEMP(GatherV2, diagonals, TW_TEMP(AddV2, apart, TW_TEMP(Sub, size, one)), -1);
}

static tw_status toeplitz_init(void *self, const void *given)
{
    const tw_linear_operator_toeplitz_args *args = given;
    TW_TRY(tw__linear_part(self, 0, "col", &args->col, TW_DTYPE_NONE));
    TW_TRY(tw__linear_part(self, 1, "row", &args->row, ((tw_linear_operator *)self)->dtype));
    TW_TRY(tw__linear_need_rank(self, 0, "col", 1));
    TW_TRY(tw__linear_need_rank(self, 1, "row", 1));
    TW_TRY(tw__linear_always(self, TW_SQUARE, true, "Only square Toeplitz operators currently supported."));
    return tw__linear_settle(self);
}
static const tw__linear_methods toeplitz_methods = { .shape = toeplitz_shape, .results[TW_LINEAR_DENSE] = toeplitz_dense };

TW_CLASS(
    linear_operator_toeplitz,
    "linalg.LinearOperatorToeplitz(col: value, row: value, " TW_LINEAR_FACTS
    ", name: str = LinearOperatorToeplitz) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = toeplitz_init, .methods = &toeplitz_methods,
    .inert = " *",
    .doc =
        "A matrix whose diagonals are constant.\n"
        "col: the first column, [..., N]\n"
        "row: the first row, [..., N]; its first element should be that of `col`\n"
        "example: tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense().numpy().tolist()  # [[1.0, 3.0], [2.0, 1.0]]");

TW_PROPERTY(linear_operator_toeplitz_col, "linalg.LinearOperatorToeplitz.col(self: linear_operator_toeplitz) -> value",
            "The first column.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

TW_PROPERTY(linear_operator_toeplitz_row, "linalg.LinearOperatorToeplitz.row(self: linear_operator_toeplitz) -> value",
            "The first row.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 1);
}

/* ---- LinearOperatorTridiag ---- */

static const char *format_of(const tw_linear_operator *self)
{
    const tw_linear_operator_tridiag_args *args = tw_object_config(self);
    return args->diagonals_format;
}

static bool is_sequence(const tw_linear_operator *self)
{
    return strcmp(format_of(self), "sequence") == 0;
}

static tw_shape tridiag_shape(const tw_linear_operator *self)
{
    tw_shape shape = tw__linear_part_shape(self, is_sequence(self) ? 1 : 0);
    if (strcmp(format_of(self), "matrix") == 0)
        return shape;
    shape.rank -= is_sequence(self) || shape.rank < 2 ? 0 : 1;
    if (!is_sequence(self) && shape.rank >= 1) /* the dimension of three is gone */
        shape.dims[shape.rank - 1] = shape.dims[shape.rank];
    return squared(shape);
}

/* Calls the function with the diagonals as it takes them. */
static tw_tensor *with_diagonals(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool solve)
{
    tw_value diagonals[TW_LINEAR_PARTS], all = { .kind = TW_VALUE_LIST, .list = { diagonals, 0 } };
    for (int i = 0; i < TW_LINEAR_PARTS && self->parts[i]; i++) {
        tw_tensor *diagonal = tw__linear_value(t, self, i);
        if (!diagonal || !x)
            return NULL;
        diagonals[all.list.count++] = TW_LEAF(diagonal);
    }
    tw_value given = all.list.count > 1 ? all : diagonals[0];
    return tw__temp(t, solve ? tw_linalg_tridiagonal_solve(given, x, .diagonals_format = format_of(self))
                             : tw_linalg_tridiagonal_matmul(given, x, .diagonals_format = format_of(self)));
}

static tw_tensor *tridiag_dense(tw__temps *t, tw_linear_operator *self)
{
    if (strcmp(format_of(self), "matrix") == 0)
        return tw__linear_value(t, self, 0);
    tw_tensor *middle = tw__linear_value(t, self, is_sequence(self) ? 1 : 0), *one;
    one = middle && !is_sequence(self) ? tw__temp_gather(t, middle, tw__temp_int(t, 1, TW_INT32), -2) : middle;
    tw_tensor *sizes = one ? tw__temp_shape(t, one, TW_INT32) : NULL;
    return with_diagonals(t, self, tw__diag(t, tw__linear_filled(t, sizes, self->dtype, 1)), false);
}

static tw_tensor *tridiag_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    tw_tensor *matrix = adjoint ? tridiag_dense(t, self) : NULL;
    if (!adjoint)
        return with_diagonals(t, self, rhs, true);
    return tw__linear_spread(t, &matrix, &rhs) ? tw__solve(t, matrix, rhs, true) : NULL;
}

static tw_status tridiag_init(void *self, const void *given)
{
    const tw_linear_operator_tridiag_args *args = given;
    const char *format = args->diagonals_format;
    bool sequence = strcmp(format, "sequence") == 0;
    if (!sequence && strcmp(format, "compact") != 0 && strcmp(format, "matrix") != 0)
        return tw__fail(TW_VALUE_ERROR, "Expected `diagonals_format` to be one of matrix, compact, sequence got : %s", format);
    bool list = args->diagonals.kind == TW_VALUE_LIST || args->diagonals.kind == TW_VALUE_TUPLE;
    if (sequence && (!list || args->diagonals.list.count != TW_LINEAR_PARTS))
        return tw__fail(TW_VALUE_ERROR, "Expected diagonals to be a list of length 3.");
    for (int i = 0; i < (sequence ? TW_LINEAR_PARTS : 1); i++)
        TW_TRY(
            tw__linear_part(self, i, "diagonals", sequence ? &args->diagonals.list.items[i] : &args->diagonals, TW_DTYPE_NONE));
    tw__linear_follows(self, TW_SQUARE, true);
    return tw__linear_settle(self);
}
static const tw__linear_methods tridiag_methods = { .shape = tridiag_shape,
                                                    .solve = tridiag_solve,
                                                    .results[TW_LINEAR_DENSE] = tridiag_dense };

TW_CLASS(
    linear_operator_tridiag,
    "linalg.LinearOperatorTridiag(diagonals: value, diagonals_format: str = compact, " TW_LINEAR_FACTS
    ", name: str = LinearOperatorTridiag) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = tridiag_init, .methods = &tridiag_methods,
    .inert = " *",
    .doc =
        "A matrix of three diagonals.\n"
        "diagonals: the diagonals as `diagonals_format` says\n"
        "diagonals_format: `compact`: [..., 3, N], the upper one first; `sequence`: a list of the three; `matrix`: [..., N, N]");

TW_PROPERTY(linear_operator_tridiag_diagonals, "linalg.LinearOperatorTridiag.diagonals(self: linear_operator_tridiag) -> value",
            "The diagonals.")
{
    const tw_linear_operator *self = (const tw_linear_operator *)args->self;
    if (!is_sequence(self))
        return tw__linear_given(self, 0);
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array(TW_LINEAR_PARTS, sizeof *list.list.items), 0 } };
    for (int i = 0; list.list.items && i < TW_LINEAR_PARTS; i++)
        list.list.items[list.list.count++] = tw__linear_given(self, i);
    return list;
}

TW_PROPERTY(linear_operator_tridiag_diagonals_format,
            "linalg.LinearOperatorTridiag.diagonals_format(self: linear_operator_tridiag) -> str", "How they were given.")
{
    return tw__strdup(format_of((const tw_linear_operator *)args->self));
}
