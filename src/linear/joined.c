/* Operators that act as others do, one after the other: LinearOperatorAdjoint, Inversion, Composition; and what all operators
 * made of others share. */
#include "api/debugging/debugging.h"
#include "linear/linear.h"

int64_t tw__linear_side(tw_linear_operator *self, int from_end)
{
    tw_shape shape;
    return tw__linear_shape(self, &shape) == TW_OK && shape.rank >= 2 ? shape.dims[shape.rank - from_end] : -1;
}

tw_shape tw__linear_joint_batch(const tw_linear_operator *self)
{
    tw_shape batch = TW_SCALAR;
    for (int64_t i = 0; i < self->count; i++) {
        tw_shape one = tw__linear_batch(self->of[i]);
        if (!tw__shape_broadcast(&batch, &one, &batch))
            return TW_UNKNOWN_SHAPE;
    }
    return batch;
}

tw_value tw__linear_members(const tw_linear_operator *self)
{
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)self->count + 1, sizeof *list.list.items), 0 } };
    for (int64_t i = 0; list.list.items && i < self->count; i++)
        list.list.items[list.list.count++] = tw__value_of_object(tw_retain(self->of[i]));
    return list;
}

/* ---- LinearOperatorAdjoint ---- */

static tw_shape adjoint_shape(const tw_linear_operator *self)
{
    return tw__shape_with(tw__linear_batch(self->of[0]), tw__linear_side(self->of[0], 1), tw__linear_side(self->of[0], 2));
}

static tw_tensor *adjoint_dense(tw__temps *t, tw_linear_operator *self)
{
    return tw__adjoint(t, tw__linear_dense(t, self->of[0]));
}

static tw_tensor *adjoint_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    return tw__linear_matmul(t, self->of[0], x, !adjoint, false);
}

static tw_tensor *adjoint_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return tw__linear_solve(t, self->of[0], rhs, !adjoint, false);
}

static tw_tensor *adjoint_log(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_result_of(t, self->of[0], TW_LINEAR_LOG_ABS_DETERMINANT);
}

static tw_linear_operator *adjoint_made(tw_linear_operator *self, tw__linear_made made)
{
    return made == TW_LINEAR_ADJOINT ? tw_retain(self->of[0]) : tw__linear_usual(self, made);
}

/* One operator, whose hints hold here too. */
static tw_status of_one(tw_linear_operator *self, tw_linear_operator *operator_, const char *name, const char *after)
{
    TW_TRY(tw__linear_of(self, (void *[]){ operator_ }, 1));
    for (int i = 0; i < TW_HINTS; i++)
        tw__linear_follows(self, (tw__hint)i, operator_->hints[i]);
    TW_TRY(name ? TW_OK : tw__linear_name(self, "", after));
    return tw__linear_settle(self);
}

static tw_status adjoint_init(void *self, const void *given)
{
    const tw_linear_operator_adjoint_args *args = given;
    return of_one(self, args->operator_, args->name, "_adjoint");
}
static const tw__linear_methods adjoint_methods = { .shape = adjoint_shape,
                                                    .matmul = adjoint_matmul,
                                                    .solve = adjoint_solve,
                                                    .made = adjoint_made,
                                                    .results[TW_LINEAR_DENSE] = adjoint_dense,
                                                    .results[TW_LINEAR_LOG_ABS_DETERMINANT] = adjoint_log };

TW_CLASS(linear_operator_adjoint,
         "linalg.LinearOperatorAdjoint(operator: linear_operator, " TW_LINEAR_FACTS ", name: str = None) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = adjoint_init,
         .methods = &adjoint_methods, .inert = " *",
         .doc = "The adjoint of an operator.\n"
                "operator: the operator");

TW_PROPERTY(linear_operator_adjoint_of, "linalg.LinearOperatorAdjoint.operator(self: linear_operator_adjoint) -> linear_operator",
            "The operator.")
{
    return tw_retain(((tw_linear_operator *)args->self)->of[0]);
}

/* ---- LinearOperatorInversion ---- */

static tw_shape inversion_shape(const tw_linear_operator *self)
{
    tw_shape shape;
    return tw__linear_shape(self->of[0], &shape) == TW_OK ? shape : TW_UNKNOWN_SHAPE;
}

static tw_tensor *inversion_shape_tensor(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_result_of(t, self->of[0], TW_LINEAR_SHAPE_TENSOR);
}

static tw_tensor *inversion_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    return tw__linear_solve(t, self->of[0], x, adjoint, false);
}

static tw_tensor *inversion_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return tw__linear_matmul(t, self->of[0], rhs, adjoint, false);
}

static tw_tensor *inversion_determinant(tw__temps *t, tw_linear_operator *self)
{
    return TW_TEMP(RealDiv, 1.0, tw__linear_result_of(t, self->of[0], TW_LINEAR_DETERMINANT));
}

static tw_tensor *inversion_log(tw__temps *t, tw_linear_operator *self)
{
    return TW_TEMP(Neg, tw__linear_result_of(t, self->of[0], TW_LINEAR_LOG_ABS_DETERMINANT));
}

static tw_linear_operator *inversion_made(tw_linear_operator *self, tw__linear_made made)
{
    return made == TW_LINEAR_INVERSE ? tw_retain(self->of[0]) : tw__linear_usual(self, made);
}

static tw_status inversion_init(void *self, const void *given)
{
    const tw_linear_operator_inversion_args *args = given;
    const char *otherwise = "operator and supplied hints must have `is_non_singular=True` or `None`";
    if (args->operator_->hints[TW_NON_SINGULAR] == 0 || ((tw_linear_operator *)self)->hints[TW_NON_SINGULAR] == 0)
        return tw__fail(TW_VALUE_ERROR, "%s", otherwise);
    return of_one(self, args->operator_, args->name, "_inv");
}
static const tw__linear_methods inversion_methods = { .shape = inversion_shape,
                                                      .matmul = inversion_matmul,
                                                      .solve = inversion_solve,
                                                      .made = inversion_made,
                                                      .results[TW_LINEAR_SHAPE_TENSOR] = inversion_shape_tensor,
                                                      .results[TW_LINEAR_DETERMINANT] = inversion_determinant,
                                                      .results[TW_LINEAR_LOG_ABS_DETERMINANT] = inversion_log };

TW_CLASS(linear_operator_inversion,
         "linalg.LinearOperatorInversion(operator: linear_operator, " TW_LINEAR_FACTS ", name: str = None) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = inversion_init,
         .methods = &inversion_methods, .inert = " *",
         .doc = "The inverse of an operator.\n"
                "operator: the operator");

TW_PROPERTY(linear_operator_inversion_of,
            "linalg.LinearOperatorInversion.operator(self: linear_operator_inversion) -> linear_operator", "The operator.")
{
    return tw_retain(((tw_linear_operator *)args->self)->of[0]);
}

/* ---- LinearOperatorComposition ---- */

static tw_shape composition_shape(const tw_linear_operator *self)
{
    return tw__shape_with(tw__linear_joint_batch(self), tw__linear_side(self->of[0], 2),
                          tw__linear_side(self->of[self->count - 1], 1));
}

/* One after the other, the last first; of adjoints the first. */
static tw_tensor *composition_act(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool solve, bool adjoint)
{
    for (int64_t i = 0; x && i < self->count; i++) {
        tw_linear_operator *one = self->of[adjoint != solve ? i : self->count - 1 - i];
        x = solve ? tw__linear_solve(t, one, x, adjoint, false) : tw__linear_matmul(t, one, x, adjoint, false);
    }
    return x;
}

static tw_tensor *composition_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    return composition_act(t, self, x, false, adjoint);
}

static tw_tensor *composition_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return composition_act(t, self, rhs, true, adjoint);
}

static tw_tensor *composition_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *matrix = tw__linear_dense(t, self->of[self->count - 1]);
    for (int64_t i = self->count - 2; matrix && i >= 0; i--)
        matrix = tw__linear_matmul(t, self->of[i], matrix, false, false);
    return matrix;
}

static tw_tensor *folded(tw__temps *t, tw_linear_operator *self, tw__linear_result result, const tw_op *op)
{
    tw_tensor *all = tw__linear_result_of(t, self->of[0], result);
    for (int64_t i = 1; all && i < self->count; i++)
        all = TW_TEMP_OP(op, all, tw__linear_result_of(t, self->of[i], result));
    return all;
}

static tw_tensor *composition_determinant(tw__temps *t, tw_linear_operator *self)
{
    return folded(t, self, TW_LINEAR_DETERMINANT, &tw__op_Mul);
}

static tw_tensor *composition_log(tw__temps *t, tw_linear_operator *self)
{
    return folded(t, self, TW_LINEAR_LOG_ABS_DETERMINANT, &tw__op_AddV2);
}

static tw_status composition_init(void *self, const void *given)
{
    const tw_linear_operator_composition_args *args = given;
    if (!args->operators.count)
        return tw__fail(TW_VALUE_ERROR, "Expected a non-empty list of operators. Found: []");
    TW_TRY(tw__linear_of(self, args->operators.items, args->operators.count));
    tw__linear_follows(self, TW_NON_SINGULAR, tw__linear_all(self, TW_NON_SINGULAR));
    tw__linear_follows(self, TW_SQUARE, tw__linear_all(self, TW_SQUARE));
    TW_TRY(args->name ? TW_OK : tw__linear_name(self, "_o_", ""));
    return tw__linear_settle(self);
}
static const tw__linear_methods composition_methods = { .shape = composition_shape,
                                                        .matmul = composition_matmul,
                                                        .solve = composition_solve,
                                                        .results[TW_LINEAR_DENSE] = composition_dense,
                                                        .results[TW_LINEAR_DETERMINANT] = composition_determinant,
                                                        .results[TW_LINEAR_LOG_ABS_DETERMINANT] = composition_log };

TW_CLASS(linear_operator_composition,
         "linalg.LinearOperatorComposition(operators: list<linear_operator>, " TW_LINEAR_FACTS
         ", name: str = None) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = composition_init,
         .methods = &composition_methods, .inert = " *", .doc = "The product of operators.");

TW_PROPERTY(linear_operator_composition_operators,
            "linalg.LinearOperatorComposition.operators(self: linear_operator_composition) -> value", "The operators.")
{
    return tw__linear_members((tw_linear_operator *)args->self);
}
