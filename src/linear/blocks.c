/* Matrices put together of operators: LinearOperatorBlockDiag, Kronecker, LowRankUpdate. */
#include "api/debugging/debugging.h"
#include "linear/linear.h"
#include "op/array/array.h"

/* ---- LinearOperatorBlockDiag ---- */

static tw_shape block_shape(const tw_linear_operator *self)
{
    int64_t sums[2] = { 0, 0 };
    for (int64_t i = 0; i < self->count; i++) {
        for (int k = 0; k < 2; k++) {
            int64_t size = tw__linear_side(self->of[i], 2 - k);
            sums[k] = sums[k] < 0 || size < 0 ? -1 : sums[k] + size;
        }
    }
    return tw__shape_with(tw__linear_joint_batch(self), sums[0], sums[1]);
}

/* The blocks, each with zeros to its left and right, one below the other. */
static tw_tensor *block_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_shape whole = block_shape(self);
    tw_tensor **rows = tw__temp_memory(t, tw__alloc_array((size_t)self->count, sizeof *rows));
    int64_t before = 0, pads[2 * TW_MAX_RANK] = { 0 };
    if (!tw__shape_known(&whole)) {
        tw__fail(TW_UNIMPLEMENTED, "LinearOperatorBlockDiag: to_dense() of operators whose shapes are not known");
        return NULL;
    }
    for (int64_t i = 0; rows && i < self->count; i++) {
        tw_tensor *part = tw__linear_dense(t, self->of[i]);
        tw_shape shape = whole;
        if (!part)
            return NULL;
        shape.dims[whole.rank - 2] = tw__linear_side(self->of[i], 2);
        shape.dims[whole.rank - 1] = tw__linear_side(self->of[i], 1);
        part = TW_TEMP(BroadcastTo, part, tw__temp_ints(t, shape.dims, shape.rank, TW_INT32));
        pads[2 * whole.rank - 2] = before;
        before += tw__linear_side(self->of[i], 1);
        pads[2 * whole.rank - 1] = whole.dims[whole.rank - 1] - before;
        tw_tensor *flat = tw__temp_ints(t, pads, 2 * (int64_t)whole.rank, TW_INT32);
        rows[i] = TW_TEMP(Pad, part, flat ? tw__temp_reshape(t, flat, (int64_t[]){ whole.rank, 2 }, 2) : NULL);
        if (!rows[i])
            return NULL;
    }
    return rows && self->count > 1 ? tw__temp_concat(t, rows, (int)self->count, -2) : rows ? rows[0] : NULL;
}

/* Every block acts on its own rows. */
static tw_tensor *block_act(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool solve, bool adjoint)
{
    tw_tensor **rows = tw__temp_memory(t, tw__alloc_array((size_t)self->count, sizeof *rows));
    int64_t *sizes = tw__temp_memory(t, tw__alloc_array((size_t)self->count, sizeof *sizes));
    if (!rows || !sizes)
        return NULL;
    for (int64_t i = 0; i < self->count; i++) {
        sizes[i] = tw__linear_side(self->of[i], adjoint != solve ? 2 : 1);
        if (sizes[i] < 0 && self->count > 1) {
            tw__fail(TW_UNIMPLEMENTED, "LinearOperatorBlockDiag: blocks whose shapes are not known");
            return NULL;
        }
    }
    rows[0] = x;
    if (self->count > 1) {
        tw_value list = { .kind = TW_VALUE_TENSOR, .tensor = tw__temp_ints(t, sizes, self->count, TW_INT32) };
        tw_tensors cut = list.tensor ? tw_split(x, list, .axis = -2) : (tw_tensors){ 0 };
        if (!cut.items)
            return NULL;
        for (int64_t i = 0; i < self->count; i++)
            rows[i] = tw__temp(t, tw_retain(cut.items[i]));
        tw_tensors_free(&cut);
    }
    for (int64_t i = 0; i < self->count; i++) {
        rows[i] = solve ? tw__linear_solve(t, self->of[i], rows[i], adjoint, false)
                        : tw__linear_matmul(t, self->of[i], rows[i], adjoint, false);
        if (!rows[i])
            return NULL;
    }
    return self->count > 1 ? tw__temp_concat(t, rows, (int)self->count, -2) : rows[0];
}

static tw_tensor *block_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint)
{
    return block_act(t, self, x, false, adjoint);
}

static tw_tensor *block_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint)
{
    return block_act(t, self, rhs, true, adjoint);
}

/* The blocks, changed one by one; left to t. */
static bool change_all(tw__temps *t, tw_linear_operator *self, tw__linear_made made, tw_objects *objects)
{
    void **all = tw__temp_memory(t, tw__alloc_array((size_t)self->count, sizeof *all));
    for (int64_t i = 0; all && i < self->count; i++) {
        tw_linear_operator *one = self->of[i];
        all[i] = tw__temp(t, made == TW_LINEAR_ADJOINT   ? tw_linear_operator_adjoint_operator(one)
                             : made == TW_LINEAR_INVERSE ? tw_linear_operator_inverse(one)
                                                         : tw_linear_operator_cholesky(one));
        if (!all[i])
            return false;
    }
    *objects = (tw_objects){ all, self->count };
    return all != NULL;
}

static tw_linear_operator *block_made(tw_linear_operator *self, tw__linear_made made)
{
    TW_TEMPS(t);
    tw_objects all;
    bool cholesky = made == TW_LINEAR_CHOLESKY;
    if (!change_all(t, self, made, &all))
        return NULL;
    return tw_linear_operator_block_diag(all,
                                         .is_non_singular =
                                             made == TW_LINEAR_ADJOINT ? tw__linear_said(self, TW_NON_SINGULAR) : true,
                                         .is_self_adjoint = cholesky ? TW_NO_INT : tw__linear_said(self, TW_SELF_ADJOINT),
                                         .is_positive_definite =
                                             cholesky ? TW_NO_INT : tw__linear_said(self, TW_POSITIVE_DEFINITE),
                                         .is_square = true);
}

/* All operators, and the hints that hold if they hold for all of them. */
static tw_status of_all(tw_linear_operator *self, tw_objects operators, const char *empty, const char *name, const char *between)
{
    if (!operators.count)
        return tw__fail(TW_VALUE_ERROR, "%s", empty);
    TW_TRY(tw__linear_of(self, operators.items, operators.count));
    for (int i = 0; i < TW_HINTS; i++)
        tw__linear_follows(self, (tw__hint)i, tw__linear_all(self, (tw__hint)i));
    TW_TRY(name ? TW_OK : tw__linear_name(self, between, ""));
    return tw__linear_settle(self);
}

static tw_status block_init(void *self, const void *given)
{
    const tw_linear_operator_block_diag_args *args = given;
    return of_all(self, args->operators, "Expected a non-empty list of operators. Found: []", args->name, "_ds_");
}
static const tw__linear_methods block_methods = { .shape = block_shape,
                                                  .matmul = block_matmul,
                                                  .solve = block_solve,
                                                  .made = block_made,
                                                  .results[TW_LINEAR_DENSE] = block_dense };

TW_CLASS(
    linear_operator_block_diag,
    "linalg.LinearOperatorBlockDiag(operators: list<linear_operator>, is_non_singular: int = None, is_self_adjoint: int = None, "
    "is_positive_definite: int = None, is_square: int = 1 shown True, name: str = None) -> linear_operator",
    .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = block_init, .methods = &block_methods,
    .inert = " *", .doc = "Operators along the diagonal.");

TW_PROPERTY(linear_operator_block_diag_operators,
            "linalg.LinearOperatorBlockDiag.operators(self: linear_operator_block_diag) -> value", "The operators.")
{
    return tw__linear_members((tw_linear_operator *)args->self);
}

/* ---- LinearOperatorKronecker ---- */

static tw_shape kronecker_shape(const tw_linear_operator *self)
{
    int64_t products[2] = { 1, 1 };
    for (int64_t i = 0; i < self->count; i++) {
        for (int k = 0; k < 2; k++) {
            int64_t size = tw__linear_side(self->of[i], 2 - k);
            if (products[k] < 0 || size < 0 || __builtin_mul_overflow(products[k], size, &products[k]))
                products[k] = -1;
        }
    }
    return tw__shape_with(tw__linear_joint_batch(self), products[0], products[1]);
}

static tw_tensor *kronecker_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *matrix = tw__linear_dense(t, self->of[0]);
    for (int64_t i = 1; matrix && i < self->count; i++) {
        tw_tensor *other = tw__linear_dense(t, self->of[i]);
        tw_tensor *wide = TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, matrix, -1), -3);
        tw_tensor *product = TW_TEMP(Mul, wide, TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, other, -2), -4));
        tw_shape shape = product ? product->shape : TW_UNKNOWN_SHAPE;
        if (product && !tw__shape_known(&shape)) {
            tw__fail(TW_UNIMPLEMENTED, "LinearOperatorKronecker: to_dense() of operators whose shapes are not known");
            return NULL;
        }
        if (!product)
            return NULL;
        shape.rank -= 2;
        int64_t *sides = &shape.dims[shape.rank - 2];
        sides[0] *= sides[1];
        sides[1] = sides[2] * sides[3];
        matrix = tw__temp_reshape(t, product, shape.dims, shape.rank);
    }
    return matrix;
}

static tw_status kronecker_init(void *self, const void *given)
{
    const tw_linear_operator_kronecker_args *args = given;
    return of_all(self, args->operators, "Expected a list of >=1 operators. Found: []", args->name, "_x_");
}
static const tw__linear_methods kronecker_methods = { .shape = kronecker_shape, .results[TW_LINEAR_DENSE] = kronecker_dense };

TW_CLASS(linear_operator_kronecker,
         "linalg.LinearOperatorKronecker(operators: list<linear_operator>, " TW_LINEAR_FACTS
         ", name: str = None) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = kronecker_init,
         .methods = &kronecker_methods, .inert = " *", .doc = "The Kronecker product of operators.");

TW_PROPERTY(linear_operator_kronecker_operators,
            "linalg.LinearOperatorKronecker.operators(self: linear_operator_kronecker) -> value", "The operators.")
{
    return tw__linear_members((tw_linear_operator *)args->self);
}

/* ---- LinearOperatorLowRankUpdate: L + U D V^H; U, D, V ---- */

static tw_shape update_shape(const tw_linear_operator *self)
{
    tw_shape batch = tw__linear_batch(self->of[0]), u = tw__linear_part_shape(self, 0);
    u.rank -= u.rank < 2 ? 0 : 2;
    return tw__shape_broadcast(&batch, &u, &batch)
               ? tw__shape_with(batch, tw__linear_side(self->of[0], 2), tw__linear_side(self->of[0], 1))
               : TW_UNKNOWN_SHAPE;
}

static tw_tensor *update_dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *u = tw__linear_value(t, self, 0), *v = self->parts[2] ? tw__linear_value(t, self, 2) : u;
    tw_tensor *scaled = self->parts[1] ? TW_TEMP(Mul, u, TW_TEMP(ExpandDims, tw__linear_value(t, self, 1), -2)) : u;
    return TW_TEMP(AddV2, tw__linear_dense(t, self->of[0]), tw__mm(t, scaled, v, false, true));
}

static tw_status update_init(void *self, const void *given)
{
    const tw_linear_operator_low_rank_update_args *args = given;
    tw_linear_operator *linear = self, *base = args->base_operator;
    TW_TRY(tw__linear_of(linear, (void *[]){ base }, 1));
    TW_TRY(tw__linear_part(linear, 0, "u", &args->u, base->dtype));
    TW_TRY(tw__linear_part(linear, 1, "diag_update", &args->diag_update, base->dtype));
    TW_TRY(tw__linear_part(linear, 2, "v", &args->v, base->dtype));
    bool positive = args->is_diag_update_positive || !linear->parts[1];
    if (!linear->parts[2] && positive && base->hints[TW_POSITIVE_DEFINITE] == 1)
        tw__linear_follows(linear, TW_POSITIVE_DEFINITE, 1);
    if (!linear->parts[2] && base->hints[TW_SELF_ADJOINT] == 1 && !tw__dtype_is_complex(linear->dtype))
        tw__linear_follows(linear, TW_SELF_ADJOINT, 1);
    return tw__linear_settle(linear);
}
static const tw__linear_methods update_methods = { .shape = update_shape, .results[TW_LINEAR_DENSE] = update_dense };

TW_CLASS(linear_operator_low_rank_update,
         "linalg.LinearOperatorLowRankUpdate(base_operator: linear_operator, u: value, diag_update: value = None, "
         "v: value = None, is_diag_update_positive: bool = None, " TW_LINEAR_FACTS
         ", name: str = LinearOperatorLowRankUpdate) -> linear_operator",
         .parent = &tw__class_linear_operator, .size = sizeof(tw_linear_operator), .init = update_init,
         .methods = &update_methods, .inert = " *",
         .doc = "L + U D V^H, of an operator and three thin matrices.\n"
                "base_operator: the operator L\n"
                "u: the matrices U, [..., M, K]\n"
                "diag_update: the diagonal of D, [..., K]; None: ones\n"
                "v: the matrices V, [..., N, K]; None: U\n"
                "is_diag_update_positive: what is known: whether all of `diag_update` is positive; None: nothing");

TW_PROPERTY(linear_operator_low_rank_update_base_operator,
            "linalg.LinearOperatorLowRankUpdate.base_operator(self: linear_operator_low_rank_update) -> linear_operator", "L.")
{
    return tw_retain(((tw_linear_operator *)args->self)->of[0]);
}

TW_PROPERTY(linear_operator_low_rank_update_u,
            "linalg.LinearOperatorLowRankUpdate.u(self: linear_operator_low_rank_update) -> value", "U.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 0);
}

TW_PROPERTY(linear_operator_low_rank_update_v,
            "linalg.LinearOperatorLowRankUpdate.v(self: linear_operator_low_rank_update) -> value", "V.")
{
    tw_linear_operator *self = (tw_linear_operator *)args->self;
    return tw__linear_given(self, self->parts[2] ? 2 : 0);
}

TW_PROPERTY(linear_operator_low_rank_update_diag_update,
            "linalg.LinearOperatorLowRankUpdate.diag_update(self: linear_operator_low_rank_update) -> value",
            "The diagonal of D; None: ones.")
{
    return tw__linear_given((tw_linear_operator *)args->self, 1);
}

TW_PROPERTY(linear_operator_low_rank_update_diag_operator,
            "linalg.LinearOperatorLowRankUpdate.diag_operator(self: linear_operator_low_rank_update) -> linear_operator",
            "D as an operator.")
{
    tw_linear_operator *self = (tw_linear_operator *)args->self;
    tw_shape u = tw__linear_part_shape(self, 0);
    int64_t size = u.rank > 0 ? u.dims[u.rank - 1] : -1;
    tw_value diag = tw__linear_given(self, 1), rows = { .kind = TW_VALUE_INT, .i = size };
    tw_linear_operator *made = NULL;
    if (self->parts[1])
        made = tw_linear_operator_diag(diag);
    else if (size < 0)
        tw__fail(TW_VALUE_ERROR, "LinearOperatorLowRankUpdate: the last dimension of u is not known");
    else
        made = tw_linear_operator_identity(rows, .dtype = self->dtype);
    tw_value_free(&diag);
    return made;
}
