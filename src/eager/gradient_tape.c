/* tf.GradientTape: the class users see, over tape.c. */
#include "eager/tape.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

static tw_status tape_init(void *self, const void *given)
{
    tw_tape *tape = self;
    const tw_tape_args *args = given;
    tape->persistent = args->persistent;
    tape->watch_variables = args->watch_accessed_variables;
    return TW_OK;
}

static void tape_destroy(void *self)
{
    tw__tape_free(self);
}

TW_CLASS(tape, "GradientTape(persistent: bool = False, watch_accessed_variables: bool = True)", .size = sizeof(tw_tape),
         .init = tape_init, .destroy = tape_destroy,
         .doc = "Records operations so that they can be differentiated.\n"
                "persistent: True: `gradient` can be called several times\n"
                "watch_accessed_variables: False: follow only what `watch` names, not every trainable variable that is read\n"
                "example: x = tf.Variable(3.0)\n"
                "example: tape = tf.GradientTape()\n"
                "example: with tape: y = x * x\n"
                "example: tape.gradient(y, x).numpy()  # 6.0");

TW_METHOD(tape_enter, "GradientTape.__enter__(self: tape) -> tape", "Starts recording; what an earlier use recorded is dropped.")
{
    tw_tape *tape = args->self;
    if (tape->recording) {
        tw__fail(TW_VALUE_ERROR, "Tape is already recording.");
        return NULL;
    }
    if (tape->used) {
        tw__tape_reset(tape);
        tape->used = false;
    }
    tw__tape_start(tape);
    return tw_retain(tape);
}

TW_METHOD(tape_exit, "GradientTape._exit(self: tape)", "Stops recording.")
{
    if (args->self->recording)
        tw__tape_stop(args->self);
    return TW_OK;
}

tw_tensor *tw__watched_tensor(void *object)
{
    if (tw__is(object, &tw__class_variable))
        return ((tw_variable *)object)->handle;
    return tw__is(object, &tw__tensor_class) ? object : NULL;
}

TW_METHOD(tape_watch, "GradientTape.watch(self: tape, tensor: list<object>)",
          "Follows these tensors or variables.\n"
          "tensor: a tensor, a variable, or a list of such")
{
    for (int64_t i = 0; i < args->tensor.count; i++) {
        tw_tensor *tensor = tw__watched_tensor(args->tensor.items[i]);
        if (!tensor)
            return tw__fail(TW_VALUE_ERROR, "Passed in object %s of type '%s', not tf.Tensor or tf.Variable or ExtensionType.",
                            tw_class_name(args->tensor.items[i]), tw_class_name(args->tensor.items[i]));
        TW_TRY(tw__tape_watch(args->self, tensor));
    }
    return TW_OK;
}

TW_METHOD(tape_reset, "GradientTape.reset(self: tape)", "Forgets everything recorded so far.")
{
    bool recording = args->self->recording;
    if (recording)
        tw__tape_stop(args->self);
    tw__tape_reset(args->self);
    if (recording)
        tw__tape_start(args->self);
    return TW_OK;
}

TW_METHOD(tape_pause, "GradientTape._pause(self: tape, pause: bool)", "Holds recording back, or lets it go on.")
{
    args->self->paused = args->pause;
    return TW_OK;
}

TW_METHOD(tape_is_recording, "GradientTape._is_recording(self: tape) -> bool", "Whether the tape records now.")
{
    return args->self->recording;
}

enum { FEW_WATCHED = 16 }; /* so many are searched one by one, the others by a map */

static bool is_watched(const tw_tape *tape, const tw__pointer_map *more, const tw_variable *variable)
{
    for (size_t i = 0; i < tape->watched_count && i < FEW_WATCHED; i++) {
        if (tape->watched[i] == variable)
            return true;
    }
    return tape->watched_count > FEW_WATCHED && tw__pointer_map_get(more, variable, 0) != 0;
}

/* The variables that the tape follows, in the order in which it met them. */
static tw_status note_variables(tw_tape *tape)
{
    const tw__tape_memory *memory = tape->memory;
    tw__auto(tw__pointer_map_free) tw__pointer_map seen = { 0 };
    for (size_t i = 0; memory && i < memory->tensor_count; i++) {
        tw_object *object = memory->tensors[i]->dtype == TW_RESOURCE ? tw__tensor_object(memory->tensors[i]) : NULL;
        void *variable = object && tw__is(object, &tw__resource_class) ? ((tw__resource *)object)->variable : NULL;
        if (!variable || is_watched(tape, &seen, variable) || tw__pointer_map_get(&memory->numbers, memory->tensors[i], -1) < 0)
            continue;
        if (tape->watched_count >= FEW_WATCHED)
            TW_TRY(tw__pointer_map_put(&seen, variable, 1));
        TW_TRY(TW_GROW(tape->watched, tape->watched_capacity, tape->watched_count + 1));
        tape->watched[tape->watched_count++] = tw_retain(variable);
    }
    return TW_OK;
}

void tw__tape_spend(tw_tape *tape)
{
    tw__saved_error saved = tw__error_take();
    tw__tape_forget_variables(tape);
    note_variables(tape); /* what there is no memory for is not there to be asked for */
    if (tape->memory)
        tw__tape_memory_reset(tape->memory);
    tape->used = true;
    tw_clear_error();
    tw__error_restore(saved);
}

TW_METHOD(tape_watched_variables, "GradientTape.watched_variables(self: tape) -> value", "The variables followed, in order.")
{
    tw_tape *tape = args->self;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (!tape->used) {
        tw__tape_forget_variables(tape);
        if (note_variables(tape) != TW_OK)
            return none;
    }
    tw_value *items = tw__alloc_array(tape->watched_count + 1, sizeof *items);
    if (!items)
        return none;
    for (size_t i = 0; i < tape->watched_count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(tape->watched[i]) };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, (int64_t)tape->watched_count } };
}

tw_tensor *tw__tape_target(tw_tape *tape, void *object)
{
    if (!tw__is(object, &tw__class_variable))
        return tw__is(object, &tw__tensor_class) ? tw_retain(object) : NULL;
    bool recording = tape->recording, paused = tape->paused, watches = tape->watch_variables;
    tape->paused = false;
    tape->watch_variables = true; /* a variable depends on itself, whatever the tape follows */
    if (!recording)
        tw__tape_start(tape);
    tw_tensor *value = tw__variable_read(object);
    if (!recording)
        tw__tape_stop(tape);
    tape->paused = paused;
    tape->watch_variables = watches;
    return value;
}

static tw_tensor *zeros_for(tw_tensor *source)
{
    if (source->dtype != TW_RESOURCE)
        return TW_CALL(ZerosLike, source);
    tw__resource *resource = tw__resource_of(source);
    tw_auto tw_tensor *value = resource ? tw__resource_read(resource) : NULL;
    return TW_CALL(ZerosLike, value);
}

tw_tensors tw__tape_gradient_of(const tw_tape_gradient_args *args)
{
    tw_tape *tape = args->self;
    tw_tensors results = { tw__alloc_array((size_t)args->sources.count + 1, sizeof(tw_tensor *)), args->sources.count };
    tw__owned tw_tensor **targets = tw__alloc_array((size_t)args->target.count + 1, sizeof *targets);
    tw__owned tw_tensor **sources = tw__alloc_array((size_t)args->sources.count + 1, sizeof *sources);
    tw_status status = TW_OK;
    if (!results.items || !targets || !sources)
        status = tw__error_status();
    else if (tape->used)
        status = tw__fail(TW_RUNTIME_ERROR,
                          "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
    else if (args->output_gradients.count && args->output_gradients.count != args->target.count)
        status = tw__fail(TW_VALUE_ERROR, "GradientTape.gradient: %lld output_gradients for %lld targets",
                          (long long)args->output_gradients.count, (long long)args->target.count);
    for (int64_t i = 0; status == TW_OK && i < args->target.count; i++) {
        if (!(targets[i] = tw__tape_target(tape, args->target.items[i])))
            status = tw_error_code() != TW_OK
                         ? tw_error_code()
                         : tw__fail(TW_TYPE_ERROR, "GradientTape.gradient: target %lld is a %s, expected a tensor or variable",
                                    (long long)i, tw_class_name(args->target.items[i]));
    }
    for (int64_t i = 0; status == TW_OK && i < args->sources.count; i++) {
        if (!(sources[i] = tw__watched_tensor(args->sources.items[i])))
            status = tw__fail(TW_TYPE_ERROR, "GradientTape.gradient: source %lld is a %s, expected a tensor or variable",
                              (long long)i, tw_class_name(args->sources.items[i]));
    }
    if (status == TW_OK) {
        if (tape->recording && !tape->persistent)
            tw__tape_stop(tape);
        status = tw__tape_gradient(tape, targets, args->output_gradients.items, args->target.count, sources, args->sources.count,
                                   results.items);
        if (!tape->persistent)
            tw__tape_spend(tape);
        for (int64_t i = 0; status == TW_OK && i < results.count; i++) {
            if (!results.items[i] && strcmp(args->unconnected_gradients, "zero") == 0 &&
                !(results.items[i] = zeros_for(sources[i])))
                status = tw__error_status();
        }
    }
    for (int64_t i = 0; targets && i < args->target.count; i++)
        tw_release(targets[i]);
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}

TW_METHOD(tape_gradient,
          "GradientTape.gradient(self: tape, target: list<object>, sources: list<object>, output_gradients: tensors = None, "
          "unconnected_gradients: str {none, zero} = none) -> tensors",
          "The derivatives of the (summed) targets by each source; NULL (None) where they are not connected.\n"
          "target: a tensor or a list or dict of tensors to differentiate\n"
          "sources: tensors or variables, alone or in lists or dicts; the result has their structure\n"
          "output_gradients: what the derivatives of each target are multiplied with; None: 1\n"
          "unconnected_gradients: what stands for a source that the target does not depend on: None or zeros\n"
          "raises: RuntimeError: the tape is not persistent and was used before")
{
    tw_tensors results = tw__tape_gradient_of(args);
    for (int64_t i = 0; i < results.count; i++) {
        tw_tensor *sliced = results.items[i] && tw__slices_of(results.items[i]) ? results.items[i] : NULL;
        if (!sliced)
            continue;
        results.items[i] = tw__slices_dense(sliced);
        tw_release(sliced);
        if (!results.items[i]) {
            tw_tensors_free(&results);
            break;
        }
    }
    return results;
}

TW_API(tape_start, "_tape_start(persistent: bool = False, watch_accessed_variables: bool = True) -> tape",
       "A new tape that records from now on; for C, where there is no with statement.")
{
    tw_tape *tape = tw_tape(.persistent = args->persistent, .watch_accessed_variables = args->watch_accessed_variables);
    if (tape)
        tw__tape_start(tape);
    return tape;
}
