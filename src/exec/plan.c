/* From a graph to a plan: which nodes become steps, where their values lie, when they are dropped. See exec.h and passes.c. */
#include "exec/internal.h"
#include "rows.h"

unsigned tw__exec_passes = ~0u;

/* ---- steps, for passes ---- */

static void step_end(tw__step *step)
{
    if (step->state && step->op->free_state)
        step->op->free_state(step->state);
    if (step->free_data)
        step->free_data(step->data);
    tw__free(step->inputs);
    tw__free(step->outputs);
    tw__free(step->dropped);
}

void tw__step_remove(tw__step *step)
{
    step->gone = true;
}

static tw_status set_places(int32_t **list, int32_t *list_count, const int32_t *places, int count)
{
    int32_t *copy = tw__alloc_array((size_t)count + 1, sizeof *copy);
    if (!copy)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(copy, places, (size_t)count * sizeof *copy);
    tw__free(*list);
    *list = copy;
    *list_count = count;
    return TW_OK;
}

tw_status tw__step_set_inputs(tw__step *step, const int32_t *places, int count)
{
    return set_places(&step->inputs, &step->input_count, places, count);
}

tw_status tw__step_set_outputs(tw__step *step, const int32_t *places, int count)
{
    return set_places(&step->outputs, &step->output_count, places, count);
}

void tw__step_set_run(tw__step *step, tw_status (*run)(const tw__step *, tw_tensor *const *, tw_tensor **), void *data, void (*free_data)(void *),
                      const char *label)
{
    if (step->free_data)
        step->free_data(step->data);
    step->run = run;
    step->data = data;
    step->free_data = free_data;
    step->label = label;
}

int32_t tw__plan_add_place(tw__plan *plan, tw_dtype dtype, const tw_shape *shape)
{
    if (plan->place_count >= INT32_MAX / 2 || TW_GROW(plan->places, plan->place_capacity, (size_t)plan->place_count + 1) != TW_OK)
        return -1;
    plan->places[plan->place_count] = (tw__place){ .dtype = dtype, .shape = *shape };
    return plan->place_count++;
}

int64_t tw__place_count(const tw__plan *plan, int32_t place)
{
    const tw_shape *shape = &plan->places[place].shape;
    int64_t count = 1;
    if (shape->rank < 0)
        return -1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0 || __builtin_mul_overflow(count, shape->dims[i], &count))
            return -1;
    }
    return count;
}

tw_status tw__uses_find(const tw__plan *plan, tw__uses *uses)
{
    uses->maker = tw__alloc_array((size_t)plan->place_count + 1, sizeof *uses->maker);
    uses->reads = tw__alloc_array((size_t)plan->place_count + 1, sizeof *uses->reads);
    if (!uses->maker || !uses->reads) {
        tw__uses_free(uses);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int32_t p = 0; p < plan->place_count; p++)
        uses->maker[p] = -1;
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        for (int k = 0; !step->gone && k < step->output_count; k++)
            uses->maker[step->outputs[k]] = s;
        for (int k = 0; !step->gone && k < step->input_count; k++)
            uses->reads[step->inputs[k]]++;
    }
    for (int k = 0; k < plan->output_count; k++)
        uses->reads[plan->outputs[k]]++;
    return TW_OK;
}

void tw__uses_free(tw__uses *uses)
{
    tw__free(uses->maker);
    tw__free(uses->reads);
    *uses = (tw__uses){ 0 };
}

/* ---- which nodes ---- */

static bool reads_only(const tw_op *op)
{
    return op == &tw__op_ReadVariableOp || op == &tw__op_ResourceGather;
}

static void need(int32_t *needed, tw__edge edge)
{
    if (needed[edge.node->id] <= edge.output)
        needed[edge.node->id] = edge.output + 1;
}

/* Marks what the outputs need, and what has effects of its own: per node how many of its outputs, at least 1; 0: it is not needed. */
static int32_t *find_needed(const tw__graph *graph, const tw__edge *outputs, int output_count)
{
    int32_t *needed = tw__alloc_array(graph->node_count + 1, sizeof *needed);
    if (!needed)
        return NULL;
    for (int i = 0; i < output_count; i++)
        need(needed, outputs[i]);
    for (size_t i = graph->node_count; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        if (node->op->stateful && !reads_only(node->op) && !needed[i])
            needed[i] = 1;
        node = tw__node_form(node, needed[i]);
        for (int k = 0; needed[i] && k < node->input_count; k++)
            need(needed, node->inputs[k]);
        for (int k = 0; needed[i] && k < node->control_count; k++)
            need(needed, (tw__edge){ node->controls[k], 0 });
    }
    return needed;
}

/* The shape function, which also checks, need not run again: all shapes were known while tracing, and the integers that it may have asked for
 * (axes, sizes: short ones) were constants. */
static bool shapes_known(const tw__plan *plan, const tw__step *step)
{
    for (int i = 0; i < step->input_count; i++) {
        const tw__place *from = &plan->places[step->inputs[i]];
        if (!tw__shape_known(&from->shape))
            return false;
        bool is_short = tw__place_count(plan, step->inputs[i]) <= 2 * TW_MAX_RANK;
        if (is_short && !from->constant && tw__dtype_is_integer(from->dtype))
            return false;
    }
    for (int i = 0; i < step->output_count; i++) {
        if (!tw__shape_known(&plan->places[step->outputs[i]].shape))
            return false;
    }
    return true;
}

static tw_status add_step(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    tw__plan *plan = draft->plan;
    bool effects = node->op->stateful && !reads_only(node->op);
    draft->version += effects;
    tw__step *step = &plan->steps[plan->step_count++];
    *step = (tw__step){ .node = node, .op = node->op, .attrs = node->attrs, .effects = effects };
    step->outputs = tw__alloc_array((size_t)node->output_count + 1, sizeof *step->outputs);
    if (!step->outputs)
        return TW_RESOURCE_EXHAUSTED;
    step->output_count = node->output_count;
    for (int k = 0; k < node->output_count; k++)
        step->outputs[k] = draft->first_place[node->id] + k;
    TW_TRY(tw__step_set_inputs(step, inputs, node->input_count));
    step->known = !node->op->makes_outputs && shapes_known(plan, step);
    return TW_OK;
}

static tw_status find_steps(tw__draft *draft, const int32_t *needed)
{
    tw__plan *plan = draft->plan;
    for (size_t i = 0; i < plan->graph->node_count; i++) {
        const tw__node *node = plan->graph->nodes[i];
        if (!needed[i])
            continue;
        node = tw__node_form(node, needed[i]);
        if (node->op == &tw__op_Const) {
            plan->places[draft->first_place[i]].constant = tw_retain(tw__attr_find(node->op, node->attrs, "value")->tensor);
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
        tw_status status = settled ? TW_OK : add_step(draft, node, inputs);
        tw__free(inputs);
        TW_TRY(status);
    }
    return TW_OK;
}

/* Takes out what passes took away, and what nobody asks for any more. */
static tw_status sweep(tw__plan *plan)
{
    bool *used = tw__alloc_array((size_t)plan->place_count + 1, sizeof *used);
    if (!used)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < plan->output_count; i++)
        used[plan->outputs[i]] = true;
    for (int s = plan->step_count; s-- > 0;) {
        tw__step *step = &plan->steps[s];
        bool keep = step->effects;
        for (int k = 0; k < step->output_count; k++)
            keep |= used[step->outputs[k]];
        step->gone |= !keep;
        for (int k = 0; !step->gone && k < step->input_count; k++)
            used[step->inputs[k]] = true;
    }
    int kept = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].gone)
            step_end(&plan->steps[s]);
        else
            plan->steps[kept++] = plan->steps[s];
    }
    plan->step_count = kept;
    plan->constant_count = 0;
    for (int32_t p = 0; p < plan->place_count; p++)
        plan->constant_count += plan->places[p].constant && used[p];
    int32_t *places = tw__realloc(plan->constant_places, ((size_t)plan->constant_count + 1) * sizeof *places);
    if (places) {
        plan->constant_places = places;
        int count = 0;
        for (int32_t p = 0; p < plan->place_count; p++) {
            if (plan->places[p].constant && used[p])
                places[count++] = p;
        }
    }
    tw__free(used);
    return places ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status run_passes(tw__plan *plan)
{
    TW_TRY(sweep(plan));
#define TW_RUN_PASS(bit, name)                  \
    if (tw__exec_passes & TW_PASS_##bit) {      \
        TW_TRY(tw__pass_##name(plan));          \
        TW_TRY(sweep(plan));                    \
    }
    TW_STEP_PASSES(TW_RUN_PASS)
#undef TW_RUN_PASS
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        plan->most_inputs = step->input_count > plan->most_inputs ? step->input_count : plan->most_inputs;
        plan->most_outputs = step->output_count > plan->most_outputs ? step->output_count : plan->most_outputs;
    }
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
        for (int k = 0; k < now->output_count; k++)
            last[now->outputs[k]] = s; /* an output that nobody reads goes at once */
        for (int k = 0; k < now->input_count; k++)
            last[now->inputs[k]] = s;
    }
    for (int k = 0; k < plan->output_count; k++)
        last[plan->outputs[k]] = -1;
    for (int k = 0; k < plan->argument_count; k++)
        last[plan->arguments[k]] = -1;
    tw_status status = TW_OK;
    for (int32_t p = 0; status == TW_OK && p < plan->place_count; p++) {
        if (last[p] < 0 || plan->places[p].constant)
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
        count += (size_t)tw__node_richest(graph->nodes[i])->output_count;
        if (count > INT32_MAX / 2)
            return tw__fail(TW_RESOURCE_EXHAUSTED, "a graph with more than %zu values", count);
    }
    tw__plan *plan = draft->plan;
    TW_TRY(TW_GROW(plan->places, plan->place_capacity, count + 1));
    for (size_t i = 0; i < graph->node_count; i++) {
        const tw__node *node = graph->nodes[i];
        for (int k = 0; k < tw__node_richest(node)->output_count; k++)
            plan->places[plan->place_count++] = (tw__place){ .dtype = node->out_dtypes[k], .shape = node->out_shapes[k] };
    }
    draft->stands_for = tw__alloc_array(count + 1, sizeof *draft->stands_for);
    for (size_t p = 0; draft->stands_for && p < count; p++)
        draft->stands_for[p] = (int32_t)p;
    return draft->stands_for ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status build(tw__draft *draft, tw__node *const *arguments, const tw__edge *outputs, int32_t *needed)
{
    tw__plan *plan = draft->plan;
    if (!draft->first_place || !needed)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(number_places(draft));
    plan->steps = tw__alloc_array(plan->graph->node_count + 1, sizeof *plan->steps);
    plan->arguments = tw__alloc_array((size_t)plan->argument_count + 1, sizeof *plan->arguments);
    plan->outputs = tw__alloc_array((size_t)plan->output_count + 1, sizeof *plan->outputs);
    if (!plan->steps || !plan->arguments || !plan->outputs)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < plan->argument_count; i++) {
        plan->arguments[i] = draft->first_place[arguments[i]->id];
        needed[arguments[i]->id] = 0;
    }
    TW_TRY(find_steps(draft, needed));
    for (int i = 0; i < plan->output_count; i++)
        plan->outputs[i] = draft->stands_for[draft->first_place[outputs[i].node->id] + outputs[i].output];
    TW_TRY(run_passes(plan));
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
    int32_t *needed = find_needed(graph, outputs, output_count);
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
    for (int i = 0; i < plan->step_count; i++)
        step_end(&plan->steps[i]);
    for (int32_t i = 0; i < plan->place_count; i++)
        tw_release(plan->places[i].constant);
    while (plan->spare_count)
        tw__free(plan->spare[--plan->spare_count]);
    tw__free(plan->places);
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
