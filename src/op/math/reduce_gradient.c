/* Gradients of reductions. What came out is first given back its dimensions of one, so that it broadcasts against what went in.
 *   Sum            dy, broadcast
 *   Mean           dy / n, broadcast
 *   Max, Min       dy, in equal shares to all that equal the extremum
 *   Prod           dy times the product of all others, by running products from both sides (zeros need no special case)
 *   EuclideanNorm  x / (y / dy) */
#include "op/gradient.h"
#include "op/math/reduce.h"
#include "rows.h"

typedef struct parts {
    tw_tensor *x, *dy; /* borrowed */
    unsigned axes;
    bool known;         /* the axes and the input's shape are: else `kept` is not */
    tw_shape kept;      /* the output's shape with dimensions of one */
    tw_tensor *indices; /* borrowed */
} parts;

static tw_status find_parts(tw__gradient *gradient, parts *p)
{
    p->x = gradient->inputs[0];
    p->dy = gradient->output_grads[0];
    p->indices = gradient->inputs[1];
    p->known = tw__shape_known(&p->x->shape) && p->indices->data;
    if (!p->known)
        return TW_OK;
    TW_TRY(tw__reduced_axes(gradient->inputs[1], p->x->shape.rank, &p->axes));
    tw__reduced_shape(&p->x->shape, p->axes, true, &p->kept);
    return TW_OK;
}

/* The shape with dimensions of one by ops: that of x, with 1 at the axes. */
static tw_tensor *kept_later(const parts *p)
{
    TW_TEMPS(t);
    tw_tensor *given = p->indices;
    tw_dtype dtype = given->dtype;
    tw_auto tw_tensor *shape = tw__shape_as_tensor(p->x, TW_INT32);
    tw_auto tw_tensor *rank = TW_CALL(Rank, p->x);
    tw_auto tw_tensor *places = TW_CALL(Range, 0, rank, 1);
    tw_auto tw_tensor *flat = TW_CALL(Reshape, given, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32));
    tw_auto tw_tensor *narrow = flat && dtype != TW_INT32 ? TW_CALL(Cast, flat, TW_A_TYPE("DstT", TW_INT32)) : tw_retain(flat);
    if (!shape || !places || !narrow)
        return NULL;
    tw_auto tw_tensor *axes = TW_CALL(FloorMod, TW_TEMP(AddV2, narrow, rank), TW_TEMP(Maximum, rank, 1));
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, axes);
    return TW_CALL(DynamicStitch, places, axes, shape, ones);
}

/* A new reference to x under the shape with dimensions of one. */
static tw_tensor *with_ones(tw_tensor *x, const parts *p)
{
    TW_TEMPS(t);
    const tw_shape *kept = &p->kept;
    if (x && !p->known)
        return TW_CALL(Reshape, x, tw__temp(t, kept_later(p)));
    if (!x || tw__shape_equal(&x->shape, kept))
        return tw_retain(x);
    tw_auto tw_tensor *shape = tw__tensor_of_shape(kept, TW_INT32);
    tw_tensor *result = TW_CALL(Reshape, x, shape);
    return result;
}

/* Takes x. */
static tw_tensor *broadcast(tw_tensor *x, tw_tensor *like)
{
    if (!x || (tw__shape_known(&x->shape) && tw__shape_equal(&x->shape, &like->shape)))
        return x;
    tw_auto tw_tensor *shape = tw__shape_as_tensor(like, TW_INT32);
    tw_tensor *result = TW_CALL(BroadcastTo, x, shape);
    tw_release(x);
    return result;
}

static tw_status done(tw__gradient *gradient, tw_tensor *dx)
{
    gradient->input_grads[0] = dx;
    return dx ? TW_OK : tw__error_status();
}

tw_status tw__sum_gradient(tw__gradient *gradient)
{
    parts p;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    TW_TRY(find_parts(gradient, &p));
    return done(gradient, broadcast(with_ones(p.dy, &p), p.x));
}

/* x ∘ y, releasing both; NULL stays NULL. */
#define TAKE2(op_name, x, y) take2(&tw__op_##op_name, x, y)

static tw_tensor *take2(const tw_op *op, tw_tensor *x, tw_tensor *y)
{
    tw_tensor *result = x && y ? tw__call(op, TW_IN(x, y), 2, NULL, 0) : NULL;
    tw_release(x);
    tw_release(y);
    return result;
}

/* A scalar of a number dtype. */
static tw_tensor *scalar(double value, tw_dtype dtype)
{
    tw_auto tw_tensor *number = tw_tensor_double(value);
    tw_tensor *result = TW_CALL(Cast, number, TW_A_TYPE("DstT", dtype));
    return result;
}

/* How many elements of x went into each of y, by ops. */
static tw_tensor *count_later(tw_tensor *x, tw_tensor *y)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *count = TW_CALL(FloorDiv, TW_TEMP(Size, x), TW_TEMP(Maximum, TW_TEMP(Size, y), 1));
    return TW_CALL(Cast, count, TW_A_TYPE("DstT", x->dtype));
}

tw_status tw__mean_gradient(tw__gradient *gradient)
{
    parts p;
    int64_t count = 1;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    TW_TRY(find_parts(gradient, &p));
    for (int i = 0; p.known && i < p.x->shape.rank; i++)
        count *= p.axes >> i & 1 ? p.x->shape.dims[i] : 1;
    tw_tensor *number = p.known ? scalar((double)count, p.x->dtype) : count_later(p.x, gradient->outputs[0]);
    tw_tensor *share = TAKE2(RealDiv, with_ones(p.dy, &p), number);
    return done(gradient, broadcast(share, p.x));
}

tw_status tw__extremum_gradient(tw__gradient *gradient)
{
    parts p;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    TW_TRY(find_parts(gradient, &p));
    tw_tensor *same = TAKE2(Equal, tw_retain(p.x), with_ones(gradient->outputs[0], &p));
    tw_tensor *chosen = TW_CALL(Cast, same, TW_A_TYPE("DstT", p.x->dtype));
    tw_release(same);
    tw_tensor *count = TW_CALL(Sum, chosen, gradient->inputs[1], TW_A_BOOL("keep_dims", true));
    tw_tensor *shares = TAKE2(RealDiv, chosen, count);
    return done(gradient, TAKE2(Mul, shares, with_ones(p.dy, &p)));
}

tw_status tw__norm_gradient(tw__gradient *gradient)
{
    parts p;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    TW_TRY(find_parts(gradient, &p));
    tw_tensor *ratio = TAKE2(RealDiv, with_ones(p.dy, &p), with_ones(gradient->outputs[0], &p));
    return done(gradient, TAKE2(Mul, tw_retain(p.x), ratio));
}

/* The product of all others along axis 0 of [reduced, other]. */
static tw_tensor *product_of_others(tw_tensor *flat)
{
    tw_auto tw_tensor *axis = tw_tensor_int(0);
    tw_tensor *left = NULL, *right = NULL;
    if (flat && axis) {
        left = TW_CALL(Cumprod, flat, axis, TW_A_BOOL("exclusive", true));
        right = TW_CALL(Cumprod, flat, axis, TW_A_BOOL("exclusive", true), TW_A_BOOL("reverse", true));
    }
    return TAKE2(Mul, left, right);
}

tw_status tw__prod_gradient(tw__gradient *gradient)
{
    parts p;
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    TW_TRY(find_parts(gradient, &p));
    int rank = p.x->shape.rank, at = 0, reduced = 0;
    if (!p.known && (rank < 0 || !p.indices->data))
        return TW_OP_FAIL(gradient, TW_UNIMPLEMENTED,
                          "the gradient needs the axes and the rank of the input (%s), which are not known while tracing",
                          tw__shape_text(&p.x->shape));
    if (!p.known)
        TW_TRY(tw__reduced_axes(gradient->inputs[1], rank, &p.axes));
    int64_t order[TW_MAX_RANK], back[TW_MAX_RANK];
    for (int pass = 0; pass < 2; pass++) { /* reduced axes first */
        for (int i = 0; i < rank; i++) {
            if ((p.axes >> i & 1) != (pass == 0))
                continue;
            reduced += pass == 0;
            back[i] = at;
            order[at++] = i;
        }
    }
    tw_tensor *first = TAKE2(Transpose, tw_retain(p.x), tw__ints_tensor(order, rank, TW_INT32));
    tw_auto tw_tensor *moved = first ? tw__shape_as_tensor(first, TW_INT64) : NULL;
    tw_auto tw_tensor *rows = tw__sizes_product(moved, 0, reduced), *columns = tw__sizes_product(moved, reduced, -1);
    tw_tensor *matrix = tw__reshape_to(first, TW_IN(rows, columns), 2);
    tw_auto tw_tensor *others = product_of_others(matrix);
    tw_release(matrix);
    tw_tensor *whole = TAKE2(Reshape, tw__grad_conj(others), tw_retain(moved));
    tw_tensor *placed = TAKE2(Transpose, whole, tw__ints_tensor(back, rank, TW_INT32));
    return done(gradient, TAKE2(Mul, placed, with_ones(p.dy, &p)));
}
