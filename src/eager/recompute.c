/* tf.recompute_grad: a body whose inner values are not kept for the gradient but computed again; and tf.grad_pass_through.
 *
 * The first run is seen by no tape but one that notes which variables are read. The results then pass a custom gradient
 * (custom_gradient.c) whose inputs are the body's and the handles of those variables; it runs the body again, on a tape of its
 * own. */
#include <thalweg/gradient.h>

#include "eager/tape.h"
#include "op/calls.h"
#include "op/resource.h"
#include "rows.h"

typedef struct recomputed {
    tw_body body;
    void *user;
    void (*end)(void *user);
    int input_count; /* of the body; handles of variables follow */
} recomputed;

static void end_recomputed(tw__custom_gradient *self)
{
    tw__owned recomputed *r = self->user;
    if (r->end)
        r->end(r->user);
}

/* The body's results on the tape, whose gradients go back to `inner`. */
static tw_status differentiate(const tw__custom_gradient *self, tw_tape *tape, tw_tensor *const *inner, int count,
                               tw_tensor *const *output_gradients, tw_tensor **input_gradients)
{
    const recomputed *r = self->user;
    for (int i = 0; i < count; i++) {
        if (tw__dtype_differentiable(inner[i]->dtype))
            TW_TRY(tw__tape_watch(tape, inner[i]));
    }
    tw__tape_start(tape);
    tw__auto(tw_tensors_free) tw_tensors again =
        tw__body_run(r->body, r->user, (tw_tensors){ (tw_tensor **)inner, r->input_count });
    tw__tape_stop(tape);
    if (again.count < 0)
        return tw__error_status();
    if (again.count != self->output_count)
        return tw__fail(TW_VALUE_ERROR, "recompute_grad: the second run gave %lld values, the first %d", (long long)again.count,
                        self->output_count);
    return tw__tape_gradient(tape, again.items, output_gradients, again.count, inner, count, input_gradients);
}

static tw_status run_again(tw__custom_gradient *self, tw_tensor *const *inputs, int input_count,
                           tw_tensor *const *output_gradients, tw_tensor **input_gradients)
{
    const recomputed *r = self->user;
    tw__held tw_tensor **inner = tw__held_new((size_t)input_count);
    tw_auto tw_tape *tape = tw_tape(.watch_accessed_variables = false);
    TW_NEED(inner && tape);
    int made = 0;
    for (; made < input_count; made++) { /* tensors of its own: what happens to the inputs elsewhere does not count */
        inner[made] = made < r->input_count ? TW_CALL(Identity, inputs[made]) : tw_retain(inputs[made]);
        TW_NEED(inner[made]);
    }
    return differentiate(self, tape, inner, input_count, output_gradients, input_gradients);
}

/* The body's results; *read: a tape that knows the variables that were read. */
static tw_tensors run_unseen(tw_body body, void *user, tw_tensors inputs, tw_tape *read)
{
    tw__tape_stack hidden = tw__tapes_hide();
    read->only_variables = true;
    tw__tape_start(read);
    tw_tensors results = tw__body_run(body, user, inputs);
    tw__tape_stop(read);
    tw__tapes_show(hidden);
    return results;
}

/* The inputs and the handles that the tape noted; borrowed. */
static tw_tensor **sources_of(tw_tensors inputs, const tw_tape *read, int *count)
{
    const tw__tape_memory *memory = read->memory;
    size_t noted = memory ? memory->tensor_count : 0;
    tw_tensor **all = tw__alloc_array((size_t)inputs.count + noted + 1, sizeof *all);
    *count = (int)inputs.count;
    if (all && inputs.count)
        memcpy(all, inputs.items, (size_t)inputs.count * sizeof *all);
    for (size_t i = 0; all && i < noted; i++) {
        bool known = memory->tensors[i]->dtype != TW_RESOURCE;
        for (int k = 0; k < *count && !known; k++)
            known = all[k] == memory->tensors[i];
        if (!known)
            all[(*count)++] = memory->tensors[i];
    }
    return all;
}

static tw_tensors attach(tw__custom_gradient *custom, tw_tensors results, tw_tensor *const *sources, int count)
{
    tw_tensors out = { tw__alloc_array((size_t)results.count + 1, sizeof(tw_tensor *)), results.count };
    if (out.items && tw__custom_gradient_attach(custom, results.items, sources, count, out.items) == TW_OK)
        return out;
    tw_tensors_free(&out);
    return (tw_tensors){ NULL, 0 };
}

static bool has_gap(const char *what, tw_body body, tw_tensors inputs)
{
    if (!body)
        tw__fail(TW_INVALID_ARGUMENT, "%s: the body must be given", what);
    return !body || !tw__check_tensors(inputs, what);
}

tw_tensors tw_recompute_grad(tw_body body, void *user, void (*end)(void *user), tw_tensors inputs)
{
    tw_tensors results = { NULL, -1 }, out = { NULL, 0 };
    if (has_gap("tw_recompute_grad", body, inputs))
        return out;
    tw_auto tw_tape *read = tw_tape();
    if (read)
        results = run_unseen(body, user, inputs, read);
    recomputed *r = results.count >= 0 ? tw__alloc(sizeof *r) : NULL;
    tw_auto tw__custom_gradient *custom = r ? tw__custom_gradient_new((int)results.count) : NULL;
    int count = 0;
    tw__owned tw_tensor **sources = custom ? sources_of(inputs, read, &count) : NULL;
    if (custom) {
        *r = (recomputed){ body, user, end, (int)inputs.count };
        custom->user = r;
        custom->backward = run_again;
        custom->end = end_recomputed;
    } else {
        tw__free(r);
        if (end)
            end(user);
    }
    if (sources)
        out = attach(custom, results, sources, count);
    if (results.count >= 0)
        tw_tensors_free(&results);
    return out;
}

/* ---- the gradient of the identity ---- */

static tw_status hand_back(tw__custom_gradient *self, tw_tensor *const *inputs, int input_count,
                           tw_tensor *const *output_gradients, tw_tensor **input_gradients)
{
    (void)inputs;
    if (self->output_count != input_count)
        return tw__fail(TW_VALUE_ERROR, "custom_gradient function expected to return %d gradients, but returned %d instead.",
                        input_count, self->output_count);
    for (int i = 0; i < input_count; i++)
        input_gradients[i] = tw_retain(output_gradients[i]);
    return TW_OK;
}

tw_tensors tw_grad_pass_through(tw_body body, void *user, tw_tensors inputs)
{
    tw_tensors results = { NULL, -1 }, out = { NULL, 0 };
    if (!has_gap("tw_grad_pass_through", body, inputs))
        results = tw__body_run(body, user, inputs);
    if (results.count < 0)
        return out;
    tw_auto tw__custom_gradient *custom = tw__custom_gradient_new((int)results.count);
    if (custom) {
        custom->backward = hand_back;
        out = attach(custom, results, inputs.items, (int)inputs.count);
    }
    tw_tensors_free(&results);
    return out;
}
