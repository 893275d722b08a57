/* Functions of a program as operations: tw_host_function for C, tf.py_function and tf.numpy_function for the embedding language.
 *
 * Outside of graphs the function is simply called, and tapes see the operations it calls. In a graph it is an EagerPyFunc node
 * that finds it by a token. Its gradient is another such node: the function runs on a tape, the last of which is kept, as
 * TensorFlow has it for tf.py_function. */
#include <thalweg/function.h>

#include "eager/tape.h"
#include "function/function.h"
#include "op/calls.h"
#include "op/host/host.h"
#include "rows.h"

/* One call in a graph: held by the nodes that run it, the one of its gradient, and what makes that. */
typedef struct host_call {
    tw_object object;
    tw__host_function *function; /* of the embedding language, which it holds; NULL: body */
    tw_host_body body;
    void *user;
    _Atomic uint32_t hold; /* while what follows is changed or read */
    tw_tape *tape;         /* of the last run; NULL: there was none */
    tw_tensors sources, results;
} host_call;

static void call_destroy(void *self)
{
    host_call *call = self;
    tw__host_drop(call->function);
    tw_release(call->tape);
    tw_tensors_free(&call->sources);
    tw_tensors_free(&call->results);
}

static const tw_class call_class = { .name = "HostCall", .size = sizeof(host_call), .destroy = call_destroy };

static void let_go(void *call)
{
    tw_release(call);
}

/* A node that holds the function. */
static tw_status function_node(const tw_op *op, const tw__host_function *function, tw_tensor *const *inputs, int input_count,
                               const tw_dtype *dtypes, int output_count, tw_tensor **outputs)
{
    tw_attr attrs[] = { TW_A_STRING("token", tw__host_token(function)), TW_A_TYPES("Tout", dtypes, output_count) };
    int count = output_count;
    return tw__apply(op, inputs, input_count, attrs, 2, outputs, &count);
}

/* `end` NULL: `user` is the program's own. */
static tw_status call_node(tw__host_body body, void *user, void (*end)(void *user), tw_tensor *const *inputs, int input_count,
                           const tw_dtype *dtypes, int output_count, tw_tensor **outputs)
{
    tw__host_function *function = tw__host_register("c_function_", body, user, end);
    TW_NEED(function);
    tw_status status = function_node(&tw__op_EagerPyFunc, function, inputs, input_count, dtypes, output_count, outputs);
    tw__host_drop(function);
    return status;
}

static tw_tensors copy_of(tw_tensor *const *items, int64_t count)
{
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof *items), 0 };
    for (; out.items && out.count < count; out.count++)
        out.items[out.count] = tw_retain(items[out.count]);
    return out;
}

static bool is_followed(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
}

static tw_status run_body(tw_host_body body, void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs,
                          int output_count)
{
    size_t scope = tw_scope_begin();
    tw_status status = body(user, inputs, input_count, outputs, output_count);
    tw__scope_end_with(scope, (void **)outputs, output_count);
    return status;
}

static tw_status run_followed(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    host_call *call = user;
    tw_auto tw_tape *tape = tw_tape(.persistent = true, .watch_accessed_variables = false);
    tw__owned tw_tensor **sources = tw__alloc_array((size_t)input_count + 1, sizeof *sources);
    tw_status status = tape && sources ? TW_OK : tw__error_status();
    int64_t count = 0;
    for (int i = 0; status == TW_OK && i < input_count; i++) {
        if (is_followed(inputs[i]->dtype))
            status = tw__tape_watch(tape, sources[count++] = inputs[i]);
    }
    if (status == TW_OK) {
        tw__tape_start(tape);
        status = call->function ? tw__host_run(call->function, false, inputs, input_count, outputs, output_count)
                                : run_body(call->body, call->user, inputs, input_count, outputs, output_count);
        tw__tape_stop(tape);
    }
    for (int i = 0; status == TW_OK && i < output_count; i++) {
        if (!outputs[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "tw_host_function: the function gave no value %d", i);
    }
    if (status == TW_OK) {
        tw_tensors kept = copy_of(sources, count), results = copy_of(outputs, output_count);
        tw__hold_take(&call->hold);
        tw__auto(tw_tensors_free) tw_tensors old_sources = call->sources, old_results = call->results;
        tw_tape *old = call->tape;
        call->sources = kept;
        call->results = results;
        call->tape = tape;
        tw__hold_give(&call->hold);
        tape = old;
    }
    return status;
}

static tw_status run_back(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    host_call *call = user;
    tw__hold_take(&call->hold);
    tw_auto tw_tape *tape = tw_retain(call->tape);
    tw__auto(tw_tensors_free) tw_tensors sources = copy_of(call->sources.items, call->sources.count),
                                         results = copy_of(call->results.items, call->results.count);
    tw__hold_give(&call->hold);
    TW_TRY(tape && results.count == input_count && sources.count == output_count
               ? tw__tape_gradient(tape, results.items, inputs, input_count, sources.items, output_count, outputs)
               : tw__fail(TW_INTERNAL, "tw_host_function: the gradient of a call that did not run"));
    for (int i = 0; i < output_count; i++) {
        if (!outputs[i] && !(outputs[i] = TW_CALL(ZerosLike, sources.items[i])))
            return tw__error_status();
    }
    return TW_OK;
}

static tw_status backward(tw__custom_gradient *self, tw_tensor *const *inputs, int input_count,
                          tw_tensor *const *output_gradients, tw_tensor **input_gradients)
{
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)input_count + 1, sizeof *dtypes);
    for (int i = 0; dtypes && i < input_count; i++)
        dtypes[i] = inputs[i]->dtype;
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (dtypes)
        status = call_node(run_back, tw_retain(self->user), let_go, output_gradients, self->output_count, dtypes, input_count,
                           input_gradients);
    for (int i = 0; status == TW_OK && i < input_count; i++) {
        if (input_gradients[i]->node)
            status = tw__symbolic_refine(input_gradients[i], &inputs[i]->shape);
    }
    return status;
}

static void end_gradient(tw__custom_gradient *self)
{
    tw_release(self->user);
}

/* The inputs that may have a gradient, if a result may have one, too; borrowed, for tw__free. NULL: an error. */
static tw_tensor **followed_inputs(tw_tensors inputs, const tw_dtype *dtypes, int output_count, int *count)
{
    tw_tensor **sources = tw__alloc_array((size_t)inputs.count + 1, sizeof *sources);
    bool any = false;
    for (int i = 0; i < output_count; i++)
        any |= is_followed(dtypes[i]);
    *count = 0;
    for (int64_t i = 0; sources && any && i < inputs.count; i++) {
        if (is_followed(inputs.items[i]->dtype))
            sources[(*count)++] = inputs.items[i];
    }
    return sources;
}

/* The node, and what stands for its gradient. Takes the call. */
static tw_status call_followed(host_call *given, tw_tensors inputs, tw_tensor *const *sources, int count, const tw_dtype *dtypes,
                               int output_count, tw_tensor **outputs)
{
    tw_auto host_call *call = given;
    tw__held tw_tensor **made = tw__held_new((size_t)output_count);
    tw_auto tw__custom_gradient *custom = call && made ? tw__custom_gradient_new(output_count) : NULL;
    TW_NEED(custom);
    custom->user = tw_retain(call);
    custom->backward = backward;
    custom->end = end_gradient;
    TW_TRY(call_node(run_followed, tw_retain(call), let_go, inputs.items, (int)inputs.count, dtypes, output_count, made));
    return tw__custom_gradient_attach(custom, made, sources, count, outputs);
}

static tw_status call_in_graph(tw_host_body body, void *user, tw_tensors inputs, const tw_dtype *dtypes, int output_count,
                               tw_tensor **outputs)
{
    int count;
    tw__owned tw_tensor **sources = followed_inputs(inputs, dtypes, output_count, &count);
    TW_NEED(sources);
    if (!count)
        return call_node(body, user, NULL, inputs.items, (int)inputs.count, dtypes, output_count, outputs);
    host_call *call = tw__object_new(&call_class);
    TW_NEED(call);
    call->body = body;
    call->user = user;
    return call_followed(call, inputs, sources, count, dtypes, output_count, outputs);
}

tw_status tw__host_in_graph(tw__host_function *function, bool arrays, tw_tensors inputs, const tw_dtype *dtypes, int output_count,
                            tw_tensor **outputs)
{
    int count;
    tw__owned tw_tensor **sources = followed_inputs(inputs, dtypes, output_count, &count);
    TW_NEED(sources);
    if (arrays || !count)
        return function_node(arrays ? &tw__op_PyFunc : &tw__op_EagerPyFunc, function, inputs.items, (int)inputs.count, dtypes,
                             output_count, outputs);
    host_call *call = tw__object_new(&call_class);
    TW_NEED(call);
    const char *token = tw__host_token(function);
    call->function = tw__host_hold(token, strlen(token));
    return call_followed(call, inputs, sources, count, dtypes, output_count, outputs);
}

tw_status tw_host_function(tw_host_body body, void *user, tw_tensors inputs, const tw_dtype *dtypes, int output_count,
                           tw_tensor **outputs)
{
    bool traced = tw__tracing;
    if (!body || output_count < 0 || (output_count && (!dtypes || !outputs)))
        return tw__fail(TW_INVALID_ARGUMENT, "tw_host_function: the function, its inputs and the outputs' dtypes must be given");
    if (!tw__check_tensors(inputs, "tw_host_function"))
        return tw__error_status();
    for (int64_t i = 0; i < inputs.count; i++)
        traced |= inputs.items[i]->node != NULL;
    for (int i = 0; i < output_count; i++)
        outputs[i] = NULL;
    if (traced)
        return call_in_graph(body, user, inputs, dtypes, output_count, outputs);
    tw_status status = run_body(body, user, inputs.items, (int)inputs.count, outputs, output_count);
    for (int i = 0; status == TW_OK && i < output_count; i++) {
        if (!outputs[i] || outputs[i]->dtype != dtypes[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "tw_host_function: value %d is %s, expected %s", i,
                              outputs[i] ? tw_dtype_name(outputs[i]->dtype) : "missing", tw_dtype_name(dtypes[i]));
    }
    for (int i = 0; status != TW_OK && i < output_count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
