/* Calls of functions inside of a plan: the steps of what is called take the place of the call, so that passes see through it and
 * nothing is handed over. The graph keeps its node; steps are named after the call and their own node, "outer/inner/MatMul".
 *
 * A call stays a call if the function's random numbers go on from call to call (its own plan has their state), if less is known
 * of an argument's shape than the function was traced with (the call checks it), if it calls itself, or where calls inside of
 * calls become too many. */
#include "exec/internal.h"

static const size_t most_inlined = 20000; /* nodes */

static bool keeps_state(const tw__graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i]->op->free_state)
            return true;
    }
    return false;
}

/* What the function was traced with, the caller knows too. */
static bool arguments_fit(const tw__draft *draft, const tw__body *body, const int32_t *inputs)
{
    for (int i = 0; i < body->input_count; i++) {
        const tw__place *given = &draft->plan->places[inputs[i]];
        const tw_shape *taken = &body->inputs[i]->out_shapes[0];
        if (given->dtype != body->inputs[i]->out_dtypes[0] || !tw__shape_compatible(taken, &given->shape))
            return false;
        if (taken->rank >= 0 && given->shape.rank < 0)
            return false;
        for (int k = 0; k < taken->rank; k++) {
            if (taken->dims[k] >= 0 && given->shape.dims[k] < 0)
                return false;
        }
    }
    return true;
}

static bool may_inline(const tw__draft *draft, const tw__node *node, const tw__body *body, const int32_t *inputs)
{
    if (draft->depth > TW_INLINE_DEPTH || draft->inlined + body->graph->node_count > most_inlined ||
        body->input_count != node->input_count || body->output_count < node->output_count)
        return false;
    for (int i = 0; i < draft->depth; i++) {
        if (draft->open[i] == body->graph)
            return false;
    }
    return arguments_fit(draft, body, inputs) && !keeps_state(body->graph);
}

/* The outputs' places, found by the caller's node. */
static tw_status take_in(tw__draft *draft, const tw__node *node, const tw__body *body, const int32_t *inputs, int32_t *results)
{
    tw__plan *plan = draft->plan;
    const char *outer = draft->path;
    bool special = draft->special;
    TW_TRY(TW_GROW(plan->owners, plan->owner_capacity, plan->owner_count + 1));
    plan->owners[plan->owner_count++] = tw_retain(body->owner);
    tw__owned char *path = tw__format("%s%s/", outer ? outer : "", node->name);
    TW_NEED(path);
    draft->inlined += body->graph->node_count;
    draft->path = path;
    draft->special = true; /* more may be known of arguments than when the function was traced */
    tw_status status = tw__draft_body(draft, body, inputs, NULL, results);
    draft->special = special;
    draft->path = outer;
    return status;
}

tw_status tw__pass_inline(tw__draft *draft, const tw__node *node, const int32_t *inputs, int outputs, bool *settled)
{
    tw__body body;
    if (!tw__node_body(node, TW_ROLE_CALL, "f", 0, &body) || !may_inline(draft, node, &body, inputs))
        return TW_OK;
    body.output_count = outputs < node->output_count ? outputs : node->output_count;
    tw__owned int32_t *results = tw__alloc_array((size_t)body.output_count + 1, sizeof *results);
    TW_NEED(results);
    TW_TRY(take_in(draft, node, &body, inputs, results));
    for (int k = 0; k < body.output_count; k++)
        draft->stands_for[draft->first_place[node->id] + k] = results[k];
    *settled = true;
    return TW_OK;
}
