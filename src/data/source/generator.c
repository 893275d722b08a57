/* Elements that functions make: GeneratorDataset. init_func gives a state, next_func an element of it, until it fails with
 * OUT_OF_RANGE; finalize_func ends the state. Behind from_generator the functions call Python. */
#include "data/state.h"
#include "rows.h"

typedef struct generator_dataset {
    tw__dataset base;
    tw__data_function init, next, finalize;
} generator_dataset;

typedef struct generator_cursor {
    tw__cursor base;
    tw_tensor **state;
    bool begun;
} generator_cursor;

static void generator_destroy(void *pointer)
{
    generator_dataset *self = pointer;
    tw__data_function_end(&self->init);
    tw__data_function_end(&self->next);
    tw__data_function_end(&self->finalize);
}

static tw_status begin(generator_cursor *c, const generator_dataset *self)
{
    int count = self->init.function->output_count;
    c->state = tw__alloc_array((size_t)count + 1, sizeof *c->state);
    TW_TRY(c->state ? tw__data_call(&self->init, NULL, 0, NULL, 0, c->state) : tw__error_status());
    c->begun = true;
    return TW_OK;
}

/* What finalize_func gives is of no use; an error of it neither. */
static void generator_stop(tw__cursor *cursor)
{
    generator_cursor *c = (generator_cursor *)cursor;
    const generator_dataset *self = (const generator_dataset *)cursor->dataset;
    int count = self->init.function->output_count, results = self->finalize.function->output_count;
    if (c->begun) {
        tw__saved_error before = tw__error_take();
        tw__owned tw_tensor **given = tw__alloc_array((size_t)results + 1, sizeof *given);
        if (given && tw__data_plain_error(tw__data_call(&self->finalize, c->state, count, NULL, 0, given)) == TW_OK)
            tw__element_end(given, results);
        tw_clear_error();
        tw__error_restore(before);
        tw__element_end(c->state, count);
    }
    tw__free(c->state);
}

static tw_status generator_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    generator_cursor *c = (generator_cursor *)cursor;
    const generator_dataset *self = (const generator_dataset *)cursor->dataset;
    if (!c->begun)
        TW_TRY(begin(c, self));
    tw_status status =
        tw__data_plain_error(tw__data_call(&self->next, c->state, self->init.function->output_count, NULL, 0, element));
    *end = status == TW_OUT_OF_RANGE;
    if (!*end)
        return status;
    tw_clear_error();
    return TW_OK;
}

/* What a generator is in the middle of can't be told, as in TensorFlow. */
static void generator_state(tw__cursor *cursor, tw__state *state)
{
    const generator_dataset *self = (const generator_dataset *)cursor->dataset;
    tw__state_function(state, &self->init);
    tw__state_function(state, &self->next);
    tw__state_fail(state, TW_UNIMPLEMENTED, "GeneratorDataset does not support checkpointing.");
}

static const tw__dataset_kind generator_kind = {
    .class = TW_DATASET_CLASS("GeneratorDataset", generator_dataset, generator_destroy),
    .cursor_size = sizeof(generator_cursor),
    .next = generator_next,
    .stop = generator_stop,
    .state = generator_state,
};

static tw_status generator_compute(tw__kernel *kernel)
{
    generator_dataset *self = tw__dataset_make(kernel, &generator_kind, false);
    TW_NEED(self);
    int inits = tw__data_list_count(kernel, "Tinit_func_args"), nexts = tw__data_list_count(kernel, "Tnext_func_args");
    tw_status status = tw__data_function_read(&self->init, kernel, "init_func", 0, inits);
    if (status == TW_OK)
        status = tw__data_function_read(&self->next, kernel, "next_func", inits, nexts);
    if (status == TW_OK)
        status = tw__data_function_read(&self->finalize, kernel, "finalize_func", inits + nexts,
                                        tw__data_list_count(kernel, "Tfinalize_func_args"));
    if (status == TW_OK && self->next.function->output_count != self->base.count)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s gives %d tensors; elements have %d", self->next.function->name,
                            self->next.function->output_count, self->base.count);
    if (status != TW_OK) {
        tw_release(self);
        return status;
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(
    GeneratorDataset,
    .inputs =
        "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, finalize_func_other_args: Tfinalize_func_args",
    .attrs =
        "init_func: func, next_func: func, finalize_func: func, Tinit_func_args: list(type) >= 0, Tnext_func_args: list(type) >= 0, "
        "Tfinalize_func_args: list(type) >= 0, " TW_ELEMENTS ", metadata: string = ''",
    TW_DATASET_OP, .shape = tw_shape_scalar, .compute = generator_compute, .stateful = true,
    .doc = "The elements that next_func gives, until it fails with OUT_OF_RANGE.");

static tw_status generator_init(void *self, const void *arguments)
{
    const tw_dataset_generator_args *args = arguments;
    tw_auto tw__function *init = tw__data_function_for(args->init_func, NULL, 0, "GeneratorDataset");
    tw_spec *state = NULL, *specs = NULL;
    if (!init || tw__data_results(init, &state) != TW_OK)
        return tw__error_status();
    tw_auto tw__function *next = tw__data_function_for(args->next_func, state, init->output_count, "GeneratorDataset");
    tw_auto tw__function *finalize =
        next ? tw__data_function_for(args->finalize_func, state, init->output_count, "GeneratorDataset") : NULL;
    const tw__function *functions[3] = { init, next, finalize };
    int count = 0;
    tw__owned tw_tensor **inputs = finalize ? tw__data_inputs(NULL, 0, functions, 3, NULL, 0, &count) : NULL;
    tw_status status = inputs ? tw__data_results(next, &specs) : tw__error_status();
    tw_dtype *captured[3] = { NULL };
    if (status == TW_OK) {
        tw_attr attrs[] = { TW_A_FUNC("init_func", init),
                            TW_A_FUNC("next_func", next),
                            TW_A_FUNC("finalize_func", finalize),
                            tw__data_capture_types("Tinit_func_args", init, &captured[0]),
                            tw__data_capture_types("Tnext_func_args", next, &captured[1]),
                            tw__data_capture_types("Tfinalize_func_args", finalize, &captured[2]) };
        status = captured[0] && captured[1] && captured[2]
                     ? tw__dataset_apply(self, &tw__op_GeneratorDataset, inputs, count, attrs, 6, specs, next->output_count)
                     : tw__error_status();
    }
    for (int i = 0; i < 3; i++)
        tw__free(captured[i]);
    tw__free(state);
    tw__free(specs);
    return status;
}

TW_CLASS(
    dataset_generator, "data._GeneratorDataset(init_func: function, next_func: function, finalize_func: function) -> dataset",
    TW_STEP(generator_init),
    .doc =
        "The elements that next_func makes of the state that init_func gave, until it fails with OUT_OF_RANGE; then finalize_func ends the state.");
