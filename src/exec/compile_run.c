/* Running the programs that parts of plans became: see compile.h. Values of variables stay on the device from run to run
 * (op/resource.h); they come to the host when somebody there asks for them. */
#include "device/device.h"
#include "device/pjrt.h"
#include "exec/compile.h"
#include "op/resource.h"

void tw__compiled_free(void *self)
{
    tw__compiled *p = self;
    tw_release(atomic_load(&p->program));
    tw__free(p->text);
    tw__free(p->variables);
    tw__free(p->dtypes);
    tw__free(p->shapes);
    tw__free(p->draws);
    tw__free(p);
}

/* ---- running ---- */

static tw__lock variables_lock = TW__LOCK; /* of programs that change variables: one at a time */

static tw__executable *program_of(tw__compiled *p)
{
    tw__executable *program = atomic_load(&p->program);
    if (program)
        return program;
    tw__lock_take(&p->lock);
    program = atomic_load(&p->program);
    if (!program && (program = tw__pjrt_compile(p->text, p->text_size)))
        atomic_store(&p->program, program);
    tw__lock_give(&p->lock);
    return program;
}

static tw_status fits(const tw__hlo_variable *expected, const tw__remote *value, const char *name)
{
    if (value->dtype == expected->now.dtype && tw__shape_equal(&value->shape, &expected->now.shape))
        return TW_OK;
    return tw__fail(TW_INVALID_ARGUMENT, "the variable %s is %s of shape %s, the compiled function was made for %s of shape %s",
                    name, tw_dtype_name(value->dtype), tw__shape_text(&value->shape), tw_dtype_name(expected->now.dtype),
                    tw__shape_text(&expected->now.shape));
}

/* The values of the variables that the program uses, on the device. */
static tw_status gather_variables(const tw__compiled *p, tw_tensor *const *handles, tw__resource **resources, tw__remote **values,
                                  int *count)
{
    for (int i = 0; i < p->variable_count; i++) {
        resources[i] = tw__resource_of(handles[i]);
        TW_NEED(resources[i]);
        for (int k = 0; k < i; k++) {
            if (resources[k] == resources[i] && (p->variables[k].changed || p->variables[i].changed))
                return tw__fail(TW_UNIMPLEMENTED, "a compiled function that changes the variable %s gets it as two arguments",
                                resources[i]->name);
        }
        if (p->variables[i].argument < 0)
            continue;
        values[*count] = tw__resource_remote(resources[i], p->device);
        TW_NEED(values[*count]);
        TW_TRY(fits(&p->variables[i], values[(*count)++], resources[i]->name));
    }
    return TW_OK;
}

/* Variables that change get their new values in the same memory, which counts once. */
static void hand_over(const tw__compiled *p, tw__remote **in, tw__remote **out, bool back)
{
    int argument = p->argument_count, result = p->result_count;
    for (int i = 0; i < p->variable_count; i++) {
        tw__remote *old = p->variables[i].argument >= 0 ? in[argument++] : NULL;
        tw__remote *new = p->variables[i].changed ? out[result++] : NULL;
        if (!old || !new)
            continue;
        tw__remote *from = back ? new : old, *to = back ? old : new;
        to->bytes = from->bytes;
        from->bytes = 0;
    }
}

/* The state of a random op's stream, which goes on as if the op had run on the host. */
static tw__remote *draw(const tw__draw *draw, int device)
{
    tw__philox philox;
    if (tw__step_draw(&draw->step, (uint64_t)draw->count * 256, &philox) != TW_OK)
        return NULL;
    uint64_t words[] = { philox.key[0] | (uint64_t)philox.key[1] << 32, philox.counter[0] | (uint64_t)philox.counter[1] << 32,
                         philox.counter[2] | (uint64_t)philox.counter[3] << 32 };
    tw_tensor state = { .dtype = TW_UINT64, .shape = TW_SHAPE(3), .count = 3 };
    state.data = words;
    return tw__remote_put(&state, device);
}

static tw_status execute(tw__compiled *p, tw_tensor *const *inputs, tw_tensor **outputs, tw__remote **in, tw__remote **out,
                         tw__resource **resources)
{
    int count = 0, made = 0, drawn = 0;
    for (; count < p->argument_count; count++) {
        bool draws = drawn < p->draw_count && p->draws[drawn].argument == count;
        in[count] = draws ? draw(&p->draws[drawn++], p->device) : tw__remote_of(inputs[count - drawn], p->device);
        TW_NEED(in[count]);
    }
    TW_TRY(gather_variables(p, inputs + p->argument_count - drawn, resources, in, &count));
    for (int i = 0; i < p->result_count; i++)
        TW_NEED(out[made++] = tw__remote_new(p->dtypes[i], &p->shapes[i], p->device));
    for (int i = 0; i < p->variable_count; i++) {
        const tw__hlo *now = &p->variables[i].now;
        if (p->variables[i].changed)
            TW_NEED(out[made++] = tw__remote_new(now->dtype, &now->shape, p->device));
    }
    tw__executable *program = program_of(p);
    TW_NEED(program);
    hand_over(p, in, out, false);
    tw_status status = tw__pjrt_execute(program, in, count, out, made, p->device);
    if (status != TW_OK)
        hand_over(p, in, out, true);
    TW_TRY(status);
    made = p->result_count;
    for (int i = 0; i < p->variable_count; i++) {
        if (p->variables[i].changed)
            tw__resource_move(resources[i], out[made++]);
    }
    for (int i = 0; i < p->result_count; i++) {
        TW_NEED(outputs[i] = tw__remote_get(out[i]));
        tw__remote_keep(outputs[i], out[i]);
        if (tw__devices_accelerated)
            outputs[i]->device = TW__ACCELERATOR + (uint32_t)p->device;
    }
    return TW_OK;
}

tw_status tw__compiled_run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    tw__compiled *p = step->data;
    int most_in = p->argument_count + p->variable_count, most_out = p->result_count + p->variable_count;
    tw__held void *in = tw__held_new((size_t)most_in), *out = tw__held_new((size_t)most_out);
    tw__owned tw__resource **resources = tw__alloc_array((size_t)p->variable_count + 1, sizeof *resources);
    TW_NEED(in && out && resources);
    if (p->variable_count)
        tw__lock_take(&variables_lock);
    tw_status status = execute(p, inputs, outputs, in, out, resources);
    if (p->variable_count)
        tw__lock_give(&variables_lock);
    for (int i = 0; status != TW_OK && i < p->result_count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
