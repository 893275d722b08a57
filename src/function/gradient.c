/* Differentiating a function.
 *
 * From the tape that ran while F was traced two functions are derived:
 *   forward   F with more outputs: every inner value that the gradient uses
 *   backward  (gradients of F's results) -> gradients of F's inputs; its captures are values of F's graph
 * A call that a tape follows runs `forward`; its gradient calls `backward` and gives its captures from the call's inputs and outputs. As
 * `backward` is a function with a tape of its own, its gradient works the same way. */
#include <sched.h>

#include "function/function.h"
#include "rows.h"

typedef struct backward_body {
    tw__function *f;
    int *sources; /* per input of f: position among the results, or -1 */
} backward_body;

_Thread_local int tw__derivation_depth;

bool tw__function_carries(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype) || dtype == TW_VARIANT;
}

/* Arguments: the gradients of f's results of float dtypes, in order. */
static tw_status trace_backward(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs, int *output_count)
{
    backward_body *b = context;
    tw__function *f = b->f;
    (void)argument_count;
    tw_tensor **targets = tw__alloc_array((size_t)f->output_count + 1, sizeof *targets);
    tw_tensor **seeds = tw__alloc_array((size_t)f->output_count + 1, sizeof *seeds);
    tw_tensor **gradients = tw__alloc_array((size_t)f->input_count + 1, sizeof *gradients);
    tw_status status = targets && seeds && gradients ? TW_OK : TW_RESOURCE_EXHAUSTED;
    int count = 0;
    for (int i = 0; status == TW_OK && i < f->output_count; i++) {
        if (tw__function_carries(f->output_tensors[i]->dtype)) {
            targets[count] = f->output_tensors[i];
            seeds[count] = arguments[count];
            count++;
        }
    }
    if (status == TW_OK)
        status = tw__tape_gradient(f->tape, targets, seeds, count, f->input_tensors, f->input_count, gradients);
    int results = 0;
    for (int i = 0; gradients && i < f->input_count; i++) {
        b->sources[i] = -1;
        if (status == TW_OK && gradients[i]) {
            b->sources[i] = results;
            gradients[results++] = gradients[i];
        }
    }
    tw__free(targets);
    tw__free(seeds);
    if (status != TW_OK) {
        tw__free(gradients);
        return status;
    }
    *outputs = gradients;
    *output_count = results;
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
static tw_status connect(tw__function *f, tw__function *backward)
{
    int count = backward->input_count - backward->argument_count, more_count = 0;
    tw__edge *more = tw__alloc_array((size_t)count + 1, sizeof *more);
    f->forward_of_capture = tw__alloc_array((size_t)count + 1, sizeof *f->forward_of_capture);
    if (!more || !f->forward_of_capture) {
        tw__free(more);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int i = 0; i < count; i++) {
        tw_tensor *outside = backward->captures[i];
        int place = INT32_MIN;
        for (int k = 0; k < f->input_count && place == INT32_MIN; k++) {
            const tw_tensor *input = f->input_tensors[k]; /* a capture is known by the tensor outside, and by its placeholder */
            bool same_node = outside->node && input->node == outside->node && input->node_output == outside->node_output;
            if (input == outside || same_node || (outside->node && f->inputs[k] == outside->node))
                place = -1 - k;
        }
        if (outside->node && outside->node->graph == f->graph) {
            for (int k = 0; k < f->output_count && place == INT32_MIN; k++) {
                if (f->outputs[k].node == outside->node && f->outputs[k].output == outside->node_output)
                    place = k;
            }
            if (place == INT32_MIN) {
                place = f->output_count + more_count;
                more[more_count++] = (tw__edge){ outside->node, outside->node_output };
            }
        }
        f->forward_of_capture[i] = place; /* INT32_MIN: the tensor itself, from outside both */
    }
    tw__function *forward = make_forward(f, more, more_count);
    tw__free(more);
    if (!forward)
        return tw__error_status();
    forward->backward = tw_retain(backward);
    forward->backward_sources = NULL;
    f->backward = backward;
    f->forward = forward;
    /* The call's gradient sees only `forward`: it keeps what it needs of f. */
    forward->backward_sources = f->backward_sources;
    forward->forward_of_capture = f->forward_of_capture;
    f->backward_sources = f->forward_of_capture = NULL;
    return TW_OK;
}

static tw_status differentiate(tw__function *f)
{
    tw_dtype *dtypes = tw__alloc_array((size_t)f->output_count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)f->output_count + 1, sizeof *shapes);
    f->backward_sources = tw__alloc_array((size_t)f->input_count + 1, sizeof *f->backward_sources);
    tw_status status = dtypes && shapes && f->backward_sources ? TW_OK : TW_RESOURCE_EXHAUSTED;
    int count = 0;
    for (int i = 0; status == TW_OK && i < f->output_count; i++) {
        if (tw__function_carries(f->output_tensors[i]->dtype)) {
            dtypes[count] = f->output_tensors[i]->dtype;
            shapes[count++] = f->output_tensors[i]->shape;
        }
    }
    char *name = status == TW_OK ? tw__format("%s_backward", f->name) : NULL;
    tw__function *backward = NULL;
    if (name) {
        tw__graph *outer = tw__tracing;
        tw__tracing = f->graph; /* encloses backward's graph, so that f's values can be captured */
        backward = tw__function_trace(name, dtypes, shapes, count, trace_backward, &(backward_body){ f, f->backward_sources });
        tw__tracing = outer;
    }
    if (!backward)
        status = tw__error_status();
    else if ((status = connect(f, backward)) != TW_OK)
        tw_release(backward);
    tw__free(name);
    tw__free(dtypes);
    tw__free(shapes);
    return status;
}

tw_status tw__function_differentiate(tw__function *f)
{
    while (atomic_exchange(&f->lock, 1))
        sched_yield();
    tw__derivation_depth++;
    tw_status status = f->forward ? TW_OK : differentiate(f);
    tw__derivation_depth--;
    atomic_store(&f->lock, 0);
    return status;
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
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "function %s takes %d inputs and gives %d outputs; the call has %d and %d", f->name,
                          f->input_count, f->output_count, inference->input_count, inference->output_count);
    for (int i = 0; i < f->input_count; i++) {
        const tw__node *input = f->inputs[i];
        if (input->out_dtypes[0] != inference->dtypes[i] || !tw__shape_compatible(&input->out_shapes[0], inference->shapes[i]))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "argument %d of function %s is %s %s, got %s %s", i, f->name,
                              tw_dtype_name(input->out_dtypes[0]), tw__shape_text(&input->out_shapes[0]), tw_dtype_name(inference->dtypes[i]),
                              tw__shape_text(inference->shapes[i]));
    }
    for (int i = 0; i < f->output_count; i++)
        inference->out_shapes[i] = f->outputs[i].node->out_shapes[f->outputs[i].output];
    return TW_OK;
}

static tw_status call_compute(tw__kernel *kernel)
{
    return tw__function_run(function_of(kernel->op, kernel->attrs), kernel->inputs, kernel->outputs);
}

static tw_status call_gradient(tw__gradient *gradient)
{
    tw__function *forward = function_of(gradient->op, gradient->attrs), *backward = forward->backward;
    if (!backward)
        return TW_OP_FAIL(gradient, TW_UNIMPLEMENTED, "function %s was called in a form that can't be differentiated", forward->name);
    tw_tensor **arguments = tw__alloc_array((size_t)backward->input_count + 1, sizeof *arguments);
    tw_tensor **results = tw__alloc_array((size_t)backward->output_count + 1, sizeof *results);
    tw_status status = arguments && results ? TW_OK : TW_RESOURCE_EXHAUSTED;
    int real = 0, own = 0;
    for (int i = 0; status == TW_OK && i < gradient->output_count && real < backward->argument_count; i++) {
        if (!tw__function_carries(gradient->outputs[i]->dtype))
            continue;
        arguments[real] = gradient->output_grads[i] ? tw_retain(gradient->output_grads[i]) : TW_UNARY(ZerosLike, gradient->outputs[i]);
        if (!arguments[real])
            status = tw__error_status();
        own = ++real;
    }
    for (int i = 0; status == TW_OK && i < backward->input_count - backward->argument_count; i++) {
        int place = forward->forward_of_capture[i];
        arguments[backward->argument_count + i] = place == INT32_MIN ? backward->captures[i]
                                                  : place < 0        ? gradient->inputs[-1 - place]
                                                                     : gradient->outputs[place];
    }
    if (status == TW_OK)
        status = tw__function_call_given(backward, arguments, results);
    for (int i = 0; arguments && i < own; i++)
        tw_release(arguments[i]);
    for (int i = 0; status == TW_OK && i < gradient->input_count; i++) {
        int source = forward->backward_sources[i];
        if (source >= 0 && gradient->wanted[i])
            gradient->input_grads[i] = tw_retain(results[source]);
    }
    for (int i = 0; status == TW_OK && i < backward->output_count; i++)
        tw_release(results[i]);
    tw__free(arguments);
    tw__free(results);
    return status;
}

TW_OP(PartitionedCall,
    .inputs = "args: Tin", .outputs = "output: Tout",
    .attrs = "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto: string = '', executor_type: string = ''",
    .shape = call_shape, .compute = call_compute, .gradient = call_gradient, .makes_outputs = true, .reads_variable = true,
    .doc = "Calls a function that has no side effects.");

TW_OP(StatefulPartitionedCall,
    .inputs = "args: Tin", .outputs = "output: Tout",
    .attrs = "Tin: list(type) >= 0, Tout: list(type) >= 0, f: func, config: string = '', config_proto: string = '', executor_type: string = ''",
    .shape = call_shape, .compute = call_compute, .gradient = call_gradient, .makes_outputs = true, .reads_variable = true, .stateful = true,
    .doc = "Calls a function that may have side effects.");
