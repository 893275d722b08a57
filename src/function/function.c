/* Tracing a body into a function, and calling it; see function.h. */
#include "base/deep_lock.h"
#include "function/control.h"
#include "rows.h"

static void function_destroy(void *self)
{
    tw__function *f = self;
    tw__plan_free(f->plan);
    for (int i = 0; f->captures && i < f->input_count - f->argument_count; i++)
        tw_release(f->captures[i]);
    tw_release(f->forward);
    tw_release(f->derivative);
    tw_release(f->origin);
    tw_release(f->form);
    if (f->graph)
        tw__graph_leave(f->graph);
    tw_release(f->graph);
    tw__free(f->captures);
    tw__free(f->inputs);
    tw__free(f->outputs);
    tw__free(f->name);
}

const tw_class tw__function_class = { .name = "Function", .size = sizeof(tw__function), .destroy = function_destroy };

enum { DEPTH_LIMIT = 100 };

static tw_status check_depth(const char *name)
{
    int depth = 0;
    for (const tw__graph *g = tw__tracing; g; g = g->outer)
        depth++;
    if (depth < DEPTH_LIMIT)
        return TW_OK;
    return tw__fail(TW_RESOURCE_EXHAUSTED, "%s: functions, branches and loops are nested more than %d deep", name, DEPTH_LIMIT);
}

static bool has_effects(const tw__graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i]->op->stateful)
            return true;
    }
    return false;
}

/* The results as edges of the graph. The first `handles` captures are arguments. */
static tw_status finish(tw__function *f, int handles, tw_tensor **results, int count)
{
    tw__graph *graph = f->graph;
    f->outputs = tw__alloc_array((size_t)count + 1, sizeof *f->outputs);
    TW_NEED(f->outputs);
    f->output_count = count;
    for (int i = 0; i < count; i++) {
        if (!results[i])
            return tw__fail(TW_INVALID_ARGUMENT, "%s: result %d is NULL", f->name, i);
        tw_auto tw_tensor *inside = tw__graph_import(graph, results[i]);
        TW_NEED(inside);
        f->outputs[i] = (tw__edge){ inside->node, inside->node_output };
    }
    int captures = (int)graph->capture_count - handles;
    f->input_count = f->argument_count + captures;
    f->captures = tw__alloc_array((size_t)captures + 1, sizeof *f->captures);
    tw__node **inputs = tw__realloc(f->inputs, ((size_t)f->input_count + 1) * sizeof *inputs);
    if (inputs)
        f->inputs = inputs;
    if (!f->captures || !inputs) {
        f->input_count = f->argument_count;
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < captures; i++) {
        f->inputs[f->argument_count + i] = graph->captures[handles + i].inside;
        f->captures[i] = tw_retain(graph->captures[handles + i].outside);
    }
    f->stateful = has_effects(graph);
    return TW_OK;
}

/* As in TensorFlow a NoOp stands for all that must run whatever is asked for: what has effects and what reads variables, but not
 * random numbers. */
static tw_status gather_effects(tw__graph *graph)
{
    tw__node *gathered = NULL;
    for (size_t i = 0, count = graph->node_count; i < count; i++) {
        tw__node *node = graph->nodes[i];
        if (!tw__node_is(node, TW_ROLE_READ) &&
            (!node->op->stateful || node->op->free_state || tw__node_is(node, TW_ROLE_VARIABLE)))
            continue;
        if (!gathered && !(gathered = tw__graph_add(graph, &tw__op_NoOp, NULL, NULL, 0, NULL, 0, NULL, NULL, 0)))
            return tw__error_status();
        TW_TRY(tw__node_follow(gathered, node));
    }
    return TW_OK;
}

tw_status tw__function_name_results(tw_tensor **results, int count)
{
    if (tw__tracing)
        TW_TRY(gather_effects(tw__tracing));
    for (int i = 0; i < count; i++) {
        tw_tensor *named = tw__call(&tw__op_Identity, &results[i], 1, NULL, 0);
        TW_NEED(named);
        tw_release(results[i]);
        results[i] = named;
    }
    return TW_OK;
}

tw__function *tw__function_trace_named(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                                       int argument_count, tw__function_body body, void *context)
{
    return tw__function_trace_with(name, names, dtypes, shapes, NULL, argument_count, body, context);
}

static tw__function *trace(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                           tw_tensor *const *handles, int argument_count, tw__function_body body, void *context)
{
    tw__function *f = check_depth(name) == TW_OK ? tw__object_new(&tw__function_class) : NULL;
    if (!f)
        return NULL;
    f->name = tw__strdup(name);
    f->graph = tw__graph_new(tw__tracing);
    if (f->graph)
        tw__graph_enter(f->graph);
    f->inputs = tw__alloc_array((size_t)argument_count + 1, sizeof *f->inputs);
    tw__owned tw_tensor **arguments = tw__alloc_array((size_t)argument_count + 1, sizeof *arguments);
    if (f->graph)
        f->graph->name = tw__strdup(name);
    tw_status status = f->name && f->graph && f->graph->name && f->inputs && arguments ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < argument_count; i++) {
        tw_tensor *argument = tw__graph_placeholder(f->graph, dtypes[i], &shapes[i], names ? names[i] : NULL);
        if (!argument) {
            status = tw__error_status();
            break;
        }
        f->inputs[i] = argument->node;
        arguments[i] = argument;
        f->argument_count = f->input_count = i + 1;
        if (handles && handles[i])
            status = tw__graph_capture(f->graph, handles[i], argument->node);
    }
    int handle_count = f->graph ? (int)f->graph->capture_count : 0;
    tw__owned tw_tensor **results = NULL;
    int result_count = 0;
    if (status == TW_OK) {
        tw__graph *outer = tw__tracing;
        tw__tape_stack hidden = tw__tapes_hide();
        tw__tracing = f->graph;
        tw__graph *waiting = tw__naming_wait(NULL);
        status = body(context, arguments, argument_count, &results, &result_count);
        if (status == TW_OK)
            status = finish(f, handle_count, results, result_count);
        tw__graph_settle(f->graph);
        tw__naming_wait(waiting);
        tw__tracing = outer;
        tw__tapes_show(hidden);
    }
    for (int i = 0; results && i < result_count; i++)
        tw_release(results[i]);
    for (int i = 0; arguments && i < f->argument_count; i++)
        tw_release(arguments[i]);
    if (status != TW_OK) {
        tw__error_status();
        tw_release(f);
        return NULL;
    }
    return f;
}

tw__function *tw__function_trace(const char *name, const tw_dtype *dtypes, const tw_shape *shapes, int argument_count,
                                 tw__function_body body, void *context)
{
    return trace(name, NULL, dtypes, shapes, NULL, argument_count, body, context);
}

tw__function *tw__function_trace_with(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                                      tw_tensor *const *handles, int argument_count, tw__function_body body, void *context)
{
    if (tw__scope_push(NULL) != TW_OK)
        return NULL;
    tw__function *f = trace(name, names, dtypes, shapes, handles, argument_count, body, context);
    tw__scope_pop();
    return f;
}

tw__function *tw__function_of_graph(const char *name, tw__graph *graph, tw__node *const *inputs, int input_count,
                                    const tw__edge *outputs, int output_count)
{
    tw__function *f = tw__object_new(&tw__function_class);
    if (!f)
        return NULL;
    f->name = tw__strdup(name);
    f->graph = tw_retain(graph);
    f->inputs = tw__alloc_array((size_t)input_count + 1, sizeof *f->inputs);
    f->outputs = tw__alloc_array((size_t)output_count + 1, sizeof *f->outputs);
    if (!f->name || !f->inputs || !f->outputs) {
        tw_release(f);
        return NULL;
    }
    if (input_count)
        memcpy(f->inputs, inputs, (size_t)input_count * sizeof *inputs);
    if (output_count)
        memcpy(f->outputs, outputs, (size_t)output_count * sizeof *outputs);
    f->argument_count = f->input_count = input_count;
    f->output_count = output_count;
    f->stateful = has_effects(graph);
    return f;
}

static tw__plan *plan_of(const tw__function *f)
{
    return atomic_load_explicit(&f->plan, memory_order_acquire);
}

static tw_status make_plan(tw__function *f)
{
    tw__deep_take(&tw__graphs_lock);
    if (!plan_of(f))
        atomic_store_explicit(&f->plan, tw__plan_new(f->graph, f->inputs, f->input_count, f->outputs, f->output_count),
                              memory_order_release);
    tw__deep_give(&tw__graphs_lock);
    return plan_of(f) ? TW_OK : tw__error_status();
}

bool tw__node_body(const tw__node *node, tw__role role, const char *attr, int index, tw__body *body)
{
    const tw_attr *found = tw__node_is(node, role) ? tw__attr_find(node->op, node->attrs, attr) : NULL;
    bool list = found && found->kind == TW_ATTR_FUNCS;
    tw__function *f = !found ? NULL : !list ? found->func : index < found->count ? found->funcs[index] : NULL;
    if (!tw__is(f, &tw__function_class))
        return false;
    *body = (tw__body){ f->graph, f->inputs, f->input_count, f->outputs, f->output_count, f };
    return true;
}

tw_status tw__function_run(tw__function *f, tw_tensor *const *inputs, tw_tensor **outputs)
{
    if (__builtin_expect(!plan_of(f), 0))
        TW_TRY(make_plan(f));
    /* What runs inside (a Python function, say) is neither traced nor recorded. */
    tw__outside outside = tw__outside_begin();
    tw_status status = tw__plan_run(plan_of(f), inputs, outputs);
    tw__outside_end(outside);
    return status;
}

bool tw__function_takes_long(tw__function *f)
{
    if (__builtin_expect(!plan_of(f), 0) && make_plan(f) != TW_OK) {
        tw_clear_error(); /* the run reports it */
        return false;
    }
    return tw__plan_takes_long(plan_of(f));
}

bool tw__function_keeps(tw__function *f, int argument)
{
    return tw__tracing || tw__active_tapes || !plan_of(f) || tw__plan_keeps(plan_of(f), argument);
}

char *tw__function_plan_text(tw__function *f, tw_tensor *const *arguments)
{
    if (!plan_of(f) && make_plan(f) != TW_OK)
        return NULL;
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)f->input_count + 1, sizeof *inputs);
    if (!inputs)
        return NULL;
    for (int i = 0; arguments && i < f->input_count; i++)
        inputs[i] = i < f->argument_count ? arguments[i] : f->captures[i - f->argument_count];
    tw__text text = { 0 };
    tw_status status = tw__plan_print(plan_of(f), f->name, arguments ? inputs : NULL, &text);
    if (status == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}

/* (A subscript of an atomic pointer would be a plain read.) */
tw_dtype tw__function_output_dtype(const tw__function *f, int output)
{
    const tw_dtype *dtypes = atomic_load_explicit(&f->outputs[output].node->out_dtypes, memory_order_acquire);
    return dtypes[f->outputs[output].output];
}

const tw_shape *tw__function_output_shape(const tw__function *f, int output)
{
    const tw_shape *shapes = atomic_load_explicit(&f->outputs[output].node->out_shapes, memory_order_acquire);
    return &shapes[f->outputs[output].output];
}

tw_status tw__function_set_captures(tw__function *f, tw_tensor *const *captures, int count)
{
    size_t all = (size_t)f->argument_count + (size_t)count + 1;
    tw__node **inputs = tw__alloc_array(all, sizeof *inputs);
    tw_tensor **held = tw__alloc_array((size_t)count + 1, sizeof *held);
    tw_status status = inputs && held ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < count; i++) {
        tw__node *inside = NULL;
        for (int k = f->argument_count; k < f->input_count && !inside; k++) {
            if (f->captures[k - f->argument_count] == captures[i])
                inside = f->inputs[k];
        }
        if (!inside) {
            tw_auto tw_tensor *placeholder = tw__graph_placeholder(f->graph, captures[i]->dtype, &captures[i]->shape, NULL);
            if (!placeholder)
                status = tw__error_status();
            else
                inside = placeholder->node;
        }
        inputs[f->argument_count + i] = inside;
    }
    if (status != TW_OK) {
        tw__free(inputs);
        tw__free(held);
        return status;
    }
    for (int i = 0; i < f->argument_count; i++)
        inputs[i] = f->inputs[i];
    for (int i = 0; i < count; i++)
        held[i] = tw_retain(captures[i]);
    for (int i = f->argument_count; i < f->input_count; i++)
        tw_release(f->captures[i - f->argument_count]);
    tw__free(f->inputs);
    tw__free(f->captures);
    f->inputs = inputs;
    f->captures = held;
    f->input_count = f->argument_count + count;
    return TW_OK;
}

tw_status tw__function_pass_captures(tw__function *f)
{
    int count = f->input_count - f->argument_count;
    size_t room = (size_t)(f->output_count + count) + 1;
    tw__edge *outputs = tw__realloc(f->outputs, room * sizeof *outputs);
    TW_NEED(outputs);
    f->outputs = outputs;
    for (int i = 0; i < count; i++)
        outputs[f->output_count++] = (tw__edge){ f->inputs[f->argument_count + i], 0 };
    return TW_OK;
}

/* The error as the program is told: which node failed, where in the program that was made, in which function. */
static tw_status told(const tw__function *f, tw_status status)
{
    const tw__saved_error *error = tw__error_now();
    if (status == TW_OK || tw__tracing || !error->node)
        return status;
    tw__auto(tw__text_free) tw__text where = { 0 };
    tw__origin_write(&where, error->origin, "  ", "\n\n");
    tw__error_in_function(f->name, where.size ? where.data : "");
    return status;
}

tw_status tw__function_call_plain(tw__function *f, tw_tensor *const *inputs, tw_tensor **outputs)
{
    tw_dtype few[32], *types = f->output_count <= 32 ? few : tw__alloc_array((size_t)f->output_count, sizeof *types);
    TW_NEED(types);
    for (int i = 0; i < f->output_count; i++)
        types[i] = tw__function_output_dtype(f, i);
    tw_attr attrs[] = { TW_A_TYPES("Tout", types, f->output_count), TW_A_FUNC("f", f) };
    int count = f->output_count;
    const tw_op *op = f->stateful ? &tw__op_StatefulPartitionedCall : &tw__op_PartitionedCall;
    tw_status status = tw__apply(op, inputs, f->input_count, attrs, 2, outputs, &count);
    if (types != few)
        tw__free(types);
    return told(f, status);
}

/* Whether a call can do without dispatch: nobody traces or follows it, and the inputs are what the function takes. */
static bool is_direct(const tw__function *f, tw_tensor *const *inputs)
{
    bool direct = !tw__tracing && !tw__active_tapes;
    for (int i = 0; direct && i < f->input_count; i++) {
        const tw__node *input = f->inputs[i];
        direct = !inputs[i]->node && inputs[i]->dtype == input->out_dtypes[0] &&
                 tw__shape_compatible(&input->out_shapes[0], &inputs[i]->shape);
    }
    return direct;
}

static tw_status call_given(tw__function *f, tw_tensor *const *inputs, tw_tensor **outputs)
{
    if (is_direct(f, inputs)) {
        TW_TRY(tw__function_run(f, inputs, outputs));
        return tw__outputs_part(inputs, f->input_count, outputs, f->output_count);
    }
    /* In a graph the call gets its forward form when it is differentiated. Here it runs now, so what gradients will need must
     * come out: of the call, of its gradient, and so on, as many as tapes look on. */
    int levels = tw__active_tapes && !tw__tracing ? tw__tapes_following(inputs, f->input_count) : 0;
    tw__function *form = f;
    for (; levels > 0; levels--) {
        if (tw__function_differentiate(form) != TW_OK) {
            tw_clear_error(); /* it is raised again when the gradient is asked for */
            break;
        }
        form = form->forward;
    }
    if (form == f)
        return tw__function_call_plain(f, inputs, outputs);
    tw__owned tw_tensor **all = tw__alloc_array((size_t)form->output_count + 1, sizeof *all);
    TW_NEED(all);
    TW_TRY(tw__function_call_plain(form, inputs, all));
    for (int i = 0; i < form->output_count; i++) {
        if (i < f->output_count)
            outputs[i] = all[i];
        else
            tw_release(all[i]);
    }
    return TW_OK;
}

tw_status tw__function_call_given(tw__function *f, tw_tensor *const *inputs, tw_tensor **outputs)
{
    tw_status status = call_given(f, inputs, outputs);
    if (__builtin_expect(status != TW_OK, 0))
        return told(f, status);
    if (__builtin_expect(atomic_load_explicit(&tw__numerics_threads, memory_order_relaxed), 0) && !tw__tracing) {
        status = tw__numerics_run(f->name, inputs, f->input_count, outputs, f->output_count);
        for (int i = 0; status != TW_OK && i < f->output_count; i++) {
            tw_release(outputs[i]);
            outputs[i] = NULL;
        }
    }
    return status;
}

tw_status tw__function_call(tw__function *f, tw_tensor *const *arguments, tw_tensor **outputs)
{
    tw_tensor *few[32], **inputs = f->input_count <= 32 ? few : tw__alloc_array((size_t)f->input_count, sizeof *inputs);
    TW_NEED(inputs);
    if (f->argument_count)
        memcpy(inputs, arguments, (size_t)f->argument_count * sizeof *inputs);
    for (int i = f->argument_count; i < f->input_count; i++)
        inputs[i] = f->captures[i - f->argument_count];
    tw_status status = tw__function_call_given(f, inputs, outputs);
    if (inputs != few)
        tw__free(inputs);
    return status;
}
