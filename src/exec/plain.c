/* Calls that a joined step replaces, made one by one; see plain.h. */
#include "exec/plain.h"

enum { MOST_CALLS = 24, MOST_INPUTS = 10 };

typedef struct call {
    const tw_op *op;
    const tw_attr *attrs;
    int input_count, output_count;
    tw_dtype dtype;              /* of the output */
    int32_t inputs[MOST_INPUTS]; /* of the joined step; or, negative, ~i: what call i gave */
} call;

struct tw__plain {
    int count;
    call calls[];
};

/* What gives the place: an input of the joined step, or an earlier call. */
static bool find_source(const tw__plan *plan, const int *steps, int before, const int32_t *inputs, int input_count, int32_t place,
                        int32_t *source)
{
    for (int i = 0; i < before; i++) {
        const tw__step *step = &plan->steps[steps[i]];
        if (step->output_count && step->outputs[0] == place) {
            *source = ~i;
            return true;
        }
    }
    for (int i = 0; i < input_count; i++) {
        if (inputs[i] == place) {
            *source = i;
            return true;
        }
    }
    return false;
}

tw__plain *tw__plain_new(const tw__plan *plan, const int *steps, int count, const int32_t *inputs, int input_count)
{
    tw__plain *plain = tw__alloc_zero(sizeof *plain + (size_t)count * sizeof(call));
    if (!plain)
        return NULL;
    plain->count = count;
    bool good = count <= MOST_CALLS;
    for (int i = 0; i < count && good; i++) {
        const tw__step *step = &plan->steps[steps[i]];
        call *made = &plain->calls[i];
        *made =
            (call){ .op = step->op, .attrs = step->attrs, .input_count = step->input_count, .output_count = step->output_count };
        good = !step->run && !step->data && step->input_count <= MOST_INPUTS && step->output_count <= 1;
        if (good && step->output_count)
            made->dtype = plan->places[step->outputs[0]].dtype;
        for (int k = 0; k < step->input_count && good; k++)
            good = find_source(plan, steps, i, inputs, input_count, step->inputs[k], &made->inputs[k]);
    }
    if (!good) {
        tw__fail(TW_INTERNAL, "calls that can't be kept beside a joined step");
        tw__plain_free(plain);
        return NULL;
    }
    return plain;
}

void tw__plain_free(tw__plain *plain)
{
    tw__free(plain);
}

static tw_status make_call(const call *made, tw_tensor *const *inputs, tw_tensor **output)
{
    const tw_shape *shapes[MOST_INPUTS];
    tw_dtype dtypes[MOST_INPUTS], out_dtype = made->dtype;
    tw_shape shape = { .rank = -1 };
    for (int k = 0; k < made->input_count; k++) {
        shapes[k] = &inputs[k]->shape;
        dtypes[k] = inputs[k]->dtype;
    }
    tw__inference inference = {
        made->op, made->input_count, made->output_count, shapes, dtypes, inputs, made->attrs, &shape, &out_dtype, { 0 }
    };
    TW_TRY(made->op->shape(&inference));
    if (made->output_count && !made->op->makes_outputs && tw__shape_known(&shape) &&
        !(*output = tw__tensor_empty(made->dtype, &shape)))
        return tw__error_status();
    tw__kernel kernel = { made->op, made->input_count, made->output_count, inputs, output, made->attrs, &made->dtype, NULL };
    return made->op->compute(&kernel);
}

tw_status tw__plain_run(const tw__plain *plain, tw_tensor *const *inputs, tw_tensor **result)
{
    tw_tensor *given[MOST_CALLS] = { NULL }, *values[MOST_INPUTS];
    tw_status status = TW_OK;
    for (int i = 0; i < plain->count && status == TW_OK; i++) {
        const call *made = &plain->calls[i];
        for (int k = 0; k < made->input_count; k++)
            values[k] = made->inputs[k] < 0 ? given[~made->inputs[k]] : inputs[made->inputs[k]];
        status = make_call(made, values, &given[i]);
    }
    if (result && status == TW_OK)
        *result = tw_retain(given[plain->count - 1]);
    for (int i = 0; i < plain->count; i++)
        tw_release(given[i]);
    return status;
}
