/* Diagonal operators: LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity; and LinearOperatorZeros. The
 * first three share everything but how they get their diagonal. */
#include "api/debugging/debugging.h"
#include "linear/linear.h"

static tw_tensor *diag_of(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_result_of(t, self, TW_LINEAR_DIAG_PART);
}

static tw_tensor *reduced(tw__temps *t, const tw_op *op, tw_tensor *x)
{
    return tw__temp(t, tw__reduce_axis(op, x, -1, false));
}

static tw_tensor *sizes_of(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *diag = diag_of(t, self);
    return diag ? tw__temp(t, tw_abs(diag)) : NULL;
}

static tw_tensor *dense(tw__temps *t, tw_linear_operator *self)
{
    return tw__diag(t, diag_of(t, self));
}

static tw_tensor *factor(tw__temps *t, tw_linear_operator *self, bool adjoint)
{
    tw_tensor *diag = diag_of(t, self);
    return TW_TEMP(ExpandDims, diag && adjoint ? tw__temp(t, tw__grad_conj(diag)) : diag, -1);
}

static tw_tensor *matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    return TW_TEMP(Mul, factor(t, self, adjoint), x);
}

static tw_tensor *solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return TW_TEMP(RealDiv, rhs, factor(t, self, adjoint));
}

static tw_tensor *determinant(tw__temps *t, tw_linear_operator *self)
{
    return reduced(t, &tw__op_Prod, diag_of(t, self));
}

static tw_tensor *log_abs_determinant(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *sum = reduced(t, &tw__op_Sum, TW_TEMP(Log, sizes_of(t, self)));
    return tw_class_of(self) == &tw__class_linear_operator_diag ? tw__temp_cast(t, sum, self->dtype) : sum; /* as TensorFlow */
}

static tw_tensor *cond(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *sizes = sizes_of(t, self);
    return TW_TEMP(RealDiv, reduced(t, &tw__op_Max, sizes), reduced(t, &tw__op_Min, sizes));
}

static tw_value not_singular(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *sizes = sizes_of(t, self), *least = tw__temp(t, tw__reduce_axis(&tw__op_Min, sizes, TW_NO_INT, false));
    tw_tensor *zero = least ? tw__temp_float(t, least->dtype, 0) : NULL;
    return zero ? tw_debugging_assert_none_equal(least, zero, .message = "Singular operator:  Diagonal contained zero values.")
                : tw__nothing;
}

static tw_value definite(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *diag = diag_of(t, self), *real = diag ? tw__temp(t, tw_math_real(diag)) : NULL;
    return real ? tw_debugging_assert_positive(real, .message = "Operator is not positive definite: diagonal is not positive.")
                : tw__nothing;
}

static tw_linear_operator *same(tw_linear_operator *self, tw__linear_made made)
{
    (void)made;
    return tw_retain(self);
}

#define DIAGONAL                                                                                                 \
    .matmul = matmul, .solve = solve, .assert_non_singular = not_singular, .assert_positive_definite = definite, \
    .results[TW_LINEAR_DENSE] = dense, .results[TW_LINEAR_DETERMINANT] = determinant,                            \
    .results[TW_LINEAR_LOG_ABS_DETERMINANT] = log_abs_determinant, .results[TW_LINEAR_EIGVALS] = diag_of

/* 1 / x, the root or the conjugate of the operator's part. */
static tw_tensor *changed(tw__temps *t, tw_linear_operator *self, tw__linear_made made)
{
    tw_tensor *x = tw__linear_value(t, self, 0);
    return !x                           ? NULL
           : made == TW_LINEAR_INVERSE  ? TW_TEMP(RealDiv, 1.0, x)
           : made == TW_LINEAR_CHOLESKY ? TW_TEMP(Sqrt, x)
                                        : tw__temp(t, tw__grad_conj(x));
}

/* ---- LinearOperatorDiag ---- */

static tw_tensor *first_part(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_value(t, self, 0);
}

static tw_shape diag_shape(const tw_linear_operator *self)
{
    tw_shape shape = tw__linear_part_shape(self, 0);
    if (shape.rank < 1 || shape.rank == TW_MAX_RANK)
        return TW_UNKNOWN_SHAPE;
    shape.dims[shape.rank] = shape.dims[shape.rank - 1];
    shape.rank++;
    return shape;
}

static tw_linear_operator *diag_made(tw_linear_operator *self, tw__linear_made made)
{
    TW_TEMPS(t);
    tw_tensor *diag = changed(t, self, made);
    bool plain = made == TW_LINEAR_CHOLESKY;
    return diag ? tw_linear_operator_diag(TW_LEAF(diag),
                                          .is_non_singular =
                                              made == TW_LINEAR_INVERSE ? true : tw__linear_said(self, TW_NON_SINGULAR),
                                          .is_self_adjoint = plain ? TW_NO_INT : tw__linear_said(self, TW_SELF_ADJOINT),
                                          .is_positive_definite = plain ? TW_NO_INT : tw__linear_said(self, TW_POSITIVE_DEFINITE),
                                          .is_square = true)
                : NULL;
}

static tw_status diag_init(void *self, const void *given)
{
    const tw_linear_operator_diag_args *args = given;
    tw_linear_operator *linear = self;
    TW_TRY(tw__linear_part(linear, 0, "diag", &args->diag, TW_DTYPE_NONE));
    TW_TRY(tw__linear_need_rank(linear, 0, "diag", 1));
    if (!tw__dtype_is_complex(linear->dtype))
        TW_TRY(tw__linear_always(linear, TW_SELF_ADJOINT, true, "A real diagonal operator is always self adjoint."));
    TW_TRY(tw__linear_always(linear, TW_SQUARE, true, "Only square diagonal operators currently supported."));
    return tw__linear_settle(linear);
}
static const tw__linear_methods diag_methods = { DIAGONAL, .results[TW_LINEAR_COND] = cond,
                                                 .results[TW_LINEAR_DIAG_PART] = first_part, .shape = diag_shape,
                                                 .made = diag_made };

TW_CLASS(linear_operator_diag,
         "linalg.LinearOperatorDiag(diag: value, " TW_LINEAR_FACTS ", name: str = LinearOperatorDiag) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = diag_init, .methods = &diag_methods,
         .inert = " *",
         .doc = "A diagonal matrix.\n"
                "diag: the diagonal, [..., N]\n"
                "example: tf.linalg.LinearOperatorDiag([1.0, 2.0]).matvec([3.0, 4.0]).numpy().tolist()  # [3.0, 8.0]");

TW_PROPERTY(linear_operator_diag_diag, "linalg.LinearOperatorDiag.diag(self: linear_operator_diag) -> value", "The diagonal.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* A number of rows or columns, or the batch's shape. */
static tw_status sizes_part(tw_linear_operator *self, int index, const char *name, const tw_value *value)
{
    TW_TRY(tw__linear_part(self, index, name, value, TW_DTYPE_NONE));
    return tw__linear_need_sizes(self, index, name, strcmp(name, "batch_shape") == 0);
}

/* ---- LinearOperatorIdentity: number of rows, batch shape ---- */

/* The rows and columns behind the batch's dimensions. */
static tw_shape sized_shape(const tw_linear_operator *self, int rows, int columns, int batch)
{
    tw_shape shape = self->parts[batch] ? tw__static_shape(self->parts[batch]) : TW_SCALAR;
    return tw__shape_with(shape, tw__linear_static(self, rows, 0), tw__linear_static(self, columns, 0));
}

static tw_shape identity_shape(const tw_linear_operator *self)
{
    return sized_shape(self, 0, 0, 1);
}

static tw_tensor *sized_tensor(tw__temps *t, tw_linear_operator *self, int rows, int columns, int batch)
{
    tw_tensor *parts[3], *sides[] = { tw__linear_value(t, self, rows), tw__linear_value(t, self, columns) };
    parts[0] =
        self->parts[batch] ? tw__temp_cast(t, tw__linear_value(t, self, batch), TW_INT32) : tw__temp_ints(t, NULL, 0, TW_INT32);
    for (int i = 0; i < 2; i++)
        parts[i + 1] = sides[i] ? tw__temp_reshape(t, tw__temp_cast(t, sides[i], TW_INT32), (int64_t[]){ 1 }, 1) : NULL;
    return parts[0] && parts[1] && parts[2] ? tw__temp_concat(t, parts, 3, 0) : NULL;
}

static tw_tensor *identity_shape_tensor(tw__temps *t, tw_linear_operator *self)
{
    return sized_tensor(t, self, 0, 0, 1);
}

static tw_tensor *identity_diag(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *sizes = tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR);
    return sizes ? tw__linear_filled(t, tw__temp_slice(t, sizes, TW_NO_INT, -1), self->dtype, 1) : NULL;
}

static tw_status identity_init(void *self, const void *given)
{
    const tw_linear_operator_identity_args *args = given;
    tw_linear_operator *linear = self;
    linear->dtype = args->dtype ? args->dtype : TW_FLOAT32;
    static const struct {
        tw__hint hint;
        const char *message;
    } always[] = { { TW_SELF_ADJOINT, "An identity operator is always self adjoint." },
                   { TW_NON_SINGULAR, "An identity operator is always non-singular." },
                   { TW_POSITIVE_DEFINITE, "An identity operator is always positive-definite." },
                   { TW_SQUARE, "An identity operator is always square." } };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        TW_TRY(tw__linear_always(linear, always[i].hint, true, always[i].message));
    TW_TRY(sizes_part(linear, 0, "num_rows", &args->num_rows));
    return sizes_part(linear, 1, "batch_shape", &args->batch_shape);
}
static const tw__linear_methods identity_methods = { DIAGONAL,
                                                     .results[TW_LINEAR_COND] = cond,
                                                     .results[TW_LINEAR_DIAG_PART] = identity_diag,
                                                     .results[TW_LINEAR_SHAPE_TENSOR] = identity_shape_tensor,
                                                     .shape = identity_shape,
                                                     .made = same };

TW_CLASS(
    linear_operator_identity,
    "linalg.LinearOperatorIdentity(num_rows: value, batch_shape: value = None, dtype: dtype = None, is_non_singular: int = 1 shown True, "
    "is_self_adjoint: int = 1 shown True, is_positive_definite: int = 1 shown True, is_square: int = 1 shown True, assert_proper_shapes: bool = False, "
    "name: str = LinearOperatorIdentity) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = identity_init, .methods = &identity_methods,
    .inert = " *", .doc = "An identity matrix.");

/* ---- LinearOperatorScaledIdentity: multiplier, number of rows ---- */

static tw_tensor *scaled_diag(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *rows = tw__linear_value(t, self, 1);
    tw_tensor *size = rows ? tw__temp_reshape(t, tw__temp_cast(t, rows, TW_INT32), (int64_t[]){ 1 }, 1) : NULL;
    return TW_TEMP(Mul, TW_TEMP(ExpandDims, tw__linear_value(t, self, 0), -1), tw__linear_filled(t, size, self->dtype, 1));
}

static tw_tensor *scaled_cond(tw__temps *t, tw_linear_operator *self)
{
    return TW_TEMP(OnesLike, tw__linear_value(t, self, 0));
}

static tw_shape scaled_shape(const tw_linear_operator *self)
{
    int64_t rows = tw__linear_static(self, 1, 0);
    return tw__shape_with(tw__linear_part_shape(self, 0), rows, rows);
}

static tw_linear_operator *scaled_made(tw_linear_operator *self, tw__linear_made made)
{
    TW_TEMPS(t);
    tw_tensor *multiplier = changed(t, self, made);
    bool plain = made == TW_LINEAR_CHOLESKY;
    return multiplier
               ? tw_linear_operator_scaled_identity(TW_LEAF(self->parts[1]), TW_LEAF(multiplier),
                                                    .is_non_singular =
                                                        made == TW_LINEAR_INVERSE ? true : tw__linear_said(self, TW_NON_SINGULAR),
                                                    .is_self_adjoint = plain ? TW_NO_INT : tw__linear_said(self, TW_SELF_ADJOINT),
                                                    .is_positive_definite =
                                                        plain ? TW_NO_INT : tw__linear_said(self, TW_POSITIVE_DEFINITE))
               : NULL;
}

static tw_status scaled_init(void *self, const void *given)
{
    const tw_linear_operator_scaled_identity_args *args = given;
    tw_linear_operator *linear = self;
    TW_TRY(tw__linear_part(linear, 0, "multiplier", &args->multiplier, TW_DTYPE_NONE));
    TW_TRY(sizes_part(linear, 1, "num_rows", &args->num_rows));
    if (!tw__dtype_is_complex(linear->dtype))
        TW_TRY(tw__linear_always(linear, TW_SELF_ADJOINT, true, "A real scaled identity is always self adjoint."));
    TW_TRY(tw__linear_always(linear, TW_SQUARE, true, "A ScaledIdentity operator is always square."));
    return tw__linear_settle(linear);
}
static const tw__linear_methods scaled_methods = { DIAGONAL, .results[TW_LINEAR_COND] = scaled_cond,
                                                   .results[TW_LINEAR_DIAG_PART] = scaled_diag, .shape = scaled_shape,
                                                   .made = scaled_made };

TW_CLASS(
    linear_operator_scaled_identity,
    "linalg.LinearOperatorScaledIdentity(num_rows: value, multiplier: value, is_non_singular: int = None, "
    "is_self_adjoint: int = None, is_positive_definite: int = None, is_square: int = 1 shown True, assert_proper_shapes: bool = False, "
    "name: str = LinearOperatorScaledIdentity) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = scaled_init, .methods = &scaled_methods,
    .inert = " *",
    .doc = "A multiple of an identity matrix.\n"
           "multiplier: the number on the diagonal, one for each matrix of the batch");

TW_PROPERTY(linear_operator_scaled_identity_multiplier,
            "linalg.LinearOperatorScaledIdentity.multiplier(self: linear_operator_scaled_identity) -> value", "The multiplier.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

/* ---- LinearOperatorZeros: number of rows, of columns, batch shape ---- */

static tw_shape zeros_shape(const tw_linear_operator *self)
{
    return sized_shape(self, 0, self->parts[1] ? 1 : 0, 2);
}

static tw_tensor *zeros_shape_tensor(tw__temps *t, tw_linear_operator *self)
{
    return sized_tensor(t, self, 0, self->parts[1] ? 1 : 0, 2);
}

static tw_tensor *zeros_dense(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_filled(t, tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR), self->dtype, 0);
}

static tw_tensor *zeros_determinant(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *shape = tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR);
    return shape ? tw__linear_filled(t, tw__temp_slice(t, shape, TW_NO_INT, -2), self->dtype, 0) : NULL;
}

static tw_value never_invertible(tw__temps *t, tw_linear_operator *self)
{
    (void)t, (void)self;
    tw__fail(TW_INVALID_ARGUMENT, "Zero operators are always non-invertible.");
    return tw__nothing;
}

static tw_value never_definite(tw__temps *t, tw_linear_operator *self)
{
    (void)t, (void)self;
    tw__fail(TW_INVALID_ARGUMENT, "Zero operators are always non-positive definite.");
    return tw__nothing;
}

static tw_status zeros_init(void *self, const void *given)
{
    const tw_linear_operator_zeros_args *args = given;
    tw_linear_operator *linear = self;
    linear->dtype = args->dtype ? args->dtype : TW_FLOAT32;
    if (linear->hints[TW_SQUARE] == 1)
        TW_TRY(tw__linear_always(linear, TW_SELF_ADJOINT, true, "A zero operator is always self adjoint."));
    TW_TRY(tw__linear_always(linear, TW_NON_SINGULAR, false, "A zero operator is always singular."));
    TW_TRY(tw__linear_always(linear, TW_POSITIVE_DEFINITE, false, "A zero operator is always not positive-definite."));
    TW_TRY(sizes_part(linear, 0, "num_rows", &args->num_rows));
    TW_TRY(sizes_part(linear, 1, "num_columns", &args->num_columns));
    TW_TRY(sizes_part(linear, 2, "batch_shape", &args->batch_shape));
    return tw__linear_settle(linear);
}
static const tw__linear_methods zeros_methods = { .shape = zeros_shape,
                                                  .assert_non_singular = never_invertible,
                                                  .assert_positive_definite = never_definite,
                                                  .results[TW_LINEAR_SHAPE_TENSOR] = zeros_shape_tensor,
                                                  .results[TW_LINEAR_DENSE] = zeros_dense,
                                                  .results[TW_LINEAR_DETERMINANT] = zeros_determinant };

TW_CLASS(
    linear_operator_zeros,
    "linalg.LinearOperatorZeros(num_rows: value, num_columns: value = None, batch_shape: value = None, dtype: dtype = None, "
    "is_non_singular: int = 0 shown False, is_self_adjoint: int = 1 shown True, is_positive_definite: int = 0 shown False, is_square: int = 1 shown True, "
    "assert_proper_shapes: bool = False, name: str = LinearOperatorZeros) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = zeros_init, .methods = &zeros_methods,
    .inert = " *", .doc = "A matrix of zeros.");
