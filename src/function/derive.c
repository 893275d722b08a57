/* Derivatives from the nodes of a graph: the ops' gradient functions, applied to symbolic tensors, from the targets back to the
 * sources.
 *
 * The nodes need not have been traced here: those of a GraphDef that was read do as well. The new nodes stand in the graph that
 * is traced now, which is the graph itself or one inside it. A gradient function may give a node before it a richer form
 * (graph.h), which moves nodes; so what is needed of the graph is written down first.
 *
 * In lasting graphs the new nodes are what users look for by name: there the ops are gone through in TensorFlow's order, each in
 * a scope of its own ("MatMul_grad"), seeds are called grad_ys_0, and gradients of one value are summed at once (AddN). */
#include "function/function.h"
#include "op/gradient.h"
#include "op/slices.h"
#include "rows.h"

typedef struct walk {
    const tw__derivation *d;
    size_t count; /* nodes that are looked at: up to the last target */
    tw__node **nodes;
    int64_t *first_output; /* by node: the number of its output 0; of all nodes, one behind the last */
    int64_t *first_input;  /* by node: where the numbers of its inputs begin */
    int64_t *inputs;
    int64_t *sources;        /* their numbers, or -1 */
    bool *reached, *stopped; /* by number: depends on a source; nothing passes */
    tw_tensor **tensors;     /* by number: the value as a tensor, made when first used */
    tw_tensor **gradients;   /* by number */
    bool lasting;
    tw__sums sums; /* in lasting graphs: gradients beside those */
} walk;

static int64_t number_of(const walk *w, tw__edge edge)
{
    bool inside = edge.node && edge.node->graph == w->d->graph && (size_t)edge.node->id < w->count;
    return inside ? w->first_output[edge.node->id] + edge.output : -1;
}

static bool passes(const tw__node *node)
{
    return node->op->gradient || node->op->no_gradient || node->gradient;
}

static tw_status write_down(walk *w)
{
    const tw__graph *graph = w->d->graph;
    for (int i = 0; i < w->d->target_count; i++) {
        if (w->d->targets[i].node && (size_t)w->d->targets[i].node->id >= w->count)
            w->count = (size_t)w->d->targets[i].node->id + 1;
    }
    int64_t inputs = 0, outputs = 0;
    w->nodes = tw__alloc_array(w->count + 1, sizeof *w->nodes);
    w->first_output = tw__alloc_array(w->count + 1, sizeof *w->first_output);
    w->first_input = tw__alloc_array(w->count + 1, sizeof *w->first_input);
    TW_NEED(w->nodes && w->first_output && w->first_input);
    for (size_t i = 0; i < w->count; i++) {
        const tw__node *rich = tw__node_richest(graph->nodes[i]);
        w->nodes[i] = graph->nodes[i];
        w->first_output[i] = outputs;
        w->first_input[i] = inputs;
        outputs += rich->output_count;
        inputs += rich->input_count;
    }
    w->first_output[w->count] = outputs;
    w->first_input[w->count] = inputs;
    w->inputs = tw__alloc_array((size_t)inputs + 1, sizeof *w->inputs);
    w->sources = tw__alloc_array((size_t)w->d->source_count + 1, sizeof *w->sources);
    w->reached = tw__alloc_array((size_t)outputs + 1, sizeof *w->reached);
    w->stopped = tw__alloc_array((size_t)outputs + 1, sizeof *w->stopped);
    w->tensors = tw__alloc_array((size_t)outputs + 1, sizeof *w->tensors);
    w->gradients = tw__alloc_array((size_t)outputs + 1, sizeof *w->gradients);
    TW_NEED(w->inputs && w->sources && w->reached && w->stopped && w->tensors && w->gradients);
    for (size_t i = 0; i < graph->capture_count; i++) { /* a capture is known by the tensor outside: more may be known of that */
        const tw__node *inside = graph->captures[i].inside;
        if ((size_t)inside->id < w->count)
            w->tensors[w->first_output[inside->id]] = tw_retain(graph->captures[i].outside);
    }
    return TW_OK;
}

/* What depends on a source. */
static void mark(walk *w)
{
    for (int i = 0; i < w->d->stop_count; i++) {
        int64_t number = number_of(w, w->d->stops[i]);
        if (number >= 0)
            w->stopped[number] = true;
    }
    for (int i = 0; i < w->d->source_count; i++) {
        w->sources[i] = number_of(w, w->d->sources[i]);
        if (w->sources[i] >= 0)
            w->reached[w->sources[i]] = true;
    }
    for (size_t i = 0; i < w->count; i++) {
        const tw__node *rich = tw__node_richest(w->nodes[i]);
        bool reached = false;
        for (int k = 0; k < rich->input_count; k++) {
            int64_t number = number_of(w, rich->inputs[k]);
            const tw__node *from = rich->inputs[k].node;
            w->inputs[w->first_input[i] + k] = number;
            reached |= number >= 0 && w->reached[number] && tw__dtype_differentiable(from->out_dtypes[rich->inputs[k].output]);
        }
        if (!reached || !passes(w->nodes[i]))
            continue;
        for (int k = 0; k < rich->output_count; k++) {
            int64_t number = w->first_output[i] + k;
            w->reached[number] |= !w->stopped[number] && tw__dtype_differentiable(rich->out_dtypes[k]);
        }
    }
}

static tw_tensor *tensor_at(walk *w, int64_t number, tw__node *node, int output)
{
    if (!w->tensors[number])
        w->tensors[number] = tw__node_output(node, output);
    return w->tensors[number];
}

static tw_status add(walk *w, int64_t number, tw_tensor *gradient) /* takes the gradient */
{
    tw_tensor *held = w->gradients[number];
    if (held && gradient && w->lasting)
        return tw__sums_add(&w->sums, number, gradient);
    if (held) {
        tw_tensor *sum = gradient ? tw__gradient_add(held, gradient) : NULL;
        tw_release(held);
        tw_release(gradient);
        gradient = sum;
    }
    w->gradients[number] = gradient;
    return gradient ? TW_OK : tw__error_status();
}

/* A gradient has the shape of what it is the gradient of: what is not known of it may be known of that. */
static void refine(tw_tensor *gradient, const tw_tensor *of)
{
    if (!gradient->node || gradient->dtype != of->dtype || of->shape.rank < 0 || tw__shape_known(&gradient->shape) ||
        !tw__shape_compatible(&gradient->shape, &of->shape))
        return;
    if (tw__symbolic_refine(gradient, &of->shape) != TW_OK)
        tw_clear_error(); /* more elements than can be counted: who makes them says so */
}

static tw_status call_gradient(walk *w, size_t i, tw_tensor **space, bool *wanted, int inputs, int outputs)
{
    tw__node *node = w->nodes[i];
    tw_tensor **in = space, **out = in + inputs, **out_grads = out + outputs, **in_grads = out_grads + outputs;
    const tw__node *rich = tw__node_richest(node);
    bool any_wanted = false;
    for (int k = 0; k < inputs; k++) {
        int64_t number = w->inputs[w->first_input[i] + k];
        wanted[k] = w->reached[number] && tw__dtype_differentiable(rich->inputs[k].node->out_dtypes[rich->inputs[k].output]);
        any_wanted |= wanted[k];
        TW_NEED(in[k] = tensor_at(w, number, rich->inputs[k].node, rich->inputs[k].output));
    }
    if (!any_wanted)
        return TW_OK;
    for (int k = 0; k < outputs; k++) {
        int64_t number = w->first_output[i] + k;
        out_grads[k] = w->stopped[number] || !w->reached[number] ? NULL : w->gradients[number];
        TW_NEED(out[k] = tensor_at(w, number, node, k));
    }
    tw__gradient g = { node->op, inputs, outputs, in, out, out_grads, in_grads, wanted, rich->attrs };
    tw__owned char *name = w->lasting ? tw__format("%s_grad", node->name) : NULL;
    tw__part part = name ? tw__part_begin(NULL, name) : (tw__part){ 0 };
    bool before = tw__named_as_functions;
    tw__named_as_functions = node->op->functions_in_gradient;
    tw_status status = tw__gradient_call(&g, node->gradient), named = tw__part_end(&part);
    tw__named_as_functions = before;
    status = status == TW_OK ? named : status;
    for (int k = 0; k < inputs; k++) {
        if (in_grads[k] && status == TW_OK && wanted[k] && !node->gradient)
            refine(in_grads[k], in[k]);
        if (in_grads[k] && status == TW_OK && wanted[k])
            status = add(w, w->inputs[w->first_input[i] + k], in_grads[k]);
        else
            tw_release(in_grads[k]);
    }
    return status;
}

static tw_status step_back(walk *w, size_t i)
{
    int outputs = (int)(w->first_output[i + 1] - w->first_output[i]), inputs = (int)(w->first_input[i + 1] - w->first_input[i]);
    bool any = false;
    for (int k = 0; k < outputs; k++) {
        int64_t number = w->first_output[i] + k;
        if (w->lasting)
            TW_TRY(tw__sums_settle(&w->sums, number, &w->gradients[number]));
        any |= w->gradients[number] && w->reached[number] && !w->stopped[number];
    }
    if (!any || !inputs || !passes(w->nodes[i]))
        return TW_OK;
    tw__owned tw_tensor **space = tw__alloc_array(2 * ((size_t)inputs + (size_t)outputs), sizeof *space);
    tw__owned bool *wanted = tw__alloc_array((size_t)inputs, sizeof *wanted);
    TW_NEED(space && wanted);
    return call_gradient(w, i, space, wanted, inputs, outputs);
}

/* The gradient of a target: given, or ones. A new reference. */
static tw_tensor *seed_of(walk *w, int i, int64_t number)
{
    tw__edge edge = w->d->targets[i];
    tw_tensor *given = w->d->seeds ? w->d->seeds[i] : NULL;
    tw_tensor *like = given && !w->lasting ? NULL : tensor_at(w, number, edge.node, edge.output);
    if (!w->lasting)
        return given ? tw_retain(given) : like ? tw__gradient_ones(like) : NULL;
    char name[32], inner[40];
    snprintf(name, sizeof name, "grad_ys_%d", i);
    snprintf(inner, sizeof inner, "%s/Const", name);
    const tw__part part = { .graph = tw__tracing }; /* the scope is open */
    tw_tensor *seed = NULL;
    if (given) {
        seed = tw__part_call(&part, name, &tw__op_Identity, &given, 1, NULL, 0);
    } else if (like && like->dtype == TW_VARIANT) {
        seed = tw__gradient_ones(like);
    } else if (like) {
        tw__outside outside = tw__outside_begin();
        tw_auto tw_tensor *value = tw__grad_constant(1, like);
        tw_auto tw_tensor *known = tw__shape_known(&like->shape) ? tw__tensor_of_shape(&like->shape, TW_INT32) : NULL;
        tw__outside_end(outside);
        tw_auto tw_tensor *shape =
            known ? tw__part_constant(&part, known, "Shape") : tw__part_call(&part, "Shape", &tw__op_Shape, &like, 1, NULL, 0);
        tw_auto tw_tensor *one = value ? tw__part_constant(&part, value, inner) : NULL;
        seed = shape && one ? tw__part_call(&part, name, &tw__op_Fill, TW_IN(shape, one), 2, NULL, 0) : NULL;
    }
    return seed;
}

/* The order of a lasting graph's ops: each when all that use it were gone through, first come, first served. `order` has room for
 * all. */
static tw_status find_order(const walk *w, size_t *order, size_t *order_count)
{
    tw__owned size_t *owner = tw__alloc_array((size_t)w->first_output[w->count] + 1, sizeof *owner),
                     *pending = tw__alloc_array(w->count + 1, sizeof *pending);
    tw__owned bool *between = tw__alloc_array(w->count + 1, sizeof *between),
                   *queued = tw__alloc_array(w->count + 1, sizeof *queued);
    TW_NEED(owner && pending && between && queued);
    for (size_t i = 0; i < w->count; i++) {
        for (int64_t k = w->first_output[i]; k < w->first_output[i + 1]; k++)
            owner[k] = i;
    }
    for (int i = 0; i < w->d->target_count; i++) {
        int64_t number = number_of(w, w->d->targets[i]);
        if (number >= 0)
            between[owner[number]] = true;
    }
    for (size_t i = w->count; i-- > 0;) {
        bool reached = false;
        for (int64_t k = w->first_output[i]; k < w->first_output[i + 1]; k++)
            reached |= w->reached[k];
        between[i] &= reached;
        for (int64_t k = w->first_input[i]; between[i] && k < w->first_input[i + 1]; k++) {
            if (w->inputs[k] >= 0) {
                between[owner[w->inputs[k]]] = true;
                pending[owner[w->inputs[k]]]++;
            }
        }
    }
    size_t count = 0;
    for (int i = 0; i < w->d->target_count; i++) {
        int64_t number = number_of(w, w->d->targets[i]);
        size_t node = number >= 0 ? owner[number] : 0;
        if (number < 0 || !between[node] || pending[node] || queued[node])
            continue;
        queued[node] = true;
        order[count++] = node;
    }
    for (size_t at = 0; at < count; at++) {
        for (int64_t k = w->first_input[order[at]]; k < w->first_input[order[at] + 1]; k++) {
            size_t node = w->inputs[k] >= 0 ? owner[w->inputs[k]] : 0;
            if (w->inputs[k] < 0 || !between[node] || --pending[node] || queued[node])
                continue;
            queued[node] = true;
            order[count++] = node;
        }
    }
    *order_count = count;
    return TW_OK;
}

static tw_status go_back(walk *w)
{
    if (!w->lasting) {
        for (size_t i = w->count; i-- > 0;)
            TW_TRY(step_back(w, i));
        return TW_OK;
    }
    tw__owned size_t *order = tw__alloc_array(w->count + 1, sizeof *order);
    size_t count = 0;
    TW_NEED(order);
    TW_TRY(find_order(w, order, &count));
    for (size_t i = 0; i < count; i++)
        TW_TRY(step_back(w, order[i]));
    return TW_OK;
}

static tw_status run(walk *w, tw_tensor **results)
{
    TW_TRY(write_down(w));
    mark(w);
    for (int i = 0; i < w->d->target_count; i++) {
        int64_t number = number_of(w, w->d->targets[i]);
        if (number < 0 || !w->reached[number])
            continue;
        TW_TRY(add(w, number, seed_of(w, i, number)));
    }
    TW_TRY(go_back(w));
    for (int i = 0; i < w->d->source_count; i++) {
        if (w->lasting && w->sources[i] >= 0)
            TW_TRY(tw__sums_settle(&w->sums, w->sources[i], &w->gradients[w->sources[i]]));
        results[i] = w->sources[i] >= 0 ? tw_retain(w->gradients[w->sources[i]]) : NULL;
    }
    return TW_OK;
}

tw_status tw__derive(const tw__derivation *d, tw_tensor **results)
{
    walk w = { .d = d, .lasting = tw__in_lasting() };
    for (int i = 0; i < d->source_count; i++)
        results[i] = NULL;
    tw_status status = run(&w, results);
    int64_t numbers = w.first_output && w.gradients ? w.first_output[w.count] : 0;
    for (int64_t i = 0; i < numbers; i++) {
        tw_release(w.tensors[i]);
        tw_release(w.gradients[i]);
    }
    tw__free(w.sources);
    tw__free(w.nodes);
    tw__free(w.first_output);
    tw__free(w.first_input);
    tw__free(w.inputs);
    tw__free(w.reached);
    tw__free(w.stopped);
    tw__free(w.tensors);
    tw__free(w.gradients);
    tw__sums_free(&w.sums);
    return status;
}
