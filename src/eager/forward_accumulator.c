/* tf.autodiff.ForwardAccumulator: Jacobian-vector products.
 *
 * A tape records what is computed from the primals. The product is found by going back twice: for a vector u the tape gives u·J,
 * which is linear in u, and the derivative of that by u, in the direction of the tangents, is J·t. */
#include "eager/tape.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

struct tw_forward_accumulator {
    tw_object object;
    tw_tape *tape;
    tw_tensor **primals, **tangents;
    int64_t count;
};

static tw_status accumulator_init(void *self, const void *given)
{
    tw_forward_accumulator *a = self;
    const tw_forward_accumulator_args *args = given;
    if (args->primals.count != args->tangents.count)
        return tw__fail(TW_VALUE_ERROR, "ForwardAccumulator: %lld tangents for %lld primals", (long long)args->tangents.count,
                        (long long)args->primals.count);
    a->tape = tw_tape(.persistent = true, .watch_accessed_variables = false);
    a->primals = tw__alloc_array((size_t)args->primals.count + 1, sizeof *a->primals);
    a->tangents = tw__alloc_array((size_t)args->primals.count + 1, sizeof *a->tangents);
    TW_NEED(a->tape && a->primals && a->tangents);
    for (int64_t i = 0; i < args->primals.count; i++) {
        tw_tensor *primal = tw__watched_tensor(args->primals.items[i]);
        if (!primal)
            return tw__fail(TW_TYPE_ERROR, "ForwardAccumulator: primal %lld is a %s, expected a tensor or variable", (long long)i,
                            tw_class_name(args->primals.items[i]));
        tw_tensor *tangent = args->tangents.items[i];
        const tw_shape *shape = primal->dtype == TW_RESOURCE ? &tw__resource_of(primal)->shape : &primal->shape;
        if (!tw__shape_compatible(shape, &tangent->shape)) {
            tw__owned char *one = tw__shape_tuple(shape), *other = tw__shape_tuple(&tangent->shape);
            tw_status status = tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", one ? one : "", other ? other : "");
            return status;
        }
        a->primals[i] = tw_retain(primal);
        a->tangents[i] = tw_retain(tangent);
        a->count = i + 1;
        TW_TRY(tw__tape_watch(a->tape, primal));
    }
    return TW_OK;
}

static void accumulator_destroy(void *self)
{
    tw_forward_accumulator *a = self;
    for (int64_t i = 0; i < a->count; i++) {
        tw_release(a->primals[i]);
        tw_release(a->tangents[i]);
    }
    tw__free(a->primals);
    tw__free(a->tangents);
    tw_release(a->tape);
}

TW_CLASS(forward_accumulator, "autodiff._ForwardAccumulator(primals: list<object>, tangents: tensors)",
         .size = sizeof(tw_forward_accumulator), .init = accumulator_init, .destroy = accumulator_destroy,
         .doc = "Follows what is computed from the primals, to give its derivatives in the direction of the tangents.");

TW_METHOD(forward_accumulator_start, "autodiff._ForwardAccumulator._start(self: forward_accumulator)", "Follows from now on.")
{
    if (args->self->tape->recording)
        return tw__fail(TW_VALUE_ERROR, "Accumulator is already recording.");
    tw__tape_start(args->self->tape);
    return TW_OK;
}

TW_METHOD(forward_accumulator_stop, "autodiff._ForwardAccumulator._stop(self: forward_accumulator)", "Follows no longer.")
{
    if (args->self->tape->recording)
        tw__tape_stop(args->self->tape);
    return TW_OK;
}

/* u·J for a u that `inner` watches; dense. `back` has room for the primals. */
static tw_status go_back(tw_forward_accumulator *a, tw_tape *inner, tw_tensor *target, tw_tensor *u, tw_tensor **back)
{
    TW_TRY(tw__tape_watch(inner, u));
    tw__tape_start(inner);
    tw_status status = tw__tape_gradient(a->tape, &target, &u, 1, a->primals, a->count, back);
    for (int64_t i = 0; status == TW_OK && i < a->count; i++) {
        tw_auto tw_tensor *sliced = back[i] && tw__slices_of(back[i]) ? back[i] : NULL;
        if (sliced && !(back[i] = tw__slices_dense(sliced)))
            status = tw__error_status();
    }
    tw__tape_stop(inner);
    return status;
}

static tw_status product(tw_forward_accumulator *a, tw_tensor *target, tw_tensor **result)
{
    tw_auto tw_tensor *u = TW_CALL(OnesLike, target); /* not zeros: some gradients divide by u, or take its logarithm */
    tw_auto tw_tape *inner = tw_tape(.persistent = true, .watch_accessed_variables = false);
    size_t room = (size_t)a->count + 1;
    tw__owned tw_tensor **back = tw__alloc_array(room, sizeof *back), **towards = tw__alloc_array(room, sizeof *towards);
    tw_status status = u && inner && back && towards ? go_back(a, inner, target, u, back) : tw__error_status();
    int64_t connected = 0;
    for (int64_t i = 0; back && i < a->count; i++) {
        if (!back[i])
            continue;
        towards[connected] = a->tangents[i];
        back[connected++] = back[i];
    }
    if (status == TW_OK && connected)
        status = tw__tape_gradient(inner, back, towards, connected, &u, 1, result);
    tw_auto tw_tensor *sliced = status == TW_OK && *result && tw__slices_of(*result) ? *result : NULL;
    if (sliced && !(*result = tw__slices_dense(sliced)))
        status = tw__error_status();
    for (int64_t i = 0; i < connected; i++)
        tw_release(back[i]);
    return status;
}

TW_METHOD(
    forward_accumulator_jvp,
    "autodiff._ForwardAccumulator._jvp(self: forward_accumulator, target: object, zero: bool = False) -> tensors",
    "The derivative of a tensor in the direction of the tangents: a list with it, or with NULL if it does not depend on the primals.")
{
    tw_forward_accumulator *a = args->self;
    tw_tensors results = { tw__alloc_array(1, sizeof(tw_tensor *)), 1 };
    bool paused = a->tape->paused;
    a->tape->paused = true;
    tw_auto tw_tensor *target = tw__tape_target(a->tape, args->target);
    if (!target && tw_error_code() == TW_OK)
        tw__fail(TW_TYPE_ERROR, "ForwardAccumulator.jvp: got a %s, expected a tensor or variable", tw_class_name(args->target));
    tw_status status = results.items && target ? TW_OK : tw__error_status();
    if (status == TW_OK && tw__dtype_differentiable(target->dtype))
        status = product(a, target, results.items);
    if (status == TW_OK && !results.items[0] && args->zero && !(results.items[0] = TW_CALL(ZerosLike, target)))
        status = tw__error_status();
    a->tape->paused = paused;
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}
