/* While: a function runs again and again.
 *
 * The values of a loop are a counter, the greatest count (-1: none), the caller's values, and what cond and body capture, which
 * goes round unchanged. When it is differentiated, the node gets a richer form (graph.h) whose body keeps what its gradient
 * needs: it pushes those values onto lists, one list per value; the lists are further values of the loop. The gradient is a loop
 * over the body's backward function that pops them. If a gradient of the lists is asked for, the rich form is differentiated in
 * turn. */
#include <stdatomic.h>

#include "base/pause.h"
#include "function/control.h"
#include "op/slices.h"
#include "rows.h"

enum { OWN = 2, FEW = 32 }; /* the counter and its limit */

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

/* ---- the ops ---- */

static tw__function *function_of(const tw_op *op, const tw_attr *attrs, const char *name)
{
    return tw__attr_find(op, attrs, name)->func;
}

static tw_status while_shape(tw__inference *inference)
{
    for (int which = 0; which < 2; which++) {
        const char *name = which ? "body" : "cond";
        const tw__function *f = function_of(inference->op, inference->attrs, name);
        if (!tw__is(f, &tw__function_class))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the attr %s is no function", name);
        if (f->input_count != inference->input_count || f->output_count != (which ? inference->output_count : 1))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s %s takes %d inputs and gives %d outputs for %d values", name,
                              f->name, f->input_count, f->output_count, inference->input_count);
        for (int i = 0; i < f->input_count; i++) {
            bool same = f->inputs[i]->out_dtypes[0] == inference->dtypes[i] &&
                        (!which || tw__function_output_dtype(f, i) == inference->dtypes[i]);
            if (!same)
                return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "value %d of %s %s is not %s throughout", i, name, f->name,
                                  tw_dtype_name(inference->dtypes[i]));
        }
    }
    const tw__function *cond = function_of(inference->op, inference->attrs, "cond");
    if (tw__function_output_dtype(cond, 0) != TW_BOOL)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "cond %s gives %s, expected bool", cond->name,
                          tw_dtype_name(tw__function_output_dtype(cond, 0)));
    const tw_attr *shapes = TW_ATTR(inference, "output_shapes");
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = shapes->count == inference->output_count ? shapes->shapes[i] : TW_UNKNOWN_SHAPE;
    return TW_OK;
}

/* Runs the condition. */
static tw_status ask(const tw__kernel *kernel, tw__function *cond, tw_tensor *const *now, int *holds)
{
    tw_auto tw_tensor *truth = NULL;
    TW_TRY(tw__function_run(cond, now, &truth));
    if (truth->dtype != TW_BOOL || truth->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the condition is %s %s, not one bool", tw_dtype_name(truth->dtype),
                          tw__shape_text(&truth->shape));
    *holds = *(const bool *)truth->data;
    return TW_OK;
}

static tw_status while_compute(tw__kernel *kernel)
{
    tw__function *cond = function_of(kernel->op, kernel->attrs, "cond"), *body = function_of(kernel->op, kernel->attrs, "body");
    int count = kernel->input_count;
    tw_tensor *few[2 * FEW], **now = count <= FEW ? few : tw__alloc_array(2 * (size_t)count, sizeof *now), **space = now;
    if (!now)
        return TW_RESOURCE_EXHAUSTED;
    tw_tensor **next = now + count;
    for (int i = 0; i < count; i++)
        now[i] = tw_retain(kernel->inputs[i]);
    tw_status status = TW_OK;
    tw__condition simple;
    bool is_simple = !atomic_load(&tw__step_reports) && tw__condition_read(&simple, cond);
    for (;;) {
        int truth = is_simple ? tw__condition_holds(&simple, now) : -1;
        if (truth < 0)
            status = ask(kernel, cond, now, &truth);
        bool go_on = status == TW_OK && truth;
        if (go_on)
            status = tw__pause();
        if (status != TW_OK || !go_on)
            break;
        status = tw__function_run(body, now, next);
        if (status != TW_OK)
            break;
        for (int i = 0; i < count; i++)
            tw_release(now[i]);
        tw_tensor **swap = now;
        now = next;
        next = swap;
    }
    for (int i = 0; i < count; i++) {
        if (status == TW_OK)
            kernel->outputs[i] = now[i];
        else
            tw_release(now[i]);
    }
    if (space != few)
        tw__free(space);
    return status;
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
    tw_tensor **all = tw__alloc_array((size_t)forward->output_count + 1, sizeof *all);
    tw_tensor **results = tw__alloc_array((size_t)count + 1, sizeof *results);
    tw_status status = all && results ? tw__function_call_plain(forward, arguments, all) : TW_RESOURCE_EXHAUSTED;
    int first = first_stack(form);
    for (int i = 0; status == TW_OK && i < body->output_count; i++)
        results[i] = tw_retain(all[i]);
    if (status == TW_OK && form->counter == body->output_count) {
        tw_auto tw_tensor *one = tw_tensor_int(1);
        results[form->counter] = one ? TW_BINARY(AddV2, arguments[form->counter], one) : NULL;
        status = results[form->counter] ? TW_OK : tw__error_status();
    }
    for (int s = 0; status == TW_OK && s < form->stack_count; s++) {
        int place = form->stacked[s];
        tw_tensor *value = place < 0 ? arguments[-1 - place] : all[place];
        results[first + s] = tw__call(&tw__op_TensorListPushBack, TW_IN(arguments[first + s], value), 2, NULL, 0);
        if (!results[first + s])
            status = tw__error_status();
    }
    for (int i = 0; all && i < forward->output_count; i++)
        tw_release(all[i]);
    tw__free(all);
    *outputs = results;
    *output_count = results ? count : 0;
    return status;
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
    if (!form->stacked || !form->source)
        return TW_RESOURCE_EXHAUSTED;
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
        tw_auto tw_tensor *list =
            tw__call(&tw__op_EmptyTensorList, TW_IN(none, none), 2, TW_WITH(TW_A_TYPE("element_dtype", stack_dtype(form, s))), 1);
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
    if (!body)
        return tw__error_status();
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
    if (!form)
        return TW_RESOURCE_EXHAUSTED;
    form->cond = tw_retain(function_of(rich->op, rich->attrs, "cond"));
    form->body = tw_retain(function_of(rich->op, rich->attrs, "body"));
    form->lower = tw_retain(form->body->form);
    TW_TRY(tw__function_differentiate(form->body));
    TW_TRY(plan_stacks(form));
    form->counter = form->lower ? form->lower->counter : is_counted(rich, form->body) ? 0 : form->body->output_count;
    size_t room = (size_t)(first_stack(form) + form->stack_count) + 1;
    tw_dtype *dtypes = tw__alloc_array(room, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array(room, sizeof *shapes);
    tw__edge *edges = tw__alloc_array(room, sizeof *edges);
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (dtypes && shapes && edges) { /* into the node's own graph, unseen by tapes */
        tw__outside outside = tw__outside_begin();
        tw__tracing = node->graph;
        status = enrich_with(node, form, dtypes, shapes, edges);
        tw__outside_end(outside);
    }
    tw__free(dtypes);
    tw__free(shapes);
    tw__free(edges);
    return status;
}

/* The poorest form of the node that keeps what gradients of this many values need. */
static loop_form *form_for(const tw__node *node, int targets)
{
    const tw__node *rich = tw__node_richest(node);
    loop_form *found = NULL;
    for (loop_form *form = (loop_form *)function_of(rich->op, rich->attrs, "body")->form;
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
    tw_tensor **results = tw__alloc_array((size_t)count + 1, sizeof *results);
    tw_tensor **items = tw__alloc_array((size_t)form->stack_count + 1, sizeof *items);
    tw_tensor **in = tw__alloc_array((size_t)backward->input_count + 1, sizeof *in);
    tw_tensor **out = tw__alloc_array((size_t)backward->output_count + 1, sizeof *out);
    tw_status status = results && items && in && out ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int s = 0; status == TW_OK && s < form->stack_count; s++)
        status = pop(arguments[r->slot_count + s], stack_dtype(form, s), &results[r->slot_count + s], &items[s]);
    int real = 0;
    for (int i = 0; status == TW_OK && i < body->output_count; i++) {
        if (tw__function_carries(tw__function_output_dtype(body, i)))
            in[real++] = arguments[r->slot[i]];
    }
    for (int i = 0; status == TW_OK && i < backward->input_count - backward->argument_count; i++) {
        int source = form->source[i];
        in[backward->argument_count + i] = source == INT32_MIN ? backward->captures[i]
                                           : source >= 0       ? items[source]
                                                               : r->g->inputs[-1 - source];
    }
    if (status == TW_OK)
        status = tw__function_call_plain(backward, in, out);
    for (int i = 0; status == TW_OK && i < body->input_count; i++) {
        int slot = r->slot[i], source = sources[i];
        if (slot < 0)
            continue;
        tw_auto tw_tensor *wrapped =
            source >= 0 && body->derivative->sliced[i] ? tw__slices_make(out[source], out[source + 1], out[source + 2]) : NULL;
        tw_auto tw_tensor *own = wrapped ? tw__slices_dense(wrapped) : source >= 0 ? tw_retain(out[source]) : NULL;
        if (!tw__function_carries(body->inputs[i]->out_dtypes[0])) /* a variable: what arrives is summed */
            results[slot] = own ? tw__gradient_add(arguments[slot], own) : NULL;
        else
            results[slot] = own ? tw_retain(own) : TW_UNARY(ZerosLike, arguments[slot]);
        if (!results[slot])
            status = tw__error_status();
    }
    for (int s = 0; items && s < form->stack_count; s++)
        tw_release(items[s]);
    for (int i = 0; out && i < backward->output_count; i++)
        tw_release(out[i]);
    tw__free(items);
    tw__free(in);
    tw__free(out);
    *outputs = results;
    *output_count = results ? count : 0;
    return status;
}

/* What the reverse loop begins with, for value i, whose last value this is. */
static tw_tensor *first_gradient(tw__gradient *g, const tw__function *body, int i, tw_tensor *last)
{
    if (last->dtype != TW_RESOURCE)
        return i < g->output_count && g->output_grads[i] ? tw_retain(g->output_grads[i]) : TW_UNARY(ZerosLike, last);
    tw_dtype dtype = tw__function_output_dtype(body->derivative->backward, body->derivative->sources[i]);
    tw_auto tw_tensor *value = tw__call(&tw__op_ReadVariableOp, TW_IN(g->inputs[i]), 1, TW_WITH(TW_A_TYPE("dtype", dtype)), 1);
    return value ? TW_UNARY(ZerosLike, value) : NULL;
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
    reverse r = { g, form, tw__alloc_array(room, sizeof(int)), 0 };
    tw_tensor **values = tw__alloc_array(room, sizeof *values), **results = tw__alloc_array(room, sizeof *results);
    tw_tensor **last = tw__alloc_array(room, sizeof *last);
    tw_shape *shapes = tw__alloc_array(room, sizeof *shapes);
    tw_status status =
        r.slot && values && results && shapes && last ? tw__gradient_outputs(g, node, all, last) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = begin_backwards(&r, last, values, shapes, &count);
    if (status == TW_OK)
        status = tw__while(&(tw__loop){ .cond = always,
                                        .body = reverse_body,
                                        .body_context = &r,
                                        .values = values,
                                        .shapes = shapes,
                                        .count = count,
                                        .maximum = last[form->counter],
                                        .trusted = true },
                           results);
    for (int i = 0; status == TW_OK && i < body->input_count && i < g->input_count; i++) {
        if (r.slot[i] >= 0 && g->wanted[i])
            g->input_grads[i] = tw_retain(results[r.slot[i]]);
    }
    for (int i = 0; values && results && i < count; i++) {
        tw_release(values[i]);
        tw_release(results[i]);
    }
    for (int i = 0; last && i < all; i++)
        tw_release(last[i]);
    tw__free(r.slot);
    tw__free(values);
    tw__free(results);
    tw__free(last);
    tw__free(shapes);
    return status;
}

static tw_status while_gradient(tw__gradient *g)
{
    tw__node *node = g->outputs[0]->node;
    if (!node)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient of a loop that ran outside of a function");
    int targets = tw__gradient_targets(g);
    if (!form_for(node, targets))
        TW_TRY(enrich(node));
    return run_backwards(g, node, form_for(node, targets));
}

TW_OP(While, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10",
      .shape = while_shape, .compute = while_compute, .gradient = while_gradient, .makes_outputs = true, .reads_variable = true,
      .stateful = true, .node_name = "while", .role = TW_ROLE_LOOP, .input_names = "loop_counter,maximum_iterations",
      .doc = "Runs a function, which may have side effects, while another one gives true.");

TW_OP(StatelessWhile, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10",
      .shape = while_shape, .compute = while_compute, .gradient = while_gradient, .makes_outputs = true, .reads_variable = true,
      .node_name = "while", .role = TW_ROLE_LOOP, .input_names = "loop_counter,maximum_iterations",
      .doc = "Runs a function while another one gives true.");

/* ---- building ---- */

static tw_status apply_while(const tw__part *part, tw__function *cond, tw__function *body, tw_tensor *const *inputs,
                             const tw_shape *shapes, int count, tw_tensor **outputs)
{
    tw_attr attrs[] = { TW_A_FUNC("cond", cond),
                        TW_A_FUNC("body", body),
                        { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = count, .shapes = shapes } };
    int output_count = count;
    return tw__part_apply(part, "", cond->stateful || body->stateful ? &tw__op_While : &tw__op_StatelessWhile, inputs, count,
                          attrs, 3, outputs, &output_count);
}

/* In lasting graphs every value that comes out of the loop is an Identity of its own. */
static tw_status name_outputs(const tw__part *part, tw_tensor **results, int count)
{
    for (int i = 0; part->graph && part->graph->lasting && i < count; i++) {
        tw_auto tw_tensor *value = results[i];
        if (!(results[i] = tw__part_call(part, "Identity", &tw__op_Identity, &value, 1, NULL, 0)))
            return tw__error_status();
    }
    return TW_OK;
}

static tw_status trace_cond(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const tw__loop *loop = context;
    TW_TRY(loop->cond(loop->cond_context, arguments + OWN, count - OWN, outputs, output_count));
    if (*output_count != 1 || !(*outputs)[0])
        return tw__fail(TW_TYPE_ERROR, "cond of a loop must return one boolean scalar tensor, got %d values", *output_count);
    tw_tensor *truth = (*outputs)[0];
    if (truth->dtype != TW_BOOL || truth->shape.rank > 0)
        return tw__fail(TW_TYPE_ERROR, "cond must return a boolean scalar tensor, got %s %s", tw_dtype_name(truth->dtype),
                        tw__shape_text(&truth->shape));
    if (!loop->maximum)
        return TW_OK;
    tw_auto tw_tensor *fewer = TW_BINARY(Less, arguments[0], arguments[1]);
    tw_tensor *both = fewer ? TW_BINARY(LogicalAnd, fewer, truth) : NULL;
    tw_release(truth);
    (*outputs)[0] = both;
    return both ? TW_OK : tw__error_status();
}

static tw_status check_value(const tw__loop *loop, int i, const tw_tensor *before, const tw_tensor *after)
{
    if (!after)
        return tw__fail(TW_VALUE_ERROR, "body of a loop gave no value %d", i);
    const tw_tensor *first = loop->values[i]; /* one that is no node yet will be a constant */
    const char *name = first->node ? first->node->name : "Const";
    int output = first->node ? first->node_output : 0;
    if (after->dtype != before->dtype)
        return tw__fail(
            TW_TYPE_ERROR,
            "Loop var %s:%d enters the loop with type <dtype: '%s'> but has type <dtype: '%s'> after 1 iteration. %s:%d type should remain "
            "constant.",
            name, output, tw_dtype_name(before->dtype), tw_dtype_name(after->dtype), name, output);
    bool fits = loop->trusted || before->shape.rank < 0 || after->shape.rank == before->shape.rank;
    for (int d = 0; fits && !loop->trusted && d < before->shape.rank; d++)
        fits = before->shape.dims[d] < 0 || before->shape.dims[d] == after->shape.dims[d];
    if (fits)
        return TW_OK;
    char *was = tw__shape_tuple(&before->shape), *is = tw__shape_tuple(&after->shape);
    tw_status status = tw__fail(
        TW_VALUE_ERROR,
        "Input tensor `%s:%d` enters the loop with shape %s, but has shape %s after one iteration. To allow the shape to "
        "vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
        name, output, was ? was : "", is ? is : "");
    tw__free(was);
    tw__free(is);
    return status;
}

static tw_status trace_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const tw__loop *loop = context;
    tw_tensor **own = NULL, **results = tw__alloc_array((size_t)count + 1, sizeof *results);
    int own_count = 0;
    tw_status status =
        results ? loop->body(loop->body_context, arguments + OWN, count - OWN, &own, &own_count) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && own_count != count - OWN)
        status = tw__fail(TW_VALUE_ERROR, "body of a loop gave %d values for %d", own_count, count - OWN);
    for (int i = 0; status == TW_OK && i < own_count; i++)
        status = check_value(loop, i, arguments[OWN + i], own[i]);
    if (status == TW_OK) {
        tw_auto tw_tensor *one = tw_tensor_int(1);
        results[0] = one ? TW_BINARY(AddV2, arguments[0], one) : NULL;
        results[1] = tw_retain(arguments[1]);
        if (!results[0])
            status = tw__error_status();
    }
    for (int i = 0; own && i < own_count; i++) {
        if (status == TW_OK)
            results[OWN + i] = own[i];
        else
            tw_release(own[i]);
    }
    tw__free(own);
    *outputs = results;
    *output_count = results ? count : 0;
    return status;
}

/* What is said to hold in every iteration must hold of the values before the first one. */
static tw_status check_invariants(const tw__loop *loop)
{
    for (int i = 0; loop->shapes && !loop->trusted && i < loop->count; i++) {
        const tw_tensor *value = loop->values[i];
        if (tw__shape_compatible(&loop->shapes[i], &value->shape))
            continue;
        char *is = tw__shape_tuple(&value->shape), *said = tw__shape_tuple(&loop->shapes[i]);
        tw_status status = tw__fail(
            TW_VALUE_ERROR,
            "The shape invariant specified for %s:%d is not compatible with the initial shape of the loop variable. It enters the "
            "loop with shape %s, but the specified shape invariant is %s.",
            value->node ? value->node->name : "Const", value->node ? value->node_output : 0, is ? is : "", said ? said : "");
        tw__free(is);
        tw__free(said);
        return status;
    }
    return TW_OK;
}

static tw_status build(const tw__part *part, const tw__loop *loop, tw_tensor *const *first, tw_tensor **outputs)
{
    int own = OWN + loop->count;
    tw_dtype *dtypes = tw__alloc_array((size_t)own + 1, sizeof *dtypes);
    tw_shape *arg_shapes = tw__alloc_array((size_t)own + 1, sizeof *arg_shapes);
    for (int i = 0; dtypes && arg_shapes && i < own; i++) {
        dtypes[i] = first[i]->dtype;
        arg_shapes[i] = i < OWN ? TW_SCALAR : loop->shapes ? loop->shapes[i - OWN] : first[i]->shape;
    }
    tw_auto tw__function *cond =
        dtypes && arg_shapes ? tw__function_trace("while_cond", dtypes, arg_shapes, own, trace_cond, (void *)loop) : NULL;
    tw_auto tw__function *body =
        cond ? tw__function_trace("while_body", dtypes, arg_shapes, own, trace_body, (void *)loop) : NULL;
    tw_tensor **captures = NULL, **inputs = NULL, **results = NULL;
    tw_shape *shapes = NULL;
    int count = 0;
    tw_status status = body ? tw__control_unite(&captures, &count, cond) : tw__error_status();
    if (status == TW_OK)
        status = tw__control_unite(&captures, &count, body);
    if (status == TW_OK)
        status = tw__function_set_captures(cond, captures, count);
    if (status == TW_OK)
        status = tw__function_set_captures(body, captures, count);
    if (status == TW_OK)
        status = tw__function_pass_captures(body);
    int all = own + count;
    if (status == TW_OK) {
        inputs = tw__alloc_array((size_t)all + 1, sizeof *inputs);
        results = tw__alloc_array((size_t)all + 1, sizeof *results);
        shapes = tw__alloc_array((size_t)all + 1, sizeof *shapes);
        status = inputs && results && shapes ? TW_OK : TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; status == TW_OK && i < all; i++) {
        inputs[i] = i < own ? first[i] : captures[i - own];
        shapes[i] = i < own ? arg_shapes[i] : captures[i - own]->shape;
    }
    if (status == TW_OK)
        status = apply_while(part, cond, body, inputs, shapes, all, results);
    if (status == TW_OK)
        status = name_outputs(part, results, all);
    for (int i = 0; results && i < all; i++) {
        if (status == TW_OK && i >= OWN && i < own)
            outputs[i - OWN] = results[i];
        else
            tw_release(results[i]);
    }
    tw__free(dtypes);
    tw__free(arg_shapes);
    tw__free(captures);
    tw__free(inputs);
    tw__free(results);
    tw__free(shapes);
    return status;
}

/* Nothing is traced: the bodies are called as they are. */
static tw_status run_at_once(const tw__loop *loop, tw_tensor **now)
{
    int64_t limit = loop->maximum ? tw_tensor_int_at(loop->maximum, 0) : INT64_MAX;
    for (int64_t round = 0; round < limit; round++) {
        tw_tensor **out = NULL;
        int count = 0;
        TW_TRY(tw__pause());
        TW_TRY(loop->cond(loop->cond_context, now, loop->count, &out, &count));
        bool go_on = count == 1 && out[0] && out[0]->data && tw_tensor_int_at(out[0], 0);
        for (int i = 0; i < count; i++)
            tw_release(out[i]);
        tw__free(out);
        if (!go_on)
            break;
        out = NULL;
        TW_TRY(loop->body(loop->body_context, now, loop->count, &out, &count));
        tw_status status =
            count == loop->count ? TW_OK : tw__fail(TW_VALUE_ERROR, "body of a loop gave %d values for %d", count, loop->count);
        for (int i = 0; i < count; i++) {
            if (status == TW_OK) {
                tw_release(now[i]);
                now[i] = out[i];
            } else {
                tw_release(out[i]);
            }
        }
        tw__free(out);
        TW_TRY(status);
    }
    return TW_OK;
}

tw_status tw__while(const tw__loop *loop, tw_tensor **outputs)
{
    bool symbolic = tw__tracing || (loop->maximum && loop->maximum->node);
    for (int i = 0; i < loop->count; i++) {
        if (!loop->values[i])
            return tw__error_status();
        symbolic |= loop->values[i]->node != NULL;
    }
    if (!symbolic) {
        for (int i = 0; i < loop->count; i++)
            outputs[i] = tw_retain(loop->values[i]);
        tw_status status = run_at_once(loop, outputs);
        for (int i = 0; status != TW_OK && i < loop->count; i++) {
            tw_release(outputs[i]);
            outputs[i] = NULL;
        }
        return status;
    }
    TW_TRY(check_invariants(loop));
    tw__part part = loop->trusted ? (tw__part){ 0 } : tw__part_begin(loop->name, "while");
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = loop->maximum ? tw_retain(loop->maximum) : tw_tensor_int(-1);
    tw_auto tw_tensor *limit = none ? tw__part_constant(&part, none, "maximum_iterations") : NULL;
    tw_auto tw_tensor *counter = zero && limit ? tw__part_constant(&part, zero, "loop_counter") : NULL;
    tw_tensor **first = tw__alloc_array((size_t)loop->count + OWN, sizeof *first);
    tw_status status = counter && first ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        first[0] = counter;
        first[1] = limit;
        if (loop->count)
            memcpy(first + OWN, loop->values, (size_t)loop->count * sizeof *first);
        status = build(&part, loop, first, outputs);
    }
    tw__free(first);
    bool named = part.graph != NULL;
    tw_status ended = tw__part_end(&part);
    if (status != TW_OK)
        return status;
    if (ended == TW_OK && !named && loop->name && *loop->name && loop->count && outputs[0]->node)
        ended = tw__node_rename(outputs[0]->node, loop->name);
    for (int i = 0; ended != TW_OK && i < loop->count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    return ended;
}
