/* Differentiating a function.
 *
 * From the graph of F two functions are derived:
 *   forward   F with more outputs: every inner value that the gradient uses
 *   backward  (gradients of F's results) -> gradients of F's inputs; its captures are values of F's graph
 * A call whose gradient will be asked for runs `forward`; its gradient calls `backward` and gives its captures from the call's
 * inputs and outputs. An eager call runs the form at once if a tape follows it. A call in a graph gets it as a richer form of its
 * node when it is differentiated.
 *
 * Of the second derivative comes a gradient of the inner values, that is of forward's further outputs. So forward is
 * differentiated in turn, as a function with more results; its forward form has still more outputs, in front those it had. */
#include "base/deep_lock.h"
#include "function/function.h"
#include "function/tracer.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

static void derivative_destroy(void *self)
{
    tw__derivative *d = self;
    tw_release(d->backward);
    tw_release(d->lower);
    tw__free(d->sources);
    tw__free(d->sliced);
    tw__free(d->captures);
}

static const tw_class derivative_class = { .name = "Derivative", .size = sizeof(tw__derivative), .destroy = derivative_destroy };

bool tw__function_carries(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype) || dtype == TW_VARIANT;
}

typedef struct backward_body {
    tw__function *f;
    tw__derivative *d;
} backward_body;

/* Puts a gradient behind the results: the tensor, or the three of slices. Takes it. */
static void put_result(tw_tensor *gradient, tw_tensor **results, int *count, bool *sliced)
{
    struct tw_indexed_slices *slices = tw__slices_of(gradient);
    *sliced = slices != NULL;
    if (!slices) {
        results[(*count)++] = gradient;
        return;
    }
    results[(*count)++] = tw_retain(slices->values);
    results[(*count)++] = tw_retain(slices->indices);
    results[(*count)++] = tw_retain(slices->dense_shape);
    tw_release(gradient);
}

/* Arguments: the gradients of f's results that carry them, in order. */
static tw_status trace_backward(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                                int *output_count)
{
    backward_body *b = context;
    tw__function *f = b->f;
    tw__owned tw__edge *targets = tw__alloc_array((size_t)f->output_count + 1, sizeof *targets);
    tw__owned tw__edge *sources = tw__alloc_array((size_t)f->input_count + 1, sizeof *sources);
    tw__owned tw_tensor **gradients = tw__alloc_array((size_t)f->input_count + 1, sizeof *gradients);
    tw_tensor **results = *outputs = tw__alloc_array(3 * (size_t)f->input_count + 1, sizeof *results);
    TW_NEED(targets && sources && gradients && results);
    int count = 0;
    for (int i = 0; i < f->output_count; i++) {
        if (tw__function_carries(tw__function_output_dtype(f, i)))
            targets[count++] = f->outputs[i];
    }
    for (int i = 0; i < f->input_count; i++)
        sources[i] = (tw__edge){ tw__dtype_differentiable(f->inputs[i]->out_dtypes[0]) ? f->inputs[i] : NULL, 0 };
    TW_TRY(tw__derive(&(tw__derivation){ .graph = f->graph,
                                         .targets = targets,
                                         .seeds = arguments,
                                         .target_count = argument_count,
                                         .sources = sources,
                                         .source_count = f->input_count },
                      gradients));
    for (int i = 0; i < f->input_count; i++) {
        b->d->sources[i] = gradients[i] ? *output_count : -1;
        if (gradients[i])
            put_result(gradients[i], results, output_count, &b->d->sliced[i]);
    }
    return TW_OK;
}

/* F with these edges as further outputs. */
static tw__function *make_forward(tw__function *f, const tw__edge *more, int more_count)
{
    tw__function *forward = tw__object_new(&tw__function_class);
    if (!forward)
        return NULL;
    forward->name = tw__format("%s_forward", f->name);
    forward->graph = tw_retain(f->graph);
    tw__graph_enter(f->graph);
    forward->stateful = f->stateful;
    forward->inputs = tw__alloc_array((size_t)f->input_count + 1, sizeof *forward->inputs);
    forward->outputs = tw__alloc_array((size_t)(f->output_count + more_count) + 1, sizeof *forward->outputs);
    if (!forward->name || !forward->inputs || !forward->outputs) {
        tw_release(forward);
        return NULL;
    }
    memcpy(forward->inputs, f->inputs, (size_t)f->input_count * sizeof *f->inputs);
    memcpy(forward->outputs, f->outputs, (size_t)f->output_count * sizeof *f->outputs);
    if (more_count)
        memcpy(forward->outputs + f->output_count, more, (size_t)more_count * sizeof *more);
    forward->argument_count = forward->input_count = f->input_count;
    forward->output_count = f->output_count + more_count;
    return forward;
}

/* Where backward's captures come from: an input of f, or an output of forward, which gets what it lacks. */
static tw_status connect(tw__function *f, tw__derivative *d)
{
    tw__function *backward = d->backward;
    int count = backward->input_count - backward->argument_count, more_count = 0;
    tw__owned tw__edge *more = tw__alloc_array((size_t)count + 1, sizeof *more);
    d->captures = tw__alloc_array((size_t)count + 1, sizeof *d->captures);
    if (!more || !d->captures)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < count; i++) {
        tw_tensor *outside = backward->captures[i];
        int64_t captured = tw__pointer_map_get(&f->graph->captured, outside, -1);
        const tw__node *inside = captured >= 0 ? f->graph->captures[captured].inside : outside->node;
        int place = INT32_MIN;
        for (int k = 0; inside && k < f->input_count && place == INT32_MIN; k++) {
            if (f->inputs[k] == inside)
                place = -1 - k;
        }
        if (place == INT32_MIN && outside->node && outside->node->graph == f->graph) {
            for (int k = 0; k < f->output_count && place == INT32_MIN; k++) {
                if (f->outputs[k].node == outside->node && f->outputs[k].output == outside->node_output)
                    place = k;
            }
            if (place == INT32_MIN) {
                place = f->output_count + more_count;
                more[more_count++] = (tw__edge){ outside->node, outside->node_output };
            }
        }
        d->captures[i] = place; /* INT32_MIN: the tensor itself, from outside both */
    }
    tw__function *forward = make_forward(f, more, more_count);
    TW_NEED(forward);
    forward->origin = tw_retain(d);
    d->targets = f->output_count;
    d->input_count = f->input_count;
    d->lower = tw_retain(f->origin);
    f->forward = forward;
    f->derivative = tw_retain(d);
    return TW_OK;
}

/* The graph at the beginning of those around f, if f came out of a file and the graph that is traced can stand around it; or
 * NULL. */
static tw__graph *detached(const tw__function *f, const tw__graph *around)
{
    tw__graph *first = f->graph;
    while (first->outer)
        first = first->outer;
    for (const tw__graph *g = around; g; g = g->outer) {
        if (g == first)
            return NULL;
    }
    return around && first->read ? first : NULL;
}

static tw_status differentiate(tw__function *f)
{
    tw_auto tw__derivative *d = tw__object_new(&derivative_class);
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)f->output_count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)f->output_count + 1, sizeof *shapes);
    if (d) {
        d->sources = tw__alloc_array((size_t)f->input_count + 1, sizeof *d->sources);
        d->sliced = tw__alloc_array((size_t)f->input_count + 1, sizeof *d->sliced);
    }
    TW_NEED(d && d->sources && d->sliced && dtypes && shapes);
    int count = 0;
    for (int i = 0; i < f->output_count; i++) {
        if (tw__function_carries(tw__function_output_dtype(f, i))) {
            dtypes[count] = tw__function_output_dtype(f, i);
            shapes[count++] = *tw__function_output_shape(f, i);
        }
    }
    tw__owned char *name = tw__format("%s_backward", f->name);
    TW_NEED(name);
    tw__graph *outer = tw__tracing, *first = detached(f, outer);
    if (first) /* so that gradients out of the file find values of the functions that call f */
        first->outer = outer;
    tw__tracing = f->graph; /* encloses backward's graph, so that f's values can be captured */
    d->backward = tw__function_trace(name, dtypes, shapes, count, trace_backward, &(backward_body){ f, d });
    tw__tracing = outer;
    if (first)
        first->outer = NULL;
    TW_NEED(d->backward);
    return connect(f, d);
}

tw_status tw__function_differentiate(tw__function *f)
{
    if (atomic_load_explicit(&f->differentiated, memory_order_acquire))
        return TW_OK;
    tw__tracing_begin(); /* gradient functions may trace */
    tw__deep_take(&tw__graphs_lock);
    tw_status status = f->forward ? TW_OK : differentiate(f);
    if (status == TW_OK)
        atomic_store_explicit(&f->differentiated, true, memory_order_release);
    tw__deep_give(&tw__graphs_lock);
    tw__tracing_end();
    return status;
}

tw__derivative *tw__derivative_for(const tw__function *f, int targets)
{
    tw__derivative *found = NULL;
    for (tw__derivative *d = f->origin; d && d->targets >= targets; d = d->lower)
        found = d;
    return found;
}

int tw__gradient_targets(const tw__gradient *g)
{
    int targets = 0;
    for (int i = 0; i < g->output_count; i++) {
        if (g->output_grads[i])
            targets = i + 1;
    }
    return targets;
}

tw_status tw__derivative_call(tw__derivative *d, tw_tensor *const *inputs, tw_tensor *const *outputs, tw_tensor *const *out_grads,
                              tw_tensor **in_grads)
{
    tw__function *backward = d->backward;
    tw__owned tw_tensor **arguments = tw__alloc_array((size_t)backward->input_count + 1, sizeof *arguments);
    tw__held tw_tensor **given = tw__held_new((size_t)d->targets);
    tw__held tw_tensor **results = tw__held_new((size_t)backward->output_count);
    TW_NEED(arguments && given && results);
    int own = 0, carrying = 0;
    for (int i = 0; i < d->targets; i++)
        carrying += tw__function_carries(outputs[i]->dtype);
    if (carrying != backward->argument_count) /* a node of a file may say other dtypes than its function */
        return tw__fail(TW_INVALID_ARGUMENT, "%s: %d results of the call have a dtype with gradients, of the function %d",
                        backward->name, carrying, backward->argument_count);
    for (int i = 0; i < d->targets; i++) {
        if (!tw__function_carries(outputs[i]->dtype))
            continue;
        given[own] = out_grads[i] ? tw_retain(out_grads[i]) : TW_CALL(ZerosLike, outputs[i]);
        TW_NEED(given[own]);
        arguments[own] = given[own];
        own++;
    }
    for (int i = 0; i < backward->input_count - backward->argument_count; i++) {
        int place = d->captures[i];
        arguments[backward->argument_count + i] = place == INT32_MIN ? backward->captures[i]
                                                  : place < 0        ? inputs[-1 - place]
                                                                     : outputs[place];
    }
    TW_TRY(tw__function_call_given(backward, arguments, results));
    for (int i = 0; i < d->input_count; i++) {
        int source = d->sources[i];
        if (source < 0)
            continue;
        in_grads[i] = d->sliced[i] ? tw__slices_make(results[source], results[source + 1], results[source + 2])
                                   : tw_retain(results[source]);
        TW_NEED(in_grads[i]);
    }
    return TW_OK;
}

/* ---- the ops ---- */

static tw__function *function_of(const tw_op *op, const tw_attr *attrs)
{
    return tw__attr_find(op, attrs, "f")->func;
}

static tw_status call_shape(tw__inference *inference)
{
    const tw__function *f = function_of(inference->op, inference->attrs);
    if (!tw__is(f, &tw__function_class))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the attr f is no function");
    if (f->input_count != inference->input_count || f->output_count != inference->output_count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "function %s takes %d inputs and gives %d outputs; the call has %d and %d", f->name, f->input_count,
                          f->output_count, inference->input_count, inference->output_count);
    for (int i = 0; i < f->input_count; i++) {
        const tw__node *input = f->inputs[i];
        if (input->out_dtypes[0] != inference->dtypes[i] || !tw__shape_compatible(&input->out_shapes[0], inference->shapes[i]))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "argument %d of function %s is %s %s, got %s %s", i, f->name,
                              tw_dtype_name(input->out_dtypes[0]), tw__shape_text(&input->out_shapes[0]),
                              tw_dtype_name(inference->dtypes[i]), tw__shape_text(inference->shapes[i]));
    }
    for (int i = 0; i < f->output_count; i++) {
        if (tw__function_output_dtype(f, i) != inference->out_dtypes[i])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "output %d of function %s is %s, the call says %s", i, f->name,
                              tw_dtype_name(tw__function_output_dtype(f, i)), tw_dtype_name(inference->out_dtypes[i]));
        inference->out_shapes[i] = *tw__function_output_shape(f, i);
    }
    return TW_OK;
}

static tw_status call_compute(tw__kernel *kernel)
{
    return tw__function_run(function_of(kernel->op, kernel->attrs), kernel->inputs, kernel->outputs);
}

/* The node gets the forward form of its function. */
static tw_status enrich(tw__node *node, const tw__function *forward)
{
    const tw__node *rich = tw__node_richest(node);
    tw_attr attrs[TW_MAX_ATTRS];
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)forward->output_count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)forward->output_count + 1, sizeof *shapes);
    TW_NEED(dtypes && shapes);
    memcpy(attrs, rich->attrs, (size_t)rich->attr_count * sizeof *attrs);
    for (int i = 0; i < forward->output_count; i++) {
        dtypes[i] = tw__function_output_dtype(forward, i);
        shapes[i] = *tw__function_output_shape(forward, i);
    }
    for (int i = 0; i < rich->attr_count; i++) {
        if (attrs[i].kind == TW_ATTR_FUNC)
            attrs[i].func = (void *)forward;
        else if (strcmp(attrs[i].name, "Tout") == 0)
            attrs[i] = TW_A_TYPES("Tout", dtypes, forward->output_count);
    }
    return tw__node_enrich(node, attrs, rich->inputs, rich->input_count, dtypes, shapes, forward->output_count);
}

/* Tapes that saw the call do not know its further outputs: they are told of a call that has only these. */
static tw_status tell_tapes(const tw__gradient *g, tw__node *node, int count, tw_tensor *const *outputs)
{
    tw__held tw_tensor **all = tw__held_new((size_t)count);
    TW_NEED(all);
    const tw__node *rich = tw__node_richest(node);
    for (int i = 0; i < count; i++) {
        all[i] = i < g->output_count ? tw__node_output(node, i) : tw_retain(outputs[i]);
        TW_NEED(all[i]);
    }
    return tw__tapes_record(node->op, g->inputs, g->input_count, rich->attrs, rich->attr_count, all, count);
}

tw_status tw__gradient_outputs(const tw__gradient *g, tw__node *node, int count, tw_tensor **outputs)
{
    for (int i = 0; i < count; i++) {
        outputs[i] = i < g->output_count ? tw_retain(g->outputs[i]) : tw__node_output(node, i);
        TW_NEED(outputs[i]);
    }
    return tw__active_tapes && count > g->output_count ? tell_tapes(g, node, count, outputs) : TW_OK;
}

/* The outputs of the form with `count` of them that the call has or gets; new references. */
static tw_status forward_outputs(const tw__gradient *g, tw__node *node, tw__function *form, int count, tw_tensor **outputs)
{
    if (node || count <= g->output_count)
        return tw__gradient_outputs(g, node, count, outputs);
    if (form->stateful) /* it ran without: it would have to run again */
        return TW_OP_FAIL(
            g, TW_UNIMPLEMENTED,
            "a higher derivative of function %s, which has side effects, by a tape that was not there when it was called",
            form->name);
    return tw__function_call_plain(form, g->inputs, outputs);
}

static tw_status call_gradient(tw__gradient *g)
{
    tw__node *node = g->output_count ? g->outputs[0]->node : NULL;
    tw__function *f = function_of(g->op, node ? tw__node_richest(node)->attrs : g->attrs);
    if (!tw__is(f, &tw__function_class))
        return TW_OP_FAIL(g, TW_INVALID_ARGUMENT, "the attr f is no function");
    int targets = tw__gradient_targets(g);
    tw__derivative *d = tw__derivative_for(f, targets);
    if (!d) {
        TW_TRY(tw__function_differentiate(f));
        d = f->derivative;
        f = f->forward;
        if (node)
            TW_TRY(enrich(node, f));
    }
    size_t count = (size_t)f->output_count;
    tw__held tw_tensor **outputs = tw__held_new(count), **in_grads = tw__held_new((size_t)g->input_count);
    tw__owned tw_tensor **out_grads = tw__alloc_array(count + 1, sizeof *out_grads);
    TW_NEED(outputs && in_grads && out_grads);
    TW_TRY(forward_outputs(g, node, f, (int)count, outputs));
    memcpy(out_grads, g->output_grads, (size_t)targets * sizeof *out_grads);
    TW_TRY(tw__derivative_call(d, g->inputs, outputs, out_grads, in_grads));
    for (int i = 0; i < g->input_count; i++) {
        if (g->wanted[i])
            g->input_grads[i] = TW_TAKE(in_grads[i]);
    }
    return TW_OK;
}

TW_OP(
    PartitionedCall, .inputs = "args: Tin", .outputs = "output: Tout",
    .attrs =
        "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto: string = '', executor_type: string = ''",
    .shape = call_shape, .compute = call_compute, .gradient = call_gradient, .makes_outputs = true, .reads_variable = true,
    .role = TW_ROLE_CALL, .doc = "Calls a function that has no side effects.");

TW_OP(
    StatefulPartitionedCall, .inputs = "args: Tin", .outputs = "output: Tout",
    .attrs =
        "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto: string = '', executor_type: string = ''",
    .shape = call_shape, .compute = call_compute, .gradient = call_gradient, .makes_outputs = true, .reads_variable = true,
    .stateful = true, .role = TW_ROLE_CALL, .doc = "Calls a function that may have side effects.");
