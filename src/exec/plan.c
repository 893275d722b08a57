/* From a graph to a plan: which nodes become steps, where their values lie, when they are dropped. See exec.h and passes.c. */
#include "exec/internal.h"
#include "rows.h"

unsigned tw__exec_passes = ~0u;

/* ---- which nodes ---- */

static bool reads_only(const tw_op *op)
{
    return op == &tw__op_ReadVariableOp || op == &tw__op_ResourceGather;
}

enum { NOT_NEEDED, LEAN, WHOLE }; /* how much of a node */

static void need(char *needed, tw__edge edge)
{
    char how = edge.node->lean && edge.output < edge.node->lean->output_count ? LEAN : WHOLE;
    if (needed[edge.node->id] < how)
        needed[edge.node->id] = how;
}

/* Marks what the outputs need, and what has effects of its own. */
static char *find_needed(const tw__graph *graph, const tw__edge *outputs, int output_count)
{
    char *needed = tw__alloc_array(graph->node_count + 1, sizeof *needed);
    if (!needed)
        return NULL;
    for (int i = 0; i < output_count; i++)
        need(needed, outputs[i]);
    for (size_t i = graph->node_count; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        if (node->op->stateful && !reads_only(node->op))
            needed[i] = needed[i] == WHOLE || !node->lean ? WHOLE : LEAN;
        if (needed[i] == LEAN)
            node = node->lean;
        for (int k = 0; needed[i] && k < node->input_count; k++)
            need(needed, node->inputs[k]);
        for (int k = 0; needed[i] && k < node->control_count; k++)
            need(needed, (tw__edge){ node->controls[k], 0 });
    }
    return needed;
}

/* The shape function, which also checks, need not run again: all shapes were known while tracing, and the integers that it may have asked for
 * (axes, sizes: short ones) were constants. */
static bool shapes_known(const tw__node *node)
{
    for (int i = 0; i < node->input_count; i++) {
        const tw__node *from = node->inputs[i].node;
        int64_t count = 0;
        const tw_shape *shape = &from->out_shapes[node->inputs[i].output];
        if (!tw__shape_known(shape))
            return false;
        for (int k = 0; k < shape->rank; k++)
            count = k ? count * shape->dims[k] : shape->dims[k];
        bool is_short = shape->rank == 0 || count <= 2 * TW_MAX_RANK;
        if (is_short && from->op != &tw__op_Const && tw__dtype_is_integer(from->out_dtypes[node->inputs[i].output]))
            return false;
    }
    for (int i = 0; i < node->output_count; i++) {
        if (!tw__shape_known(&node->out_shapes[i]))
            return false;
    }
    return true;
}

static tw_status add_step(tw__draft *draft, const tw__node *node, int32_t *inputs)
{
    tw__plan *plan = draft->plan;
    if (node->op->stateful && !reads_only(node->op))
        draft->version++;
    plan->steps[plan->step_count++] = (tw__step){ .node = node, .inputs = inputs, .input_count = node->input_count, .first_output = draft->first_place[node->id],
                                                  .known = shapes_known(node) && !node->op->makes_outputs };
    plan->most_outputs = node->output_count > plan->most_outputs ? node->output_count : plan->most_outputs;
    return TW_OK;
}

static tw_status find_steps(tw__draft *draft, const char *needed)
{
    tw__plan *plan = draft->plan;
    for (size_t i = 0; i < plan->graph->node_count; i++) {
        const tw__node *node = plan->graph->nodes[i];
        if (!needed[i])
            continue;
        if (needed[i] == LEAN)
            node = node->lean;
        if (node->op == &tw__op_Const) {
            plan->constants[draft->first_place[i]] = tw_retain(tw__attr_find(node->op, node->attrs, "value")->tensor);
            continue;
        }
        int32_t *inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *inputs);
        if (!inputs)
            return TW_RESOURCE_EXHAUSTED;
        for (int k = 0; k < node->input_count; k++)
            inputs[k] = draft->stands_for[draft->first_place[node->inputs[k].node->id] + node->inputs[k].output];
        bool settled = ((tw__exec_passes & TW_PASS_FORWARD) && tw__pass_forward(draft, node, inputs)) ||
                       ((tw__exec_passes & TW_PASS_FOLD) && tw__pass_fold(draft, node, inputs)) ||
                       ((tw__exec_passes & TW_PASS_SHARE) && tw__pass_share(draft, node, inputs));
        if (settled)
            tw__free(inputs);
        else
            TW_TRY(add_step(draft, node, inputs));
    }
    return TW_OK;
}

/* The passes leave steps behind whose values nobody asks for any more. */
static tw_status drop_unneeded(tw__plan *plan)
{
    bool *used = tw__alloc_array((size_t)plan->place_count + 1, sizeof *used);
    if (!used)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < plan->output_count; i++)
        used[plan->outputs[i]] = true;
    for (int s = plan->step_count; s-- > 0;) {
        tw__step *step = &plan->steps[s];
        bool keep = step->node->op->stateful && !reads_only(step->node->op);
        for (int k = 0; k < step->node->output_count; k++)
            keep |= used[step->first_output + k];
        for (int k = 0; keep && k < step->input_count; k++)
            used[step->inputs[k]] = true;
        if (!keep) {
            tw__free(step->inputs);
            step->inputs = NULL;
        }
    }
    int kept = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].inputs)
            plan->steps[kept++] = plan->steps[s];
    }
    plan->step_count = kept;
    for (int32_t p = 0; p < plan->place_count; p++) {
        if (plan->constants[p] && used[p])
            plan->constant_places[plan->constant_count++] = p;
    }
    tw__free(used);
    return TW_OK;
}

/* After which step each place is dropped: the last that reads it, unless it is an output, argument or constant. */
static tw_status find_drops(tw__plan *plan)
{
    int32_t *last = tw__alloc_array((size_t)plan->place_count + 1, sizeof *last);
    if (!last)
        return TW_RESOURCE_EXHAUSTED;
    for (int32_t p = 0; p < plan->place_count; p++)
        last[p] = -1;
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *now = &plan->steps[s];
        for (int k = 0; k < now->node->output_count; k++)
            last[now->first_output + k] = s; /* an output that nobody reads goes at once */
        for (int k = 0; k < now->input_count; k++)
            last[now->inputs[k]] = s;
    }
    for (int k = 0; k < plan->output_count; k++)
        last[plan->outputs[k]] = -1;
    for (int k = 0; k < plan->argument_count; k++)
        last[plan->arguments[k]] = -1;
    tw_status status = TW_OK;
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++) {
        if (last[p] < 0 || plan->constants[p])
            continue;
        tw__step *at = &plan->steps[last[p]];
        int32_t *more = tw__realloc(at->dropped, ((size_t)at->dropped_count + 1) * sizeof *more);
        if (!more) {
            status = TW_RESOURCE_EXHAUSTED;
        } else {
            at->dropped = more;
            at->dropped[at->dropped_count++] = p;
        }
    }
    tw__free(last);
    return status;
}

/* ---- the plan ---- */

static tw_status number_places(tw__draft *draft)
{
    tw__graph *graph = draft->plan->graph;
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        draft->first_place[i] = (int32_t)count;
        count += (size_t)graph->nodes[i]->output_count;
        if (count > INT32_MAX / 2)
            return tw__fail(TW_RESOURCE_EXHAUSTED, "a graph with more than %zu values", count);
    }
    draft->plan->place_count = (int32_t)count;
    draft->stands_for = tw__alloc_array(count + 1, sizeof *draft->stands_for);
    for (size_t p = 0; draft->stands_for && p < count; p++)
        draft->stands_for[p] = (int32_t)p;
    return draft->stands_for ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status build(tw__draft *draft, tw__node *const *arguments, const tw__edge *outputs, char *needed)
{
    tw__plan *plan = draft->plan;
    if (!draft->first_place || !needed)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(number_places(draft));
    plan->constants = tw__alloc_array((size_t)plan->place_count + 1, sizeof *plan->constants);
    plan->constant_places = tw__alloc_array((size_t)plan->place_count + 1, sizeof *plan->constant_places);
    plan->steps = tw__alloc_array(plan->graph->node_count + 1, sizeof *plan->steps);
    plan->arguments = tw__alloc_array((size_t)plan->argument_count + 1, sizeof *plan->arguments);
    plan->outputs = tw__alloc_array((size_t)plan->output_count + 1, sizeof *plan->outputs);
    if (!plan->constants || !plan->constant_places || !plan->steps || !plan->arguments || !plan->outputs)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < plan->argument_count; i++) {
        plan->arguments[i] = draft->first_place[arguments[i]->id];
        needed[arguments[i]->id] = NOT_NEEDED;
    }
    TW_TRY(find_steps(draft, needed));
    for (int i = 0; i < plan->output_count; i++)
        plan->outputs[i] = draft->stands_for[draft->first_place[outputs[i].node->id] + outputs[i].output];
    TW_TRY(drop_unneeded(plan));
    if (tw__exec_passes & TW_PASS_FUSE)
        TW_TRY(tw__pass_fuse(plan));
    for (int s = 0; s < plan->step_count; s++)
        plan->most_inputs = plan->steps[s].input_count > plan->most_inputs ? plan->steps[s].input_count : plan->most_inputs;
    return find_drops(plan);
}

tw__plan *tw__plan_new(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs, int output_count)
{
    tw__plan *plan = tw__alloc_zero(sizeof *plan);
    if (!plan)
        return NULL;
    pthread_mutex_init(&plan->lock, NULL);
    plan->graph = tw_retain(graph);
    plan->argument_count = argument_count;
    plan->output_count = output_count;
    tw__draft draft = { .plan = plan, .first_place = tw__alloc_array(graph->node_count + 1, sizeof(int32_t)) };
    char *needed = find_needed(graph, outputs, output_count);
    tw_status status = build(&draft, arguments, outputs, needed);
    tw__free(needed);
    tw__free(draft.first_place);
    tw__free(draft.stands_for);
    tw__map_free(&draft.seen, NULL);
    if (status != TW_OK) {
        tw__plan_free(plan);
        return NULL;
    }
    return plan;
}

void tw__plan_free(tw__plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; plan->steps && i < plan->step_count; i++) {
        tw__step *s = &plan->steps[i];
        if (s->state && s->node->op->free_state)
            s->node->op->free_state(s->state);
        tw__free(s->inputs);
        tw__free(s->dropped);
        tw__free(s->fused);
    }
    for (int32_t i = 0; plan->constants && i < plan->place_count; i++)
        tw_release(plan->constants[i]);
    while (plan->spare_count)
        tw__free(plan->spare[--plan->spare_count]);
    tw__free(plan->constants);
    tw__free(plan->constant_places);
    tw__free(plan->steps);
    tw__free(plan->arguments);
    tw__free(plan->outputs);
    tw_release(plan->graph);
    pthread_mutex_destroy(&plan->lock);
    tw__free(plan);
}

int tw__plan_steps(const tw__plan *plan)
{
    return plan->step_count;
}
