/* The methods and properties of linear operators that users call. */
#include "api/debugging/debugging.h"
#include "linear/linear.h"

/* ---- what is known ---- */

static tw_value said(int hint)
{
    return hint == TW_UNSAID ? tw__nothing : (tw_value){ .kind = TW_VALUE_BOOL, .b = hint };
}

TW_PROPERTY(linear_operator_is_non_singular, "linalg.LinearOperator.is_non_singular(self: linear_operator) -> value",
            "Whether it has an inverse; None: not known.")
{
    return said(args->self->hints[TW_NON_SINGULAR]);
}

TW_PROPERTY(linear_operator_is_self_adjoint, "linalg.LinearOperator.is_self_adjoint(self: linear_operator) -> value",
            "Whether it is its own adjoint; None: not known.")
{
    return said(args->self->hints[TW_SELF_ADJOINT]);
}

TW_PROPERTY(linear_operator_is_positive_definite, "linalg.LinearOperator.is_positive_definite(self: linear_operator) -> value",
            "Whether x^H A x is positive for every x; None: not known.")
{
    return said(args->self->hints[TW_POSITIVE_DEFINITE]);
}

TW_PROPERTY(linear_operator_is_square, "linalg.LinearOperator.is_square(self: linear_operator) -> value",
            "Whether it is square; None: not known.")
{
    return said(tw__linear_hint(args->self, TW_SQUARE));
}

TW_PROPERTY(linear_operator_dtype, "linalg.LinearOperator.dtype(self: linear_operator) -> value", "The dtype of its elements.")
{
    return args->self->dtype ? (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = args->self->dtype } : tw__nothing;
}

TW_PROPERTY(linear_operator_shape, "linalg.LinearOperator.shape(self: linear_operator) -> value",
            "The shape of the matrices, with the batch's dimensions in front.")
{
    tw_shape shape;
    tw_value result = tw__nothing;
    if (tw__linear_shape(args->self, &shape) == TW_OK)
        tw__value_of_shape(shape, &result);
    return result;
}

TW_PROPERTY(linear_operator_batch_shape, "linalg.LinearOperator.batch_shape(self: linear_operator) -> value",
            "The shape without the last two dimensions.")
{
    tw_shape shape;
    tw_value result = tw__nothing;
    if (tw__linear_shape(args->self, &shape) != TW_OK)
        return result;
    shape.rank -= shape.rank < 2 ? 0 : 2;
    tw__value_of_shape(shape, &result);
    return result;
}

TW_PROPERTY(linear_operator_tensor_rank, "linalg.LinearOperator.tensor_rank(self: linear_operator) -> value",
            "How many dimensions the dense matrices have; None: not known.")
{
    tw_shape shape;
    bool known = tw__linear_shape(args->self, &shape) == TW_OK && shape.rank >= 0;
    return known ? (tw_value){ .kind = TW_VALUE_INT, .i = shape.rank } : tw__nothing;
}

static tw_value argument(const tw_field *field, const void *place)
{
    switch (field->kind) {
    case TW_KIND_INT: /* hints */
        return said(*(const int64_t *)place == TW_NO_INT ? TW_UNSAID : *(const int64_t *)place != 0);
    case TW_KIND_STR:
        return *(char *const *)place ? tw__value_str(*(char *const *)place) : tw__nothing;
    case TW_KIND_BOOL:
        return (tw_value){ .kind = TW_VALUE_BOOL, .b = *(const bool *)place };
    case TW_KIND_DTYPE: {
        tw_dtype dtype = *(const tw_dtype *)place;
        return dtype ? (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = dtype } : tw__nothing;
    }
    case TW_KIND_VALUE:
        return tw__value_copy(place);
    case TW_KIND_HANDLE:
        return *(void *const *)place ? tw__value_of_object(tw_retain(*(void *const *)place)) : tw__nothing;
    case TW_KIND_HANDLES: {
        const tw_objects *objects = place;
        tw_value list = { .kind = TW_VALUE_LIST,
                          .list = { tw__alloc_array((size_t)objects->count + 1, sizeof *list.list.items), 0 } };
        for (int64_t i = 0; list.list.items && i < objects->count; i++)
            list.list.items[list.list.count++] = tw__value_of_object(tw_retain(objects->items[i]));
        return list;
    }
    default:
        return tw__nothing;
    }
}

TW_PROPERTY(linear_operator_parameters, "linalg.LinearOperator.parameters(self: linear_operator) -> value",
            "The arguments it was made with.")
{
    const tw_class *class = tw_class_of(args->self);
    const char *config = tw_object_config(args->self);
    if (class->signature == &tw__signature_linear_operator) {
        const tw_value *given = &((const tw_linear_operator_args *)config)->parameters;
        return given->kind == TW_VALUE_NONE ? (tw_value){ .kind = TW_VALUE_DICT } : tw__value_copy(given);
    }
    tw__dict dict = { 0 };
    for (int i = 0; i < class->signature->field_count; i++) {
        const tw_field *field = &class->signature->fields[i];
        tw__dict_put(&dict, field->name, argument(field, config + field->offset));
    }
    return tw__dict_take(&dict);
}

TW_PROPERTY(linear_operator_graph_parents, "linalg.LinearOperator.graph_parents(self: linear_operator) -> value",
            "What it was said to depend on.")
{
    const tw_class *class = tw_class_of(args->self);
    const tw_linear_operator_args *given = tw_object_config(args->self);
    bool said = class->signature == &tw__signature_linear_operator && given->graph_parents.kind != TW_VALUE_NONE;
    return said ? tw__value_copy(&given->graph_parents) : (tw_value){ .kind = TW_VALUE_LIST };
}

/* ---- shapes as tensors ---- */

static tw_tensor *sizes(tw_linear_operator *self, int64_t begin, int64_t end)
{
    TW_TEMPS(t);
    tw_tensor *shape = tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR);
    return shape ? tw__keep(t, tw__temp_slice(t, shape, begin, end)) : NULL;
}

static tw_tensor *side(tw_linear_operator *self, int64_t index)
{
    tw_auto tw_tensor *one = sizes(self, index, index == -1 ? TW_NO_INT : index + 1);
    return TW_CALL(Squeeze, one);
}

TW_METHOD(linear_operator_shape_tensor,
          "linalg.LinearOperator.shape_tensor(self: linear_operator, name: str = shape_tensor) -> tensor",
          "The shape as a tensor.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__linear_result_of(t, args->self, TW_LINEAR_SHAPE_TENSOR));
}

TW_METHOD(linear_operator_batch_shape_tensor,
          "linalg.LinearOperator.batch_shape_tensor(self: linear_operator, name: str = batch_shape_tensor) -> tensor",
          "The batch's shape as a tensor.")
{
    return sizes(args->self, TW_NO_INT, -2);
}

TW_METHOD(linear_operator_tensor_rank_tensor,
          "linalg.LinearOperator.tensor_rank_tensor(self: linear_operator, name: str = tensor_rank_tensor) -> tensor",
          "The rank as a tensor.")
{
    TW_TEMPS(t);
    return TW_CALL(Size, tw__linear_result_of(t, args->self, TW_LINEAR_SHAPE_TENSOR));
}

TW_METHOD(linear_operator_domain_dimension_tensor,
          "linalg.LinearOperator.domain_dimension_tensor(self: linear_operator, name: str = domain_dimension_tensor) -> tensor",
          "The number of columns as a tensor.")
{
    return side(args->self, -1);
}

TW_METHOD(linear_operator_range_dimension_tensor,
          "linalg.LinearOperator.range_dimension_tensor(self: linear_operator, name: str = range_dimension_tensor) -> tensor",
          "The number of rows as a tensor.")
{
    return side(args->self, -2);
}

/* ---- results ---- */

static tw_tensor *result_of(tw_linear_operator *self, tw__linear_result result)
{
    TW_TEMPS(t);
    return tw__keep(t, tw__linear_result_of(t, self, result));
}

/* The same of something that only square matrices have. */
static tw_tensor *determinant(tw_linear_operator *self, tw__linear_result result)
{
    if (tw__linear_hint(self, TW_SQUARE) != 0)
        return result_of(self, result);
    tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Determinant not implemented for an operator that is expected to not be square.");
    return NULL;
}

TW_METHOD(linear_operator_to_dense, "linalg.LinearOperator.to_dense(self: linear_operator, name: str = to_dense) -> tensor",
          "The matrix itself.")
{
    return result_of(args->self, TW_LINEAR_DENSE);
}

TW_METHOD(linear_operator_diag_part, "linalg.LinearOperator.diag_part(self: linear_operator, name: str = diag_part) -> tensor",
          "The diagonal.")
{
    return result_of(args->self, TW_LINEAR_DIAG_PART);
}

TW_METHOD(linear_operator_trace, "linalg.LinearOperator.trace(self: linear_operator, name: str = trace) -> tensor",
          "The sum of the diagonal.")
{
    return result_of(args->self, TW_LINEAR_TRACE);
}

TW_METHOD(linear_operator_determinant, "linalg.LinearOperator.determinant(self: linear_operator, name: str = det) -> tensor",
          "The determinant.")
{
    return determinant(args->self, TW_LINEAR_DETERMINANT);
}

TW_METHOD(linear_operator_log_abs_determinant,
          "linalg.LinearOperator.log_abs_determinant(self: linear_operator, name: str = log_abs_det) -> tensor",
          "The logarithm of the absolute value of the determinant.")
{
    return determinant(args->self, TW_LINEAR_LOG_ABS_DETERMINANT);
}

TW_METHOD(linear_operator_eigvals, "linalg.LinearOperator.eigvals(self: linear_operator, name: str = eigvals) -> tensor",
          "The eigenvalues of a self-adjoint operator.")
{
    if (args->self->hints[TW_SELF_ADJOINT] == 1)
        return result_of(args->self, TW_LINEAR_EIGVALS);
    tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Only self-adjoint matrices are supported.");
    return NULL;
}

TW_METHOD(linear_operator_cond, "linalg.LinearOperator.cond(self: linear_operator, name: str = cond) -> tensor",
          "The greatest singular value, divided by the smallest.")
{
    return result_of(args->self, TW_LINEAR_COND);
}

TW_METHOD(linear_operator_add_to_tensor,
          "linalg.LinearOperator.add_to_tensor(self: linear_operator, x: value, name: str = add_to_tensor) -> tensor",
          "The sum with a dense matrix.\n"
          "x: a matrix of the operator's dtype, whose shape can be broadcast with its own")
{
    TW_TEMPS(t);
    return TW_CALL(AddV2, tw__linear_dense(t, args->self), tw__temp(t, tw__value_tensor(&args->x, args->self->dtype, "x")));
}

/* ---- other operators ---- */

TW_METHOD(linear_operator_adjoint_operator,
          "linalg.LinearOperator.adjoint(self: linear_operator, name: str = adjoint) -> linear_operator",
          "The operator of the adjoint matrix.")
{
    return args->self->hints[TW_SELF_ADJOINT] == 1 ? tw_retain(args->self) : tw__linear_make(args->self, TW_LINEAR_ADJOINT);
}

TW_PROPERTY(linear_operator_h, "linalg.LinearOperator.H(self: linear_operator) -> linear_operator",
            "The operator of the adjoint matrix.")
{
    return tw_linear_operator_adjoint_operator(args->self);
}

TW_METHOD(linear_operator_inverse, "linalg.LinearOperator.inverse(self: linear_operator, name: str = inverse) -> linear_operator",
          "The operator of the inverse matrix.")
{
    bool square = tw__linear_hint(args->self, TW_SQUARE) != 0;
    if (square && args->self->hints[TW_NON_SINGULAR] != 0)
        return tw__linear_make(args->self, TW_LINEAR_INVERSE);
    tw__fail(TW_VALUE_ERROR, "Cannot get the Inverse: This operator represents a %s matrix", square ? "singular" : "non-square");
    return NULL;
}

TW_METHOD(linear_operator_cholesky,
          "linalg.LinearOperator.cholesky(self: linear_operator, name: str = cholesky) -> linear_operator",
          "The operator of Cholesky's factor.")
{
    if (args->self->hints[TW_POSITIVE_DEFINITE] == 1 && args->self->hints[TW_SELF_ADJOINT] == 1)
        return tw__linear_make(args->self, TW_LINEAR_CHOLESKY);
    tw__fail(TW_VALUE_ERROR, "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.");
    return NULL;
}

/* ---- products and solutions ---- */

/* Of operators: of two of a kind where that is one of the kind again. */
static tw_linear_operator *product(tw_linear_operator *left, tw_linear_operator *right)
{
    TW_TEMPS(t);
    const tw_class *first = tw_class_of(left), *second = tw_class_of(right);
    if (first == &tw__class_linear_operator_identity || second == &tw__class_linear_operator_identity)
        return tw_retain(first == &tw__class_linear_operator_identity ? right : left);
    if (first == &tw__class_linear_operator_diag && second == first) {
        tw_tensor *diag = TW_TEMP(Mul, tw__linear_value(t, left, 0), tw__linear_value(t, right, 0));
        return diag ? tw_linear_operator_diag(TW_LEAF(diag), .is_square = true) : NULL;
    }
    return tw_linear_operator_composition(TW_OBJECTS(left, right));
}

static tw_linear_operator *turned(tw__temps *t, tw_linear_operator *self, bool adjoint)
{
    return adjoint ? tw__temp(t, tw_linear_operator_adjoint_operator(self)) : self;
}

/* With an operator: an operator; with numbers: a tensor. */
static tw_value act(tw_linear_operator *self, const tw_value *x, const char *name, bool solve, bool adjoint, bool adjoint_arg)
{
    TW_TEMPS(t);
    if (x->kind != TW_VALUE_OBJECT || !tw__is(x->object, &tw__class_linear_operator)) {
        tw_tensor *tensor = tw__temp(t, tw__value_tensor(x, self->dtype, name));
        tw_tensor *made = solve ? tw__linear_solve(t, self, tensor, adjoint, adjoint_arg)
                                : tw__linear_matmul(t, self, tensor, adjoint, adjoint_arg);
        return made ? tw__value_of_tensor(tw_retain(made)) : tw__nothing;
    }
    tw_linear_operator *left = turned(t, self, adjoint), *right = turned(t, x->object, adjoint_arg);
    tw_shape a, b;
    if (!left || !right || tw__linear_shape(left, &a) != TW_OK || tw__linear_shape(right, &b) != TW_OK)
        return tw__nothing;
    int64_t columns = a.rank < 2 ? -1 : a.dims[a.rank - 1], rows = b.rank < 2 ? -1 : b.dims[b.rank - 2];
    if (columns >= 0 && rows >= 0 && columns != rows) {
        tw__fail(TW_VALUE_ERROR, "Operators are incompatible. Expected `%s` to have dimension %lld but got %lld.", name,
                 (long long)columns, (long long)rows);
        return tw__nothing;
    }
    bool zero = tw_class_of(left) == &tw__class_linear_operator_zeros || tw_class_of(right) == &tw__class_linear_operator_zeros;
    if (zero && (tw__linear_hint(self, TW_SQUARE) == 0 || tw__linear_hint(x->object, TW_SQUARE) == 0)) {
        tw__fail(TW_VALUE_ERROR, "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported.");
        return tw__nothing;
    }
    left = solve ? tw__temp(t, tw_linear_operator_inverse(left)) : left;
    return left ? tw__value_of_object(product(left, right)) : tw__nothing;
}

TW_METHOD(linear_operator_matmul,
          "linalg.LinearOperator.matmul(self: linear_operator, x: value, adjoint: bool = False, adjoint_arg: bool = False, "
          "name: str = matmul) -> value",
          "The product with a matrix or an operator.\n"
          "x: matrices [..., N, K], or another operator\n"
          "returns: a tensor, or an operator if `x` is one")
{
    return act(args->self, &args->x, "x", false, args->adjoint, args->adjoint_arg);
}

TW_METHOD(linear_operator_dunder_matmul, "linalg.LinearOperator.__matmul__(self: linear_operator, other: value) -> value",
          "The product with a matrix or an operator.\n"
          "other: a matrix, or another operator")
{
    return act(args->self, &args->other, "x", false, false, false);
}

static tw_tensor *without_last(tw_tensor *x)
{
    return TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", ((int64_t[]){ -1 }), 1));
}

TW_METHOD(linear_operator_matvec,
          "linalg.LinearOperator.matvec(self: linear_operator, x: value, adjoint: bool = False, name: str = matvec) -> tensor",
          "The product with a vector.\n"
          "x: vectors [..., N]")
{
    TW_TEMPS(t);
    tw_tensor *x = tw__temp(t, tw__value_tensor(&args->x, args->self->dtype, "x"));
    return without_last(tw__linear_matmul(t, args->self, TW_TEMP(ExpandDims, x, -1), args->adjoint, false));
}

static tw_status can_solve(tw_linear_operator *self)
{
    const char *not = self->hints[TW_NON_SINGULAR] == 0       ? "be singular"
                      : tw__linear_hint(self, TW_SQUARE) == 0 ? "not be square"
                                                              : NULL;
    return not ? tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Exact solve not implemented for an operator that is expected to %s.", not )
               : TW_OK;
}

TW_METHOD(linear_operator_solve,
          "linalg.LinearOperator.solve(self: linear_operator, rhs: value, adjoint: bool = False, adjoint_arg: bool = False, "
          "name: str = solve) -> value",
          "x with A x = rhs.")
{
    return can_solve(args->self) == TW_OK ? act(args->self, &args->rhs, "rhs", true, args->adjoint, args->adjoint_arg)
                                          : tw__nothing;
}

TW_METHOD(linear_operator_solvevec,
          "linalg.LinearOperator.solvevec(self: linear_operator, rhs: value, adjoint: bool = False, name: str = solve) -> tensor",
          "x with A x = rhs, of vectors.")
{
    TW_TEMPS(t);
    if (can_solve(args->self) != TW_OK)
        return NULL;
    tw_tensor *rhs = tw__temp(t, tw__value_tensor(&args->rhs, args->self->dtype, "rhs"));
    return without_last(tw__linear_solve(t, args->self, TW_TEMP(ExpandDims, rhs, -1), args->adjoint, false));
}

/* ---- assertions ---- */

TW_METHOD(linear_operator_assert_non_singular,
          "linalg.LinearOperator.assert_non_singular(self: linear_operator, name: str = assert_non_singular) -> value",
          "An error if the matrix has no inverse.")
{
    return tw__linear_assert(args->self, TW_NON_SINGULAR);
}

TW_METHOD(linear_operator_assert_positive_definite,
          "linalg.LinearOperator.assert_positive_definite(self: linear_operator, name: str = assert_positive_definite) -> value",
          "An error if a number x^H A x is not positive.")
{
    return tw__linear_assert(args->self, TW_POSITIVE_DEFINITE);
}

TW_METHOD(linear_operator_assert_self_adjoint,
          "linalg.LinearOperator.assert_self_adjoint(self: linear_operator, name: str = assert_self_adjoint) -> value",
          "An error if the matrix is not its own adjoint.")
{
    return tw__linear_assert(args->self, TW_SELF_ADJOINT);
}
