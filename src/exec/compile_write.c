/* Steps of a plan as calls of a program: see compile.h. */
#include "exec/compile.h"
#include "op/resource.h"

enum { MOST_CONSTANT = 4096 }; /* bytes that stand in the text; more of them are an argument */

tw__hlo tw__compile_value(const tw__plan *plan, int32_t place)
{
    const tw__place *p = &plan->places[place];
    tw__hlo value = { .id = -1, .dtype = p->dtype, .shape = p->shape, .constant = p->constant };
    if (p->dtype == TW_RESOURCE) {
        tw_object *object = p->handle ? tw__tensor_object(p->handle) : NULL;
        value.shape = tw__is(object, &tw__resource_class) ? ((const tw__resource *)object)->shape : TW_UNKNOWN_SHAPE;
        value.constant = NULL;
    }
    return value;
}

bool tw__compile_draws(const tw__step *step)
{
    return step->op->free_state && step->op->stateful;
}

/* Made inside, a constant, or an argument or variable that the program gets; in a body, what is neither is not there. */
tw_status tw__compile_take(tw__writing *t, int32_t place)
{
    tw__hlo *value = &t->values[place], known = tw__compile_value(t->plan, place);
    const tw_tensor *constant = t->plan->places[place].constant;
    if (value->id != -1 || (t->outer && !constant))
        return TW_OK;
    bool distinct = value->distinct;
    if (known.dtype == TW_RESOURCE) {
        TW_TRY(t->lower->variable(t->w, value));
        t->handles[t->handle_count++] = place;
        value->shape = known.shape;
    } else if (constant && (t->outer || tw_tensor_bytes(constant) <= MOST_CONSTANT)) {
        *value = t->lower->constant(t->w, constant);
    } else {
        TW_TRY(t->lower->argument(t->w, known.dtype, &known.shape, value));
        t->arguments[t->argument_count++] = place;
    }
    value->constant = known.constant;
    value->distinct = distinct;
    return TW_OK;
}

/* The state of a random op's stream, as one more argument. Loops have none: what they draw differs from turn to turn. */
static tw_status take_draw(tw__writing *t, const tw__step *step, tw__hlo *state)
{
    TW_TRY(TW_GROW(t->draws, t->draw_capacity, (size_t)t->draw_count + 1));
    tw__draw *draw = &t->draws[t->draw_count++];
    *draw = (tw__draw){ .step = { .node = step->node, .op = step->op, .attrs = step->attrs, .key = step->key },
                        .argument = t->argument_count };
    TW_TRY(tw__shape_count(&t->plan->places[step->outputs[0]].shape, &draw->count));
    t->arguments[t->argument_count++] = -1;
    return t->lower->argument(t->w, TW_UINT64, &TW_SHAPE(3), state);
}

tw_status tw__compile_step(tw__writing *t, const tw__step *step, bool *written)
{
    int count = step->input_count;
    tw__owned tw__hlo *inputs = tw__alloc_array((size_t)count + 2, sizeof *inputs);
    tw__owned tw__hlo *outputs = tw__alloc_array((size_t)step->output_count + 1, sizeof *outputs);
    TW_NEED(inputs && outputs);
    *written = false;
    for (int i = 0; i < count; i++) {
        TW_TRY(tw__compile_take(t, step->inputs[i]));
        inputs[i] = t->values[step->inputs[i]];
        if (inputs[i].id == -1)
            return TW_OK;
    }
    for (int i = 0; i < step->output_count; i++)
        outputs[i] = tw__compile_value(t->plan, step->outputs[i]);
    if (tw__compile_is_flow(step)) {
        TW_TRY(tw__compile_flow(t, step, inputs, outputs, written));
    } else {
        if (tw__compile_draws(step)) {
            if (t->outer)
                return TW_OK;
            TW_TRY(take_draw(t, step, &inputs[count++]));
        }
        *written = t->lower->call(t->w, step->op, step->attrs, inputs, count, outputs, step->output_count);
    }
    for (int i = 0; *written && i < step->output_count; i++) {
        outputs[i].distinct = t->values[step->outputs[i]].distinct;
        t->values[step->outputs[i]] = outputs[i];
    }
    return TW_OK;
}
