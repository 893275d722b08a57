/* From a graph to a plan: which nodes become steps, where their values lie, when they are dropped. See exec.h and internal.h. */
#include "exec/compile.h"
#include "rows.h"

unsigned tw__exec_passes = ~0u;

/* ---- which nodes ---- */

bool tw__op_reads_only(const tw_op *op)
{
    return op->role == TW_ROLE_READ || op->reads_rows;
}

/* ---- shapes ---- */

/* What both say of a shape; `found` if they contradict each other. */
static void merge_shape(tw_shape *known, const tw_shape *found)
{
    if (known->rank < 0 || !tw__shape_compatible(known, found)) {
        *known = *found;
        return;
    }
    for (int i = 0; found->rank >= 0 && i < known->rank; i++)
        known->dims[i] = known->dims[i] < 0 ? found->dims[i] : known->dims[i];
}

/* Asks the shape function again, now that the shapes of arguments and more constants are known. What it refuses is left to the
 * run. */
static void infer(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    enum { MOST = 32 };
    tw__plan *plan = draft->plan;
    const tw_shape *shapes[MOST];
    tw_shape out_shapes[MOST];
    tw_dtype dtypes[MOST], out_dtypes[MOST];
    tw_tensor *values[MOST];
    tw__place *out = &plan->places[draft->first_place[node->id]];
    bool whole = !draft->special;
    for (int k = 0; whole && k < node->output_count; k++)
        whole = tw__shape_known(&out[k].shape);
    if (whole || !node->op->shape || node->input_count > MOST || node->output_count > MOST)
        return;
    for (int k = 0; k < node->input_count; k++) {
        shapes[k] = &plan->places[inputs[k]].shape;
        dtypes[k] = plan->places[inputs[k]].dtype;
        values[k] = plan->places[inputs[k]].constant;
    }
    for (int k = 0; k < node->output_count; k++) {
        out_shapes[k].rank = -1;
        out_dtypes[k] = node->out_dtypes[k];
    }
    tw__inference inference = { node->op, node->input_count, node->output_count, shapes,     dtypes,
                                values,   node->attrs,       out_shapes,         out_dtypes, { 0 } };
    if (node->op->shape(&inference) != TW_OK) {
        tw_clear_error();
        for (int k = 0; k < node->output_count; k++)
            out[k].shape = TW_UNKNOWN_SHAPE;
        return;
    }
    for (int k = 0; k < node->output_count; k++)
        merge_shape(&out[k].shape, &out_shapes[k]);
}

/* Whether the kernel fills memory that was made for it. Of rows that make their outputs some only sometimes show their input. */
static bool computes(const tw__plan *plan, const tw__step *step)
{
    const tw_op *op = step->op;
    const tw_shape *shapes[2] = { NULL };
    tw_dtype dtypes[2] = { 0 };
    tw_tensor *values[2] = { NULL };
    if (!op->shows_input)
        return !op->makes_outputs;
    for (int i = 0; i < 2 && i < step->input_count; i++) {
        const tw__place *place = &plan->places[step->inputs[i]];
        shapes[i] = &place->shape;
        dtypes[i] = place->dtype;
        values[i] = place->constant;
    }
    tw_dtype out = plan->places[step->outputs[0]].dtype;
    tw__inference call = { op, step->input_count, step->output_count, shapes, dtypes, values, step->attrs, NULL, &out, { 0 } };
    return !op->shows_input(&call);
}

/* The shape function, which also checks, need not run again: all shapes are known, and the integers that it may ask for (axes,
 * sizes: short ones) are constants. */
static bool shapes_known(const tw__plan *plan, const tw__step *step)
{
    bool asks = !step->op->unary && !step->op->binary;
    for (int i = 0; i < step->input_count; i++) {
        const tw__place *from = &plan->places[step->inputs[i]];
        if (!tw__shape_known(&from->shape))
            return false;
        bool is_short = tw__place_count(plan, step->inputs[i]) <= 2 * TW_MAX_RANK;
        if (asks && is_short && !from->constant && tw__dtype_is_integer(from->dtype) && !(i < 32 && step->op->elements >> i & 1))
            return false;
    }
    for (int i = 0; i < step->output_count; i++) {
        if (!tw__shape_known(&plan->places[step->outputs[i]].shape))
            return false;
    }
    return true;
}

/* ---- steps ---- */

static uint64_t key_of(const tw__step *step)
{
    uint64_t key = step->name ? 14695981039346656037u : (uint64_t)(uintptr_t)step->node;
    for (const char *c = step->name; c && *c; c++)
        key = (key ^ (uint8_t)*c) * 1099511628211u;
    return key;
}

static tw_status add_step(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    tw__plan *plan = draft->plan;
    bool effects = node->op->stateful && !tw__op_reads_only(node->op);
    draft->version += effects;
    TW_TRY(TW_GROW(plan->steps, plan->step_capacity, (size_t)plan->step_count + 1));
    tw__step *step = &plan->steps[plan->step_count++];
    *step = (tw__step){ .node = node, .op = node->op, .attrs = node->attrs, .effects = effects };
    if (draft->path) {
        TW_TRY(TW_GROW(plan->names, plan->name_capacity, plan->name_count + 1));
        step->name = plan->names[plan->name_count] = tw__format("%s%s", draft->path, node->name);
        TW_NEED(step->name);
        plan->name_count++;
    }
    step->outputs = tw__alloc_array((size_t)node->output_count + 1, sizeof *step->outputs);
    TW_NEED(step->outputs);
    step->output_count = node->output_count;
    for (int k = 0; k < node->output_count; k++)
        step->outputs[k] = draft->first_place[node->id] + k;
    TW_TRY(tw__step_set_inputs(step, inputs, node->input_count));
    step->key = key_of(step);
    step->known = shapes_known(plan, step) && computes(plan, step);
    return TW_OK;
}

static tw_status find_steps(tw__draft *draft, const tw__graph *graph, size_t node_count, const int32_t *needed)
{
    tw__plan *plan = draft->plan;
    for (size_t i = 0; i < node_count; i++) {
        const tw__node *node = graph->nodes[i];
        if (!needed[i])
            continue;
        node = tw__node_form(node, needed[i]);
        if (tw__node_is(node, TW_ROLE_CONSTANT)) {
            tw_tensor *value = tw__attr_find(node->op, node->attrs, "value")->tensor;
            if (!(tw__exec_passes & TW_PASS_SHARE) || !tw__pass_share_constant(draft, node, value))
                plan->places[draft->first_place[i]].constant = tw_retain(value);
            continue;
        }
        tw__owned int32_t *inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *inputs);
        TW_NEED(inputs);
        for (int k = 0; k < node->input_count; k++)
            inputs[k] = draft->stands_for[draft->first_place[node->inputs[k].node->id] + node->inputs[k].output];
        infer(draft, node, inputs);
        bool settled = ((tw__exec_passes & TW_PASS_FORWARD) && tw__pass_forward(draft, node, inputs)) ||
                       ((tw__exec_passes & TW_PASS_FOLD) && tw__pass_fold(draft, node, inputs)) ||
                       ((tw__exec_passes & TW_PASS_SHARE) && tw__pass_share(draft, node, inputs));
        tw_status status = TW_OK;
        if (!settled && (tw__exec_passes & TW_PASS_INLINE))
            status = tw__pass_inline(draft, node, inputs, needed[i], &settled);
        if (!settled && status == TW_OK)
            status = add_step(draft, node, inputs);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status run_passes(tw__plan *plan)
{
    TW_TRY(tw__plan_sweep(plan));
#define TW_RUN_PASS(bit, name)             \
    if (tw__exec_passes & TW_PASS_##bit) { \
        TW_TRY(tw__pass_##name(plan));     \
        TW_TRY(tw__plan_sweep(plan));      \
    }
    TW_STEP_PASSES(TW_RUN_PASS)
#undef TW_RUN_PASS
    return TW_OK;
}

/* ---- the plan ---- */

static tw_status number_places(tw__draft *draft, const tw__graph *graph, size_t node_count)
{
    tw__plan *plan = draft->plan;
    size_t count = (size_t)plan->place_count;
    for (size_t i = 0; i < node_count; i++) {
        draft->first_place[i] = (int32_t)count;
        count += (size_t)tw__node_richest(graph->nodes[i])->output_count;
        if (count > INT32_MAX / 2)
            return tw__fail(TW_RESOURCE_EXHAUSTED, "a graph with more than %zu values", count);
    }
    TW_TRY(TW_GROW(plan->places, plan->place_capacity, count + 1));
    TW_TRY(TW_GROW(draft->stands_for, draft->stands_for_capacity, count + 1));
    for (size_t i = 0; i < node_count; i++) {
        const tw__node *node = graph->nodes[i];
        for (int k = 0; k < tw__node_richest(node)->output_count; k++) {
            draft->stands_for[plan->place_count] = plan->place_count;
            plan->places[plan->place_count++] = (tw__place){ .dtype = node->out_dtypes[k], .shape = node->out_shapes[k] };
        }
    }
    return TW_OK;
}

/* The tensor that an input of the graph stands for, which was captured; NULL: it is an argument. */
static tw_tensor *captured(const tw__graph *graph, const tw__node *input)
{
    for (size_t i = 0; i < graph->capture_count; i++) {
        if (graph->captures[i].inside == input)
            return graph->captures[i].outside;
    }
    return NULL;
}

static tw_status take_body(tw__draft *draft, const tw__body *body, size_t node_count, int32_t *needed, const int32_t *given,
                           tw_tensor *const *values, int32_t *results)
{
    tw__plan *plan = draft->plan;
    TW_TRY(number_places(draft, body->graph, node_count));
    for (int i = 0; i < body->input_count; i++) {
        int32_t place = draft->first_place[body->inputs[i]->id];
        needed[body->inputs[i]->id] = 0;
        if (given)
            draft->stands_for[place] = given[i];
        else
            plan->arguments[i] = place;
        if (!given && plan->places[place].dtype == TW_RESOURCE)
            plan->places[place].handle = captured(body->graph, body->inputs[i]);
        if (values)
            plan->places[place].shape = values[i]->shape;
        if (!given && draft->known && plan->places[place].dtype != TW_RESOURCE) {
            plan->places[place].shape = draft->known[i].shape;
            plan->places[place].constant = tw_retain(draft->known[i].constant);
        }
    }
    TW_TRY(find_steps(draft, body->graph, node_count, needed));
    for (int i = 0; i < body->output_count; i++)
        results[i] = draft->stands_for[draft->first_place[body->outputs[i].node->id] + body->outputs[i].output];
    return TW_OK;
}

tw_status tw__draft_body(tw__draft *draft, const tw__body *body, const int32_t *given, tw_tensor *const *values, int32_t *results)
{
    size_t node_count = body->graph->node_count;
    tw__owned int32_t *needed = tw__pass_prune(body->graph, body->outputs, body->output_count);
    int32_t *outer = draft->first_place;
    draft->first_place = tw__alloc_array(node_count + 1, sizeof *draft->first_place);
    draft->open[draft->depth++] = body->graph;
    tw_status status =
        needed && draft->first_place ? take_body(draft, body, node_count, needed, given, values, results) : TW_RESOURCE_EXHAUSTED;
    draft->depth--;
    tw__free(draft->first_place);
    draft->first_place = outer;
    return status;
}

static tw_status build(tw__draft *draft, const tw__body *body, tw_tensor *const *values)
{
    tw__plan *plan = draft->plan;
    plan->arguments = tw__alloc_array((size_t)plan->argument_count + 1, sizeof *plan->arguments);
    plan->outputs = tw__alloc_array((size_t)plan->output_count + 1, sizeof *plan->outputs);
    if (!plan->arguments || !plan->outputs || TW_GROW(plan->steps, plan->step_capacity, 1) != TW_OK)
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(tw__draft_body(draft, body, NULL, values, plan->outputs));
    TW_TRY(run_passes(plan));
    if (tw__exec_passes & TW_PASS_BESIDE)
        TW_TRY(tw__plan_find_lanes(plan));
    return tw__plan_layout(plan);
}

tw__plan *tw__plan_make(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs,
                        int output_count, tw__plan *general, tw_tensor *const *values)
{
    tw__plan *plan = tw__alloc_zero(sizeof *plan);
    if (!plan)
        return NULL;
    plan->graph = tw_retain(graph);
    tw__lock_prepare();
    plan->general = general ? general : plan;
    if (!general && !(plan->streams = tw__streams_new())) {
        tw__plan_free(plan);
        return NULL;
    }
    plan->argument_count = argument_count;
    plan->output_count = output_count;
    tw__draft draft = { .plan = plan, .special = values != NULL };
    tw__body body = { graph, arguments, argument_count, outputs, output_count, NULL };
    uint64_t denormals = tw__denormals_flush();
    tw_status status = build(&draft, &body, values);
    tw__denormals_restore(denormals);
    tw__free(draft.stands_for);
    tw__map_free(&draft.seen, NULL);
    if (status != TW_OK) {
        tw__plan_free(plan);
        return NULL;
    }
    return plan;
}

/* What is known of the values is told before the steps are found. */
tw__plan *tw__plan_draft(const tw__body *body, const tw__hlo *given)
{
    tw__plan *plan = tw__alloc_zero(sizeof *plan);
    if (!plan)
        return NULL;
    plan->graph = tw_retain(body->graph);
    plan->general = plan;
    plan->argument_count = body->input_count;
    plan->output_count = body->output_count;
    plan->arguments = tw__alloc_array((size_t)plan->argument_count + 1, sizeof *plan->arguments);
    plan->outputs = tw__alloc_array((size_t)plan->output_count + 1, sizeof *plan->outputs);
    tw__draft draft = { .plan = plan, .special = true, .known = given };
    tw_status status = plan->arguments && plan->outputs ? TW_GROW(plan->steps, plan->step_capacity, 1) : TW_RESOURCE_EXHAUSTED;
    status = status == TW_OK ? tw__draft_body(&draft, body, NULL, NULL, plan->outputs) : status;
    status = status == TW_OK ? tw__plan_sweep(plan) : status;
    tw__free(draft.stands_for);
    tw__map_free(&draft.seen, NULL);
    if (status != TW_OK) {
        tw__plan_free(plan);
        return NULL;
    }
    return plan;
}

tw__plan *tw__plan_new(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs,
                       int output_count)
{
    tw__plan *plan = tw__plan_make(graph, arguments, argument_count, outputs, output_count, NULL, NULL);
    if (plan && !(plan->specials = tw__specials_new(arguments, argument_count, outputs, output_count))) {
        tw__plan_free(plan);
        return NULL;
    }
    if (plan)
        plan->shapes_known = true;
    for (int i = 0; plan && i < argument_count; i++)
        plan->shapes_known &= tw__shape_known(&plan->places[plan->arguments[i]].shape);
    return plan;
}

void tw__plan_free(tw__plan *plan)
{
    if (!plan)
        return;
    tw__plan_frames_free(plan);
    tw__specials_free(plan->specials);
    for (int i = 0; i < plan->step_count; i++)
        tw__step_end(&plan->steps[i]);
    for (int32_t i = 0; i < plan->place_count; i++)
        tw_release(plan->places[i].constant);
    tw_release(plan->streams);
    for (size_t i = 0; i < plan->name_count; i++)
        tw__free(plan->names[i]);
    for (size_t i = 0; i < plan->owner_count; i++)
        tw_release(plan->owners[i]);
    tw__free(plan->names);
    tw__free(plan->owners);
    tw__free(plan->places);
    tw__free(plan->constant_places);
    tw__free(plan->steps);
    tw__free(plan->arguments);
    tw__free(plan->outputs);
    tw_release(plan->graph);
    tw__free(plan);
}

int tw__plan_steps(const tw__plan *plan)
{
    return plan->step_count;
}

bool tw__plan_keeps(const tw__plan *plan, int argument)
{
    return !plan->shapes_known || plan->places[plan->arguments[argument]].kept;
}

bool tw__plan_takes_long(const tw__plan *plan)
{
    return plan->takes_long;
}
