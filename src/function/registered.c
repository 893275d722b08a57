/* Gradients out of files, as objects, and how they run; see registered.h. */
#include "function/registered.h"

#include <stdlib.h>

#include "op/calls.h"
#include "rows.h"

static void registered_destroy(void *self)
{
    tw__registered *r = self;
    for (size_t i = 0; r->captures && i < r->capture_count; i++) {
        tw__free(r->captures[i].function);
        tw__free(r->captures[i].tensor);
        tw_release(r->captures[i].value);
    }
    tw__free(r->captures);
    tw__free(r->sources);
    tw__free(r->type);
    tw__free(r->name);
    tw__free(r->problem);
    tw_release(r->function);
}

static const tw_class registered_class = { .name = "RegisteredGradient",
                                           .size = sizeof(tw__registered),
                                           .destroy = registered_destroy };

static void loaded_destroy(void *self)
{
    tw__loaded_gradient *loaded = self;
    tw_release(loaded->registered);
    tw__free(loaded->places);
}

static const tw_class loaded_class = { .name = "LoadedGradient", .size = sizeof(tw__loaded_gradient), .destroy = loaded_destroy };

tw__registered *tw__registered_new(tw_string type, tw_string name, bool named)
{
    static const char numbered[] = "CustomGradient-";
    tw__registered *r = tw__object_new(&registered_class);
    if (!r)
        return NULL;
    bool again = named || (type.size >= sizeof numbered - 1 && memcmp(type.data, numbered, sizeof numbered - 1) == 0);
    r->type = again ? tw__gradient_type_new() : tw__strndup(type.data, type.size);
    r->name = named ? tw__strndup(name.size ? name.data : "", name.size) : NULL;
    if (!named)
        r->problem = tw__format(
            "gradient registry has no entry for: %.*s. The file does not hold the gradient function: it was saved without "
            "experimental_custom_gradients, or it is a plain GraphDef",
            TW_SHOWN(type));
    if (r->type && (r->name || r->problem))
        return r;
    tw_release(r);
    return NULL;
}

tw_status tw__registered_problem(tw__registered *r, char *text)
{
    if (r->problem)
        tw__free(text);
    else
        r->problem = text;
    return r->problem ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

tw__loaded_gradient *tw__loaded_gradient_of(tw_object *gradient)
{
    return gradient && tw__is(gradient, &loaded_class) ? (tw__loaded_gradient *)gradient : NULL;
}

/* "mul:0" in a graph. */
static tw_tensor *find_value(const tw__graph *graph, const char *text)
{
    const char *colon = strrchr(text, ':');
    tw__owned char *name = colon ? tw__strndup(text, (size_t)(colon - text)) : NULL;
    char *end = NULL;
    long output = colon ? strtol(colon + 1, &end, 10) : -1;
    tw__node *node = name ? tw__graph_find(graph, name) : NULL;
    bool there = node && end != colon + 1 && !*end && output >= 0 && output < node->output_count;
    return there ? tw__node_output(node, (int)output) : NULL;
}

tw_tensor *tw__loaded_value(const tw__loaded_gradient *loaded, const tw__node *node, size_t index)
{
    const tw__registered_capture *capture = &loaded->registered->captures[index];
    int place = loaded->places[index];
    if (capture->value)
        return tw_retain(capture->value);
    if (place == TW_OWN_VALUE)
        return find_value(node->graph, capture->tensor);
    int argument = 0;
    for (size_t i = 0; place >= 0 && i < node->graph->node_count;
         i++) { /* arguments are a function's first placeholders, in order */
        if (tw__node_is(node->graph->nodes[i], TW_ROLE_PLACEHOLDER) && argument++ == place)
            return tw__node_output(node->graph->nodes[i], 0);
    }
    return NULL;
}

tw_tensor *tw__loaded_value_around(const tw__loaded_gradient *loaded, const tw__graph *graph, size_t index)
{
    const tw__registered_capture *capture = &loaded->registered->captures[index];
    bool named = graph->name && capture->function && strcmp(graph->name, capture->function) == 0;
    return named && capture->tensor ? find_value(graph, capture->tensor) : NULL;
}

/* The value of a capture: near the node, or in one of the graphs around the one that is traced. */
static tw_tensor *value_of(const tw__loaded_gradient *loaded, const tw__node *node, size_t index)
{
    tw_tensor *value = tw__loaded_value(loaded, node, index);
    for (const tw__graph *graph = tw__tracing; !value && graph; graph = graph->outer)
        value = tw__loaded_value_around(loaded, graph, index);
    return value;
}

static tw_status take_inputs(const tw__loaded_gradient *loaded, const tw__gradient *g, const tw__node *node, tw_tensor **inputs)
{
    const tw__registered *r = loaded->registered;
    const tw__function *f = r->function;
    for (int i = 0; i < f->input_count; i++) {
        if (i < g->output_count) {
            inputs[i] = g->output_grads[i] ? tw_retain(g->output_grads[i]) : TW_CALL(ZerosLike, g->outputs[i]);
            TW_NEED(inputs[i]);
        } else if (!(inputs[i] = value_of(loaded, node, (size_t)(i - g->output_count)))) {
            const tw__registered_capture *capture = &r->captures[i - g->output_count];
            return tw__fail(
                TW_LOOKUP_ERROR,
                "the gradient of node '%s' (%s) is the function '%s' of the file, which uses the tensor '%s' of the function "
                "'%s': it can't be reached from here",
                node->name, node->op->name, r->name, capture->tensor, capture->function);
        }
        if (inputs[i]->dtype != f->inputs[i]->out_dtypes[0])
            return tw__fail(TW_DATA_LOSS,
                            "the gradient of node '%s' (%s) is the function '%s' of the file: its input '%s' is %s, got %s",
                            node->name, node->op->name, r->name, f->inputs[i]->name, tw_dtype_name(f->inputs[i]->out_dtypes[0]),
                            tw_dtype_name(inputs[i]->dtype));
    }
    return TW_OK;
}

bool tw__registered_fits(const tw__registered *r, int input_count, int output_count)
{
    bool good = !r->problem && r->known && r->function &&
                (size_t)r->function->input_count == (size_t)output_count + r->capture_count &&
                (size_t)r->function->output_count == r->source_count;
    for (size_t i = 0; good && i < r->source_count; i++)
        good = r->sources[i] < input_count;
    return good;
}

static tw_status check(const tw__registered *r, const tw__gradient *g, const tw__node *node)
{
    if (r->problem || !node || !r->function || !r->known)
        return tw__fail(TW_LOOKUP_ERROR, "No gradient defined for operation '%s' (op type: %s): %s", node ? node->name : "",
                        g->op->name, r->problem ? r->problem : "the file does not say what its gradient function is bound to");
    if (tw__registered_fits(r, g->input_count, g->output_count))
        return TW_OK;
    return tw__fail(
        TW_DATA_LOSS,
        "the gradient of node '%s' (%s) is the function '%s' of the file, which has %d inputs and %d results: that does not fit %d "
        "outputs, %zu captures and %zu gradients",
        node->name, node->op->name, r->name, r->function->input_count, r->function->output_count, g->output_count,
        r->capture_count, r->source_count);
}

static tw_status run_loaded(tw__own_gradient *self, tw__gradient *g)
{
    tw__loaded_gradient *loaded = (tw__loaded_gradient *)self;
    const tw__registered *r = loaded->registered;
    const tw__node *node = g->output_count ? g->outputs[0]->node : NULL;
    TW_TRY(check(r, g, node));
    tw__held tw_tensor **inputs = tw__held_new((size_t)r->function->input_count);
    tw__held tw_tensor **results = tw__held_new(r->source_count);
    TW_NEED(inputs && results);
    TW_TRY(take_inputs(loaded, g, node, inputs));
    TW_TRY(tw__function_call_given(r->function, inputs, results));
    for (size_t i = 0; i < r->source_count; i++) {
        tw_tensor **place = &g->input_grads[r->sources[i]];
        if (g->wanted[r->sources[i]] && !*place)
            *place = TW_TAKE(results[i]);
    }
    return TW_OK;
}

tw__loaded_gradient *tw__loaded_gradient_new(tw__registered *registered)
{
    tw__loaded_gradient *loaded = tw__object_new(&loaded_class);
    if (!loaded)
        return NULL;
    loaded->own.run = run_loaded;
    loaded->registered = tw_retain(registered);
    loaded->places = tw__alloc_array(registered->capture_count + 1, sizeof *loaded->places);
    if (loaded->places)
        return loaded;
    tw_release(loaded);
    return NULL;
}
