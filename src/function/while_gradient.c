/* The gradient of a While.
 *
 * When it is differentiated, the node gets a richer form (graph.h) whose body keeps what its gradient needs: it pushes those
 * values onto lists, one list per value; the lists are further values of the loop. The gradient is a loop over the body's
 * backward function that pops them. If a gradient of the lists is asked for, the rich form is differentiated in turn. */
#include <stdatomic.h>

#include "function/control.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

typedef struct loop_form {
    tw_object object;
    tw__function *cond, *body; /* of the form before */
    int *stacked;              /* what is pushed: an input of the body (-1 - i) or an output of its forward form */
    int stack_count;
    int *source; /* per capture of backward: a stack (>= 0), an input that stays the same (-1 - i), or INT32_MIN: itself */
    int counter; /* the value that counts the rounds; an own one behind the others if the loop has none */
    struct loop_form *lower; /* how the form before was made, if it keeps values, too */
} loop_form;

static void form_destroy(void *self)
{
    loop_form *form = self;
    tw_release(form->cond);
    tw_release(form->body);
    tw_release(form->lower);
    tw__free(form->stacked);
    tw__free(form->source);
}

static const tw_class form_class = { .name = "WhileForm", .size = sizeof(loop_form), .destroy = form_destroy };

/* The first list among the loop's values: behind those of the form before, and the counter if it is an own one. */
static int first_stack(const loop_form *form)
{
    return form->body->output_count + (form->counter == form->body->output_count);
}

/* ---- the form that keeps values ---- */

static tw_dtype stack_dtype(const loop_form *form, int stack)
{
    int place = form->stacked[stack];
    return place < 0 ? form->body->inputs[-1 - place]->out_dtypes[0] : tw__function_output_dtype(form->body->forward, place);
}

static tw_status kept_cond(void *context, tw_tensor *const *arguments, __attribute__((unused)) int count, tw_tensor ***outputs,
                           int *output_count)
{
    loop_form *form = context;
    *outputs = tw__alloc_array(2, sizeof **outputs);
    *output_count = 1;
    return *outputs ? tw__function_call_plain(form->cond, arguments, *outputs) : TW_RESOURCE_EXHAUSTED;
}

static tw_status kept_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    loop_form *form = context;
    tw__function *body = form->body, *forward = body->forward;
    tw__held tw_tensor **all = tw__held_new((size_t)forward->output_count);
    tw_tensor **results = *outputs = tw__alloc_array((size_t)count + 1, sizeof *results);
    TW_NEED(all && results);
    TW_TRY(tw__function_call_plain(forward, arguments, all));
    *output_count = count;
    int first = first_stack(form);
    for (int i = 0; i < body->output_count; i++)
        results[i] = tw_retain(all[i]);
    if (form->counter == body->output_count) {
        tw_auto tw_tensor *one = tw_tensor_int(1);
        results[form->counter] = TW_CALL(AddV2, arguments[form->counter], one);
        TW_NEED(results[form->counter]);
    }
    for (int s = 0; s < form->stack_count; s++) {
        int place = form->stacked[s];
        tw_tensor *value = place < 0 ? arguments[-1 - place] : all[place];
        results[first + s] = TW_CALL(TensorListPushBack, arguments[first + s], value);
        TW_NEED(results[first + s]);
    }
    return TW_OK;
}

/* Whether value i goes round unchanged. */
static bool stays(const tw__function *body, int i)
{
    return body->outputs[i].node == body->inputs[i];
}

static tw_status plan_stacks(loop_form *form)
{
    const tw__function *body = form->body;
    const tw__derivative *d = body->derivative;
    int captures = d->backward->input_count - d->backward->argument_count;
    form->stacked = tw__alloc_array((size_t)captures + 1, sizeof *form->stacked);
    form->source = tw__alloc_array((size_t)captures + 1, sizeof *form->source);
    TW_NEED(form->stacked && form->source);
    for (int i = 0; i < captures; i++) {
        int place = d->captures[i], value = place < 0 ? -1 - place : place;
        if (place == INT32_MIN) {
            form->source[i] = INT32_MIN;
        } else if (value < body->output_count && stays(body, value)) {
            form->source[i] = -1 - value;
        } else {
            int s = 0;
            while (s < form->stack_count && form->stacked[s] != place)
                s++;
            if (s == form->stack_count)
                form->stacked[form->stack_count++] = place;
            form->source[i] = s;
        }
    }
    return TW_OK;
}

/* Whether value 0 counts the rounds, as in loops that were built here or by TensorFlow. */
static bool is_counted(const tw__node *node, const tw__function *body)
{
    const tw__node *first = node->inputs[0].node, *next = body->outputs[0].node;
    /* A counter: i + constant. */
    if (!tw__node_is(first, TW_ROLE_CONSTANT) || next->op != &tw__op_AddV2 || first->out_dtypes[0] != TW_INT32 ||
        next->inputs[0].node != body->inputs[0])
        return false;
    const tw__node *step = next->inputs[1].node;
    const tw_tensor *from = tw__attr_find(first->op, first->attrs, "value")->tensor;
    const tw_tensor *by = tw__node_constant(step);
    return by && from->count == 1 && by->count == 1 && tw_tensor_int_at(from, 0) == 0 && tw_tensor_int_at(by, 0) == 1;
}

/* What the node's further values begin with, in front of it in its graph: zero, and empty lists. */
static tw_status add_inputs(tw__node *node, const loop_form *form, tw__edge *edges)
{
    tw__graph *graph = node->graph;
    size_t first = graph->node_count;
    tw_auto tw_tensor *none = tw_tensor_int(-1), *zero = tw_tensor_int(0);
    tw_status status = none && zero ? TW_OK : tw__error_status();
    if (status == TW_OK && form->counter == form->body->output_count) {
        tw_auto tw_tensor *start = tw__graph_constant(graph, zero, NULL);
        status = start ? TW_OK : tw__error_status();
        if (start)
            edges[form->counter] = (tw__edge){ start->node, 0 };
    }
    for (int s = 0; status == TW_OK && s < form->stack_count; s++) {
        tw_auto tw_tensor *list = TW_CALL(EmptyTensorList, none, none, TW_A_TYPE("element_dtype", stack_dtype(form, s)));
        status = list ? TW_OK : tw__error_status();
        if (list)
            edges[first_stack(form) + s] = (tw__edge){ list->node, 0 };
    }
    tw__graph_move_before(graph, first, node);
    return status;
}

static tw_status enrich_with(tw__node *node, loop_form *form, tw_dtype *dtypes, tw_shape *shapes, tw__edge *edges)
{
    const tw__node *rich = tw__node_richest(node);
    int all = first_stack(form) + form->stack_count;
    for (int i = 0; i < all; i++) {
        bool old = i < rich->output_count;
        dtypes[i] = old ? rich->out_dtypes[i] : i == form->counter ? TW_INT32 : TW_VARIANT;
        shapes[i] = old ? rich->out_shapes[i] : TW_SCALAR;
        edges[i] = old ? rich->inputs[i] : (tw__edge){ NULL, 0 };
    }
    tw_auto tw__function *cond = tw__function_trace(form->cond->name, dtypes, shapes, all, kept_cond, form);
    tw_auto tw__function *body = cond ? tw__function_trace(form->body->name, dtypes, shapes, all, kept_body, form) : NULL;
    TW_NEED(body);
    body->form = tw_retain(form);
    TW_TRY(add_inputs(node, form, edges));
    tw_attr attrs[TW_MAX_ATTRS];
    memcpy(attrs, rich->attrs, (size_t)rich->attr_count * sizeof *attrs);
    for (int i = 0; i < rich->attr_count; i++) {
        if (strcmp(attrs[i].name, "cond") == 0)
            attrs[i].func = cond;
        else if (strcmp(attrs[i].name, "body") == 0)
            attrs[i].func = body;
        else if (strcmp(attrs[i].name, "T") == 0)
            attrs[i] = TW_A_TYPES("T", dtypes, all);
        else if (strcmp(attrs[i].name, "output_shapes") == 0)
            attrs[i] = (tw_attr){ .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = all, .shapes = shapes };
    }
    return tw__node_enrich(node, attrs, edges, all, dtypes, shapes, all);
}

static tw_status enrich(tw__node *node)
{
    const tw__node *rich = tw__node_richest(node);
    tw_auto loop_form *form = tw__object_new(&form_class);
    TW_NEED(form);
    form->cond = tw_retain(tw__while_function(rich->op, rich->attrs, "cond"));
    form->body = tw_retain(tw__while_function(rich->op, rich->attrs, "body"));
    form->lower = tw_retain(form->body->form);
    TW_TRY(tw__function_differentiate(form->body));
    TW_TRY(plan_stacks(form));
    form->counter = form->lower ? form->lower->counter : is_counted(rich, form->body) ? 0 : form->body->output_count;
    size_t room = (size_t)(first_stack(form) + form->stack_count) + 1;
    tw__owned tw_dtype *dtypes = tw__alloc_array(room, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array(room, sizeof *shapes);
    tw__owned tw__edge *edges = tw__alloc_array(room, sizeof *edges);
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (dtypes && shapes && edges) { /* into the node's own graph, unseen by tapes */
        tw__outside outside = tw__outside_begin();
        tw__tracing = node->graph;
        status = enrich_with(node, form, dtypes, shapes, edges);
        tw__outside_end(outside);
    }
    return status;
}

/* The poorest form of the node that keeps what gradients of this many values need. */
static loop_form *form_for(const tw__node *node, int targets)
{
    const tw__node *rich = tw__node_richest(node);
    loop_form *found = NULL;
    for (loop_form *form = (loop_form *)tw__while_function(rich->op, rich->attrs, "body")->form;
         form && form->body->output_count >= targets; form = form->lower)
        found = form;
    return found;
}

/* ---- the gradient ---- */

typedef struct reverse {
    tw__gradient *g;
    loop_form *form;
    int *slot;      /* per value: its place among the reverse loop's values, or -1 */
    int slot_count; /* the lists follow */
} reverse;

static tw_status always(__attribute__((unused)) void *context, __attribute__((unused)) tw_tensor *const *arguments,
                        __attribute__((unused)) int count, tw_tensor ***outputs, int *output_count)
{
    *outputs = tw__alloc_array(2, sizeof **outputs);
    if (!*outputs)
        return TW_RESOURCE_EXHAUSTED;
    (*outputs)[0] = tw_tensor_bool(true);
    *output_count = 1;
    return (*outputs)[0] ? TW_OK : tw__error_status();
}

static tw_status pop(tw_tensor *list, tw_dtype dtype, tw_tensor **rest, tw_tensor **item)
{
    tw_auto tw_tensor *shape = tw_tensor_int(-1);
    tw_tensor *out[2] = { NULL, NULL };
    int count = 2;
    tw_attr attr = TW_A_TYPE("element_dtype", dtype);
    TW_TRY(shape ? tw__apply(&tw__op_TensorListPopBack, TW_IN(list, shape), 2, &attr, 1, out, &count) : tw__error_status());
    *rest = out[0];
    *item = out[1];
    return TW_OK;
}

static tw_status reverse_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    reverse *r = context;
    loop_form *form = r->form;
    tw__function *body = form->body, *backward = body->derivative->backward;
    const int *sources = body->derivative->sources;
    tw_tensor **results = *outputs = tw__alloc_array((size_t)count + 1, sizeof *results);
    tw__held tw_tensor **items = tw__held_new((size_t)form->stack_count);
    tw__owned tw_tensor **in = tw__alloc_array((size_t)backward->input_count + 1, sizeof *in);
    tw__held tw_tensor **out = tw__held_new((size_t)backward->output_count);
    TW_NEED(results && items && in && out);
    *output_count = count;
    for (int s = 0; s < form->stack_count; s++)
        TW_TRY(pop(arguments[r->slot_count + s], stack_dtype(form, s), &results[r->slot_count + s], &items[s]));
    int real = 0;
    for (int i = 0; i < body->output_count; i++) {
        if (tw__function_carries(tw__function_output_dtype(body, i)))
            in[real++] = arguments[r->slot[i]];
    }
    for (int i = 0; i < backward->input_count - backward->argument_count; i++) {
        int source = form->source[i];
        in[backward->argument_count + i] = source == INT32_MIN ? backward->captures[i]
                                           : source >= 0       ? items[source]
                                                               : r->g->inputs[-1 - source];
    }
    TW_TRY(tw__function_call_plain(backward, in, out));
    for (int i = 0; i < body->input_count; i++) {
        int slot = r->slot[i], source = sources[i];
        if (slot < 0)
            continue;
        tw_auto tw_tensor *wrapped =
            source >= 0 && body->derivative->sliced[i] ? tw__slices_make(out[source], out[source + 1], out[source + 2]) : NULL;
        tw_auto tw_tensor *own = wrapped ? tw__slices_dense(wrapped) : source >= 0 ? tw_retain(out[source]) : NULL;
        if (!tw__function_carries(body->inputs[i]->out_dtypes[0])) /* a variable: what arrives is summed */
            results[slot] = own ? tw__gradient_add(arguments[slot], own) : NULL;
        else
            results[slot] = own ? tw_retain(own) : TW_CALL(ZerosLike, arguments[slot]);
        TW_NEED(results[slot]);
    }
    return TW_OK;
}

/* What the reverse loop begins with, for value i, whose last value this is. */
static tw_tensor *first_gradient(tw__gradient *g, const tw__function *body, int i, tw_tensor *last)
{
    if (last->dtype != TW_RESOURCE)
        return i < g->output_count && g->output_grads[i] ? tw_retain(g->output_grads[i]) : TW_CALL(ZerosLike, last);
    tw_dtype dtype = tw__function_output_dtype(body->derivative->backward, body->derivative->sources[i]);
    tw_auto tw_tensor *value = TW_CALL(ReadVariableOp, g->inputs[i], TW_A_TYPE("dtype", dtype));
    return TW_CALL(ZerosLike, value);
}

/* The values, shapes and number of rounds of the reverse loop; `last` are the values of the loop after it ran. */
static tw_status begin_backwards(reverse *r, tw_tensor *const *last, tw_tensor **values, tw_shape *shapes, int *count)
{
    const loop_form *form = r->form;
    const tw__function *body = form->body;
    for (int i = 0; i < body->input_count; i++) {
        tw_dtype dtype = body->inputs[i]->out_dtypes[0];
        bool variable = dtype == TW_RESOURCE && body->derivative->sources[i] >= 0;
        r->slot[i] = -1;
        if (!variable && !tw__function_carries(dtype))
            continue;
        values[*count] = first_gradient(r->g, body, i, last[i]);
        if (!values[*count])
            return tw__error_status();
        shapes[*count] = variable ? values[*count]->shape : body->inputs[i]->out_shapes[0];
        r->slot[i] = (*count)++;
    }
    r->slot_count = *count;
    for (int s = 0; s < form->stack_count; s++) {
        shapes[*count] = TW_SCALAR;
        values[(*count)++] = tw_retain(last[first_stack(form) + s]);
    }
    return TW_OK;
}

static tw_status run_backwards(tw__gradient *g, tw__node *node, loop_form *form)
{
    const tw__function *body = form->body;
    int all = first_stack(form) + form->stack_count, count = 0;
    size_t room = (size_t)all + 1;
    tw__owned int *slot = tw__alloc_array(room, sizeof *slot);
    reverse r = { g, form, slot, 0 };
    tw__held tw_tensor **values = tw__held_new(room), **results = tw__held_new(room), **last = tw__held_new(room);
    tw__owned tw_shape *shapes = tw__alloc_array(room, sizeof *shapes);
    TW_NEED(slot && values && results && shapes && last);
    TW_TRY(tw__gradient_outputs(g, node, all, last));
    TW_TRY(begin_backwards(&r, last, values, shapes, &count));
    TW_TRY(tw__while(&(tw__loop){ .cond = always,
                                  .body = reverse_body,
                                  .body_context = &r,
                                  .values = values,
                                  .shapes = shapes,
                                  .count = count,
                                  .maximum = last[form->counter],
                                  .trusted = true },
                     results));
    for (int i = 0; i < body->input_count && i < g->input_count; i++) {
        if (r.slot[i] >= 0 && g->wanted[i])
            g->input_grads[i] = tw_retain(results[r.slot[i]]);
    }
    return TW_OK;
}

tw_status tw__while_gradient(tw__gradient *g)
{
    tw__node *node = g->outputs[0]->node;
    if (!node)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient of a loop that ran outside of a function");
    int targets = tw__gradient_targets(g);
    if (!form_for(node, targets))
        TW_TRY(enrich(node));
    return run_backwards(g, node, form_for(node, targets));
}
