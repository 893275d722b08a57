/* Saving gradients that users define (tf.custom_gradient): each becomes a function of the file, with what it captured; see
 * function/registered.h.
 *
 * The gradient of a node that was traced here is traced as a function of the gradients of the node's outputs; what it uses of the
 * graph is captured. A loaded one is written as it was read. As TensorFlow does it, a value that came into the body of a loop or
 * a branch from outside is written as the value outside: TensorFlow finds no others there. */
#include "saving/saved_gradient.h"

#include <stdio.h>

#include "base/deep_lock.h"
#include "function/registered.h"
#include "function/tracer.h"
#include "rows.h"

void tw__saved_gradients_free(tw__saved_gradients *all)
{
    for (size_t i = 0; i < all->count; i++) {
        tw__saved_gradient *g = &all->items[i];
        for (size_t k = 0; k < g->written.capture_count; k++) {
            tw_release(g->objects[k]);
            tw__free(g->written.captures[k].name);
            tw__free(g->written.captures[k].owner);
        }
        tw__free(g->objects);
        tw__free(g->written.captures);
        tw__free(g->written.name);
        tw__free(g->written.type);
        tw_release(g->written.function);
        tw_value_free(&g->inputs);
        tw_value_free(&g->outputs);
    }
    tw__free(all->items);
    for (size_t i = 0; i < all->function_count; i++)
        tw_release(all->functions[i]);
    tw__free(all->functions);
    tw__pointer_map_free(&all->seen);
    *all = (tw__saved_gradients){ 0 };
}

/* ---- tracing ---- */

typedef struct backward_body {
    const tw__custom_gradient *custom;
    tw__node *node;
    int *sources;
    int source_count;
} backward_body;

static tw_status trace_gradient(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                                int *output_count)
{
    (void)argument_count;
    backward_body *b = context;
    int results = b->custom->output_count, inputs = b->node->input_count - results;
    tw__held tw_tensor **given = tw__held_new((size_t)inputs);
    tw_tensor **made = *outputs = tw__alloc_array((size_t)inputs + 1, sizeof *made);
    TW_NEED(given && made);
    for (int i = 0; i < inputs; i++) {
        tw__edge edge = b->node->inputs[results + i];
        given[i] = tw__node_output(edge.node, edge.output);
        TW_NEED(given[i]);
    }
    TW_TRY(b->custom->backward((tw__custom_gradient *)b->custom, given, inputs, arguments, made));
    *output_count = inputs;
    for (int i = 0; i < inputs; i++) {
        if (!made[i])
            continue;
        struct tw_indexed_slices *slices = tw__slices_of(made[i]);
        tw_tensor *dense = slices ? tw__slices_dense(made[i]) : tw_retain(made[i]);
        tw_release(made[i]);
        made[i] = NULL;
        TW_NEED(dense);
        b->sources[b->source_count] = results + i;
        made[b->source_count] = dense;
        b->source_count++;
    }
    *output_count = b->source_count;
    return tw__function_name_results(made, b->source_count);
}

static tw__function *trace(const tw__function *within, backward_body *b)
{
    int count = b->node->output_count;
    char(*texts)[32] = tw__alloc_array((size_t)count + 1, sizeof *texts);
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    tw__function *function = NULL;
    tw__tracing_begin();
    tw__deep_take(&tw__graphs_lock);
    tw__tape_stack hidden = tw__tapes_hide();
    tw__graph *outer = tw__tracing;
    tw__tracing = within->graph; /* encloses the gradient's graph, so that its values can be captured */
    for (int i = 0; texts && names && i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "result_grads_%d", i);
        names[i] = texts[i];
    }
    if (texts && names)
        function = tw__function_trace_named("__inference_internal_grad_fn", names, b->node->out_dtypes, b->node->out_shapes,
                                            count, trace_gradient, b);
    tw__tracing = outer;
    tw__tapes_show(hidden);
    tw__deep_give(&tw__graphs_lock);
    tw__tracing_end();
    tw__free(texts);
    if (!function)
        tw__error_prefix(
            "Error when tracing gradients for SavedModel. You may need to update the custom gradient, or disable saving gradients with the "
            "option tf.saved_model.SaveOptions(experimental_custom_gradients=False).\n\tProblematic op name: %s\n",
            b->node->name);
    return function;
}

/* ---- what it captured ---- */

static tw__function *function_of_graph(const tw__saved_gradients *all, const tw__graph *graph)
{
    for (size_t i = 0; i < all->function_count; i++) {
        if (all->functions[i]->graph == graph)
            return all->functions[i];
    }
    return NULL;
}

static int input_of(const tw__function *function, const tw__node *node)
{
    for (int i = 0; i < function->input_count; i++) {
        if (function->inputs[i] == node)
            return i;
    }
    return -1;
}

/* The value outside that a loop or a branch gives its body as an input; false: it is not given as it is. */
static bool given_by(const tw__node *node, const tw__function *body, int input, tw__edge *edge)
{
    static const char *const ops[] = { "While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase" };
    size_t op = 0;
    while (op < sizeof ops / sizeof *ops && strcmp(node->op->name, ops[op]) != 0)
        op++;
    bool found = false;
    for (int i = 0; op < sizeof ops / sizeof *ops && i < node->attr_count; i++) {
        const tw_attr *attr = &node->attrs[i];
        found |= attr->kind == TW_ATTR_FUNC && attr->func == body && (op > 1 || strcmp(attr->name, "body") == 0);
        for (int k = 0; attr->kind == TW_ATTR_FUNCS && k < attr->count; k++)
            found |= attr->funcs[k] == body;
    }
    int place = input + (op > 1);
    if (!found || place >= node->input_count)
        return false;
    if (op <= 1 && (input >= body->output_count || body->outputs[input].node != body->inputs[input]))
        return false;
    *edge = node->inputs[place];
    return true;
}

static void go_outside(const tw__saved_gradients *all, tw__gradient_capture *capture)
{
    int input = input_of(capture->within, capture->edge.node);
    for (size_t i = 0; input >= 0 && i < all->function_count; i++) {
        const tw__graph *graph = all->functions[i]->graph;
        for (size_t n = 0; n < graph->node_count; n++) {
            tw__edge edge;
            if (!given_by(tw__node_richest(graph->nodes[n]), capture->within, input, &edge))
                continue;
            *capture = (tw__gradient_capture){ .within = all->functions[i], .edge = edge };
            input = input_of(capture->within, edge.node);
            i = SIZE_MAX; /* from the first function again */
            break;
        }
    }
}

static bool is_gradient(const tw__saved_gradients *all, const tw__function *function)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].written.function == function)
            return true;
    }
    return false;
}

/* A tensor that the function captured, as a value of a function of the file or as an object. */
static tw_status add_capture(tw__saved_gradients *all, tw__saved_gradient *g, tw__function *within, tw_tensor *tensor)
{
    size_t at = g->written.capture_count;
    tw_tensor *outside = tensor;
    tw__function *in = NULL;
    int64_t captured = tensor->node && is_gradient(all, within) ? tw__pointer_map_get(&within->graph->captured, tensor, -1) : -1;
    if (captured >= 0)
        g->written.captures[at] =
            (tw__gradient_capture){ .within = within, .edge = { within->graph->captures[captured].inside, 0 } };
    else if (tensor->node && tensor->node->graph == within->graph && is_gradient(all, within))
        g->written.captures[at] = (tw__gradient_capture){ .within = within, .edge = { tensor->node, tensor->node_output } };
    if (g->written.captures[at].within) { /* inside of another gradient, which nobody calls: only its own values are in reach */
        g->written.capture_count = at + 1;
        return TW_OK;
    }
    for (int depth = 0; outside->node && depth < 64; depth++) { /* an input that was captured: what it is outside */
        in = function_of_graph(all, outside->node->graph);
        int input = in ? input_of(in, outside->node) : -1;
        if (!in || input < in->argument_count || !in->captures || outside->node_output)
            break;
        outside = in->captures[input - in->argument_count];
    }
    g->written.capture_count = at + 1;
    if (!outside->node) {
        g->objects[at] = tw_retain(all->object_of(all->context, within, outside, (int)at));
        return g->objects[at] ? TW_OK : tw__error_status();
    }
    in = function_of_graph(all, outside->node->graph);
    if (!in)
        return tw__fail(
            TW_VALUE_ERROR,
            "Cannot save custom gradient %s called in function %s because SavedModel is unable to serialize the captured "
            "inputs: ['%s:%d']",
            g->written.type, within->name, outside->node->name, outside->node_output);
    g->written.captures[at] = (tw__gradient_capture){ .within = in, .edge = { outside->node, outside->node_output } };
    go_outside(all, &g->written.captures[at]);
    return TW_OK;
}

static tw_status set_captures(tw__saved_gradients *all, tw__saved_gradient *g, tw__function *within, tw_tensor *const *tensors,
                              size_t count)
{
    g->objects = tw__alloc_array(count + 1, sizeof *g->objects);
    g->written.captures = tw__alloc_array(count + 1, sizeof *g->written.captures);
    TW_NEED(g->objects && g->written.captures);
    for (size_t i = 0; i < count; i++)
        TW_TRY(add_capture(all, g, within, tensors[i]));
    return TW_OK;
}

static tw_status take_loaded(tw__saved_gradients *all, tw__saved_gradient *g, tw__function *within, const tw__node *node,
                             const tw__loaded_gradient *loaded)
{
    const tw__registered *r = loaded->registered;
    g->written.function = tw_retain(r->function);
    tw__held tw_tensor **values = tw__held_new(r->capture_count);
    TW_NEED(values);
    for (size_t i = 0; i < r->capture_count; i++) {
        values[i] = tw__loaded_value(loaded, node, i);
        for (size_t k = 0; !values[i] && k < all->function_count; k++)
            values[i] = tw__loaded_value_around(loaded, all->functions[k]->graph, i);
        if (!values[i])
            return tw__fail(TW_VALUE_ERROR,
                            "Cannot save custom gradient %s called in function %s because SavedModel is unable to serialize the "
                            "captured inputs: ['%s']",
                            g->written.type, within->name, r->captures[i].tensor);
    }
    return set_captures(all, g, within, values, r->capture_count);
}

/* ---- the structures of its arguments and results ---- */

static tw_status set_structures(tw__saved_gradient *g, const tw__node *node, const int *sources, size_t source_count)
{
    int arguments = node->output_count, results = node->input_count;
    tw_value *specs = tw__alloc_array((size_t)arguments + 1, sizeof *specs), *pair = tw__alloc_array(2, sizeof *pair);
    tw_value *given = tw__alloc_array((size_t)results + 1, sizeof *given);
    if (!specs || !pair || !given) {
        tw__free(specs);
        tw__free(pair);
        tw__free(given);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < arguments; i++) { /* before them None, for the operation */
        char name[32];
        snprintf(name, sizeof name, "result_grads_%d", i);
        specs[i + 1] = tw__spec_value(node->out_dtypes[i], &node->out_shapes[i], name);
    }
    for (size_t i = 0; i < source_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensor_%d", sources[i]);
        tw__function *f = g->written.function;
        given[sources[i]] = tw__spec_value(tw__function_output_dtype(f, (int)i), tw__function_output_shape(f, (int)i), name);
    }
    pair[0] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { specs, arguments + 1 } };
    pair[1] = (tw_value){ .kind = TW_VALUE_DICT };
    g->inputs = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } };
    g->outputs = (tw_value){ .kind = TW_VALUE_LIST, .list = { given, results } };
    return TW_OK;
}

/* ---- all of them ---- */

static tw_status add_gradient(tw__saved_gradients *all, tw__function *within, tw__node *node)
{
    const tw__loaded_gradient *loaded = tw__loaded_gradient_of(node->gradient);
    const tw__registered *r = loaded ? loaded->registered : NULL;
    bool lost = r && !tw__registered_fits(r, node->input_count, node->output_count);
    if (lost || (!loaded && !tw__is_custom_gradient(node->gradient)) || tw__pointer_map_get(&all->seen, node, -1) >= 0)
        return TW_OK; /* one that the file it came from did not hold stays what it is */
    TW_TRY(tw__pointer_map_put(&all->seen, node, 1));
    TW_TRY(TW_GROW(all->items, all->capacity, all->count + 1));
    tw__saved_gradient *g = &all->items[all->count++];
    *g = (tw__saved_gradient){ .written.type = tw__strdup(node->gradient_type ? node->gradient_type : "") };
    backward_body b = { .custom = loaded ? NULL : (const tw__custom_gradient *)node->gradient, .node = node };
    tw_status status = g->written.type ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && loaded) {
        TW_TRY(take_loaded(all, g, within, node, loaded));
        return set_structures(g, node, r->sources, r->source_count);
    }
    b.sources = tw__alloc_array((size_t)node->input_count + 1, sizeof *b.sources);
    g->written.function = b.sources && status == TW_OK ? trace(within, &b) : NULL;
    tw__function *f = g->written.function;
    status = f ? set_captures(all, g, within, f->captures, (size_t)(f->input_count - f->argument_count)) : tw__error_status();
    if (status == TW_OK)
        status = set_structures(g, node, b.sources, (size_t)b.source_count);
    tw__free(b.sources);
    return status;
}

static tw_status add_function(tw__saved_gradients *all, tw__function *function)
{
    if (!tw__is(function, &tw__function_class) || tw__pointer_map_get(&all->seen, function, -1) >= 0)
        return TW_OK;
    TW_TRY(tw__pointer_map_put(&all->seen, function, 1));
    TW_TRY(TW_GROW(all->functions, all->function_capacity, all->function_count + 1));
    all->functions[all->function_count++] = tw_retain(function);
    return TW_OK;
}

static tw_status add_called(tw__saved_gradients *all, const tw__node *node)
{
    for (int i = 0; i < node->attr_count; i++) {
        const tw_attr *attr = &node->attrs[i];
        if (attr->kind == TW_ATTR_FUNC)
            TW_TRY(add_function(all, attr->func));
        for (int k = 0; attr->kind == TW_ATTR_FUNCS && k < attr->count; k++)
            TW_TRY(add_function(all, attr->funcs[k]));
    }
    return TW_OK;
}

tw_status tw__saved_gradients_add(tw__saved_gradients *all, tw__function *function)
{
    size_t first = all->function_count;
    TW_TRY(add_function(all, function));
    for (size_t next = first; next < all->function_count;) {
        for (; next < all->function_count; next++) { /* all that is called, so that values are found in what is around */
            const tw__graph *graph = all->functions[next]->graph;
            for (size_t n = 0; n < graph->node_count; n++)
                TW_TRY(add_called(all, tw__node_richest(graph->nodes[n])));
        }
        for (; first < next; first++) {
            tw__function *within = all->functions[first];
            for (size_t n = 0; n < within->graph->node_count; n++) {
                size_t before = all->count;
                if (within->graph->nodes[n]->gradient)
                    TW_TRY(add_gradient(all, within, within->graph->nodes[n]));
                if (all->count > before)
                    TW_TRY(add_function(all, all->items[before].written.function));
            }
        }
    }
    return TW_OK;
}
