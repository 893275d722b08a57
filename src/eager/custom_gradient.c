/* Calls whose gradient users define (tf.custom_gradient).
 *
 * As in TensorFlow, the results and the inputs pass one IdentityN together, whose gradient is replaced: of its outputs the first
 * are the results, which get their gradient from the user's function; of its inputs only those behind them, the caller's, are
 * given one. In a graph the node keeps the replacement, so it holds also where the graph is differentiated later. */
#include <stdatomic.h>

#include <thalweg/gradient.h>

#include "eager/tape.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static tw_status run_own(tw__own_gradient *self, tw__gradient *g)
{
    tw__custom_gradient *custom = (tw__custom_gradient *)self;
    int outputs = custom->output_count, inputs = g->input_count - outputs;
    tw__owned tw_tensor **given = tw__alloc_array((size_t)outputs + 1, sizeof *given),
                        **made = tw__alloc_array((size_t)inputs + 1, sizeof *made);
    tw_status status = given && made ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < outputs; i++) {
        given[i] = g->output_grads[i] ? tw_retain(g->output_grads[i]) : TW_CALL(ZerosLike, g->outputs[i]);
        status = given[i] ? TW_OK : tw__error_status();
    }
    if (status == TW_OK)
        status = custom->backward(custom, g->inputs + outputs, inputs, given, made);
    for (int i = 0; i < inputs && made; i++) {
        if (status == TW_OK && g->wanted[outputs + i])
            g->input_grads[outputs + i] = made[i];
        else
            tw_release(made[i]);
    }
    for (int i = 0; given && i < outputs; i++)
        tw_release(given[i]);
    return status;
}

static void custom_destroy(void *self)
{
    tw__custom_gradient *custom = self;
    if (custom->end)
        custom->end(custom);
}

static const tw_class custom_class = { .name = "CustomGradient", .size = sizeof(tw__custom_gradient), .destroy = custom_destroy };

tw__custom_gradient *tw__custom_gradient_new(int output_count)
{
    tw__custom_gradient *custom = tw__object_new(&custom_class);
    if (custom) {
        custom->own.run = run_own;
        custom->output_count = output_count;
    }
    return custom;
}

char *tw__gradient_type_new(void)
{
    static _Atomic long long count;
    return tw__format("CustomGradient-%lld", atomic_fetch_add(&count, 1));
}

bool tw__is_custom_gradient(const tw_object *gradient)
{
    return tw__is(gradient, &custom_class);
}

/* IdentityN over results and inputs, unseen by tapes. */
static tw_status pass_together(tw__custom_gradient *custom, tw_tensor *const *all, int count, tw_tensor **passed)
{
    tw__tape_stack hidden = tw__tapes_hide();
    int made = count;
    tw_status status = tw__apply(&tw__op_IdentityN, all, count, NULL, 0, passed, &made);
    tw__tapes_show(hidden);
    tw__node *node = status == TW_OK ? passed[0]->node : NULL;
    if (node && !node->gradient) {
        node->gradient = tw_retain(custom);
        node->gradient_type = tw__gradient_type_new();
    }
    return status;
}

tw_status tw__custom_gradient_attach(tw__custom_gradient *custom, tw_tensor *const *results, tw_tensor *const *inputs,
                                     int input_count, tw_tensor **outputs)
{
    int count = custom->output_count + input_count;
    if (custom->output_count == 0)
        return TW_OK;
    tw__owned tw_tensor **all = tw__alloc_array((size_t)count + 1, sizeof *all),
                        **passed = tw__alloc_array((size_t)count + 1, sizeof *passed);
    tw_status status = all && passed ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        memcpy(all, results, (size_t)custom->output_count * sizeof *all);
        if (input_count)
            memcpy(all + custom->output_count, inputs, (size_t)input_count * sizeof *all);
        status = pass_together(custom, all, count, passed);
    }
    if (status == TW_OK && tw__active_tapes)
        status = tw__tapes_record_own(&tw__op_IdentityN, all, count, passed, count, &custom->own.object);
    for (int i = 0; passed && i < count; i++) {
        if (status == TW_OK && i < custom->output_count)
            outputs[i] = passed[i];
        else
            tw_release(passed[i]);
    }
    return status;
}

/* ---- from C ---- */

typedef struct c_functions {
    tw_custom_backward backward;
    void *user;
    void (*end)(void *user);
} c_functions;

static tw_status call_c(tw__custom_gradient *self, tw_tensor *const *inputs, int input_count, tw_tensor *const *output_gradients,
                        tw_tensor **input_gradients)
{
    c_functions *c = self->user;
    size_t scope = tw_scope_begin();
    tw_status status = c->backward(c->user, inputs, input_count, output_gradients, self->output_count, input_gradients);
    tw__scope_end_with(scope, (void **)input_gradients, input_count);
    return status;
}

static void end_c(tw__custom_gradient *self)
{
    tw__owned c_functions *c = self->user;
    if (c && c->end)
        c->end(c->user);
}

tw_status tw_custom_gradient(tw_tensors inputs, tw_custom_forward forward, tw_custom_backward backward, void *user,
                             void (*end)(void *user), int output_count, tw_tensor **outputs)
{
    if (!forward || !backward || !outputs || output_count < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_custom_gradient: forward, backward and outputs must be given");
    if (!tw__check_tensors(inputs, "tw_custom_gradient"))
        return tw__error_status();
    tw_auto tw__custom_gradient *custom = tw__custom_gradient_new(output_count);
    c_functions *c = custom ? tw__alloc_zero(sizeof *c) : NULL;
    tw__held tw_tensor **results = tw__held_new((size_t)output_count);
    if (c) {
        *c = (c_functions){ backward, user, end };
        custom->user = c;
        custom->backward = call_c;
        custom->end = end_c;
    }
    TW_NEED(c && results);
    size_t scope = tw_scope_begin();
    tw_status ran = forward(user, inputs.items, (int)inputs.count, results, output_count);
    tw__scope_end_with(scope, (void **)results, output_count);
    TW_TRY(ran);
    for (int i = 0; i < output_count; i++) {
        if (!results[i])
            return tw__fail(TW_INVALID_ARGUMENT, "tw_custom_gradient: forward gave no output %d", i);
    }
    return tw__custom_gradient_attach(custom, results, inputs.items, (int)inputs.count, outputs);
}
