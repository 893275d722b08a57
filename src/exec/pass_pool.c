/* The gradients of Relu and MaxPool, exchanged: in ReluGrad(MaxPoolGrad(x, y, dy), x) only elements that equal their window's
 * maximum have a gradient, and x > 0 there where y > 0. So MaxPoolGrad(x, y, ReluGrad(dy, y)) is the same, bit for bit, and its
 * ReluGrad runs over the pooled image instead of the whole one. The same holds for Relu6. */
#include "exec/internal.h"
#include "rows.h"

static bool is_plain(const tw__step *step)
{
    return !step->gone && !step->run && !step->data && step->known;
}

static tw_status exchange(tw__plan *plan, tw__step *pool, tw__step *relu)
{
    int32_t pooled = pool->inputs[1], gradient = pool->inputs[2];
    int32_t between = tw__plan_add_place(plan, plan->places[gradient].dtype, &plan->places[gradient].shape);
    int32_t pool_inputs[] = { pool->inputs[0], pooled, between }, relu_inputs[] = { gradient, pooled };
    if (between < 0)
        return TW_RESOURCE_EXHAUSTED;
    /* The two steps stay where they are and exchange what they do. */
    tw__step first = *pool;
    TW_TRY(tw__step_set_inputs(pool, relu_inputs, 2));
    TW_TRY(tw__step_set_outputs(pool, &between, 1));
    TW_TRY(tw__step_set_inputs(relu, pool_inputs, 3));
    pool->node = relu->node;
    pool->name = relu->name;
    pool->op = relu->op;
    pool->attrs = relu->attrs;
    pool->overwrites = relu->overwrites;
    relu->node = first.node;
    relu->name = first.name;
    relu->op = first.op;
    relu->attrs = first.attrs;
    relu->overwrites = first.overwrites;
    return TW_OK;
}

tw_status tw__pass_pool(tw__plan *plan)
{
    tw__auto(tw__uses_free) tw__uses uses = { 0 };
    TW_TRY(tw__uses_find(plan, &uses));
    for (int s = 0; s < plan->step_count; s++) {
        tw__step *relu = &plan->steps[s];
        if ((relu->op != &tw__op_ReluGrad && relu->op != &tw__op_Relu6Grad) || !is_plain(relu))
            continue;
        int maker = uses.maker[relu->inputs[0]];
        tw__step *pool = maker < 0 ? NULL : &plan->steps[maker];
        if (pool && pool->op == &tw__op_MaxPoolGrad && is_plain(pool) && uses.reads[relu->inputs[0]] == 1 &&
            relu->inputs[1] == pool->inputs[0])
            TW_TRY(exchange(plan, pool, relu));
    }
    return TW_OK;
}
